#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# check-tidy: a null pointer that is followed, and a clean file that stays in the cache.
. "$(dirname "$0")/lib.bash"

export TEST_BUILD=$tree/build/dev
mkdir -p "$TEST_BUILD"
cp "$root/.clang-tidy" "$tree/"
cat >"$TEST_BUILD/compile_commands.json" <<END
[{ "directory": "$TEST_BUILD", "file": "$tree/src/base/thing.c",
   "command": "gcc -Wall -o thing.o -c $tree/src/base/thing.c" }]
END
plant src/base/thing.c <<<'int f(int *p);
int f(int *p)
{
	return p ? *p : 0;
}'
accepts check-tidy
accepts check-tidy
[ "$(ls "$tree/build/tidy-cache" | wc -l)" = 1 ] || refuses "one file in the cache" check-tidy

plant src/base/thing.c <<<'int f(int *p);
int f(int *p)
{
	return p ? 0 : *p;
}'
refuses 'clang-analyzer-core.NullDereference' check-tidy
finish
