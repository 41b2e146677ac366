#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""No room: on the disk, in shared memory, for files, for memory. The program always runs."""
import os

from libsurvive import TACHO, VICTIM, Trace, case, check, main, need_mount, published, run, same


def in_small_tmpfs(size, script, **more):
    """Runs a shell script with ./small as a file system of its own."""
    need_mount()
    os.mkdir("small")
    return run(["unshare", "-m", "sh", "-ec", f"mount -t tmpfs -o size={size} none small; set +e; {script}"],
               None, **more)


@case
def disk_full():
    done = in_small_tmpfs("1m", f"{TACHO} record -o small/out.tacho --no-counters -- {VICTIM} saturate "
                          "count 2; echo $?; cp small/out.tacho out.tacho")
    same(done.stdout, b"0\n", done.stderr)
    check(b"No space left" in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)
    trace = Trace()
    check(trace.spans > 1000, "what was written before is lost")
    # The end of the file may have found no room; then it is repaired, and that much is known.
    if not trace.info["repaired"]:
        missing = trace.entry("rows not written")
        check(missing > 0, trace.ledger)
        same(trace.spans + missing, trace.ledger["recorded"], trace.ledger)
        same(trace.ledger["produced"], published("count")[1])


@case
def disk_full_from_the_start():
    done = in_small_tmpfs("64k", f"dd if=/dev/zero of=small/fill bs=1k 2>/dev/null || true; "
                          f"{TACHO} record -o small/out.tacho -- touch started; echo $?")
    check(done.stdout in (b"125\n", b"0\n"), done)
    check(done.stderr.count(b"\n") == 1, done.stderr)
    same(os.path.exists("started"), done.stdout == b"0\n")


@case
def output_that_cannot_be_made():
    os.mkdir("closed", 0o555)
    outputs = ["missing/out.tacho", "/dev/null/out.tacho", "."]
    if os.geteuid() != 0:
        outputs.append("closed/out.tacho")
    for output in outputs:
        done = run([TACHO, "record", "-o", output, "--", "touch", "started"], 125)
        check(done.stderr.startswith(b"tacho") and done.stderr.count(b"\n") == 1, done.stderr)
        check(not os.path.exists("started"), "the program was started")


@case
def output_in_a_read_only_folder():
    need_mount()
    os.mkdir("small")
    done = run(["unshare", "-m", "sh", "-ec", "mount -t tmpfs -o ro none small; "
                f"{TACHO} record -o small/out.tacho -- touch started"], 125)
    check(b"Read-only" in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)
    check(not os.path.exists("started"), "the program was started")


@case
def no_room_for_a_session():
    done = in_small_tmpfs("4k", f"{TACHO} record --set session_dir=$PWD/small -o out.tacho -- "
                          "touch started; echo $?")
    check(not os.path.exists("started") and b"125" in done.stdout, done)
    check(b"shared memory" in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)


@case
def no_room_for_a_pool():
    for how in ("--set session_dir=$PWD/small", ""):
        done = in_small_tmpfs("1m", f"export {'X=1' if how else 'TACHO_SESSION_DIR=$PWD/small'}; "
                              f"{TACHO} record {how} -o out.tacho -- {VICTIM} status; echo $?")
        check(done.stdout.endswith(b"0\n"), done)
        check(b"no room" in done.stdout, done.stdout)
        trace = Trace()
        same(trace.spans, 0)
        same(trace.entry("processes that could not record"), 1, trace.ledger)
        os.rmdir("small")


@case
def room_that_runs_out():
    """The pool cannot grow: events are dropped and counted, nobody gets a SIGBUS."""
    done = in_small_tmpfs("22m", f"{TACHO} record --set session_dir=$PWD/small -o out.tacho -- {VICTIM} "
                          "threads 400; echo $?")
    same(done.stdout, b"0\n", done.stderr)
    trace = Trace()
    same(trace.ledger["produced"], 8000, trace.ledger)
    check(trace.ledger["dropped"] > 0, trace.ledger)


def limited(limit, *arguments, status=0, options=()):
    return run([TACHO, "record", "-o", "out.tacho", *options, "--", "sh", "-c",
                f'ulimit {limit}; exec "$@"', "sh", VICTIM, *arguments], status)


@case
def limits_on_the_program():
    # Files of at most 64 blocks of 512 bytes: without care a signal would kill the program.
    for size in ("0", "64", "4096"):
        done = limited(f"-f {size}", "status")
        trace = Trace()
        check(trace.entry("processes that could not record") == 1 or trace.named("work") > 0,
              size, done.stdout, trace.ledger)
    limited("-n 16", "saturate", "count", "1")
    same(Trace().ledger["produced"], published("count")[1])
    limited("-n 5", "status")
    Trace()
    for size in ("40000", "150000", "400000"):
        done = limited(f"-v {size}", "status")
        trace = Trace()
        check(trace.entry("processes that could not record") == 1 or trace.named("work") > 0 or
              done.stdout.startswith(b"3 "), size, done.stdout, trace.ledger)
    # Where there is room for 64 MiB of names and 32 MiB of pool, it records.
    check(trace.named("work") > 0, done.stdout)


def limited_tool(limit, *arguments, status=0, options=()):
    return run(["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", TACHO, "record", "-o", "out.tacho",
                *options, "--", VICTIM, *arguments], status)


@case
def limits_on_the_tool():
    limited_tool("-n 16", "forks", "40", "5")
    same(Trace().named("child"), 200)
    done = limited_tool("-n 10", "scopes", "10", status=None)
    check(done.returncode in (0, 125), done)
    # A file that may not grow: an error, not the tool's death. The program lifts the limit for itself.
    done = run(["sh", "-c", 'ulimit -S -f 512; exec "$@"', "sh", TACHO, "record", "-o", "out.tacho",
                "--no-counters", "--", "sh", "-c", 'ulimit -S -f unlimited; exec "$@"', "sh", VICTIM,
                "saturate", "count", "1"])
    check(done.stderr.count(b"\n") == 1 and b"File too large" in done.stderr, done.stderr)
    trace = Trace()
    same(trace.spans + trace.entry("rows not written"), trace.ledger["recorded"])
    for size in ("30000", "100000", "300000"):
        done = limited_tool(f"-v {size}", "scopes", "10", status=None)
        check(done.returncode in (0, 125), size, done)


@case
def many_processes_and_few_descriptors():
    """More processes at once than the tool has descriptors."""
    many = f"for i in $(seq 30); do {VICTIM} scopes 20 20000 & done; wait"
    run(["sh", "-c", 'ulimit -n 24; exec "$@"', "sh", TACHO, "record", "-o", "out.tacho", "--", "sh",
         "-c", many])
    same(Trace().named("work"), 600)


if __name__ == "__main__":
    main()
