#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The program's status, signals, output, input and terminal are its own."""
import os
import pty
import select
import signal
import subprocess
import time

from libsurvive import (TACHO, VICTIM, Skip, Trace, case, check, main, published, record, run, same,
                        start, wait_until)

QUIET = {"stdout": subprocess.DEVNULL}


@case
def exit_statuses():
    for status in (0, 1, 2, 42, 125, 126, 127, 255):
        done = run([TACHO, "record", "-o", "out.tacho", "--", "sh", "-c", f"exit {status}"], status)
        same(done.stderr, b"")
        Trace(report=False)


@case
def programs_that_cannot_run():
    open("plain", "w").close()
    for program, status in (("./plain", 126), ("./missing", 127), ("no-such-program", 127), ("/", 126)):
        done = run([TACHO, "record", "-o", "none.tacho", "--", program], status)
        check(done.stderr.startswith(b"tacho") and done.stderr.count(b"\n") == 1, done.stderr)
        check(not os.path.exists("none.tacho"), "a trace of nothing was left")
    with open("kept.tacho", "w") as file:
        file.write("an older file of the user")
    run([TACHO, "record", "--last", "1s", "-o", "kept.tacho", "--", "./missing"], 127)
    with open("kept.tacho") as file:
        same(file.read(), "an older file of the user")


@case
def output_and_input_are_untouched():
    text = bytes(range(256)) * 1000
    alone = run([VICTIM, "echo", "3"], 3, input=text)
    recorded = record("echo", "3", status=3, input=text)
    same((recorded.stdout, recorded.stderr), (alone.stdout, alone.stderr))
    same(alone.stdout, text)
    same(Trace().named("echo"), 1)


@case
def closed_descriptors():
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        script = f'"$@" {closed}'
        show = 'for f in 0 1 2; do [ -e /proc/self/fd/$f ] && echo $f; done >seen'
        done = [run(["sh", "-c", script, "sh", *prefix, "sh", "-c", show + "; exit 9"], 9)
                and open("seen").read()
                for prefix in ([], [TACHO, "record", "-v", "-o", "out.tacho", "--"])]
        same(done[0], done[1], closed)
        Trace()
        run(["sh", "-c", script, "sh", TACHO, "record", "-v", "-o", "out.tacho", "--", VICTIM, "scopes",
             "1000"])
        same(Trace().named("work"), 1000, closed)


@case
def death_by_signal():
    for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM, signal.SIGKILL, signal.SIGPIPE):
        record("die", int(number), status=-number)
        trace = Trace()
        same(trace.named("before"), 100, number)
        same(trace.entry("scopes still open"), 1)


@case
def signals_to_the_tool_reach_the_program():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        tool = start([TACHO, "record", "-o", "out.tacho", "--", VICTIM, "signals", f"count-{number}"],
                     **QUIET)
        wait_until(lambda: published(f"count-{number}")[0] > 0, "the victim's first scope")
        tool.send_signal(number)
        same(tool.wait(30), 33)
        same(published(f"count-{number}")[1:], (1, number))
        same(Trace().named("waiting"), published(f"count-{number}")[0])


class Terminal:
    """A program that leads a session with a terminal of its own."""

    def __init__(self, command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(command[0], command)
        self.text = b""

    def type(self, text):
        os.write(self.fd, text)

    def read(self, seconds=0.05):
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                more = os.read(self.fd, 65536)
            except OSError:
                return self.text
            if not more:
                return self.text
            self.text += more
        return self.text

    def wait(self, seconds=40):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        raise AssertionError(f"no end: {self.text[-1000:]}")


@case
def interrupt_from_a_terminal():
    terminal = Terminal([TACHO, "record", "-o", "out.tacho", "--", VICTIM, "signals", "count"])
    wait_until(lambda: published("count")[0] > 100, "the victim's first scopes")
    terminal.type(b"\x03")
    same(terminal.wait(), 33)
    same(published("count")[1:], (1, signal.SIGINT), "SIGINT must come once")
    same(Trace().named("waiting"), published("count")[0])


@case
def stopped_and_continued():
    terminal = Terminal(["sh", "-ic", f"{TACHO} record -o out.tacho -- {VICTIM} signals count; "
                         "echo stopped $?; fg; echo status $?"])
    wait_until(lambda: published("count")[0] > 100, "the victim's first scopes")
    terminal.type(b"\x1a")
    wait_until(lambda: b"stopped 148" in terminal.read(), "the shell to see that it stopped")
    before = published("count")[0]
    wait_until(lambda: published("count")[0] > before + 100, "the victim going on after fg")
    terminal.type(b"\x03")
    terminal.wait()
    check(b"status 33" in terminal.text, terminal.text)
    same(published("count")[1:], (1, signal.SIGINT))
    same(Trace().named("waiting"), published("count")[0])


@case
def first_process_of_a_container():
    if subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"],
                      stderr=subprocess.DEVNULL).returncode:
        raise Skip("a new pid namespace is not permitted here")
    inside = ["unshare", "--pid", "--fork", "--mount-proc"]
    done = run([*inside, TACHO, "record", "-o", "out.tacho", "--", VICTIM, "orphans", "20"], 6)
    same(done.stdout, b"0 zombies\n")
    run([*inside, TACHO, "record", "-o", "out.tacho", "--", VICTIM, "scopes", "1000"])
    same(Trace().named("work"), 1000)
    run([*inside, TACHO, "record", "-o", "out.tacho", "--", VICTIM, "die", "15"], 128 + 15)
    same(Trace().named("before"), 100)


@case
def program_in_another_pid_namespace():
    if subprocess.run(["unshare", "--pid", "--fork", "true"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("a new pid namespace is not permitted here")
    run([TACHO, "record", "-o", "out.tacho", "--", "unshare", "--pid", "--fork", VICTIM, "forks", "50",
         "4"])
    same(Trace().named("child"), 200)


@case
def children_ignored_by_whoever_started_us():
    """SIGCHLD ignored is inherited; the program's end must be seen all the same."""
    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    done = subprocess.run([TACHO, "record", "-o", "out.tacho", "--", "sh", "-c", "trap; exit 5"],
                          preexec_fn=ignore, timeout=30)
    same(done.returncode, 5)
    shown = [subprocess.run([*prefix, "grep", "SigIgn", "/proc/self/status"], preexec_fn=ignore,
                            stdout=subprocess.PIPE, timeout=30).stdout
             for prefix in ([], [TACHO, "record", "-o", "out.tacho", "--"])]
    same(shown[0], shown[1], "the program's own dispositions")


@case
def descriptors_are_not_passed_on():
    show = "ls /proc/self/fd | wc -l"
    alone = run(["sh", "-c", show]).stdout
    same(run([TACHO, "record", "-o", "out.tacho", "--", "sh", "-c", show]).stdout, alone)


@case
def program_that_closes_all_descriptors():
    record("close_all", status=7)
    trace = Trace()
    same((trace.named("before"), trace.named("name 199")), (10, 1000))
    same(trace.ledger["recorded"] + trace.ledger["dropped"], 200010)


@case
def program_with_many_descriptors():
    record("open_many", "101")
    same(Trace().named("work"), 100000)


@case
def errno_is_kept():
    same(record("status").stdout.count(b"1 recording in a session"), 2)


if __name__ == "__main__":
    main()
