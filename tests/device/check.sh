#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# usage: tests/device/check.sh DIST [OUT]
#
# To be run by hand on a machine with a GPU, from the root of the tree, with the folder that `make dist`
# makes. Not part of `make test`, which never has a GPU.
set -eu
dist=$(cd "$1" && pwd)
out=${2:-.}
tacho=$dist/bin/tacho
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$tacho" version
"$tacho" selftest

echo "== a program built here against the carried library"
gcc -O2 -std=gnu11 -I"$dist/include" examples/train_c/*.c -o "$work/train_c" \
	-L"$dist/lib" -ltacho -lm -Wl,-rpath,"$dist/lib"
"$tacho" record -v -o "$out/train.tacho" -- "$work/train_c"
"$tacho" report "$out/train.tacho"
"$tacho" info --json "$out/train.tacho" >"$work/info.json"
python3 - "$work/info.json" <<'PYTHON'
import json, sys
info = json.load(open(sys.argv[1]))
facts = {k: v for k, v in info["metadata"].items() if k.startswith("env.")}
for key in sorted(facts):
    print(f"{key:40} {facts[key]}")
assert int(facts["env.gpu.count"]) >= 1, "no GPU in the fingerprint"
assert facts["env.gpu.0.name"] and facts["env.driver.nvidia"]
assert info["ledger"]["dropped"] == 0, info["ledger"]
print("fingerprint and ledger: ok")
PYTHON

echo "== a CUDA program that knows nothing of us"
cat >"$work/matmul.py" <<'PYTHON'
import torch
a = torch.ones(2048, 2048, device="cuda")
for _ in range(200):
    a = (a @ a).clamp(0, 1)
torch.cuda.synchronize()
print("sum", float(a.sum()))
PYTHON
python3 "$work/matmul.py" >"$work/bare.txt"
"$tacho" record -v -o "$out/matmul.tacho" -- python3 "$work/matmul.py" >"$work/recorded.txt"
cmp "$work/bare.txt" "$work/recorded.txt"
"$tacho" report --by counters "$out/matmul.tacho"
echo "== passed"
