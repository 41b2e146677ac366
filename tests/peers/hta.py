#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Holistic Trace Analysis loads our Kineto export and finds the same kernels as in the original."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(os.environ["TEST_ROOT"]).parent / "shared/data"
COMPARE = """
import sys
import pandas
from hta.trace_analysis import TraceAnalysis

def breakdown(path):
    analysis = TraceAnalysis(trace_files={0: path}, trace_dir=".")
    return analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=20)

for ours, theirs in zip(breakdown(sys.argv[1]), breakdown(sys.argv[2])):
    columns = list(ours.select_dtypes(exclude="number").columns)
    ours, theirs = (t.sort_values(columns).reset_index(drop=True) for t in (ours, theirs))
    pandas.testing.assert_frame_equal(ours, theirs, rtol=1e-9)
    print(len(ours), "rows are equal")
"""


def main():
    if not DATA.is_dir():
        print("the folder of real traces is not beside this tree")
        return 77
    tool = Path(os.environ["TEST_ROOT"]) / "tools/peers"
    found = subprocess.run([tool, "hta"], stdout=subprocess.PIPE, text=True)
    if found.returncode:
        print(found.stdout.strip() or "HTA cannot be installed")
        return found.returncode
    python = Path(found.stdout.strip().split("\n")[-1]) / "bin/python"
    with tempfile.TemporaryDirectory() as folder:
        for name in ("resnet50_train_h200", "public/hta_nccl"):
            original, copy = DATA / f"{name}.json.gz", f"{folder}/copy.pt.trace.json"
            subprocess.run([os.environ["TACHO"], "export", original, "-o", copy], check=True)
            subprocess.run(["gzip", "-f", copy], check=True)
            subprocess.run([python, "-c", COMPARE, original, copy + ".gz"], check=True, cwd=folder,
                           stderr=subprocess.DEVNULL)
    return 0


sys.exit(main())
