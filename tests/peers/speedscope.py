#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""speedscope's own import code reads the speedscope export."""
import json
import subprocess
from collections import defaultdict

import libpeers
from libpeers import ROOT, SAMPLE, check, export, rows

BUNDLES = sorted((libpeers.peers("node") / "node_modules/speedscope/dist/release").glob("speedscope-*.js"))
if not BUNDLES:
    libpeers.skip("the package of speedscope holds no bundle")


def read(path):
    done = subprocess.run(["node", str(ROOT / "tests/peers/speedscope_import.js"), str(BUNDLES[0]), path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == libpeers.SKIP:
        libpeers.skip(done.stderr.strip())
    check(f"reading {path}", (done.returncode, done.stderr), (0, ""))
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(source, path):
    """Self time by thread and name, over all lanes of a track."""
    truth, got = defaultdict(int), defaultdict(int)
    opened = 0
    for span in rows(source)["span"]:
        truth[f"{span['process']}: {span['thread']}", span["name"]] += span["self_ns"]
    profiles = read(path)
    for profile in profiles:
        if profile["unit"] != "nanoseconds":
            continue
        opened += profile["opened"]
        name = profile["name"].split(" (")[0]
        for frame, (own, _) in profile["frames"].items():
            got[name, frame] += own
    check("self times", dict(got), dict(truth))
    return profiles, opened


profiles, opened = compare(SAMPLE, export(SAMPLE, "sample.speedscope.json"))
check("spans", opened, 89)
check("samples", [(p["weight"], p["frames"]["gemm_inner"]) for p in profiles if p["unit"] == "none"], [(6, [4, 4])])
source = libpeers.large(50_000)
_, opened = compare(source, export(source, "large.speedscope.json"))
check("spans of many", opened, 50_000)
libpeers.finish()
