#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""More events than there is room for, and signal handlers that record: every one is recorded or
counted as dropped, and nesting stays right."""
import os

from libsurvive import TACHO, VICTIM, Trace, case, check, exact, main, published, record, run, same


def slow_tool(*arguments, pool="1MiB"):
    """The collector gets as little of the machine as can be arranged."""
    run(["nice", "-n", "19", TACHO, "record", "-o", "out.tacho", "--set", f"pool_size={pool}",
         "--no-counters", "--", "nice", "-n", "-19" if os.geteuid() == 0 else "0", VICTIM, *arguments])
    return Trace()


@case
def scopes_as_fast_as_they_go():
    trace = slow_tool("saturate", "count", "2")
    produced = published("count")[1]
    exact(trace, produced)
    check(trace.ledger["dropped"] > 0, "nothing was dropped: not saturated", trace.ledger)
    same(trace.entry("scopes dropped"), trace.ledger["dropped"])
    same(trace.named("deep") + trace.named("leaf"), trace.ledger["recorded"])
    same(trace.entry("ends without a begin"), 0, trace.ledger)
    same(trace.entry("scopes still open"), 0, trace.ledger)
    # Nothing that has room for its ends lies deeper than the program went.
    check(all(n["name"] in ("deep", "leaf") for n in trace.report["tree"]["nodes"]), "tree")


@case
def steps_and_phases_as_fast_as_they_go():
    trace = slow_tool("saturate_steps", "count", "1")
    produced = published("count")[1]
    exact(trace, produced)
    check(trace.ledger["dropped"] > 0, "nothing was dropped: not saturated", trace.ledger)
    same(trace.entry("ends without a begin"), 0, trace.ledger)


@case
def without_saturation_nothing_is_lost():
    # So few that the pool has room for all of them, however slow the collector is.
    record("saturate_steps", "count", "1", "4000000", options=["--set", "pool_size=256MiB"])
    trace = Trace()
    exact(trace, published("count")[1])
    same(trace.ledger["dropped"], 0, trace.ledger)
    same(trace.ledger["repaired"], 0, trace.ledger)


@case
def storm_of_signals():
    record("storm", "count", "3")
    trace = Trace()
    _, produced, in_handler = published("count")
    check(in_handler > 100, "the timer hardly fired", in_handler)
    # Each "inner" has one argument, which is an event.
    arguments = trace.ledger["produced"] - produced - in_handler
    same(arguments, produced // 2, "arguments", trace.ledger)
    same(trace.named("outer") + trace.named("inner") + trace.named("handler") +
         trace.named("handler inner") + trace.named("?") + trace.entry("scopes dropped") +
         trace.entry("events dropped before"), produced + in_handler)
    same(trace.entry("ends without a begin"), 0, trace.ledger)
    same(trace.entry("scopes still open"), 0, trace.ledger)
    for node in trace.report["tree"]["nodes"]:
        parent = next((n for n in trace.report["tree"]["nodes"] if n["id"] == node["parent"]), None)
        inside = parent["name"] if parent else None
        # A handler that interrupts the search for a new name goes without its own: "?".
        allowed = {"outer": (None,), "inner": ("outer",), "handler": (None, "outer", "inner"),
                   "handler inner": ("handler", "?"), "?": (None, "outer", "inner", "handler", "?")}
        check(inside in allowed[node["name"]], "wrong nesting", node, inside)


@case
def storm_of_signals_without_room():
    trace = slow_tool("storm", "count", "2")
    _, produced, in_handler = published("count")
    arguments = trace.ledger["produced"] - produced - in_handler
    check(arguments == produced // 2, "arguments", trace.ledger, produced, in_handler)
    same(trace.entry("ends without a begin"), 0, trace.ledger)


if __name__ == "__main__":
    main()
