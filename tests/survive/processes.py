#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""fork, exec, dlopen, daemons: every process's data is kept, and none is disturbed."""
import os
import time

from libsurvive import (LOADER, PLUGIN, TACHO, VICTIM, Trace, case, check, exact, finished, main, published,
                        record, run, same, shm_folders, start, wait_until)


@case
def fork_in_a_loop():
    record("forks", "1000", "3")
    trace = Trace()
    same(trace.named("child"), 3000, trace.ledger)
    same(trace.named("parent"), 1, trace.ledger)
    same(trace.ledger["dropped"], 0, trace.ledger)
    same(len([t for t in trace.threads() if t["spans"] == 3]), 1000)


@case
def exec_of_itself():
    record("exec", "200", status=5)
    trace = Trace()
    same(trace.named("exec"), 2010, trace.ledger)
    same(trace.entry("processes that could not record"), 0, trace.ledger)


@case
def exec_gives_memory_back():
    """A program that starts itself again and again must not fill the shared memory."""
    before = shm_folders()
    tool = start([TACHO, "record", "-o", "out.tacho", "--", "sh", "-c",
                  f"{VICTIM} exec 300; touch done; while [ ! -e end ]; do sleep 0.1; done"])
    wait_until(lambda: os.path.exists("done"), "300 times exec")
    time.sleep(1.5)
    folders = shm_folders() - before
    same(len(folders), 1)
    folder = os.path.join("/dev/shm", folders.pop())
    used = sum(os.stat(os.path.join(folder, f)).st_blocks * 512 for f in os.listdir(folder))
    open("end", "w").close()
    same(tool.wait(30), 0)
    check(used < 8 << 20, f"{used} bytes of shared memory are still in use")


@case
def fork_vfork_spawn_and_exec():
    record("children")
    trace = Trace()
    same(trace.named("parent"), 20)
    same(trace.named("work"), 300)
    same(len(trace.processes()), 4, trace.info["tracks"])


@case
def no_follow():
    record("children", options=["--no-follow"])
    trace = Trace()
    same(trace.named("parent"), 20)
    same(trace.named("work"), 0)
    same(len(trace.processes()), 1)


@case
def fork_while_threads_record():
    record("fork_threads", "count", "200")
    ended, produced, _ = published("count")
    trace = Trace()
    exact(trace, ended + produced)
    same(trace.named("child"), 400, trace.ledger)
    names = sum(trace.named(f"child name {i}") for i in range(10))
    same(names, 200, "names that children made")
    same(trace.named("?"), 0, trace.ledger)


@case
def library_loaded_and_unloaded():
    run([TACHO, "record", "-o", "out.tacho", "--", LOADER, PLUGIN, "20"])
    trace = Trace()
    same(trace.named("plugin"), 2000, trace.ledger)
    run([LOADER, PLUGIN, "3"])
    # One that records itself has the session in its environment, whatever is unloaded.
    run([LOADER, PLUGIN, "3", "env"], env={"TACHO_ENABLED": "1", "TACHO_OUTPUT": "self.tacho"})
    check(finished("self.tacho").named("plugin") == 300, "plugin")


@case
def daemon():
    before = shm_folders()
    record("daemon", "pid")
    trace = Trace()
    same(trace.named("before"), 10)
    same(trace.entry("scopes still open"), min(1, trace.named("daemon")), trace.ledger)
    # The tool ended with the program it had started; the daemon goes on and ends well.
    wait_until(lambda: os.path.exists("pid"), "the daemon's end")
    same(shm_folders() - before, set())


@case
def two_sessions_at_once():
    tools = [start([TACHO, "record", "-o", f"{i}.tacho", "--", VICTIM, "scopes", str(1000 * (i + 1)),
                    "100"]) for i in range(2)]
    for tool in tools:
        same(tool.wait(60), 0)
    same([Trace(f"{i}.tacho").named("work") for i in range(2)], [1000, 2000])


@case
def session_inside_a_session():
    run([TACHO, "record", "-o", "outer.tacho", "--", VICTIM, "wrap", TACHO, "record", "-o",
         "inner.tacho", "--", VICTIM, "scopes", "77"])
    outer, inner = Trace("outer.tacho"), Trace("inner.tacho")
    same((outer.named("outside"), outer.named("work")), (10, 0))
    same((inner.named("outside"), inner.named("work")), (0, 77))


@case
def without_our_variables():
    """A program whose environment was cleared, as a setuid one's would be: not recorded, fine."""
    run([TACHO, "record", "-o", "out.tacho", "--", "env", "-i", VICTIM, "scopes", "1000"])
    same(Trace().spans, 0)
    done = run([TACHO, "record", "-o", "out.tacho", "--", "env", "-i", VICTIM, "status"])
    check(done.stdout.startswith(b"0 not recording"), done.stdout)


if __name__ == "__main__":
    main()
