#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The Firefox profiler reads the Firefox export: threads, call trees, markers and counters."""
import json
import os
import subprocess

import libpeers
from libpeers import SAMPLE, check, export, near, rows

PROGRAM = libpeers.peers("node") / "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"
os.environ["PROFILER_CLI_SESSION_DIR"] = os.path.abspath("sessions")


def ask(*command):
    done = subprocess.run(["node", str(PROGRAM), *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60)
    if done.returncode and "ERR_" in done.stdout:
        libpeers.skip("this node cannot run the Firefox profiler")
    check(" ".join(command[:2]), (done.returncode, done.stdout if done.returncode else ""), (0, ""))
    return done.stdout


def by_name(functions):
    return {f["name"]: f["selfSamples"] for f in functions}


def main():
    truth = rows(SAMPLE)
    ask("load", export(SAMPLE, "sample.firefox.json.gz"))
    try:
        threads = json.loads(ask("thread", "list", "--json"))
        text = json.dumps(threads)
        for name in ("loader", "GPU 0 stream 7", "request", "machine"):
            check(f"thread {name}", f'"{name}"' in text, True)
        info = ask("profile", "info", "--all")
        check("counters", [c in info for c in ("Memory", "loss", "cpu")], [True] * 3)
        samples = json.loads(ask("thread", "samples", "--thread", "t-0", "--json"))
        check("stack samples", by_name(samples["topFunctionsBySelf"]), {"gemm_inner": 4, "matmul": 2, "main": 0})
        samples = json.loads(ask("thread", "samples", "--thread", "t-4", "--json"))
        for name, own in by_name(samples["topFunctionsBySelf"]).items():
            near(f"self time of {name}", own * 1e6, sum(
                s["self_ns"] for s in truth["span"] if s["name"] == name and s["process"] == "worker"), 1e-6)
        markers = json.loads(ask("thread", "markers", "--thread", "t-0", "--json"))
        counts = {m["markerName"]: m["count"] for m in markers["byType"]} if "byType" in markers else {}
        if not counts:
            text = ask("thread", "markers", "--thread", "t-0")
            counts = {line.split()[0]: int(line.split()[1]) for line in text.splitlines()
                      if " markers " in line and line.startswith("  ") and "(" in line and "%" not in line}
        check("markers", {n: counts.get(n) for n in ("matmul", "pack", "step", "epoch")},
              {"matmul": 16, "pack": 16, "step": 8, "epoch": 1})
    finally:
        ask("stop")


main()
libpeers.finish()
