#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Names, nesting and pairs that nobody should have."""
import os

from libsurvive import Trace, case, check, exact, main, record, same


@case
def a_million_names():
    record("names", "1000000", options=["--set", "names_size=128MiB"])
    trace = Trace(report=False)
    exact(trace, 1000000)
    same(trace.entry("new names without room"), 0, trace.ledger)
    check(trace.info["counts"]["names"] >= trace.spans, trace.info["counts"])


@case
def more_names_than_room():
    record("names", "100000", options=["--set", "names_size=1MiB"])
    trace = Trace()
    exact(trace, 100000)
    lost = trace.entry("new names without room")
    check(lost > 0, trace.ledger)
    # Scopes that were dropped have no name in the trace, whether it was lost or not.
    check(lost - trace.ledger["dropped"] <= trace.named("?") <= lost, lost, trace.named("?"))


@case
def long_names():
    record("long_names", "10", "100000", "1048576", "2000000")
    trace = Trace()
    exact(trace, 8, 4)
    lengths = sorted(len(o["name"]) for o in trace.report["operations"])
    same(lengths, [10, 20, 100000, 1048576, 1048576])
    # One name of four, and three arguments.
    same(trace.entry("texts cut"), 4, trace.ledger)


@case
def bad_names():
    record("bad_names")
    trace = Trace()
    names = [o["name"] for o in trace.report["operations"]]
    check(any("utf-8" in n for n in names), names)
    check(any(n == "" or n == "?" for n in names), names)
    check(any("line" in n and "quote" in n for n in names), names)
    check(not os.path.exists("pwned"), "a name reached a shell")
    check("$(touch pwned) `touch pwned`; touch pwned" in names, names)


@case
def deep_nesting():
    record("depth", "1000")
    trace = Trace()
    exact(trace, 2001)
    same(trace.named("down"), 2000)
    same(trace.ledger["repaired"], 0, trace.ledger)


@case
def very_deep_nesting():
    record("depth", "100000")
    trace = Trace()
    same(trace.ledger["produced"], 200001, trace.ledger)
    missing = trace.entry("scopes nested too deeply")
    same(trace.spans + missing + trace.ledger["dropped"], 200001, trace.ledger)
    same(trace.named("after"), 1)
    after = [n for n in trace.report["tree"]["nodes"] if n["name"] == "after"]
    same([n["parent"] for n in after], [0], "what comes after is not inside")


@case
def scopes_left_open():
    record("open")
    trace = Trace()
    exact(trace, 7)
    same(trace.entry("scopes still open"), 2, trace.ledger)
    same((trace.named("left open"), trace.named("left open too")), (1, 1))


@case
def ends_without_a_begin():
    record("unbalanced")
    trace = Trace()
    exact(trace, 100)
    same(trace.entry("ends without a begin"), 100, trace.ledger)


if __name__ == "__main__":
    main()
