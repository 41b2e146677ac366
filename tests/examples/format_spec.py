#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A reader of .tacho files written from docs/trace-format.md alone, and its comparison with the tool.

usage: format_spec.py            reads the worked example of the specification, the stored trace
                                 tests/data/v1/small.tacho and a fresh recording, and compares spans,
                                 durations by name and counters with `tacho report --json`
       format_spec.py FILE       compares that file

Only Python's own library is used, and libzstd: through the module zstandard, else the shared library,
else the command zstd. Without any of them the test is skipped.
"""
import collections
import ctypes
import ctypes.util
import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ.get("TEST_ROOT") or Path(__file__).resolve().parent.parent.parent)
TACHO = os.environ.get("TACHO") or str(ROOT / "build/dev/bin/tacho")

STRINGS, NAMES, TRACKS, SPANS, COUNTERS, MARKS, LINKS, ALLOCATIONS = range(1, 9)
SAMPLES, STACKS, METADATA, LEDGER, INDEX = range(9, 14)
COLUMNS = {NAMES: 2, TRACKS: 5, COUNTERS: 4, MARKS: 3, LINKS: 5, ALLOCATIONS: 6, SAMPLES: 3, METADATA: 2,
           LEDGER: 5, INDEX: 8}
MASK = (1 << 64) - 1


class FormatError(Exception):
    pass


def need(condition, text):
    if not condition:
        raise FormatError(text)


def shared_library(name, version):
    for candidate in (f"lib{name}.so.{version}", ctypes.util.find_library(name)):
        try:
            return ctypes.CDLL(candidate) if candidate else None
        except OSError:
            continue
    return None


def zstd_reader():
    """A function (stored, raw size) -> raw, or None."""
    try:
        import zstandard
        return lambda stored, size: zstandard.ZstdDecompressor().decompress(stored, max_output_size=size)
    except ImportError:
        pass
    library = shared_library("zstd", 1)
    if library:
        library.ZSTD_decompress.restype = ctypes.c_size_t
        library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]

        def decompress(stored, size):
            room = ctypes.create_string_buffer(size or 1)
            got = library.ZSTD_decompress(room, size, stored, len(stored))
            return room.raw[:size] if got == size else b""
        return decompress
    try:
        subprocess.run(["zstd", "--version"], stdout=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return lambda stored, size: subprocess.run(["zstd", "-dc"], input=stored, stdout=subprocess.PIPE).stdout


def xxh3_function():
    """XXH3_64bits of a byte string, or None where the library is missing: then checksums are not checked."""
    library = shared_library("xxhash", 0)
    if not library:
        return None
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return lambda data: library.XXH3_64bits(data, len(data))


ZSTD = zstd_reader()
XXH3 = xxh3_function()


def check_sum(data, expected, what):
    need(XXH3 is None or XXH3(data) == expected, f"{what}: wrong checksum")


class Bytes:
    """A cursor over the payload of a block."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        need(self.at + count <= len(self.data), "payload ends early")
        self.at += count
        return self.data[self.at - count:self.at]

    def u8(self):
        return self.take(1)[0]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    def u64(self):
        return struct.unpack("<Q", self.take(8))[0]

    def column(self, count):
        transform, planes = self.u8(), self.u8()
        need(transform <= 3 and planes <= 8, "bad column")
        values = [0] * count
        for plane in range(planes):
            for i, byte in enumerate(self.take(count)):
                values[i] |= byte << (8 * plane)
        if transform in (1, 3):
            values = [(v >> 1) ^ -(v & 1) for v in values]
        before = 0
        for i in range(count if transform in (1, 2) else 0):
            before = (before + values[i] if transform == 1 else before ^ values[i]) & MASK
            values[i] = before
        return [v & MASK for v in values]

    def table(self, columns, rows):
        stored = self.u8()
        need(stored >= columns, "too few columns")
        return list(zip(*[self.column(rows) for _ in range(columns)]))


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def number(kind, value):
    """A counter's value or an argument: 0 integer, 1 double."""
    return struct.unpack("<d", struct.pack("<Q", value))[0] if kind == 1 else signed(value)


Block = collections.namedtuple("Block", "offset table flags track rows time_min time_max stored raw busy checksum")
Span = collections.namedtuple("Span", "track name category depth start duration self_time args")


