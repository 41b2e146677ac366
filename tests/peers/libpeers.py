# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the tests of this folder share: peers, exports, the truth about a trace, and checks."""
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(os.environ["TEST_ROOT"])
TACHO = os.environ["TACHO"]
SAMPLE = str(ROOT / "tests/data/v1/small.tacho")
SKIP = 77

passed = failed = 0


def skip(reason):
    print(reason)
    sys.exit(SKIP)


def peers(name):
    """The folder of a set of peers, installed now if need be."""
    done = subprocess.run([str(ROOT / "tools/peers"), name], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        skip(done.stdout.strip() or "tools/peers failed")
    return Path(done.stdout.strip())


def with_python_peers():
    """Goes on in the interpreter that has the packages."""
    python = peers("python") / "bin/python"
    if Path(sys.prefix) != python.parent.parent:
        os.execv(python, [str(python), *sys.argv])


def check(what, got, expected):
    global passed, failed
    if got == expected:
        passed += 1
    else:
        failed += 1
        print(f"{what}:\n\tgot      {got!r:.800}\n\texpected {expected!r:.800}")


def near(what, got, expected, relative=1e-9):
    check(what, abs(got - expected) <= relative * max(abs(expected), 1e-30) or got, True)


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def export(source, target, *options):
    subprocess.run([TACHO, "export", source, "-o", target, *options], check=True)
    return target


def large(spans):
    """A trace of many spans over several blocks."""
    program = Path(os.environ["TEST_BUILD"]) / "bench/bench_export"
    if not program.exists():
        skip(f"{program.name} is not built")
    subprocess.run([program, "large.tacho", str(spans)], check=True)
    return "large.tacho"


def rows(source):
    """Everything in a trace, by type, as the exporter of JSON lines tells it."""
    found = defaultdict(list)
    out = subprocess.run([TACHO, "export", source, "--to", "jsonl"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    for line in out.splitlines():
        row = json.loads(line)
        found[row["type"]].append(row)
    return found


def sums(spans, key="name"):
    """Count and summed duration by name."""
    found = defaultdict(lambda: [0, 0])
    for span in spans:
        found[span[key]][0] += 1
        found[span[key]][1] += span["duration_ns"]
    return {name: tuple(pair) for name, pair in found.items()}
