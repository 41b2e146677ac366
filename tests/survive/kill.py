#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Death by SIGKILL, of the program and of the collector, at any moment."""
import concurrent.futures
import os
import random
import signal
import subprocess
import time

from libsurvive import (TACHO, VICTIM, Trace, case, check, main, published, run, same, shm_folders,
                        start, wait_until)

KILLS = 100


def child_of(pid):
    """The program: the tool has no other child."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = file.read().split()
    except OSError:
        return None
    return int(children[0]) if children else None


def kill_once(number):
    delay = random.Random(number).uniform(0, 0.25)
    count, output = f"count-{number}", f"kill-{number}.tacho"
    tool = start([TACHO, "record", "-o", output, "--", VICTIM, "publish", count],
                 stderr=subprocess.PIPE)
    # Every fourth dies before it has recorded anything, perhaps before it is the victim at all.
    if number % 4:
        wait_until(lambda: published(count)[0] > 0, "the victim's first scope")
    wait_until(lambda: child_of(tool.pid), "the tool's child")
    time.sleep(delay)
    os.kill(child_of(tool.pid), signal.SIGKILL)
    same(tool.wait(60), -signal.SIGKILL, "status", tool.stderr.read())
    tool.stderr.close()
    ended = published(count)[0]
    trace = Trace(output, report=number % 10 == 0)
    # The publishing comes after the end, so one more may be in the file, and two may be open.
    check(ended <= trace.spans <= ended + 3, f"{ended} ended, {trace.spans} in the trace")
    same(trace.ledger["dropped"] + trace.ledger["skipped"], 0, trace.ledger)
    check(trace.entry("scopes still open") <= 2, trace.ledger)
    os.unlink(output)
    return ended


@case
def program_killed_at_random_moments():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(kill_once, range(KILLS)))
    check(sum(e > 10000 for e in ended) > KILLS // 4, "too little was recorded to show anything", ended)


@case
def collector_killed_program_goes_on():
    alone = run([VICTIM, "signals", "a", "1"], 33)
    before = shm_folders()
    for moment in (0.2, 1.5):
        tool = start([TACHO, "record", "-o", "out.tacho", "--", VICTIM, "pace", "200000", "2"])
        wait_until(lambda: child_of(tool.pid), "the tool's child")
        program = child_of(tool.pid)
        time.sleep(moment)
        tool.kill()
        same(tool.wait(30), -signal.SIGKILL)
        check(os.path.exists(f"/proc/{program}"), "the program died with its collector")
        wait_until(lambda: not os.path.exists(f"/proc/{program}"), "the program's end")
        trace = Trace()
        check(trace.info["repaired"], "a file without an end must count as repaired")
        check(moment < 1 or trace.spans > 1000, "what was written before is lost", trace.spans)
        check(shm_folders() - before, "a killed collector leaves its folder, or this tests nothing")
        run([TACHO, "record", "-o", "next.tacho", "--", "true"])
        same(shm_folders() - before, set(), "stale session folder")
    same(alone.stdout, b"0 signals, the last 0\n")


@case
def output_and_status_without_collector():
    for mode, status, text in ((["signals", "c", "1"], 33, b"0 signals, the last 0\n"),
                               (["exec", "200"], 5, b""), (["forks", "300"], 0, b"")):
        if os.path.exists("result"):
            os.unlink("result")
        tool = start([TACHO, "record", "-o", "out.tacho", "--", "sh", "-c",
                      '"$@" >result; echo $? >>result', "sh", VICTIM, *mode])
        # A tool that is killed before it has started the program starts none.
        wait_until(lambda: os.path.exists("result"), "the program's first sign")
        program = child_of(tool.pid)
        tool.kill()
        tool.wait(30)
        wait_until(lambda: not os.path.exists(f"/proc/{program}"), "the program's end")
        with open("result", "rb") as file:
            same(file.read(), text + b"%d\n" % status, mode)


@case
def full_pool_after_collector_died():
    """With nobody to drain, the pool fills up; the program must not slow down for ever or crash."""
    tool = start([TACHO, "record", "-o", "out.tacho", "--set", "pool_size=1MiB", "--", VICTIM,
                  "saturate", "count", "7"])
    wait_until(lambda: published("count")[1] > 0, "the victim's first scope")
    program = child_of(tool.pid)
    tool.kill()
    tool.wait(30)
    wait_until(lambda: not os.path.exists(f"/proc/{program}"), "the program's end", 60)
    check(published("count")[1] > 1000000, "the program hardly moved", published("count"))
    Trace()


if __name__ == "__main__":
    main()
