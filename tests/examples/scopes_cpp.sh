#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# examples/scopes_cpp: scopes stay balanced when exceptions pass through them.
. "$(dirname "$0")/lib.sh"

run_example scopes_cpp
expect "served 189, refused 11, sum of classes 846"
check_trace scopes_cpp <<'EOC'
check.equal("steps", check.step_numbers(), list(range(200)))
# A damaged image is given up after row 48.
check.counts(decode=200, decode_row=189 * 96 + 11 * 49, conv2d=189, classify=189)
check.equal("serve", {n: c for (n, _), c in check.operations().items() if n.startswith("serve ")},
            {"serve small": 67, "serve medium": 67, "serve large": 66})
check.equal("depths", {s.name: s.depth for s in check.spans},
            {"step": 0, "serve small": 1, "serve medium": 1, "serve large": 1, "decode": 2, "decode_row": 3,
             "conv2d": 2, "classify": 2})
check.equal("marks", len(list(check.trace.rows(format_spec.MARKS))), 11)
op = check.named("conv2d")[0]
check.equal("shapes", op.args["shapes"], "[[1,1,96,96],[1,1,5,5]]")
check.equal("flops", op.args["flops"], 2.0 * 92 * 92 * 25)
check.equal("sum of classes", sum(s.args["class"] for s in check.named("classify")), 846)
check.equal("served", check.counter("served")["last"], 189)
EOC
