# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the scripts of tests/survive share: cases, running the victim, looking into a trace."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import traceback

TACHO = os.environ["TACHO"]
BUILD = os.environ["TEST_BUILD"]
VICTIM = os.path.join(BUILD, "tests/survive/victim")
LOADER = os.path.join(BUILD, "tests/survive/victim_loader")
PLUGIN = os.path.join(BUILD, "tests/survive/survive_plugin.so")
TIMEOUT = 120

_cases = []


class Skip(Exception):
    pass


def case(function):
    _cases.append(function)
    return function


def main():
    """Runs the cases, each in an empty folder of its own; arguments choose some by a part of the name."""
    passed = failed = skipped = 0
    top = os.getcwd()
    for function in _cases:
        if len(sys.argv) > 1 and not any(a in function.__name__ for a in sys.argv[1:]):
            continue
        os.chdir(tempfile.mkdtemp(prefix=function.__name__ + "-", dir=top))
        start = time.monotonic()
        try:
            function()
            passed += 1
            print(f"ok {function.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
        except Skip as reason:
            skipped += 1
            print(f"skip {function.__name__}: {reason}", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {function.__name__}\n{traceback.format_exc()}", flush=True)
    os.chdir(top)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed else 77 if skipped and not passed else 0)


def check(condition, *facts):
    if not condition:
        raise AssertionError(" | ".join(str(f)[:1500] for f in facts) or "check failed")


def same(actual, expected, *facts):
    check(actual == expected, f"{actual!r} is not {expected!r}", *facts)


def run(command, status=0, env=None, input=None, **options):
    """Runs a command to its end and checks its status; None takes any."""
    done = subprocess.run([str(c) for c in command], env={**os.environ, **(env or {})}, input=input,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT,
                          **({"stdin": subprocess.DEVNULL} if input is None else {}), **options)
    if status is not None:
        same(done.returncode, status, command, done.stdout[-1000:], done.stderr[-2000:])
    return done


def record(*arguments, options=(), output="out.tacho", status=0, **more):
    """Records the victim and returns the finished process."""
    return run([TACHO, "record", "-o", output, *options, "--", VICTIM, *arguments], status, **more)


def start(command, env=None, **options):
    return subprocess.Popen([str(c) for c in command], env={**os.environ, **(env or {})},
                            stdin=subprocess.DEVNULL, **options)


def wait_until(condition, what, seconds=30):
    """For things that other processes do: generous, since the machine may be slow."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(f"still not after {seconds} s: {what}")


def published(path):
    """(ended, produced, other) of the victim's shared file."""
    try:
        with open(path, "rb") as file:
            bytes = file.read(24)
    except FileNotFoundError:
        return (0, 0, 0)
    return struct.unpack("=QQQ", bytes) if len(bytes) == 24 else (0, 0, 0)


class Trace:
    """A trace as `tacho info` and `tacho report` tell it."""

    def __init__(self, path="out.tacho", report=True):
        self.path = path
        self.info = json.loads(run([TACHO, "info", "--json", path]).stdout)
        self.ledger = self.info["ledger"]
        self.report = None
        if report:
            done = run([TACHO, "report", "--json", "--by", "all", path])
            self.report = json.loads(done.stdout)
        self.check_sane()

    def entry(self, what):
        """The count of the ledger entries whose text begins with `what`."""
        return sum(e["count"] for e in self.ledger["entries"] if e["what"].startswith(what))

    def effects(self, what):
        return [e["effect"] for e in self.ledger["entries"] if e["what"].startswith(what)]

    @property
    def spans(self):
        return self.info["counts"]["spans"]

    def named(self, name, category=None):
        """How many spans of a name there are."""
        tables = [self.report["operations"], self.report["phases"]]
        return sum(row["count"] for table in tables for row in table if row["name"] == name)

    def threads(self):
        return [t for t in self.info["tracks"] if t["kind"] == "thread"]

    def processes(self):
        """Process numbers of those that recorded something."""
        by_id = {t["id"]: t for t in self.info["tracks"]}
        return {by_id[t["parent"]]["os_id"] for t in self.threads()}

    def steps(self):
        recorded = self.report["summary"]["steps_recorded"]
        return [s["number"] for s in self.report["steps"]] if recorded else []

    def metadata(self, key):
        return self.info["metadata"].get(key)

    def check_sane(self):
        ledger = self.ledger
        same(ledger["produced"], ledger["recorded"] + ledger["dropped"], "ledger", ledger)
        same(self.entry("records that make no sense"), 0, ledger)
        check(not self.report or self.report["summary"]["damaged_blocks"] == 0, "damaged blocks")
        for node in self.report["tree"]["nodes"] if self.report else []:
            check(0 <= node["self_ns"] <= node["total_ns"], "self above total", node)
        self.check_tree()

    def check_tree(self):
        """Children lie inside their parents, so they cannot take longer, and self is what is left."""
        tree = self.report["tree"] if self.report else {"cut": True, "nodes": []}
        whole = not tree["cut"] and not self.entry("older rows") and not self.entry("rows not written")
        inside = {}
        for node in tree["nodes"]:
            inside[node["parent"]] = inside.get(node["parent"], 0) + node["total_ns"]
        for node in tree["nodes"]:
            check(inside.get(node["id"], 0) <= node["total_ns"], "children outlast a parent", node)
            if whole:
                same(node["total_ns"] - inside.get(node["id"], 0), node["self_ns"], "self", node)


def finished(path, seconds=30):
    """The trace of a program that recorded itself: its collector ends a little later."""
    wait_until(lambda: os.path.exists(path) and
               b'"repaired": false' in run([TACHO, "info", "--json", path], None).stdout,
               f"{path} being finished", seconds)
    return Trace(path)


def exact(trace, produced, other_events=0):
    """Nothing is missing that is not counted: what the victim began is recorded or dropped."""
    same(trace.ledger["produced"], produced + other_events, trace.ledger)
    same(trace.spans, trace.ledger["recorded"] - other_events, "spans in the file", trace.ledger)


def shm_folders():
    return {f for f in os.listdir("/dev/shm") if f.startswith(f"tacho-{os.geteuid()}-")}


def may_mount():
    done = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def need_mount():
    if not may_mount():
        raise Skip("mounting a small tmpfs is not permitted here")
