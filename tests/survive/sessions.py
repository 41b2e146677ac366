#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Session folders: private, never followed through a link, never trusted; what does not fit is refused
politely. And programs that record themselves."""
import os
import shutil
import stat
import struct
import subprocess
import time

from libsurvive import (TACHO, VICTIM, Skip, Trace, case, check, finished, main, published,
                        record, run, same, shm_folders, start, wait_until)


def live_session(*arguments):
    """A recording that runs until ./stop exists, and its session's folder."""
    os.makedirs("sessions", exist_ok=True)
    tool = start([TACHO, "record", "-o", "live.tacho", "--set", "session_dir=" + os.path.abspath("sessions"),
                  "--", VICTIM, *(arguments or ("pace", "1000", "60", "stop"))])
    wait_until(lambda: os.listdir("sessions") and os.path.exists("live.tacho"), "a session")
    return tool, os.path.abspath(os.path.join("sessions", os.listdir("sessions")[0]))


def end(tool):
    open("stop", "w").close()
    same(tool.wait(30), 0)
    same(os.listdir("sessions"), [])


def refused(folder, *words):
    done = run([VICTIM, "status"], env={"TACHO_SESSION": folder})
    lines = done.stdout.decode().splitlines()
    check(all(line.startswith("3 ") for line in lines), lines)
    check(any(word in lines[0] for word in words), lines, words)


