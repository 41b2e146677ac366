#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Perfetto's own trace processor reads the Perfetto export, and the Chrome export beside it."""
import json
import subprocess

import libpeers
from libpeers import ROOT, SAMPLE, check, export, near, rows, sums

FOLDER = libpeers.peers("perfetto")


def ask(path, *queries):
    try:
        done = subprocess.run(["node", str(ROOT / "tests/peers/trace_processor.js"), str(FOLDER), path, *queries],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError:
        libpeers.skip("node is not installed")
    check(f"reading {path}", (done.returncode, done.stderr if done.returncode else ""), (0, ""))
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


PROBLEMS = "SELECT name, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')"


def sample():
    truth = rows(SAMPLE)
    spans = truth["span"]
    path = export(SAMPLE, "sample.pftrace")
    problems, slices, threads, counters, flows, args, nesting = ask(
        path, PROBLEMS,
        "SELECT name, ts - 5000000000 AS start, dur, category AS cat FROM slice WHERE dur > 0 ORDER BY ts, dur",
        "SELECT t.name, t.tid, p.name AS process, p.pid FROM thread t JOIN process p USING (upid)"
        " WHERE t.tid > 0 ORDER BY t.tid",
        "SELECT t.name, t.unit, count(*) AS n, sum(value) AS total FROM counter c"
        " JOIN counter_track t ON c.track_id = t.id GROUP BY t.id ORDER BY t.name",
        "SELECT o.name AS source, o.ts AS source_ts, i.name AS target, i.ts AS target_ts FROM flow"
        " JOIN slice o ON slice_out = o.id JOIN slice i ON slice_in = i.id",
        "SELECT key, count(*) AS n, sum(int_value) AS total, max(string_value) AS text FROM args"
        " WHERE key IN ('debug.index', 'debug.step', 'debug.flops', 'debug.shapes') GROUP BY key ORDER BY key",
        "SELECT c.name, p.name AS parent, count(*) AS n FROM slice c JOIN slice p ON c.parent_id = p.id"
        " WHERE c.dur > 0 GROUP BY 1, 2 ORDER BY 1")
    check("problems", problems, [])
    check("slices", sorted((s["start"], s["dur"], s["name"], s["cat"] or "") for s in slices),
          sorted((s["start_ns"], s["duration_ns"], s["name"], s.get("category", "")) for s in spans))
    check("threads", [(t["name"], t["tid"], t["process"], t["pid"]) for t in threads],
          [("main", 1000, "train", 1000), ("loader", 1001, "train", 1000), ("main", 2000, "worker", 2000)])
    check("counters", [(c["name"], c["unit"], c["n"]) for c in counters],
          [("cpu", "%", 8), ("loss", None, 8), ("rss", "bytes", 8)])
    for counter in counters:
        near(counter["name"], counter["total"],
             sum(c["value"] for c in truth["counter"] if c["name"] == counter["name"]))
    check("flows", len(flows), 24)
    check("arrows point forward", all(f["source_ts"] <= f["target_ts"] for f in flows), True)
    check("arrows end at kernels", sum(f["target"] == "gemm" for f in flows), 16)
    check("arguments", [(a["key"], a["n"]) for a in args],
          [("debug.flops", 16), ("debug.index", 16), ("debug.shapes", 16), ("debug.step", 8)])
    check("nesting", {(n["name"], n["parent"]): n["n"] for n in nesting}, {
        ("forward", "step"): 8, ("backward", "step"): 8, ("matmul", "forward"): 16, ("pack", "matmul"): 16,
        ("bad \ufffd name", "decode"): 1, ('say "hi", twice\nor more', "decode"): 1, ("größe", "decode"): 1})


def large():
    """Many blocks: every scope of the stream of packets finds its end, and nests as in the trace."""
    source = libpeers.large(200_000)
    by_name = "SELECT name, count(*) AS n, sum(dur) AS total FROM slice WHERE category IS NOT NULL OR dur > 0" \
              " GROUP BY name ORDER BY name"
    depths = "SELECT depth, count(*) AS n FROM slice s JOIN thread_track t ON s.track_id = t.id GROUP BY depth"
    problems, names, levels = ask(export(source, "large.pftrace"), PROBLEMS, by_name, depths)
    spans = rows(source)["span"]
    check("problems of many", problems, [])
    truth = sums(spans)
    check("sums by name", {n["name"]: (n["n"], n["total"]) for n in names if n["name"] != "trace"}, truth)
    expected = {}
    for span in spans:
        if span["thread"] == "worker":
            expected[span["depth"]] = expected.get(span["depth"], 0) + 1
    check("depths", {level["depth"]: level["n"] for level in levels}, expected)
    problems, names = ask(export(source, "large.chrome.json"), PROBLEMS, by_name)
    check("problems of the Chrome export", problems, [])
    check("sums of the Chrome export", {n["name"]: (n["n"], n["total"]) for n in names}, truth)


def empty():
    problems, count = ask(export(SAMPLE, "empty.pftrace", "--filter", "no such name"), PROBLEMS,
                          "SELECT count(*) AS n FROM slice WHERE dur > 0")
    check("nothing", (problems, count), ([], [{"n": 0}]))


sample()
large()
empty()
libpeers.finish()
