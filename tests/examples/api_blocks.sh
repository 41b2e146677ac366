#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The programs of docs/api.md: each block fenced as c is compiled as strict C99, each fenced as cpp as
# C++17, with all warnings as errors; then run bare, with the macros disabled, and recorded.
build=${TEST_BUILD:-$(cd "$(dirname "$0")/../../build/dev" && pwd)}
. "$(dirname "$0")/lib.sh"
root=$(cd "$here/../.." && pwd)

python3 - "$root/docs/api.md" <<'EOP'
import re
import sys

page = open(sys.argv[1]).read()
blocks = re.findall(r"^```(c|cpp)\n(.*?)^```", page, re.M | re.S)
for number, (kind, text) in enumerate(blocks):
    open(f"block{number}.{kind}", "w").write(text)
print(len(blocks), "programs")
EOP

flags="-O1 -Wall -Wextra -Werror -pedantic -I$root/include -I$build/include"
libs="-L$build/lib -ltacho -Wl,-rpath,$build/lib"
# A library with a sanitizer wants it in the program as well.
if nm -D "$build/lib/libtacho.so" | grep -q __asan_init; then
	flags="$flags -fsanitize=address,undefined"
fi
count=0
for source in block*.c block*.cpp; do
	case $source in
	*.cpp) compiler="g++ -std=c++17" ;;
	*) compiler="gcc -std=c99" ;;
	esac
	program=./${source%.*}
	$compiler $flags "$source" $libs -o "$program"
	$compiler $flags -DTACHO_DISABLE -c "$source" -o disabled.o
	"$program"
	"$tacho" record -o "$program.tacho" -- "$program"
	"$tacho" info --json "$program.tacho" >info.json
	python3 - info.json "$source" <<'EOP'
import json
import sys

info = json.load(open(sys.argv[1]))
if info["ledger"]["dropped"] or info["ledger"]["produced"] == 0:
    sys.exit(f"{sys.argv[2]}: {info['ledger']}")
EOP
	count=$((count + 1))
done

# The program that records itself leaves its trace when its collector has finished, soon after it.
for wait in 1 2 3 4 5 6 7 8 9 10; do
	"$tacho" info --json self.tacho >info.json 2>/dev/null && grep -q '"repaired": false' info.json && break
	sleep 0.5
done
"$tacho" report --json self.tacho | grep -q '"name": "iteration"' || { echo "self.tacho lacks its scopes"; exit 1; }
echo "$((count + 1)) passed, 0 failed"
