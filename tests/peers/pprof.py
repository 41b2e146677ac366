#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""go tool pprof prints the pprof export, and its totals are ours."""
import os
import re
import shutil
import subprocess

import libpeers
from libpeers import ROOT, SAMPLE, check, export, rows

if not shutil.which("go"):
    libpeers.skip("go is not installed")
# The tool is built on first use: keep what was built.
os.environ.update(GOCACHE=str(ROOT / "build/peers-go"), GOPROXY="off", GOTOOLCHAIN="local",
                  PPROF_TMPDIR=os.getcwd())


def pprof(*arguments):
    done = subprocess.run(["go", "tool", "pprof", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=200)
    if done.returncode and "pprof" not in done.stderr:
        libpeers.skip(f"go tool pprof does not run: {done.stderr.strip()[-200:]}")
    check(" ".join(arguments), (done.returncode, done.stderr if done.returncode else ""), (0, ""))
    return done.stdout


def top(path, *arguments):
    """Flat and cumulative by name, in the profile's unit."""
    found = {}
    for line in pprof("-top", "-nodefraction=0", "-nodecount=100000", *arguments, path).splitlines():
        match = re.match(r"\s*(\d+)(?:ns)?\s+[\d.]+%\s+[\d.]+%\s+(\d+)(?:ns)?\s+[\d.]+%\s+(.*)", line)
        if match:
            found[match[3]] = (int(match[1]), int(match[2]))
    return found


def flat(spans):
    found = {}
    for span in spans:
        if span["track"] in THREADS:
            name = span["name"].split("\n")[0]
            found[name] = found.get(name, 0) + span["self_ns"]
    return found


truth = rows(SAMPLE)
THREADS = {t["id"] for t in truth["track"] if t["kind"] == "thread"}
path = export(SAMPLE, "spans.pb.gz", "--table", "spans")
got = top(path, "-unit=ns")
check("self times", {name: own for name, (own, _) in got.items()}, flat(truth["span"]))
check("a step holds the rest", got["step"][1], 95000000)
got = top(path, "-sample_index=scopes")
check("scopes", got["matmul"][0], 16)
check("samples", top(export(SAMPLE, "samples.pprof")), {"gemm_inner": (4, 4), "matmul": (2, 6), "main": (0, 6)})
raw = pprof("-raw", path)
check("duration", "Duration: 99.50ms" in raw or "99.5" in raw, True)
source = libpeers.large(50_000)
truth = rows(source)
THREADS = {t["id"] for t in truth["track"] if t["kind"] == "thread"}
got = top(export(source, "large.pb.gz"), "-unit=ns")
check("self times of many", {name: own for name, (own, _) in got.items()}, flat(truth["span"]))
libpeers.finish()
