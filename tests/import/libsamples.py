# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tiny files of every foreign format, written here from the formats' descriptions and not by Tacho. The
seeds of the fuzzers in tests/fuzz/corpus/import_* are these: `libsamples.py FOLDER` writes them."""
import os
import pickle
import sqlite3
import struct
import sys
import tempfile
import zlib


# Protobuf, by hand: a message is a list of (field, value); int is a varint, float a double, bytes and
# str are texts, a list is a message inside, Fixed is eight bytes.
class Fixed(int):
    pass


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(fields):
    out = bytearray()
    for field, value in fields:
        if isinstance(value, Fixed):
            out += varint(field << 3 | 1) + struct.pack("<Q", value)
        elif isinstance(value, bool) or isinstance(value, int):
            out += varint(field << 3) + varint(int(value))
        elif isinstance(value, float):
            out += varint(field << 3 | 1) + struct.pack("<d", value)
        else:
            body = message(value) if isinstance(value, list) else value.encode() if isinstance(value, str) else value
            out += varint(field << 3 | 2) + varint(len(body)) + body
    return bytes(out)


def perfetto_packets():
    seq = [(10, 1)]
    clocks = [(1, [(1, clock), (2, time)]) for clock, time in ((6, 5_000_000), (3, 4_000_000), (1, 1_700_000_000_000_000_000))]
    local = [(1, [(1, 64), (2, 100), (3, True), (4, 1000)]), (1, [(1, 6), (2, 6_000_000)])]
    return [
        seq + [(13, 1), (59, [(58, 3), (11, [(11, 2)])]), (6, clocks)],
        seq + [(60, [(1, 1), (3, [(1, 42), (2, "prog"), (2, "--fast"), (6, "my program")])])],
        seq + [(60, [(1, 2), (5, 1), (4, [(1, 42), (2, 43), (5, "main thread")])])],
        seq + [(60, [(1, 3), (5, 1), (2, "memory"), (8, [(3, 3), (4, 1024)])])],
        seq + [(60, [(1, 4), (5, 1), (2, "async work")])],
        seq + [(60, [(1, 5), (5, 6), (2, "loop a")])], seq + [(60, [(1, 6), (5, 5), (2, "loop b")])],
        # Begin with an interned name, category, annotations of every kind.
        seq + [(13, 2), (8, 4_001_000), (12, [(1, [(1, 1), (2, "cat")]), (2, [(1, 7), (2, "outer")]),
                                              (3, [(1, 1), (2, "count")]), (29, [(1, 3), (2, "interned text")]),
                                              (5, [(1, 1), (2, "leaf")]), (5, [(1, 2), (2, "root")]),
                                              (6, [(1, 1), (2, 1)]), (6, [(1, 2), (2, 2)]),
                                              (7, [(1, 9), (2, 2), (2, 1)])]),
               (11, [(9, 1), (3, 1), (10, 7), (47, Fixed(77)), (4, [(1, 1), (4, -5)]), (4, [(10, "yes"), (2, True)]),
                     (4, [(10, "big"), (3, (1 << 64) - 1)]), (4, [(10, "half"), (5, 0.5)]),
                     (4, [(10, "text"), (6, "plain")]), (4, [(10, "iid"), (17, 3)]), (4, [(10, "where"), (7, 0xabc)]),
                     (4, [(10, "nested"), (11, [(10, "a"), (4, 1)]), (11, [(10, "b"), (12, [(4, 2)]), (12, [(6, "c")])])]),
                     (4, [(10, "json"), (9, '{"x":[1,2]}')]), (56, 9)])],
        seq + [(13, 2), (8, 4_002_000), (11, [(9, 1), (23, "inner"), (22, "other")])],
        seq + [(8, 4_003_000), (11, [(9, 4), (11, 3), (30, 7)])],
        seq + [(8, 4_003_500), (11, [(9, 4), (11, 3), (44, 1.5)])],
        seq + [(8, 4_004_000), (11, [(9, 2)])],
        seq + [(8, 4_005_000), (11, [(9, 3), (23, "point"), (48, Fixed(77))])],
        seq + [(8, 4_006_000), (11, [(9, 2), (4, [(10, "late"), (4, 9)])])],
        seq + [(8, 4_006_500), (11, [(9, 2)])],  # an end without a begin
        # A second sequence with a clock of its own that counts from packet to packet.
        [(10, 2), (13, 1), (6, local), (59, [(58, 64)])],
        [(10, 2), (8, 10), (11, [(9, 1), (11, 4), (23, "crossing")])],
        [(10, 1), (8, 5_020_000), (58, 3), (11, [(9, 2), (11, 4)])],
        [(10, 2), (8, 15), (11, [(9, 1), (11, 4), (23, "never ends")])],
        [(10, 3), (13, 2), (8, 1), (11, [(9, 1), (10, 1)])],  # its state was lost
        seq + [(33, b"\x0a\x02\x08\x01")],
    ]


def perfetto():
    return message([(1, packet) for packet in perfetto_packets()])


def perfetto_packed():
    packets = [(1, packet) for packet in perfetto_packets()]
    return message(packets[:1] + [(1, [(10, 1), (50, zlib.compress(message(packets[1:])))])])


def xplane():
    def stat(name, value, kind):
        return [(1, name), (kind, value)]
    stats = {1: "correlation_id", 2: "step_num", 3: "kernel_details", 4: "regs:8 grid:1,1,1", 5: "half", 6: "memcpy_details",
             7: "profile_start_time", 8: "blob", 9: "_p", 10: "_c", 11: "_pt", 12: "_ct"}
    names = [(5, [(1, k), (2, [(1, k), (2, v)])]) for k, v in stats.items()]

    def events(*items):
        return [(4, [(1, k), (2, [(1, k), (2, v)] + list(more))]) for k, v, *more in items]
    gpu = [(1, 0), (2, "/device:GPU:0"),
           (3, [(1, 7), (2, "Stream #7(Compute)"), (3, 1000),
                (4, [(1, 1), (2, 5_000_499), (3, 2_000_000), (4, stat(1, 11, 3)), (4, stat(3, 4, 7)), (4, stat(5, 0.5, 2))]),
                (4, [(1, 2), (2, 9_000_000), (3, 1_000_000), (4, stat(1, 12, 3)), (4, stat(6, "kind:HtoD", 5))])]),
           (3, [(1, 90), (2, "Steps"), (3, 1000), (4, [(1, 3), (2, 0), (3, 20_000_000)])])]
    gpu += events((1, "gemm"), (2, "MemcpyH2D"), (3, "12")) + names
    host = [(1, 1), (2, "/host:CPU"),
            (3, [(1, 99), (2, "python3"), (3, 900), (11, "main"),
                 (4, [(1, 1), (2, 0), (3, 30_000_000), (4, stat(2, 3, 4)), (4, stat(11, 1, 4)), (4, stat(9, 5, 4))]),
                 (4, [(1, 2), (2, 1_000_600), (3, 500_000), (4, stat(1, 11, 3)), (4, stat(8, b"\xff\x00", 6))]),
                 (4, [(1, 2), (5, 40), (3, 123)]),
                 (4, [(1, 77), (2, 2_000_000), (3, 1), (4, stat(12, 1, 4)), (4, stat(10, 5, 4)), (4, stat(66, 2, 7))])])]
    host += events((1, "train"), (2, "cuLaunchKernel", (4, "launch"), (5, stat(5, 2.0, 2)))) + names
    task = [(2, "Task Environment"), (6, stat(7, 1_700_000_000_000_000_000, 3))] + names
    return message([(1, gpu), (1, host), (1, task), (4, "somehost")])


def nsys(tables=None):
    """An SQLite file with a row or two of each table, or only of the named ones."""
    pid, tid = (1 << 48) + (42 << 24), (1 << 48) + (42 << 24) + 43
    everything = {
        "StringIds": ("id INTEGER PRIMARY KEY, value TEXT", [(1, "gemm<float>(int)"), (2, "gemm"), (3, "cudaLaunchKernel"),
                                                             (4, "main"), (5, "leaf()"), (6, "root()"), (7, "read")]),
        "CUPTI_ACTIVITY_KIND_KERNEL": ("start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, gridX",
                                       [(2000, 2500, 0, 1, 7, 11, pid, 1, 2, 128), (2600, 2700, 0, 1, 7, 12, pid, 1, 2, 64)]),
        "CUPTI_ACTIVITY_KIND_MEMCPY": ("start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind",
                                       [(2800, 2900, 0, 1, 7, 13, pid, 4096, 1, 0, 2)]),
        "CUPTI_ACTIVITY_KIND_MEMSET": ("start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, value, memKind",
                                       [(2900, 2950, 0, 1, 7, 14, pid, 64, 0, 2)]),
        "CUPTI_ACTIVITY_KIND_RUNTIME": ("start, end, eventClass, globalTid, correlationId, nameId, returnValue",
                                        [(1000, 1100, 0, tid, 11, 3, 0), (1200, 1300, 1, tid, 12, 3, 0)]),
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": ("start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType, eventId",
                                                [(3000, 3100, 0, 1, 4294967295, 15, pid, 4, 0)]),
        "CUPTI_ACTIVITY_KIND_CUDA_EVENT": ("timestamp, deviceId, contextId, streamId, correlationId, globalPid, eventId",
                                           [(0, 0, 1, 7, 16, pid, 1), (2550, 0, 1, 7, 17, pid, 2)]),
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": ("start, end, deviceId, contextId, streamId, correlationId, globalPid, graphId", [(3200, 3300, 0, 1, 7, 18, pid, 5)]),
        "NVTX_EVENTS": ("start, end, eventType, rangeId, text, textId, globalTid, domainId, doubleValue",
                        [(900, 4000, 59, None, "step 1", None, tid, 0, 0.5), (950, None, 34, None, None, 4, tid, 0, None),
                         (960, 3960, 60, 8, "range", None, tid, 0, None), (970, None, 60, 9, "open", None, tid, 0, None)]),
        "OSRT_API": ("start, end, globalTid, nameId, returnValue", [(980, 990, tid, 7, -1)]),
        "PROFILER_OVERHEAD": ("start, end, globalTid, nameId, overheadType", [(991, 992, tid, 7, 3)]),
        "GPU_METRICS": ("rawTimestamp, timestamp, typeId, metricId, value", [(0, 1500, 256, 3, 77), (0, 1600, 256, 3, 0.5)]),
        "TARGET_INFO_GPU_METRICS": ("typeId, metricId, metricName", [(256, 3, "SM Active")]),
        "CUDA_GPU_MEMORY_USAGE_EVENTS": ("start, globalPid, deviceId, contextId, address, bytes, memKind, memoryOperationType",
                                         [(1010, pid, 0, 1, 4096, 1 << 20, 2, 0), (1020, pid, 0, 1, 4096, 1 << 20, 2, 1)]),
        "COMPOSITE_EVENTS": ("id, start, globalTid", [(1, 1050, tid)]),
        "SAMPLING_CALLCHAINS": ("id, symbol, stackDepth", [(1, 6, 1), (1, 5, 0)]),
        "MPI_P2P_EVENTS": ("start, end, globalTid, textId, size", [(1060, 1070, tid, 4, 9)]),
        "PROCESSES": ("globalPid, pid, name", [(pid, 42, "python3")]),
        "ThreadNames": ("nameId, priority, globalTid", [(4, 20, tid)]),
        "TARGET_INFO_SESSION_START_TIME": ("utcEpochNs", [(1_700_000_000_000_000_000,)]),
        "META_DATA_EXPORT": ("name, value", [("EXPORT_SCHEMA_VERSION", "3.25.0")]),
    }
    handle, path = tempfile.mkstemp(suffix=".sqlite")
    os.close(handle)
    os.unlink(path)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA page_size=512")
        for table, (columns, rows) in everything.items():
            if tables is None or table in tables:
                db.execute(f"CREATE TABLE {table} ({columns})")
                db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)
    db.close()
    with open(path, "rb") as file:
        data = file.read()
    os.unlink(path)
    return data


def torch_snapshot():
    frames = [{"name": "malloc", "filename": "??", "line": 0}, {"name": "train", "filename": "train.py", "line": 12}]

    def event(action, addr, size, time_us, **more):
        return dict(action=action, addr=addr, size=size, stream=0, time_us=time_us, frames=frames, **more)
    start = 1_700_000_000_000_000
    trace = [event("segment_alloc", 4096, 1 << 21, start), event("alloc", 4096, 1024, start + 1), event("alloc", 8192, 2048, start + 2),
             event("free_requested", 4096, 1024, start + 3), event("free_completed", 4096, 1024, start + 4),
             event("oom", 0, 1 << 40, start + 5), event("snapshot", 0, 0, start + 6)]
    blocks = [dict(address=4096, size=1024, requested_size=1000, state="inactive", frames=[]),
              dict(address=8192, size=2048, requested_size=2000, state="active_allocated", frames=frames),
              dict(address=16384, size=512, requested_size=512, state="active_allocated", frames=[])]
    segment = dict(device=0, address=4096, total_size=1 << 21, allocated_size=2560, stream=0, segment_type="small",
                   segment_pool_id=(0, 0), is_expandable=False, blocks=blocks, frames=[])
    notes = [dict(stage="START", name="step", device=0, time_us=start), dict(stage="END", name="step", device=0, time_us=start + 6)]
    return {"segments": [segment], "device_traces": [trace, []], "allocator_settings": {"max_split_size": -1, "threshold": 0.5},
            "external_annotations": notes}


def torch_memory(protocol=4):
    return pickle.dumps(torch_snapshot(), protocol=protocol)


def torch_et():
    return b"""{"schema": "1.1.1-chakra.0.0.4", "pid": 42, "time": "2024-01-01 00:00:00", "start_ts": 12, "nodes": [
{"id": 3, "name": "aten::add", "ctrl_deps": 2, "inputs": {"values": [[4,5,0,100,4,"cpu"],1], "shapes": [[10,10],[]],
 "types": ["Tensor(float)","Int"], "strides": [[10,1],[]]}, "outputs": {"values": [[6,7,0,100,4,"cpu"]], "shapes": [[10,10]],
 "types": ["Tensor(float)"]}, "attrs": [{"name": "rf_id", "type": "uint64", "value": 1},
 {"name": "tid", "type": "uint64", "value": 7}, {"name": "op_schema", "type": "string", "value": "aten::add(Tensor) -> \\"x\\""}]},
{"id": 2, "name": "[pytorch|profiler|execution_trace|thread]", "ctrl_deps": 1, "attrs": [{"name": "tid", "type": "uint64", "value": 7}]},
{"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []},
{"id": 9, "name": "loop", "ctrl_deps": 10}, {"id": 10, "name": "loop2", "ctrl_deps": 9}], "finish_ts": 15}
"""


def perf_script():
    return b"""# captured on: today
python3 my prog  1234/1240 [003]  5678.123456:     250000 cycles:u: 
\t    7f1234 PyEval_EvalFrame+0x12 (/usr/bin/python3)
\t    7f1235 operator() (int)+0x3f (/lib/a b.so)
\t    55aa [unknown] ([unknown])

swapper     0 [001]  5678.123999: 1 sched:sched_switch: prev_comm=swapper/1 prev_pid=0
\tffffffff81 schedule+0x1 ([kernel.kallsyms])

bash 77  5679.5:  cycles:  ffffffffa1 native_write_msr+0x4 ([kernel.kallsyms])
"""


def collapsed():
    return b"main;a;b 5\nmain;a 3\nmain;a;b 2\n# note\nmain;c 10\nother 4\n"


SEEDS = {
    "import_perfetto": {"events": perfetto, "packed": perfetto_packed},
    "import_xplane": {"planes": xplane},
    "import_nsys": {"kernels": lambda: nsys(("StringIds", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME")),
                    "nvtx": lambda: nsys(("StringIds", "NVTX_EVENTS", "META_DATA_EXPORT")),
                    "samples": lambda: nsys(("COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS", "GPU_METRICS", "OSRT_API"))},
    "import_torch_memory": {f"protocol{n}": lambda n=n: torch_memory(n) for n in (2, 3, 4, 5)},
    "import_torch_et": {"nodes": torch_et},
    "import_perf_script": {"samples": perf_script},
    "import_collapsed": {"stacks": collapsed},
}


def main():
    for folder, files in SEEDS.items():
        os.makedirs(os.path.join(sys.argv[1], folder), exist_ok=True)
        for name, make in files.items():
            with open(os.path.join(sys.argv[1], folder, name), "wb") as file:
                file.write(make())


if __name__ == "__main__":
    main()
