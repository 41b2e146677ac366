#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""TensorBoard with its profile plugin opens the XPlane export: the run is listed, the overview has
the steps, the trace viewer every event, and the table of kernels their times."""
import gzip
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import libpeers
from libpeers import SAMPLE, check, export, near, rows

libpeers.with_python_peers()
RUN = "2023_11_14_22_13_20"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


PORT = free_port()


def fetch(path):
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/data/plugin/profile/{path}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        body = answer.read()
    return json.loads(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)


def tool(name):
    return fetch(f"data?run={RUN}&tag={name}&host=tacho")


def wait_until_up(server):
    for _ in range(200):
        if server.poll() is not None:
            break
        try:
            return fetch("runs")
        except (urllib.error.URLError, ConnectionError, json.JSONDecodeError):
            time.sleep(0.3)
    libpeers.skip("tensorboard does not come up: " + open("log").read().strip()[-200:])


def cells(table):
    """Rows of a table of the plugin, by the ids of their columns."""
    ids = [column["id"] for column in table["cols"]]
    return [{i: (cell or {}).get("v") for i, cell in zip(ids, row["c"])} for row in table["rows"]]


def look(runs):
    spans = rows(SAMPLE)["span"]
    check("runs", runs, [RUN])
    check("tools", {"overview_page", "trace_viewer@", "kernel_stats"} <= set(fetch(f"run_tools?run={RUN}")), True)
    steps = [table for table in tool("overview_page") if any(c["id"] == "stepnum" for c in table.get("cols", []))]
    # The plugin leaves out the first step and the last, which might be cut.
    check("steps of the overview", [row["stepnum"] for row in cells(steps[0])], [str(i) for i in range(1, 7)])
    kernels = cells(tool("kernel_stats"))
    check("kernels", [(k["kernel_name"], k["occurrences"]) for k in kernels], [("gemm", 16)])
    near("time of kernels", kernels[0]["total_duration_us"], 19200)
    events = [e for e in tool("trace_viewer@")["traceEvents"] if e.get("ph") == "X"]
    # It shows a step under its name and number.
    shown = {(re.sub(r"^step \d+$", "step", e["name"]), round(e["dur"] * 1000)) for e in events}
    missing = {(s["name"], s["duration_ns"]) for s in spans} - shown
    check("events of the trace viewer", missing, set())
    check("their number", len(events) >= len(spans), True)


export(SAMPLE, "logs", "--to", "xplane")
with open("log", "w") as log:
    server = subprocess.Popen(
        [sys.executable, "-m", "tensorboard.main", "--logdir", "logs", "--port", str(PORT), "--host", "127.0.0.1"],
        stdout=log, stderr=log, env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3"))
try:
    look(wait_until_up(server))
finally:
    server.kill()
    server.wait()
libpeers.finish()
