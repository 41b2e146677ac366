#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Small files that unpack to something huge: memory stays below --max-memory, and one line says why."""
import gzip
import os
import subprocess
import sys

TACHO = os.environ["TACHO"]
EVENT = b'{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"'
failures = 0


def bomb(name, head, filler, times, tail):
    with gzip.open(name, "wb", 1) as file:
        file.write(head)
        for _ in range(times):
            file.write(filler)
        file.write(tail)


def check(name, status, says):
    """Runs info with 128 MiB for the import; the tool itself may take some more."""
    global failures
    process = subprocess.Popen([TACHO, "info", "--no-cache", "--max-memory", "128M", name],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    text = process.stderr.read()
    _, ended, use = os.wait4(process.pid, 0)
    found, peak = os.waitstatus_to_exitcode(ended), use.ru_maxrss / 1024
    good = found == status and says in text and text.count("\n") <= 1 and peak < 400
    print(f"{'ok' if good else 'FAIL'} {name}: status {found}, {peak:.0f} MiB, {text.strip()[:150]}")
    failures += not good


MIB = b"x" * (1 << 20)
bomb("string.json.gz", b"[" + EVENT, MIB, 1000, b'"}]')
check("string.json.gz", 2, "--max-memory")
bomb("spaces.json.gz", b"[" + EVENT + b'a"},', b" " * (1 << 20), 1000, b"]")
check("spaces.json.gz", 0, "")
bomb("events.json.gz", b"[", b",".join([EVENT + b'a"}'] * 20000) + b",", 200, EVENT + b'a"}]')
check("events.json.gz", 2, "--max-memory")
bomb("long.json.gz", b"[" + EVENT, MIB, 100, b'"}]')
subprocess.run([TACHO, "info", "--no-cache", "long.json.gz"], check=True, stdout=subprocess.DEVNULL)
sys.exit(1 if failures else 0)
