# SPDX-License-Identifier: MIT OR Apache-2.0
# What Perfetto and chrome://tracing need to find in the file, read by another JSON reader.
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
"$TACHO" export small.tacho -o small.trace.json || exit
python3 - <<'END'
import collections, json
document = json.load(open("small.trace.json"))
events = document["traceEvents"]
print(sorted(collections.Counter(e["ph"] for e in events).items()))
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
print(sorted(names.items()), sorted(processes.items()))

# Slices of a thread nest, and those that begin together come from the outermost on.
for thread in names:
    slices = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == thread]
    open_until = []
    for e in sorted(slices, key=lambda e: e["ts"]):
        begin, end = round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)
        while open_until and open_until[-1] <= begin:
            open_until.pop()
        assert not open_until or end <= open_until[-1], e
        open_until.append(end)

# Each flow has both ends, each end lies in a slice, and the arrow does not go back in time.
flows = collections.defaultdict(dict)
for e in events:
    if e["ph"] in "sf":
        flows[e["cat"], e["name"], e["id"]][e["ph"]] = e
        assert any(x["ph"] == "X" and x["tid"] == e["tid"] and
                   x["ts"] <= e["ts"] <= x["ts"] + x["dur"] for x in events), e
assert all(set(f) == {"s", "f"} and f["s"]["ts"] <= f["f"]["ts"] for f in flows.values())
print(len(flows), "flows")
begins = {e["id"]: e["ts"] for e in events if e["ph"] == "b"}
ends = {e["id"]: e["ts"] for e in events if e["ph"] == "e"}
assert begins.keys() == ends.keys() and all(begins[i] < ends[i] for i in begins)
print(next(e for e in events if e["name"] == "matmul" and e["args"]["index"] == 0))
print([e for e in events if e["ph"] == "i"])
print([e for e in events if e["ph"] == "C"][:3])
print(document["otherData"]["ledger"]["dropped"], document["otherData"]["metadata"]["model"])
END
