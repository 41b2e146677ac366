#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Benchmarks of exports: spans per second of the whole command, from its start to its end, and its
peak memory. Prints one line per figure: bench NAME VALUE UNIT ..."""
import os
import subprocess
import sys
import tempfile
import time

TACHO = os.environ["TACHO"]
PROGRAM = os.path.join(os.environ["TEST_BUILD"], "bench", "bench_export")
SPANS = int(os.environ.get("BENCH_SPANS", 5_000_000))
RUNS = int(os.environ.get("BENCH_RUNS", 3))
# Format, extension, and the spans per second to reach.
FORMATS = [
    ("chrome", ".chrome.json", 2e6),
    ("perfetto", ".pftrace", 2e6),
    ("jsonl", ".jsonl", None),
    ("parquet", ".parquet", None),
    ("speedscope", ".speedscope.json", None),
    ("firefox", ".firefox.json", None),
    ("xplane", ".xplane.pb", None),
    ("pprof", ".pb.gz", None),
    ("collapsed", ".collapsed", None),
]


def export(source, target):
    """Seconds, and the most memory that the command used, in MiB."""
    start = time.monotonic()
    process = subprocess.Popen([TACHO, "export", source, "-o", target])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{target}: exit status {process.returncode}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def main():
    missed = []
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="tacho-bench-") as folder:
        source = os.path.join(folder, "source.tacho")
        subprocess.run([PROGRAM, source, str(SPANS)], check=True)
        for name, extension, floor in FORMATS:
            if wanted and name not in wanted:
                continue
            target = os.path.join(folder, "out" + extension)
            runs = [export(source, target) for _ in range(RUNS if floor else 1)]
            rate = SPANS / min(seconds for seconds, _ in runs)
            more = f"{os.path.getsize(target) / SPANS:.1f} bytes/span, {runs[0][1]:.0f} MiB"
            if floor:
                more += f", floor {floor:.0f}"
                if rate < floor:
                    missed.append(name)
            print(f"bench export.{name} {rate:.0f} events/s {more}", flush=True)
            os.unlink(target)
    if missed:
        sys.exit("below the floor: " + " ".join(missed))


main()