class Trace:
    def __init__(self, path):
        self.data = Path(path).read_bytes()
        self.read_header()
        self.blocks = self.read_index()
        self.strings, self.names, self.tracks, self.stacks = [], [], [], []
        self.metadata, self.ledger = {}, []
        for block in self.blocks:
            if block.table == STRINGS:
                self.read_strings(block)
        for block in self.blocks:
            self.read_dictionary(block)

    def read_header(self):
        need(len(self.data) >= 64 and self.data[:8] == b"TACHO\r\n\x1a", "not a .tacho file")
        self.version = struct.unpack_from("<H", self.data, 8)[0]
        need(self.version == 1, "another version")
        self.start_unix_ns, self.start_mono_ns = struct.unpack_from("<QQ", self.data, 16)
        check_sum(self.data[:56], struct.unpack_from("<Q", self.data, 56)[0], "file header")

    def block_at(self, offset):
        need(offset + 64 <= len(self.data), "block outside the file")
        head = self.data[offset:offset + 64]
        magic, table, flags, _, track, rows, low, high, stored, raw, busy, check, own = struct.unpack(
            "<4sBBHIIQQIIQQQ", head)
        need(magic == b"TBLK", f"no block at {offset}")
        check_sum(head[:56], own, f"block header at {offset}")
        need(raw <= 64 << 20 and rows <= 1 << 20, "block too large")
        return Block(offset, table, flags, track, rows, low, high, stored, raw, busy, check)

    def payload(self, block):
        stored = self.data[block.offset + 64:block.offset + 64 + block.stored]
        need(len(stored) == block.stored, "block outside the file")
        check_sum(stored, block.checksum, f"block at {block.offset}")
        raw = stored if block.flags & 1 else ZSTD(stored, block.raw)
        need(len(raw) == block.raw, f"block at {block.offset}: wrong size")
        return Bytes(raw)

    def read_index(self):
        at, check = struct.unpack_from("<QQ", self.data, len(self.data) - 24)
        need(self.data[-8:] == b"TACHOEND", "no trailer")
        check_sum(self.data[-24:-16], check, "trailer")
        end, blocks, expected = len(self.data) - 24, [], 64
        index_at = at
        while at < end:
            index = self.block_at(at)
            need(index.table == INDEX and index.track == len(blocks), "bad index")
            for row in self.payload(index).table(COLUMNS[INDEX], index.rows):
                need(row[0] == expected, "blocks do not follow each other")
                block = self.block_at(row[0])
                need((block.table, block.track, block.rows, block.time_min, block.time_max, block.stored,
                      block.busy) == row[1:8], "index and block differ")
                blocks.append(block)
                expected += 64 + block.stored
            at += 64 + index.stored
        need(expected == index_at, "blocks that the index does not list")
        return blocks

    def read_strings(self, block):
        need(block.track == len(self.strings), "strings are not in order")
        payload = self.payload(block)
        for length in payload.column(block.rows):
            self.strings.append(payload.take(length).decode("utf-8", "surrogateescape"))
        need(self.strings[0] == "", "string 0 is not empty")

    def read_dictionary(self, block):
        text = self.strings
        if block.table == NAMES:
            need(block.track == len(self.names), "names are not in order")
            for name, category in self.payload(block).table(2, block.rows):
                self.names.append((text[name], text[category]))
        elif block.table == TRACKS:
            need(block.track == len(self.tracks), "tracks are not in order")
            for parent, kind, os_id, name, unit in self.payload(block).table(5, block.rows):
                self.tracks.append({"parent": parent, "kind": kind, "os_id": os_id, "name": text[name],
                                    "unit": text[unit]})
        elif block.table == STACKS:
            payload = self.payload(block)
            lengths = payload.column(block.rows)
            frames = iter(payload.column(sum(lengths)))
            for length in lengths:
                self.stacks.append([text[next(frames)] for _ in range(length)])
        elif block.table == METADATA:
            for key, value in self.payload(block).table(2, block.rows):
                self.metadata[text[key]] = text[value]
        elif block.table == LEDGER:
            if block.track == 0:
                self.ledger = []
            for kind, what, count, where, effect in self.payload(block).table(5, block.rows):
                self.ledger.append((kind, text[what], count, text[where], text[effect]))

    def rows(self, table):
        for block in self.blocks:
            if block.table == table:
                yield from self.payload(block).table(COLUMNS[table], block.rows)

    def counters(self):
        """(track, time, value) of every counter value."""
        for track, time, kind, value in self.rows(COUNTERS):
            yield track, time, number(kind, value)

    def spans(self):
        for block in self.blocks:
            if block.table == SPANS:
                yield from self.span_block(block)

    def span_block(self, block):
        payload = self.payload(block)
        layout, before, end, carried = payload.u32(), payload.u32(), payload.u64(), payload.u32()
        sums = collections.defaultdict(int)
        for depth in range(carried):
            sums[depth + 1] = payload.u64()
        used = payload.column(payload.u32())
        names = [used[i] for i in payload.column(block.rows)]
        depths = payload.column(block.rows)
        first, second = payload.column(block.rows), payload.column(block.rows)
        args = self.span_args(payload, block.rows)
        busy = 0
        for i, depth in enumerate(depths):
            if layout == 1:
                start, duration, own = first[i], second[i], second[i]
            else:
                own = second[i]
                duration = own + sums[depth + 1]
                end += first[i] + (0 if before == depth + 1 else duration)
                start = end - duration
                sums[depth + 1] = 0
                sums[depth] += duration
                before = depth
            busy += duration if layout == 1 or depth == 0 else 0
            need(block.time_min <= start and start + duration <= block.time_max, "span outside its block")
            yield Span(block.track, *self.names[names[i]], depth, start, duration, own, args[i])
        need(busy == block.busy, "busy_ns is wrong")

    def span_args(self, payload, rows):
        args = [{} for _ in range(rows)]
        for _ in range(payload.u32()):
            key, kind, dense, count = payload.u32(), payload.u8(), payload.u8(), payload.u32()
            places = range(rows) if dense else payload.column(count)
            row = 0
            for i, value in enumerate(payload.column(count)):
                row = places[i] if dense or i == 0 else row + places[i]
                args[row][self.strings[key]] = self.strings[value] if kind == 2 else number(kind, value)
        return args


