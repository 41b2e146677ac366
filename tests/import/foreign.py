#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Traces of other profilers: the small ones of libsamples.py always, the real ones where the folder of real
traces is beside the tree, each compared with what another reader of the format says."""
import collections
import gzip
import json
import os
import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path

import libsamples

TACHO = os.environ["TACHO"]
ROOT = Path(os.environ["TEST_ROOT"])
DATA = ROOT.parent / "shared/data"
failures = []


def check(left, right, text):
    if left != right:
        failures.append(text)
        print(f"FAIL {text}\n  {str(left)[:500]}\n  {str(right)[:500]}")


def rows(path, *options):
    done = subprocess.run([TACHO, "export", path, "--to", "jsonl", "--no-cache", *options], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def of(found, kind, **wanted):
    return [r for r in found if r["type"] == kind and all(r.get(k) == v for k, v in wanted.items())]


def sample(name, data):
    Path(name).write_bytes(data)
    return rows(name)


def ledger(found):
    return {e["what"]: e["count"] for e in of(found, "ledger")[0]["ledger"]["entries"]}


def times(found, **wanted):
    return [(r["name"], r["start_ns"], r["duration_ns"]) for r in of(found, "span", **wanted)]


# Real files.

def real_nsys(path):
    """Kernels, copies and calls, as SQL on the original has them."""
    found = rows(path)
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)

    def sums(category, key):
        out = collections.defaultdict(lambda: (0, 0))
        for r in of(found, "span", category=category):
            count, total = out[key(r)]
            out[key(r)] = count + 1, total + r["duration_ns"]
        return dict(out)
    sql = "SELECT s.value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = demangledName GROUP BY 1"
    check(sums("kernel", lambda r: r["name"]), {n: (c, t) for n, c, t in db.execute(sql)}, f"{path.name}: kernels by name")
    sql = "SELECT deviceId, streamId, correlationId, start, end - start FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 4, 3"
    start = int(of(found, "metadata")[0]["metadata"]["import.first_ns"])
    ours = sorted(((a := r["args"])["deviceId"], a["streamId"], a["correlationId"], r["start_ns"] + start, r["duration_ns"])
                  for r in of(found, "span", category="kernel"))
    check(ours, sorted(db.execute(sql)), f"{path.name}: each kernel")
    for category, table in (("gpu_memcpy", "MEMCPY"), ("gpu_memset", "MEMSET")):
        sql = f"SELECT bytes, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_{table} GROUP BY 1"
        check(sums(category, lambda r: r["args"]["bytes"]), {n: (c, t) for n, c, t in db.execute(sql)}, f"{path.name}: {table}")
    sql = "SELECT s.value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds s ON s.id = nameId WHERE eventClass = {} GROUP BY 1"
    for category, number in (("cuda_runtime", 0), ("cuda_driver", 1)):
        check(sums(category, lambda r: r["name"]), {n: (c, t) for n, c, t in db.execute(sql.format(number))}, f"{path.name}: {category}")
    sql = "SELECT coalesce(text, (SELECT value FROM StringIds WHERE id = textId)), start, end - start FROM NVTX_EVENTS"
    check(sorted((n, s + start, d) for n, s, d in times(found, category="nvtx")), sorted(db.execute(sql)), f"{path.name}: NVTX")
    # A launch and its kernel share an id, within their process.
    tracks = {t["id"]: t for t in of(found, "track")}
    calls = {r["id"] for r in of(found, "link") if tracks[r["track"]]["kind"] == "thread"}
    launched = sum((tracks[tracks[r["track"]]["process"]]["os_id"] << 32 ^ r["args"]["correlationId"]) in calls
                   for r in of(found, "span", category="kernel"))
    sql = """SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r
             ON k.correlationId = r.correlationId AND k.globalPid / 16777216 = r.globalTid / 16777216"""
    check(launched, db.execute(sql).fetchone()[0], f"{path.name}: launches")
    print(f"{path.name}: {len(ours)} kernels, {sum(k[4] for k in ours)} ns")


def planes(path):
    """A reader of XPlane in a few lines: (plane, line, name, start and duration in ns)."""
    def fields(data):
        at = 0

        def number():
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value
        while at < len(data):
            key = number()
            if key & 7 == 0:
                yield key >> 3, number()
            else:
                size = {1: 8, 5: 4}.get(key & 7) or number()
                yield key >> 3, data[at:at + size]
                at += size
    for field, plane in fields(path.read_bytes()):
        if field != 1:
            continue
        parts = list(fields(plane))
        names = {}
        for entry in (dict(fields(v)) for k, v in parts if k == 4):
            names[entry[1]] = dict(fields(entry[2])).get(2, b"").decode()
        title = next(v for k, v in parts if k == 2).decode()
        for line in ([(k, v) for k, v in fields(v)] for k, v in parts if k == 3):
            head = dict((k, v) for k, v in line if k != 4)
            for event in (dict((k, v) for k, v in fields(v) if k != 4) for k, v in line if k == 4):
                start = head.get(3, 0) * 1000 + event.get(2, 0)
                end = start + event.get(3, 0)
                yield title, (head.get(11) or head.get(2)).decode(), names[event[1]], (start + 500) // 1000, (end + 500) // 1000 - (start + 500) // 1000


def real_xplane(path):
    found = rows(path)
    start = int(of(found, "metadata")[0]["metadata"]["import.first_ns"])
    ours = sorted((r["process"], r["thread"], r["name"], r["start_ns"] + start, r["duration_ns"]) for r in of(found, "span"))
    check(ours, sorted(planes(path)), f"{path.name}: every event")
    print(f"{path.name}: {len(ours)} events, {len(of(found, 'span', category='kernel'))} kernels")
    return found


def jax_twin():
    """The same run as XPlane and as Chrome JSON."""
    found = real_xplane(DATA / "jax_mlp_h200.xplane.pb")
    steps = [r["args"]["step"] for r in of(found, "span", category="step")]
    check(steps, [0, 1, 2, 3, 4], "steps of jax_mlp_h200")
    twin = [e for e in json.load(gzip.open(DATA / "jax_mlp_h200.json.gz"))["traceEvents"] if e.get("ph") == "X"]
    names = {r["name"] for r in of(found, "span", category="kernel")}
    gpu = {e["pid"] for e in twin if e["name"] in names and "kernel_details" in e.get("args", {})}
    start = int(of(found, "metadata")[0]["metadata"]["import.first_ns"])
    ours = sorted((r["name"], r["start_ns"] + start, r["duration_ns"]) for r in of(found, "span", category="kernel"))
    theirs = sorted((e["name"], round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in twin if e["pid"] in gpu)
    shift = {ours[0][1] - theirs[0][1]} if ours and theirs else {0}
    check([(n, s - min(shift), d) for n, s, d in ours], theirs, "kernels of JAX in both formats")
    print(f"jax_mlp_h200: {len(ours)} kernels in both, {sum(k[2] for k in ours)} ns")


def real_snapshot():
    path = DATA / "cuda_memory_snapshot_leak.pickle"
    found, snapshot = rows(path), pickle.loads(path.read_bytes())
    live = {}
    for r in of(found, "allocation"):
        if r["kind"] == "alloc":
            live[r["address"]] = r["bytes"]
        else:
            live.pop(r["address"])
    held = {b["address"]: b["size"] for s in snapshot["segments"] for b in s["blocks"] if b["state"] == "active_allocated"}
    check(live, held, "memory held at the end of the snapshot")
    check(sum(size == 4 << 20 for size in live.values()), 6, "blocks of 4 MiB kept")
    actions = collections.Counter(e["action"] for t in snapshot["device_traces"] for e in t)
    check(collections.Counter(r["name"] for r in of(found, "mark", category="cuda_memory")), actions, "events of the snapshot")
    check(len(of(found, "sample")), sum(bool(e["frames"]) for t in snapshot["device_traces"] for e in t), "stacks of the snapshot")
    check(len(of(found, "span", category="user_annotation")), len(snapshot["external_annotations"]) // 2, "annotations")
    print(f"snapshot: {len(live)} blocks held, 6 of 4 MiB")


# Small files.

def small_perfetto():
    for name, data in (("a.pftrace", libsamples.perfetto()), ("b.pftrace", libsamples.perfetto_packed())):
        found = sample(name, data)
        check(sorted(times(found)), [("crossing", 1009000, 10000), ("inner", 1000, 2000), ("never ends", 1024000, 0), ("outer", 0, 5000)], name)
        outer = of(found, "span", name="outer")[0]
        check(outer["args"], {"count": -5, "yes": True, "big": 2**64 - 1, "half": 0.5, "text": "plain", "iid": "interned text",
                              "where": "0xabc", "nested": {"a": 1, "b": [2, "c"]}, "json": {"x": [1, 2]}, "late": 9}, f"{name}: arguments")
        check((outer["category"], outer["process"], outer["thread"]), ("cat", "my program", "main thread"), f"{name}: place")
        check([(r["value"], r["unit"]) for r in of(found, "counter", name="memory")], [(7168, "bytes"), (1536, "bytes")], f"{name}: counter")
        check([(r["kind"], r["id"]) for r in of(found, "link")], [("flow_begin", 77), ("flow_end", 77)], f"{name}: flow")
        check([r["stack"] for r in of(found, "sample")], [["leaf", "root"]], f"{name}: stack")
        # BOOTTIME 5 ms was MONOTONIC 4 ms and REALTIME 1.7e18; the trace begins at 4.001 ms of MONOTONIC.
        check(of(found, "header")[0]["start_unix_ns"], 1_700_000_000_000_000_000 + 1000, f"{name}: wall clock")
        check(ledger(found), {"packets whose state was lost": 1, "ends without a begin": 1, "begins without an end": 1,
                              "tracks that are their own ancestors": 1}, f"{name}: ledger")


def small_xplane():
    found = sample("a.xplane.pb", libsamples.xplane())
    first = int(of(found, "metadata")[0]["metadata"]["import.first_ns"])
    check(first, 900, "XPlane: start")
    # 5000.499 ns and 7000.499 ns, both rounded.
    check(times(found, category="kernel"), [("gemm", 100 + 5000, 2000)], "XPlane: kernel")
    check(of(found, "span", category="kernel")[0]["args"], {"correlation_id": 11, "kernel_details": "regs:8 grid:1,1,1", "half": 0.5}, "XPlane: stats")
    check([(r["name"], r["args"]["step"]) for r in of(found, "span", category="step")], [("12", 12), ("train", 3)], "XPlane: steps")
    check(times(found, category="gpu_memcpy"), [("MemcpyH2D", 9100, 1000)], "XPlane: copy")
    check(of(found, "span", name="cuLaunchKernel")[0]["args"],
          {"correlation_id": 11, "blob (base64)": "/wA=", "display_name": "launch", "half": 2}, "XPlane: bytes and described stats")
    check(sorted(r["kind"] for r in of(found, "link")), ["correlation"] * 3 + ["flow_begin", "flow_end"], "XPlane: links")
    check({t["name"]: t["kind"] for t in of(found, "track")}, {"machine": "machine", "/device:GPU:0": "process", "Stream #7(Compute)": "device",
                                                             "Steps": "other", "/host:CPU": "process", "main": "thread"}, "XPlane: tracks")
    check(of(found, "header")[0]["start_unix_ns"], 1_700_000_000_000_000_000 + 900, "XPlane: wall clock")
    check(ledger(found), {"references to names that are not there": 1}, "XPlane: ledger")


def small_nsys():
    for name, data in (("a.sqlite", libsamples.nsys()), ("a.sqlite.gz", gzip.compress(libsamples.nsys()))):
        found = sample(name, data)
        base = int(of(found, "metadata")[0]["metadata"]["import.first_ns"])
        check([(n, s + base, d) for n, s, d in times(found, category="kernel")],
              [("gemm<float>(int)", 2000, 500), ("gemm<float>(int)", 2600, 100)], f"{name}: kernels")
        check([r["name"] for r in of(found, "span", category="gpu_memcpy")], ["Memcpy HtoD (Pageable -> Device)"], f"{name}: copy")
        check([(r["name"], r["category"]) for r in of(found, "span", name="cudaLaunchKernel")],
              [("cudaLaunchKernel", "cuda_runtime"), ("cudaLaunchKernel", "cuda_driver")], f"{name}: calls")
        check([(r["time_ns"] + base, r["value"]) for r in of(found, "counter")], [(1500, 77), (1600, 0.5)], f"{name}: metrics")
        check([(r["kind"], r["bytes"]) for r in of(found, "allocation")], [("alloc", 1 << 20), ("free", 0)], f"{name}: memory")
        check([r["stack"] for r in of(found, "sample")], [["leaf()", "root()"]], f"{name}: samples")
        check([(r["name"], r["args"]["size"]) for r in of(found, "span", thread="main") if r.get("args", {}).get("size")], [("main", 9)], f"{name}: MPI")
        check(ledger(found), {"NVTX ranges that never ended": 1, "rows without a time": 1}, f"{name}: ledger")
        check(of(found, "header")[0]["start_unix_ns"], 1_700_000_000_000_000_000 + base, f"{name}: wall clock")
    for missing in ("StringIds", "PROCESSES", "CUPTI_ACTIVITY_KIND_RUNTIME"):
        tables = {"StringIds", "PROCESSES", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"} - {missing}
        found = sample("missing.sqlite", libsamples.nsys(tables))
        check(len(of(found, "span", category="kernel")), 2, f"nsys without {missing}")


def small_torch_memory():
    for protocol in (2, 3, 4, 5):
        found = sample("a.pickle", libsamples.torch_memory(protocol))
        check([(r["kind"], r["address"], r["bytes"], r["pool"]) for r in of(found, "allocation")],
              [("alloc", 4096, 1 << 21, "cuda:0 segments"), ("alloc", 4096, 1024, "cuda:0"), ("alloc", 8192, 2048, "cuda:0"),
               ("free", 4096, 0, "cuda:0"), ("alloc", 16384, 512, "cuda:0")], f"pickle {protocol}: allocations")
        check({tuple(r["stack"]) for r in of(found, "sample")}, {("malloc", "train (train.py:12)")}, f"pickle {protocol}: stacks")
        check(times(found), [("step", 0, 6000)], f"pickle {protocol}: annotations")
        check(json.loads(of(found, "metadata")[0]["metadata"]["torch.allocator_settings"]), {"max_split_size": -1, "threshold": 0.5},
              f"pickle {protocol}: settings")


def small_texts():
    found = sample("a.et.json", libsamples.torch_et())
    check(sorted(times(found)), [("[pytorch|profiler|execution_trace|process]", 0, 5), ("[pytorch|profiler|execution_trace|thread]", 2, 3),
                                 ("aten::add", 4, 1), ("loop", 6, 3), ("loop2", 8, 1)], "execution trace: nodes")
    add = of(found, "span", name="aten::add")[0]
    check((add["depth"], add["args"]["inputs.shapes"], add["args"]["rf_id"], add["args"]["op_schema"]),
          (1, [[10, 10], []], 1, 'aten::add(Tensor) -> "x"'), "execution trace: arguments")
    found = sample("a.perf.txt", libsamples.perf_script())
    check([(r["thread"], r["time_ns"], r["stack"]) for r in of(found, "sample")],
          [("python3 my prog", 0, ["PyEval_EvalFrame (/usr/bin/python3)", "operator() (int) (/lib/a b.so)", "55aa ([unknown])"]),
           ("swapper", 543000, ["schedule ([kernel.kallsyms])"]), ("bash", 1376544000, ["native_write_msr ([kernel.kallsyms])"])], "perf script: stacks")
    check([r.get("args") for r in of(found, "mark")], [{"period": 250000, "cpu": 3},
                                                     {"period": 1, "cpu": 1, "text": "prev_comm=swapper/1 prev_pid=0"}, None], "perf script: rest")
    Path("a.folded").write_bytes(libsamples.collapsed())
    done = subprocess.run([TACHO, "export", "a.folded", "--to", "collapsed", "--no-cache"], stdout=subprocess.PIPE, text=True, check=True)
    check(sorted(done.stdout.splitlines()), ["main;a 3", "main;a;b 7", "main;c 10", "other 4"], "collapsed stacks and back")


# Bad input: everything readable with a ledger entry, or one line with the byte.

def refused(name, data, text):
    Path(name).write_bytes(data)
    done = subprocess.run([TACHO, "export", name, "--to", "jsonl", "--no-cache"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(done.returncode, 2, f"{name} is refused")
    check(len(done.stderr.strip().splitlines()), 1, f"{name}: one line: {done.stderr}")
    check(text in done.stderr, True, f"{name}: {done.stderr.strip()} should say {text}")


def bad_input():
    class Caller:
        def __reduce__(self):
            return os.system, ("touch called",)
    for protocol in (2, 4):
        refused(f"call{protocol}.pickle", pickle.dumps({"segments": [Caller()]}, protocol), "call a function")
    check(os.path.exists("called"), False, "nothing is called")
    refused("other.pickle", pickle.dumps({"weights": [1]}, 4), "no memory snapshot")
    refused("cut.pickle", libsamples.torch_memory()[:500], "byte 500")
    refused("lying.pickle", b"\x80\x04\x8c\x08segments\x8d" + (1 << 60).to_bytes(8, "little") + b"x", "impossible length")
    refused("other.sqlite", libsamples.nsys(["MPI_P2P_EVENTS"]), "none of Nsight")
    refused("cut.sqlite", libsamples.nsys()[:300], "damaged SQLite")
    refused("lying.xplane.pb", b"\x0a\xff\xff\xff\xff\x7f\x12\x04/abc", "ends inside")
    refused("bad.xplane.pb", libsamples.message([(1, [(2, "/host:CPU"), (3, b"\x22\x50\x08")])]), "damaged plane")


def growing():
    """A file that is appended to while it is read: what was there at some moment comes out."""
    with open("grow.pftrace", "wb") as file:
        file.write(libsamples.perfetto() * 50)
        file.flush()
        reader = subprocess.Popen([TACHO, "export", "grow.pftrace", "--to", "jsonl", "--no-cache"], stdout=subprocess.PIPE)
        for _ in range(200):
            file.write(libsamples.perfetto())
            file.flush()
        check(b'"outer"' in reader.communicate()[0], True, "a file that grows")
        check(reader.returncode, 0, "a file that grows, status")


def main():
    small_perfetto()
    small_xplane()
    small_nsys()
    small_torch_memory()
    small_texts()
    bad_input()
    growing()
    if DATA.is_dir():
        for path in sorted(DATA.glob("public/nsys_*.sqlite")):
            real_nsys(path)
        jax_twin()
        real_xplane(DATA / "public/tracelens_jax_conv.xplane.pb")
        real_snapshot()
    else:
        print("left out: the folder of real traces is not beside this tree")
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
