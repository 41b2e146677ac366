#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The flight recorder: constant memory, and dumps by every way there is."""
import glob
import os
import signal
import subprocess

from libsurvive import TACHO, VICTIM, Trace, case, check, main, run, same, start, wait_until

RATE = 50000


def rss(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


def flight(*arguments, output="flight.tacho", options=(), **more):
    return start([TACHO, "record", "--last", "1s", "-o", output, *options, "--", VICTIM, *arguments],
                 stderr=subprocess.PIPE, **more)


def holds_a_second(path):
    """At least the last second, and little more: a block is not cut."""
    trace = Trace(path)
    window = trace.report["window"]
    check(RATE * 0.8 < trace.named("paced") < RATE * 4, path, trace.named("paced"), window)
    check(trace.entry("older rows let go") > 0, trace.ledger)
    return trace


@case
def memory_is_constant_and_dumps_work():
    tool = flight("pace", str(RATE), "60", "stop")
    sizes = []
    for second in range(6):
        try:
            tool.wait(1)
        except subprocess.TimeoutExpired:
            sizes.append(rss(tool.pid))
    check(max(sizes[3:]) < sizes[2] * 1.25 + (4 << 20), "memory grows", sizes)

    done = run([TACHO, "dump"])
    path = done.stdout.decode().strip()
    same(os.path.basename(path), "flight.dump-1-asked.tacho")
    same(holds_a_second(path).metadata("dump.reason"), "asked")

    os.mkdir("below")
    done = run([TACHO, "dump", "-o", "mine.tacho", str(tool.pid)], cwd="below")
    same(done.stdout.decode().strip(), os.path.realpath("below/mine.tacho"))
    holds_a_second("below/mine.tacho")

    half = run([TACHO, "dump", "--last", "100ms", "-o", "short.tacho"])
    check(half.stdout, half)
    check(Trace("short.tacho").named("paced") <= Trace("below/mine.tacho").named("paced") * 1.5,
          "a shorter dump is no shorter")

    tool.send_signal(signal.SIGUSR2)
    wait_until(lambda: glob.glob("flight.dump-*-signal.tacho"), "a dump on SIGUSR2")
    holds_a_second(glob.glob("flight.dump-*-signal.tacho")[0])

    run([TACHO, "dump", "-o", "/nowhere/x.tacho"], 2)
    open("stop", "w").close()
    same(tool.wait(30), 0)
    check(RATE * 0.8 < Trace("flight.tacho").named("paced") < RATE * 4, "at the program's end")
    same(tool.stderr.read(), b"")


@case
def dump_at_death():
    tool = flight("pace", str(RATE), "60")
    wait_until(lambda: os.path.exists(f"/proc/{tool.pid}/task/{tool.pid}/children"), "the tool")
    try:
        tool.wait(3)
    except subprocess.TimeoutExpired:
        pass
    with open(f"/proc/{tool.pid}/task/{tool.pid}/children") as file:
        os.kill(int(file.read().split()[0]), signal.SIGSEGV)
    same(tool.wait(30), -signal.SIGSEGV)
    holds_a_second("flight.tacho")


@case
def dump_on_a_slow_step():
    # A noisy machine may make other steps slow, and each dump holds off the next for a while.
    run([TACHO, "record", "--last", "50ms", "-o", "flight.tacho", "--", VICTIM, "steps", "60", "10000",
         "50"])
    dumps = glob.glob("flight.dump-*-outlier.tacho")
    check(len(dumps) >= 1, "no dump although step 50 took twenty times as long", os.listdir())
    steps = [Trace(d).steps() for d in dumps]
    check(len(dumps) == 10 or any(50 in s for s in steps), steps)
    for file in dumps:
        os.unlink(file)
    run([TACHO, "record", "--last", "10s", "--set", "dump_on_outlier=off", "-o", "flight.tacho", "--",
         VICTIM, "steps", "60", "4000", "50"])
    same(glob.glob("flight.dump-*-outlier.tacho"), [])


@case
def last_bytes_bounds_memory():
    run([TACHO, "record", "--last", "1h", "--last-bytes", "100KiB", "-o", "flight.tacho", "--", VICTIM,
         "pace", "500000", "3"])
    trace = Trace("flight.tacho")
    check(os.path.getsize("flight.tacho") < 400 << 10, os.path.getsize("flight.tacho"))
    check(trace.entry("older rows let go") > 0, trace.ledger)


@case
def dump_says_what_is_wrong():
    done = run([TACHO, "dump"], 2)
    check(b"nothing is being recorded" in done.stderr, done.stderr)
    done = run([TACHO, "dump", "1"], 2)
    check(b"process 1 is not being recorded" in done.stderr, done.stderr)
    full = start([TACHO, "record", "-o", "full.tacho", "--", VICTIM, "pace", "100", "60", "stop"],
                 stderr=subprocess.PIPE)
    wait_until(lambda: os.path.exists("full.tacho") and os.path.getsize("full.tacho") > 500, "a recording")
    done = run([TACHO, "dump"], 2)
    check(b"not a flight recorder" in done.stderr and b"full.tacho" in done.stderr, done.stderr)
    other = flight("pace", "100", "60", "stop")

    def both():
        return b"2 recordings" in run([TACHO, "dump"], None).stderr
    wait_until(both, "two recordings")
    same(run([TACHO, "dump"], 2).stdout, b"")
    wait_until(lambda: run([TACHO, "dump", str(other.pid)], None).returncode == 0, "a dump by number")
    open("stop", "w").close()
    same((full.wait(30), other.wait(30)), (0, 0))


if __name__ == "__main__":
    main()
