#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What is recorded, when, and where to, is what was asked for: schedule, windows, duration, size,
names of the output, precedence of settings, mistakes in them."""
import os
import re
import socket

from libsurvive import TACHO, VICTIM, Trace, case, check, finished, main, record, run, same


def steps_of(schedule, count, us="200"):
    record("steps", str(count), us, options=["--schedule", schedule])
    trace = Trace()
    # Every recorded step is whole: its phases and scopes are there, and nothing lies outside.
    steps = trace.steps()
    same(trace.named("forward"), len(steps), schedule)
    same(trace.named("layer"), 3 * len(steps), schedule)
    same(trace.named("gradient"), 2 * len(steps), schedule)
    return steps


@case
def schedule_by_steps():
    same(steps_of("2,1,3,2", 30), [3, 4, 5, 9, 10, 11])
    same(steps_of("0,0,2,1", 10), [0, 1])
    same(steps_of("1,0,1,0", 9), [1, 3, 5, 7])
    same(steps_of("50,0,1,1", 20), [])
    same(steps_of("0,0,1,0", 5), [0, 1, 2, 3, 4])


@case
def schedule_faster_than_the_collector():
    """Thousands of switches between two looks of the collector."""
    steps = steps_of("1,0,1,0", 20000, "0")
    same(steps, list(range(1, 20000, 2)))


@case
def windows_by_the_program():
    record("windows")
    trace = Trace()
    same((trace.named("in"), trace.named("not"), trace.named("again")), (50, 0, 5), trace.ledger)
    same(trace.named("cut by the stop"), 5)
    tops = [n["name"] for n in trace.report["tree"]["nodes"] if n["parent"] == 0]
    same(sorted(tops), ["again", "cut by the stop"])
    same(trace.entry("ends without a begin"), 0, trace.ledger)


@case
def duration_ends_the_recording_only():
    done = record("pace", "10000", "3", options=["--duration", "500ms"])
    trace = Trace()
    check(1000 < trace.named("paced") < 10000 * 2.5, trace.named("paced"))
    same(trace.entry("processes still running at the end"), 1)
    same(done.stderr, b"")
    record("signals", "count", "1", options=["--duration", "200ms"], status=33)
    Trace()


@case
def max_size_is_kept():
    record("saturate", "count", "1", options=["--max-size", "1MiB", "--no-counters"])
    trace = Trace()
    size = os.path.getsize("out.tacho")
    check(size <= (1 << 20) + (64 << 10), size)
    missing = trace.entry("rows not written")
    check(missing > 0 and "max_size" in trace.effects("rows not written")[0], trace.ledger)
    same(trace.spans + missing, trace.ledger["recorded"])
    same(trace.ledger["skipped"], missing)


@case
def placeholders():
    pattern = "t-{pid}-{rank}-{host}-{time}-{name}.tacho"
    record("scopes", "1", output=pattern, env={"RANK": "7"})
    names = [f for f in os.listdir() if f.startswith("t-")]
    same(len(names), 1, names)
    host = re.escape(socket.gethostname().replace("/", "_"))
    check(re.fullmatch(rf"t-\d+-7-{host}-\d{{8}}-\d{{6}}-victim\.tacho", names[0]), names)
    same(Trace(names[0]).named("work"), 1)
    done = run([TACHO, "record", "-o", "{nonsense}.tacho", "--", "touch", "started"], 125)
    check(b"{nonsense}" in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)
    check(not os.path.exists("started"), "the program was started")


@case
def default_name():
    run([TACHO, "record", "--", VICTIM, "scopes", "1"])
    names = os.listdir()
    check(len(names) == 1 and re.fullmatch(r"victim-\d{8}-\d{6}\.tacho", names[0]), names)
    run([TACHO, "record", "--", VICTIM, "scopes", "1"], env={"RANK": "3", "WORLD_SIZE": "8"})
    check(any("rank3" in n for n in os.listdir()), os.listdir())


@case
def precedence():
    def output(arguments=(), env=None):
        before = set(os.listdir())
        run([TACHO, "record", *arguments, "--", VICTIM, "scopes", "1"], env=env)
        new = set(os.listdir()) - before
        same(len(new), 1, new)
        os.unlink(*new)
        return new.pop()
    with open("tacho.conf", "w") as file:
        file.write("# ours\noutput = file.tacho\ncounters=off\n")
    same(output(), "file.tacho")
    same(output(env={"TACHO_OUTPUT": "env.tacho"}), "env.tacho")
    same(output(["-o", "line.tacho"], {"TACHO_OUTPUT": "env.tacho"}), "line.tacho")
    same(output(["--set", "output=set.tacho"], {"TACHO_OUTPUT": "env.tacho"}), "set.tacho")
    with open("other.conf", "w") as file:
        file.write("output = other.tacho\n")
    same(output(env={"TACHO_CONFIG": "other.conf"}), "other.tacho")


@case
def mistakes_are_told():
    def fails(expected, *arguments, env=None):
        done = run([TACHO, "record", *arguments, "--", "touch", "started"], 2, env=env)
        check(expected in done.stderr.decode() and done.stderr.count(b"\n") == 1, done.stderr)
        check(not os.path.exists("started"), "the program was started")
    fails("nonsense", "--set", "nonsense=1")
    fails("nearest is 'pool_size'", "--set", "pool_sise=1MiB")
    fails("pool_size", "--set", "pool_size=much")
    fails("pool_size", env={"TACHO_POOL_SIZE": "1KiB"})
    fails("TACHO_NONSENSE", env={"TACHO_NONSENSE": "1"})
    fails("schedule", "--schedule", "1,2,3")
    fails("schedule", "--schedule", "1,2,0,4")
    fails("no such file", env={"TACHO_CONFIG": "missing.conf"})
    with open("tacho.conf", "w") as file:
        file.write("output = a\n\nnonsense = 1\n")
    fails("tacho.conf line 3")


@case
def mistakes_in_a_program_that_records_itself():
    """There they are an entry in the ledger, since the program must run."""
    run([VICTIM, "self", "-"], env={"TACHO_ENABLED": "1", "TACHO_OUTPUT": "self.tacho",
                                    "TACHO_NONSENSE": "1", "TACHO_COLLECTOR": TACHO})
    trace = finished("self.tacho")
    same(trace.named("self"), 1000)
    same(trace.entry("settings not understood"), 1)
    check("TACHO_NONSENSE" in trace.effects("settings not understood")[0], trace.ledger)
    done = run([VICTIM, "self", "x.tacho", "nonsense=1"])
    check(done.stdout.startswith(b"start -1, state 3") and b"nonsense" in done.stdout, done.stdout)


if __name__ == "__main__":
    main()
