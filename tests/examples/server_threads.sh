#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# examples/server_threads: requests across threads as async spans and flows, thread names, a counter.
. "$(dirname "$0")/lib.sh"

run_example server_threads
expect "requests 600, sum of answers 32511"
check_trace server_threads <<'EOC'
check.counts(accept=600, enqueue=600, serve=600, collatz=600, ask=600, request=600)
check.equal("category of the async spans", {s.category for s in check.named("request")}, {"async"})
check.equal("threads", check.thread_names(),
            ["client 0", "client 1", "client 2", "listener", "worker 0", "worker 1", "worker 2", "worker 3"])
begin, end = check.links(0), check.links(2)
check.equal("flows", (len(begin), len(end)), (600, 600))
check.equal("flow ids", sorted(r[2] for r in begin), sorted(r[2] for r in end))
times = {r[2]: r[1] for r in begin}
check.true("an arrow points forward", all(times[r[2]] <= r[1] for r in end))
check.equal("sum of answers", sum(s.args["steps"] for s in check.named("collatz")), 32511)
check.equal("queue", check.counter("queue")["count"], 1200)
check.equal("queue at the end", check.counter("queue")["last"], 0)
check.equal("processes", len(check.processes()), 1)
EOC
