#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Benchmarks of opening foreign traces: a large Kineto file made of real ones, times shifted, ids and
some names changed in each copy. Prints bench NAME VALUE UNIT [peer PEER VALUE UNIT ratio R].

BENCH_BYTES sets the size of the large file (default 1 GB)."""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TACHO = os.environ["TACHO"]
DATA = Path(os.environ["TEST_ROOT"]).parent / "shared/data"
SIZE = int(float(os.environ.get("BENCH_BYTES", "1e9")))
PARTS = ("resnet50_train_h200", "gpt2_train_stack_h200", "mlp_base_h200")


def bench(name, value, unit, more=""):
    print(f"bench {name} {value} {unit}{' ' + more if more else ''}", flush=True)


def copies(texts):
    """Yields the events of one file after the other, each copy a little different."""
    number = 0
    while True:
        for text in texts:
            shift, salt = number * 300000, number * 7919

            def change(found):
                key, value = found[1], found[2]
                if key == '"ts": ':
                    whole, _, part = value.partition(".")
                    return f"{key}{int(whole) + shift}.{part or '000'}"
                if key == '"name": ':
                    return f'{key}{value[:-1]}{"" if salt % 5 else " v" + str(number % 40)}"'
                return f"{key}{int(value) + salt}"

            yield re.sub(r'("ts": |"External id": |"correlation": |"Ev Idx": )(-?[\d.]+)', change,
                         re.sub(r'("name": )("aten::[^"\\]*")', change, text))
            number += 1


def make_large(path):
    texts = []
    for part in PARTS:
        text = gzip.open(DATA / f"{part}.json.gz", "rt").read()
        start = text.index('"traceEvents": [') + len('"traceEvents": [')
        end = text.rindex("]")
        # Metadata events stay in the first copy only: they come last in the file.
        texts.append(text[start:end].strip().rstrip(","))
    with open(path, "w") as file:
        file.write('{"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": [\n')
        first = True
        for text in copies(texts):
            file.write(text if first else ",\n" + text)
            first = False
            if file.tell() > SIZE:
                break
        file.write("\n]}\n")


def timed(*command):
    """Wall seconds, CPU seconds and peak memory of a command."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, use = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} ended with {status}")
    return time.monotonic() - start, use.ru_utime + use.ru_stime, use.ru_maxrss * 1024


def sizes():
    """Bytes per event and against gzip -9, on the originals."""
    for path in sorted(DATA.glob("*.json.gz")) + sorted(DATA.glob("public/*.json.gz")):
        raw = gzip.open(path).read()
        document = json.loads(raw)
        events = len(document["traceEvents"] if isinstance(document, dict) else document)
        with tempfile.TemporaryDirectory() as folder:
            # What the import wrote: the one file in a cache of its own.
            subprocess.run([TACHO, "info", path], check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "XDG_CACHE_HOME": folder})
            size = sum(p.stat().st_size for p in Path(folder).rglob("*.tacho"))
        packed = len(gzip.compress(raw, 9))
        bench(f"import.size.{path.name.split('.')[0]}", round(size / events, 2), "bytes/event",
              f"peer gzip-9 {packed / events:.2f} bytes/event ratio {size / packed:.2f} "
              f"raw {len(raw)}")


def main():
    if not DATA.is_dir():
        print("# skipped: the folder of real traces is not beside this tree")
        return
    sizes()
    with tempfile.TemporaryDirectory(prefix="tacho-bench-") as folder:
        large = os.path.join(folder, "large.json")
        make_large(large)
        raw = os.path.getsize(large)
        wall, cpu, peak = timed(TACHO, "info", "--no-cache", large)
        bench("import.kineto", round(raw / wall / 1e6), "MB/s",
              f"cpu {raw / cpu / 1e6:.0f} MB/s of one core")
        bench("import.memory", round(peak / raw, 3), "of-raw-size", f"peak {peak / 1e6:.0f} MB")
        python, _, _ = timed("python3", "-c", f"import json; json.load(open({large!r}))")
        bench("import.against_python", round(wall, 2), "s",
              f"peer json.load {python:.2f} s ratio {wall / python:.3f}")
        packed = large + ".gz"
        with open(large, "rb") as source, gzip.open(packed, "wb", 6) as target:
            shutil.copyfileobj(source, target, 1 << 20)
        zipped, _, _ = timed(TACHO, "info", "--no-cache", packed)
        bench("import.gzip", round(raw / zipped / 1e6), "MB/s",
              f"peer plain {raw / wall / 1e6:.0f} MB/s ratio {wall / zipped:.2f}")
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        timed(TACHO, "info", large)
        second, _, _ = timed(TACHO, "report", large)
        bench("import.second_open", round(second, 3), "s", "report of a file opened before")


main()
