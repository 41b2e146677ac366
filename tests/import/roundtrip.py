#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every real Kineto and Chrome file: JSON -> .tacho -> Kineto JSON must be equal event by event, and
known answers must come out. Skips where the folder of real traces is not beside the tree."""
import json
import os
import subprocess
import sys
from pathlib import Path

TACHO = os.environ["TACHO"]
ROOT = Path(os.environ["TEST_ROOT"])
DATA = ROOT.parent / "shared/data"
failures = []


def check(holds, text):
    if not holds:
        failures.append(text)
        print(f"FAIL {text}")


def report(path):
    done = subprocess.run([TACHO, "report", "--json", path], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def round_trips():
    files = sorted(DATA.glob("*.json.gz")) + sorted(DATA.glob("public/*.json.gz"))
    for path in [p for p in files if "snapshot" not in p.name]:
        subprocess.run([TACHO, "export", path, "-o", "copy.tacho"], check=True)
        subprocess.run([TACHO, "export", "copy.tacho", "-o", "copy.kineto.json"], check=True)
        done = subprocess.run([sys.executable, ROOT / "tests/import/libcompare_kineto.py", path,
                               "copy.kineto.json"], stdout=subprocess.PIPE, text=True)
        print(path.name, done.stdout.strip()[-200:])
        check(done.returncode == 0, f"{path.name} is not equal to itself")


def known_answers():
    for workers, mean in ((0, 174.8), (4, 139.7)):
        found = report(DATA / f"public/kineto_resnet50_workers{workers}.json.gz")["summary"]
        check(abs(found["step_ns"]["mean"] / 1e6 - mean) < 0.1,
              f"mean step of {workers} workers: {found['step_ns']['mean'] / 1e6}")
    summary = report(DATA / "resnet50_train_h200.json.gz")["summary"]
    check(summary["steps"] == 3, f"steps of resnet50: {summary['steps']}")
    check(summary["kernel_count"] > 2000, f"kernels of resnet50: {summary['kernel_count']}")
    check(report(DATA / "ort_squeezenet_cpu.json.gz")["summary"]["steps"] == 5, "runs of squeezenet")
    for run, low, high in (("base", 2631, 2659), ("slow", 2841, 2857)):
        found = report(DATA / f"runs/mlp_{run}_run1.json.gz")["summary"]
        per_step = found["kernel_time_ns"] / found["steps"] / 1e3
        check(low - 1 <= per_step <= high + 1, f"kernel time per step of {run}: {per_step} us")


def merging():
    parts = [DATA / f"ddp4_gloo_cpu_rank{i}.json.gz" for i in range(4)]
    subprocess.run([TACHO, "export", *parts, "-o", "all.tacho"], check=True)
    whole = report("all.tacho")
    spans = sum(report(p)["summary"]["cpu_op_count"] for p in parts)
    check(whole["summary"]["cpu_op_count"] == spans, "merged operations")
    check(whole["summary"]["steps"] == 4 * report(parts[0])["summary"]["steps"], "merged steps")
    names = [o["name"] for o in whole["operations"]]
    check("extra_work" in names, "the straggler's extra work")


def main():
    if not DATA.is_dir():
        print("the folder of real traces is not beside this tree")
        sys.exit(77)
    round_trips()
    known_answers()
    merging()
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
