#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Many threads, short-lived threads, and recordings that end while threads go on."""
import glob

from libsurvive import TACHO, VICTIM, Trace, case, check, exact, main, record, run, same


@case
def threads_at_once():
    record("threads", "500")
    trace = Trace()
    exact(trace, 10000)
    same(trace.ledger["dropped"], 0, trace.ledger)
    same(len([t for t in trace.threads() if t["spans"] == 20]), 500)


@case
def more_threads_than_buffers():
    record("threads", "1500", options=["--set", "pool_size=8MiB"])
    trace = Trace()
    exact(trace, 30000)
    check(trace.ledger["dropped"] > 0, "1500 threads found room in 256 buffers", trace.ledger)


@case
def more_threads_than_slots():
    record("threads", "2500", options=["--set", "pool_size=128MiB"])
    trace = Trace()
    exact(trace, 50000)


@case
def threads_one_after_the_other():
    record("threads_in_turn", "5000", "4", "5000")
    trace = Trace()
    exact(trace, 20000)
    same(trace.ledger["dropped"], 0, trace.ledger)


@case
def threads_faster_than_the_collector():
    record("threads_in_turn", "5000", "4")
    exact(Trace(), 20000)


@case
def threads_outlive_the_recording():
    record("outlive", options=["--duration", "300ms"], status=42)
    trace = Trace()
    check(trace.named("work") > 10, trace.ledger)
    same(trace.named("late"), 0)
    same(trace.named("across the end"), 1)


@case
def recording_again_and_again():
    """Threads that were in one session go on in the next."""
    run([VICTIM, "restart", "duration=300ms", "3"])
    files = glob.glob("restart-*.tacho")
    check(files, "no trace")
    for file in files:
        trace = Trace(file)
        check(trace.named("restarted") > 100, file, trace.ledger)
        same({n["name"] for n in trace.report["tree"]["nodes"]}, {"restarted"})
        check(all(n["parent"] == 0 for n in trace.report["tree"]["nodes"]), "threads got mixed up")


if __name__ == "__main__":
    main()
