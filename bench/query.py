#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Benchmarks of SQL over 10 million spans, loaded from a file. The peers are the same tables with
nothing handed down to them (plain-vtab), and a plain table of SQLite with the same rows, whose
loading is not counted. Prints one line per figure: bench NAME VALUE UNIT [peer ... ratio R]."""
import os
import subprocess
import sys
import tempfile
import time

TACHO = os.environ["TACHO"]
PROGRAM = os.path.join(os.environ["TEST_BUILD"], "bench", "bench_query")
SPANS = int(os.environ.get("BENCH_SPANS", 10_000_000))
RUNS = 3

BY_NAME = "SELECT name, count(*), sum(duration_ns) FROM spans GROUP BY name"
BY_TRACK = "SELECT track, name, count(*), sum(duration_ns) FROM spans GROUP BY track, name"
# What is asked, the seconds it may take for 10 million spans, and how often it is asked.
QUESTIONS = [
    ("group_by_name", BY_NAME, 2.5),
    ("group_by_track_name", BY_TRACK, 4.0),
    ("window_10ms", "SELECT count(*), sum(duration_ns) FROM spans"
                    " WHERE start_ns >= {middle} AND start_ns < {middle} + 10000000", 0.030),
    ("distinct_name", "SELECT DISTINCT name FROM spans", None),
    ("count_by_name", "SELECT name, count(*) FROM spans GROUP BY name", None),
    ("one_name", "SELECT count(*), max(duration_ns) FROM spans WHERE name = 'aten::operation_919'",
     None),
]


def tool(path, sql):
    """Wall time of the tool, from its start to its end, and its answer."""
    best, answer = 1e9, None
    for _ in range(RUNS):
        start = time.monotonic()
        answer = subprocess.run([TACHO, "query", "--format", "csv", path, sql], check=True,
                                stdout=subprocess.PIPE, text=True).stdout
        best = min(best, time.monotonic() - start)
    return best, answer


def total(answer):
    """The sum of all integers of an answer, as bench_query adds them up."""
    cells = [cell for line in answer.split("\n")[1:] for cell in line.split(",")]
    return sum(int(cell) for cell in cells if cell.isdigit()) % 2**64


def peer(mode, path, sql):
    out = subprocess.run([PROGRAM, mode, path, sql], check=True, stdout=subprocess.PIPE,
                         text=True).stdout.split()
    return float(out[0]), int(out[1])


def show(seconds):
    return f"{seconds * 1e3:.1f} ms" if seconds < 0.1 else f"{seconds:.3f} s"


def main():
    missed = []
    with tempfile.TemporaryDirectory(prefix="tacho-bench-") as folder:
        path = os.path.join(folder, "spans.tacho")
        subprocess.run([PROGRAM, "write", path, str(SPANS)], check=True)
        _, answer = tool(path, "SELECT max(end_ns) / 2 FROM spans")
        middle = answer.split("\n")[1]
        for name, sql, limit in QUESTIONS:
            sql = sql.format(middle=middle)
            taken, answer = tool(path, sql)
            for mode, label in (("plain", "plain-vtab"), ("table", "sqlite-table")):
                slow, checksum = peer(mode, path, sql)
                if checksum != total(answer):
                    sys.exit(f"query.{name}: {label} gives another answer")
                print(f"bench query.{name} {show(taken)} peer {label} {show(slow)}"
                      f" ratio {slow / taken:.2f}", flush=True)
            if limit and taken > limit * SPANS / 1e7:
                missed.append(f"query.{name}: {show(taken)}, and {show(limit)} is the limit")
    sys.exit("\n".join(missed) or None)


main()
