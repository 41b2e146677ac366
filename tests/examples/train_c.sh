#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# examples/train_c: learns, and its trace holds steps, phases, operations with shapes and FLOPs,
# counters, memory and metadata.
. "$(dirname "$0")/lib.sh"

run_example train_c --steps 12 --target 0
expect "step   0  loss 2.425  accuracy   7.8 %"
check_trace train_c <<'EOC'
check.equal("steps", check.step_numbers(), list(range(12)))
check.equal("phases", check.phases(), {"data": 12, "forward": 12, "backward": 12, "optimizer": 12})
# Nine in each step and three when evaluating at the end.
check.counts(matmul=12 * 9 + 3, transpose=12 * 6, adam=12, evaluate=1, train=1, prepare=1, fc1=25)
check.true("layers have their category", check.operations().get(("fc2", "layer")) == 25)
first = check.named("matmul")[0]
check.equal("shapes", first.args["shapes"], "[[128,400],[400,256]]")
check.equal("dtypes", first.args["dtypes"], "float32,float32")
check.equal("flops", first.args["flops"], 2.0 * 128 * 400 * 256)
check.equal("bytes", first.args["bytes"], 4 * (128 * 400 + 400 * 256))
check.equal("flops of all matrix products", sum(s.args["flops"] for s in check.named("matmul")),
            12 * 3 * 2.0 * 128 * 136448 + 2.0 * 512 * 136448)
loss, accuracy = check.counter("loss"), check.counter("accuracy")
check.equal("values of loss", loss["count"], 12)
check.true("loss falls", loss["last"] < loss["first"])
check.equal("unit of accuracy", accuracy["unit"], "%")
check.equal("batch", check.info["metadata"]["user.batch"], "128")
check.equal("thread", check.thread_names(), ["trainer"])
rows = list(check.trace.rows(format_spec.ALLOCATIONS))
taken, freed = [r for r in rows if not r[5] & 1], [r for r in rows if r[5] & 1]
check.equal("every allocation is freed", len(taken), len(freed))
check.equal("pools", {check.trace.names[r[4]] for r in rows}, {("weights", "pool"), ("activations", "pool")})
check.equal("bytes of the weights", sum(r[3] for r in taken if check.trace.names[r[4]][0] == "weights"),
            4 * 4 * 136842)
EOC

# Without enough steps the target is missed; wrong use has its own status.
status=0
train_c --steps 2 >/dev/null 2>&1 || status=$?
[ "$status" = 1 ] || { echo "a run that misses its target: exit status $status"; exit 1; }
status=0
train_c --steps none >/dev/null 2>&1 || status=$?
[ "$status" = 2 ] || { echo "wrong use: exit status $status"; exit 1; }
