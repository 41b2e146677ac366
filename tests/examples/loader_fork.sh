#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# examples/loader_fork: four processes in one trace, also the one that ends with _exit().
. "$(dirname "$0")/lib.sh"

run_example loader_fork
expect "batches 120, slope 3.000, checksum e40f593b93ffc3e7"
check_trace loader_fork <<'EOC'
check.equal("processes", len(check.processes()), 4)
check.counts(prepare_batch=120, send=120, train=1)
check.equal("steps", check.step_numbers(), list(range(120)))
check.equal("phases", check.phases(), {"data": 120, "compute": 120})
batches = {}
for span in check.named("prepare_batch"):
    batches.setdefault(span.track, []).append(span.args["batch"])
check.equal("each worker's batches", sorted(batches.values()), [list(range(i, 120, 3)) for i in range(3)])
check.equal("flops", sum(s.args.get("flops", 0) for s in check.spans), 120 * 8.0 * 256)
check.equal("slope", round(check.counter("slope")["last"], 3), 3.0)
check.true("loaders have names", {"loader 0", "loader 1", "loader 2"} <= set(check.thread_names()))
EOC