@case
def folders_are_private():
    old = os.umask(0)
    tool, folder = live_session()
    os.umask(old)
    wait_until(lambda: any(f.startswith("pool-") for f in os.listdir(folder)), "a pool")
    same(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
    for file in os.listdir(folder):
        if not stat.S_ISSOCK(os.stat(os.path.join(folder, file)).st_mode):
            same(stat.S_IMODE(os.stat(os.path.join(folder, file)).st_mode), 0o600, file)
    os.symlink(folder, "link")
    refused(os.path.abspath("link"), "cannot be opened")
    os.chmod(folder, 0o755)
    refused(folder, "open to others")
    os.chmod(folder, 0o700)
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
        refused(folder, "belongs to somebody else")
        os.chown(folder, 0, 0)
    end(tool)


@case
def sessions_that_are_none():
    refused("/no/such/folder", "cannot be opened")
    refused("/dev/null", "cannot be opened")
    refused("x" * 3000, "path is too long")
    os.mkdir("mine", 0o700)
    folder = os.path.abspath("mine")
    refused(folder, "holds no session")
    for content in (b"", b"garbage", os.urandom(200000), b"\0" * 200000,
                    struct.pack("=II", 0x53484354, 999) + b"\0" * 200000):
        with open("mine/session", "wb") as file:
            file.write(content)
        refused(folder, "another version")
    os.unlink("mine/session")
    os.symlink("/etc/passwd", "mine/session")
    refused(folder, "holds no session")


@case
def session_with_a_hostile_head():
    """A valid session whose numbers make no sense: the program must not crash."""
    tool, folder = live_session()
    shutil.copytree(folder, "copy", ignore=lambda d, n: [f for f in n if f in ("control",)])
    os.chmod("copy", 0o700)
    end(tool)
    with open("copy/session", "r+b") as file:
        head = bytearray(file.read(128))
        for at in range(8, 128, 4):
            for value in (0xffffffff, 0x80000000, 0):
                changed = bytearray(head)
                changed[at:at + 4] = struct.pack("=I", value)
                file.seek(0)
                file.write(changed)
                file.flush()
                done = subprocess.run([VICTIM, "scopes", "2000"], timeout=60,
                                      env={**os.environ, "TACHO_SESSION": os.path.abspath("copy")})
                same(done.returncode, 0, f"offset {at} = {value:#x}")
                for name in os.listdir("copy"):
                    if name.startswith(("pool-", "names-")):
                        os.unlink(os.path.join("copy", name))


@case
def pool_of_another_version():
    tool, folder = live_session("pace", "1000", "60", "stop")
    wait_until(lambda: any(f.startswith("pool-") for f in os.listdir(folder)), "a pool")
    pool = next(f for f in os.listdir(folder) if f.startswith("pool-"))
    time.sleep(0.5)  # until it is ready
    with open(os.path.join(folder, pool), "rb") as file:
        content = bytearray(file.read(300000))
    content[4:8] = struct.pack("=I", 2)
    with open(os.path.join(folder, "pool-99999-1"), "wb") as file:
        file.write(content)
    with open(os.path.join(folder, "pool-99998-1"), "wb") as file:
        file.write(b"too short")
    run([VICTIM, "scopes", "10"], env={"TACHO_SESSION": folder})
    time.sleep(0.5)
    end(tool)
    trace = Trace("live.tacho")
    same(trace.named("work"), 10)
    same(trace.entry("process not recorded"), 1, trace.ledger)
    check("another version" in trace.effects("process not recorded")[0], trace.ledger)


@case
def hostile_pool():
    """Chains that bite their tail, lengths beyond the end: counted, and the collector goes on."""
    for at, value in ((0, 0xffffffff), (0, 7), (4, 1), (4, 0xffffffff), (16, 12345)):
        for name in ("stop", "live.tacho"):
            if os.path.exists(name):
                os.unlink(name)
        tool, folder = live_session()
        wait_until(lambda: any(f.startswith("pool-") for f in os.listdir(folder)), "a pool")
        pool = next(f for f in os.listdir(folder) if f.startswith("pool-"))
        with open(os.path.join(folder, pool), "r+b") as file:
            file.seek(4096 + 2048 * 64)
            file.seek(at, os.SEEK_CUR)
            file.write(struct.pack("=I", value))
        run([VICTIM, "scopes", "10"], env={"TACHO_SESSION": folder})
        end(tool)
        done = run([TACHO, "info", "--json", "live.tacho"])
        check(b"repaired\": false" in done.stdout, done.stdout[-500:])


@case
def stale_folders_are_removed_others_are_not():
    before = shm_folders()
    mine = f"/dev/shm/tacho-{os.geteuid()}-1-"
    os.mkdir(mine + "stale", 0o700)
    for file in ("lock", "session", "pool-1-1"):
        open(os.path.join(mine + "stale", file), "w").close()
    os.mkdir(mine + "young", 0o700)
    os.mkdir("target")
    open("target/kept", "w").close()
    os.symlink(os.path.abspath("target"), mine + "link")
    os.mkdir(mine + "open", 0o755)
    try:
        record("scopes", "1")
        left = {f.rsplit("-", 1)[1] for f in shm_folders() - before}
        same(left, {"young", "link", "open"})
        check(os.path.exists("target/kept"), "a link was followed")
    finally:
        os.unlink(mine + "link")
        os.rmdir(mine + "open")
        os.rmdir(mine + "young")
        shutil.rmtree(mine + "stale", ignore_errors=True)


SELF = {"TACHO_COLLECTOR": TACHO}


@case
def alone_nothing_is_recorded():
    done = run([VICTIM, "status"])
    check(all(line.startswith("0 not recording") for line in done.stdout.decode().splitlines()),
          done.stdout)
    same(os.listdir(), [])


@case
def recording_itself():
    done = run([VICTIM, "self", "self.tacho"])
    same(done.stdout.split(b":")[0], b"start 0, state 1, wait -1 ECHILD, SIGCHLD 0")
    trace = finished("self.tacho")
    exact = (trace.named("self"), trace.ledger["produced"])
    same(exact, (1000, 1000))
    done = run([VICTIM, "self", "-"], env={"TACHO_ENABLED": "1", "TACHO_OUTPUT": "enabled.tacho"})
    same(done.stdout.split(b":")[0], b"start 0, state 1, wait -1 ECHILD, SIGCHLD 0")
    same(finished("enabled.tacho").named("self"), 1000)


@case
def recording_itself_with_closed_descriptors():
    run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", VICTIM, "self", "self.tacho"])
    same(finished("self.tacho").named("self"), 1000)


@case
def recording_itself_keeps_nothing_of_the_program():
    """The collector must not hold the program's pipes open: its readers wait for their end."""
    out, inn = os.pipe()
    high = 1500
    os.dup2(inn, high)
    os.close(inn)
    program = subprocess.Popen([VICTIM, "self", "self.tacho", "duration=20s"], pass_fds=[high],
                               stdout=subprocess.DEVNULL)
    os.close(high)
    same(program.wait(30), 0)
    began = time.monotonic()
    same(os.read(out, 1), b"", "end of file")
    check(time.monotonic() - began < 10, "the collector kept the pipe")
    os.close(out)
    finished("self.tacho")


@case
def recording_itself_without_a_collector():
    env = {"TACHO_COLLECTOR": "/no/such/tacho"}
    done = run([VICTIM, "self", "self.tacho"], env=env)
    check(done.stdout.startswith(b"start -2, state 3") and b"tacho program was not found" in done.stdout,
          done.stdout)
    done = run([VICTIM, "self", "self.tacho"], env={"TACHO_COLLECTOR": "/bin/true"})
    check(done.stdout.startswith(b"start -2, state 3") and b"did not answer" in done.stdout, done.stdout)
    done = run([VICTIM, "self", "/missing/self.tacho"])
    check(done.stdout.startswith(b"start -2, state 3") and b"/missing" in done.stdout, done.stdout)
    done = run([VICTIM, "self", "x" * 600])
    check(done.stdout.startswith(b"start -2, state 3") and b"too long" in done.stdout, done.stdout)


@case
def recording_itself_with_others():
    """What a program that records itself starts or becomes goes into the same trace."""
    env = {"TACHO_ENABLED": "1", "TACHO_OUTPUT": "self.tacho"}
    run([VICTIM, "children"], env=env)
    trace = finished("self.tacho")
    same((trace.named("parent"), trace.named("work")), (20, 300))
    env["TACHO_OUTPUT"] = "exec.tacho"
    run([VICTIM, "exec", "20"], 5, env=env)
    same(finished("exec.tacho").named("exec"), 210)


@case
def two_recordings_of_one_file():
    tool, _ = live_session()
    before = os.path.getsize("live.tacho")
    done = run([TACHO, "record", "-o", "live.tacho", "--", "touch", "started"], 125)
    check(b"another recording" in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)
    check(not os.path.exists("started") and os.path.getsize("live.tacho") >= before, "it was cut")
    end(tool)
    Trace("live.tacho")
    # Names of our own choosing differ, even in the same second.
    os.mkdir("many")
    tools = [start([TACHO, "record", *options, "--", VICTIM, "scopes", "20", "10000"], cwd="many")
             for options in ((), (), (), ("--last", "1h"), ("--last", "1h"))]
    for tool in tools:
        same(tool.wait(30), 0)
    traces = [Trace(os.path.join("many", f)) for f in os.listdir("many")]
    same([t.named("work") for t in traces], [20] * 5, os.listdir("many"))


@case
def recording_itself_and_killed():
    program = start([VICTIM, "publish", "count"], env={"TACHO_ENABLED": "1", "TACHO_OUTPUT": "self.tacho"})
    wait_until(lambda: published("count")[0] > 100000, "some scopes")
    program.kill()
    program.wait()
    trace = finished("self.tacho")
    ended = published("count")[0]
    check(ended <= trace.spans <= ended + 3, ended, trace.spans, trace.ledger)


@case
def setuid_program_ignores_our_variables():
    """A program with more rights than its user must not do what the user's environment says."""
    if os.geteuid() != 0:
        raise Skip("only root can make a setgid program for another user")
    os.chmod(".", 0o755)
    top = os.path.abspath(".")
    while top != "/":
        if not os.stat(top).st_mode & 0o001:
            os.chmod(top, 0o711)
        top = os.path.dirname(top)
    # The library is found by the run path of the victim; the copy has it too.
    shutil.copy(VICTIM, "setgid")
    os.chown("setgid", 0, 1)
    os.chmod("setgid", 0o2755)
    command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    if run([*command, os.path.abspath("setgid"), "status"], None).returncode:
        raise Skip("another user cannot run the program here")
    done = run([*command, os.path.abspath("setgid"), "self", "-"],
               env={"TACHO_ENABLED": "1", "TACHO_OUTPUT": "/tmp/tacho-setgid.tacho", **SELF})
    if b"state 0" not in done.stdout and "nosuid" in open("/proc/mounts").read():
        raise Skip("the file system ignores the setgid bit")
    check(done.stdout.startswith(b"start 0, state 0"), done.stdout)
    check(not os.path.exists("/tmp/tacho-setgid.tacho"), "a trace was written")
    done = run([*command, os.path.abspath("setgid"), "status"], env={"TACHO_SESSION": "/tmp"})
    check(done.stdout.startswith(b"0 not recording"), done.stdout)


if __name__ == "__main__":
    main()
