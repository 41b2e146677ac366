# SPDX-License-Identifier: MIT OR Apache-2.0
"""Questions that the tests of the examples ask of a trace: through the tool's JSON, and through the
independent reader of format_spec.py for what the reports do not show, such as arguments."""
import collections
import sys

import format_spec


class Check:
    def __init__(self, path):
        self.path = path
        self.report = format_spec.ask_tool("report", "--json", path)
        self.info = format_spec.ask_tool("info", "--json", path)
        self.trace = format_spec.Trace(path)
        self.spans = list(self.trace.spans())
        self.failed = self.passed = 0
        ledger = self.info["ledger"]
        self.equal("dropped", ledger["dropped"], 0)
        self.equal("skipped", ledger["skipped"], 0)
        self.equal("repaired", ledger["repaired"], 0)
        self.equal("produced", ledger["produced"], ledger["recorded"])
        self.true("the reader of the specification agrees", bool(format_spec.compare(path)))

    def true(self, what, condition):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print(f"{self.path}: {what}: no")

    def equal(self, what, actual, expected):
        if actual == expected:
            self.passed += 1
        else:
            self.failed += 1
            print(f"{self.path}: {what}: {actual!r}, expected {expected!r}")

    def operations(self):
        """Count by (name, category), as the report has it."""
        return {(o["name"], o["category"]): o["count"] for o in self.report["operations"]}

    def counts(self, **expected):
        """How many spans of a name the trace holds, as the tool counts them."""
        found = collections.Counter(s.name for s in self.spans)
        by_report = collections.Counter()
        for (name, _), count in self.operations().items():
            by_report[name] += count
        for name, count in expected.items():
            self.equal(f"spans named {name}", found[name], count)
            self.equal(f"spans named {name} in the report", by_report[name], count)

    def named(self, name):
        return [s for s in self.spans if s.name == name]

    def inside(self, inner, outer):
        """Every span of one name lies within one of the other, on the same track."""
        around = [s for s in self.spans if s.name == outer]
        return all(any(o.track == s.track and o.start <= s.start and
                       s.start + s.duration <= o.start + o.duration for o in around)
                   for s in self.named(inner))

    def step_numbers(self):
        return [s["number"] for s in self.report["steps"]]

    def phases(self):
        return {p["name"]: p["count"] for p in self.report["phases"]}

    def counter(self, name):
        """The tool's summary of a counter that the program set."""
        found = [c for c in self.report["counters"] if c["name"] == name and c["process"] != "machine"]
        return found[0] if found else collections.defaultdict(lambda: None)

    def processes(self):
        """Numbers of the processes that recorded spans."""
        tracks = self.info["tracks"]
        return sorted({tracks[t["process"]]["os_id"] for t in tracks if t["kind"] == "thread" and t["spans"]})

    def thread_names(self):
        return sorted(t["name"] for t in self.info["tracks"] if t["kind"] == "thread")

    def links(self, kind):
        return [row for row in self.trace.rows(format_spec.LINKS) if row[3] == kind]

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)
