#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Benchmarks of recording. Prints one line per figure: bench NAME VALUE UNIT [peer ... ratio R]."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

TACHO = os.environ["TACHO"]
PROGRAM = os.path.join(os.environ["TEST_BUILD"], "bench", "bench_record")


def record(folder, name, *command, options=()):
    """Runs the program under tacho record; returns its output and what info says of the trace."""
    path = os.path.join(folder, name + ".tacho")
    out = subprocess.run([TACHO, "record", "-o", path, *options, "--", *command],
                         check=True, stdout=subprocess.PIPE, text=True).stdout
    info = json.loads(subprocess.run([TACHO, "info", "--json", path], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout)
    return out, info, path


def collector_cpu(info):
    """Seconds of CPU that the collector used, and the wall time."""
    text = info["metadata"]["overhead.collector_cpu"]
    found = re.match(r"([\d.]+) s of ([\d.]+) s", text)
    return float(found[1]), float(found[2])


def bench(name, value, unit, more=""):
    print(f"bench {name} {value} {unit}{' ' + more if more else ''}", flush=True)


def start_lttng():
    """An LTTng session with our tracepoints on, or None where LTTng is not installed."""
    if not shutil.which("lttng"):
        return None
    subprocess.run(["lttng-sessiond", "--daemonize"], stderr=subprocess.DEVNULL, check=False)
    output = tempfile.mkdtemp(prefix="lttng-")
    calls = (["create", "tacho_bench", f"--output={output}"],
             ["enable-channel", "-u", "wide", "--subbuf-size=4M", "--num-subbuf=8"],
             ["enable-event", "-u", "-c", "wide", "tacho_bench:*"], ["start"])
    for call in calls:
        if subprocess.run(["lttng", *call], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode:
            return None
    return output


def stop_lttng(output):
    if output:
        subprocess.run(["lttng", "destroy", "tacho_bench"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(output, ignore_errors=True)


def cost(folder):
    output = start_lttng()
    try:
        out, _, _ = record(folder, "cost", PROGRAM, "cost", options=["--no-counters"])
        print(out, end="", flush=True)
    finally:
        stop_lttng(output)


def sustained(folder):
    for rate in (2e6, 5e6):
        out, info, _ = record(folder, "rate", PROGRAM, "rate", str(rate), "10")
        ledger = info["ledger"]
        bench(f"record.sustained_{rate / 1e6:.0f}M", int(out) / 10, "scopes/s",
              f"dropped {ledger['dropped']} of {ledger['produced']}")


def saturation(folder):
    out, info, _ = record(folder, "flood", PROGRAM, "flood", "5")
    ledger, produced = info["ledger"], int(out)
    exact = produced == ledger["recorded"] + ledger["dropped"]
    bench("record.saturation", produced / 5, "scopes/s",
          f"recorded {ledger['recorded']} dropped {ledger['dropped']} exact {exact}")
    seconds, _ = collector_cpu(info)
    bench("record.drain", round(ledger["recorded"] / seconds), "scopes/s",
          "of one core: drain, encode and write")
    return exact


def size(folder):
    for args, name in ((0, "record.bytes_per_scope"), (1, "record.bytes_per_scope_3_args")):
        count = 1000000
        _, info, path = record(folder, "random", PROGRAM, "random", str(count), str(args),
                               options=["--no-counters"])
        bench(name, round(os.path.getsize(path) / count, 2), "bytes",
              f"spans {info['counts']['spans']}")


def counters(folder):
    def share(*options):
        _, info, _ = record(folder, "idle", "sleep", "20", options=options)
        seconds, _ = collector_cpu(info)
        return seconds / 20 * 100

    off, on = share("--no-counters"), share("--counters-rate", "10")
    bench("record.counters_10hz", round(on - off, 3), "percent-of-a-core",
          f"peer no-counters {off:.3f} percent-of-a-core ratio {on / max(off, 1e-9):.2f}")


def flight(folder):
    path = os.path.join(folder, "flight.tacho")
    tool = subprocess.Popen([TACHO, "record", "--last", "10s", "-o", path, "--",
                             PROGRAM, "rate", "200000", "16"], stdout=subprocess.DEVNULL)
    time.sleep(12)
    start = time.monotonic()
    dump = subprocess.run([TACHO, "dump", str(tool.pid)], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()
    taken = time.monotonic() - start
    info = json.loads(subprocess.run([TACHO, "info", "--json", dump], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout)
    bench("record.dump_10s", round(taken, 3), "s", f"spans {info['counts']['spans']}")
    tool.wait()


def main():
    with tempfile.TemporaryDirectory(prefix="tacho-bench-") as folder:
        cost(folder)
        sustained(folder)
        exact = saturation(folder)
        size(folder)
        counters(folder)
        flight(folder)
    if not exact:
        sys.exit("record.saturation: produced is not recorded + dropped")


main()