def ask_tool(*words):
    done = subprocess.run([TACHO, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    need(done.returncode == 0, f"tacho {' '.join(words)}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def shown(text):
    """As a JSON document has it: what is not UTF-8 becomes U+FFFD."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def compare(path):
    """Reads a file in both ways; returns what was compared, for the test's output."""
    trace = Trace(path)
    report, info = ask_tool("report", "--json", "--top", "0", str(path)), ask_tool("info", "--json", str(path))
    mine = collections.defaultdict(lambda: [0, 0, 0])
    for span in trace.spans():
        group = mine[shown(span.name), shown(span.category)]
        group[0] += 1
        group[1] += span.duration
        group[2] += span.self_time
    theirs = {(g["name"], g["category"]): [g["count"], g["total_ns"], g["self_ns"]]
              for g in report["operations"] + report["kernels"]}
    for key, group in theirs.items():
        need(mine.get(key) == group, f"{key}: {mine.get(key)} and {group}")
    left = {key for key in mine if key not in theirs}
    need({category for _, category in left} <= {"step", "phase", "memcpy"}, f"not in the report: {left}")
    phases = {p["name"]: [p["count"], p["total_ns"]] for p in report["phases"]}
    need(phases == {name: group[:2] for (name, category), group in mine.items() if category == "phase"},
         "phases differ")
    spans = sum(group[0] for group in mine.values())
    need(spans == info["counts"]["spans"] == report["summary"]["span_count"], "span counts differ")
    values = collections.defaultdict(list)
    for track, _, value in trace.counters():
        values[track].append(value)
    need({c["track"]: c["count"] for c in report["counters"]} == {t: len(v) for t, v in values.items()},
         "counters differ")
    for counter in report["counters"]:
        own = values[counter["track"]]
        need(shown(trace.tracks[counter["track"]]["name"]) == counter["name"], "counter names differ")
        need(abs(max(own) - counter["max"]) <= 1e-9 * abs(counter["max"]), f"{counter['name']}: largest value")
    totals = {what: count for kind, what, count, _, _ in trace.ledger if kind == 1}
    for what in ("produced", "recorded", "dropped", "skipped"):
        need(totals.get(what, 0) == info["ledger"][what], f"ledger: {what}")
    need(trace.start_unix_ns == info["metadata"]["start_unix_ns"], "start")
    return f"{spans} spans, {len(mine)} names, {len(values)} counters, {len(trace.blocks)} blocks"


def worked_example():
    """The file that the specification prints in hexadecimal."""
    page = (ROOT / "docs/trace-format.md").read_text()
    block = re.search(r"^```hex\n(.*?)^```", page, re.M | re.S)
    need(block, "docs/trace-format.md has no block fenced as hex")
    text = "".join(line[6:].split("|")[0] for line in block[1].split("\n") if re.match("[0-9a-f]{4}  ", line))
    return bytes.fromhex(text)


def check_example():
    Path("example.tacho").write_bytes(worked_example())
    trace = Trace("example.tacho")
    spans = [(s.name, s.depth, s.start, s.duration, s.args) for s in trace.spans()]
    need(spans == [("matmul", 1, 2000, 3000, {"m": 64}), ("matmul", 1, 6000, 2500, {"m": 32}),
                   ("step", 0, 1000, 8000, {})], f"the worked example gives {spans}")
    return compare("example.tacho")


def main():
    if ZSTD is None:
        print("no zstd: neither a Python module nor a library nor a command")
        return 77
    if len(sys.argv) > 1:
        print(compare(sys.argv[1]))
        return 0
    print("worked example:", check_example())
    stored = ROOT / "tests/data/v1/small.tacho"
    if stored.exists():
        print("tests/data/v1/small.tacho:", compare(stored))
    done = subprocess.run([TACHO, "record", "-o", "fresh.tacho", "--", "train_c", "--steps", "5", "--target", "0"],
                          stdout=subprocess.DEVNULL)
    need(done.returncode == 0, f"tacho record ended with {done.returncode}")
    print("fresh recording:", compare("fresh.tacho"))
    if XXH3 is None:
        print("no libxxhash: checksums were not checked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
