#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares two Chrome or Kineto JSON files event by event, whatever their order.

usage: libcompare_kineto.py ORIGINAL COPY

Equal: name, category, phase, pid, tid, id, time to the nanosecond, duration, every argument, every
member of the document. Independent of the tool: only json and Decimal.
"""
import collections
import gzip
import json
import sys
from decimal import ROUND_HALF_UP, Decimal


def load(path):
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return json.loads(data, parse_float=Decimal, parse_int=Decimal)


def ns(value):
    return None if value is None else int((Decimal(value) * 1000).to_integral_value(ROUND_HALF_UP))


def key(event):
    event = dict(event)
    times = (ns(event.pop("ts", None)) if event.get("ph") != "M" else event.pop("ts", None),
             ns(event.pop("dur", None)))
    if not event.get("args"):
        event.pop("args", None)
    if event.get("cat") == "":
        event.pop("cat")
    return json.dumps([event, times], sort_keys=True, default=str)


def main():
    original, copy = load(sys.argv[1]), load(sys.argv[2])
    if isinstance(original, list):
        original = {"traceEvents": original}
    events = collections.Counter(key(e) for e in original["traceEvents"] if e)
    found = collections.Counter(key(e) for e in copy["traceEvents"])
    missing, extra = events - found, found - events
    for what, some in (("missing", missing), ("extra", extra)):
        for text, count in list(some.items())[:3]:
            print(f"{what} x{count}: {text[:400]}")
    members = {k: v for k, v in original.items() if k != "traceEvents"}
    theirs = {k: v for k, v in copy.items() if k != "traceEvents"}
    if members != theirs:
        print("members differ:", {k for k in members if members.get(k) != theirs.get(k)},
              {k for k in theirs if k not in members})
    wrong = sum(missing.values()) + sum(extra.values()) + (members != theirs)
    print(f"{sum(events.values())} events, {wrong} differences")
    return 1 if wrong else 0


sys.exit(main())
