#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# run-tests itself, in a tree of its own: what it counts as passed, failed and skipped.
. "$(dirname "$0")/lib.bash"

mkdir -p "$tree/tools" "$tree/build/dev"
cp "$root/tools/run-tests" "$tree/tools/"

# result PATTERN TEXT STATUS: running the items that match prints TEXT and exits with STATUS.
result()
{
	output=$("$tree/tools/run-tests" --no-build "$1" 2>&1)
	status=$?
	if [ $status != "$3" ] || [[ $output != *"$2"* ]]; then
		failed=$((failed + 1))
		printf 'run-tests %s: expected "%s" and status %s, got %s and\n%s\n' "$1" "$2" "$3" $status "$output"
	else
		passed=$((passed + 1))
	fi
}

plant tests/cli/area/good.sh <<<'echo "$TEST_ROOT" >/dev/null; echo out; echo err >&2; exit 3'
UPDATE=1 result area/good '1 passed, 0 failed' 0
[ "$(cat "$tree"/tests/cli/area/good.{stdout,stderr,exit} | tr '\n' ' ')" = 'out err 3 ' ] ||
	refuses 'files that UPDATE=1 writes' run-tests --list
result area/good '2 passed, 0 failed' 0
echo other >"$tree/tests/cli/area/good.stderr"
result area/good $'-other\n+err' 1
rm "$tree/tests/cli/area/good.stderr"
result area/good '2 passed, 0 failed' 0
echo 4 >"$tree/tests/cli/area/good.exit"
result area/good '0 passed, 2 failed' 1

plant tests/cli/area/bare.sh <<<$'\n# no-asan: once is enough\nexit 1'
result area/bare '0 passed, 1 failed' 1
plant tests/cli/area/absent.sh <<<'echo no such device; exit 77'
result area/absent 'skip cli/area/absent: no such device' 0
result area/absent '0 passed, 0 failed, 2 skipped' 0

plant tests/survive/counts.sh <<<$'#!/bin/sh\necho "5 passed, 0 failed, 1 skipped"'
result survive/counts 'Permission denied' 1
chmod +x "$tree/tests/survive/counts.sh"
result survive/counts '5 passed, 0 failed, 1 skipped' 0
plant tests/survive/counts.sh <<<$'#!/bin/sh\necho "5 passed, 0 failed"; kill -9 $$'
result survive/counts '5 passed, 1 failed' 1
finish
