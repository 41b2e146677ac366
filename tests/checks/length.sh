#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# check-length: one line too many, in a file and in a function.
. "$(dirname "$0")/lib.bash"

# body N: a function whose braces and what is between them are N lines.
body()
{
	printf 'int f(void)\n{\n'
	for ((i = 0; i < $1 - 2; i++)); do
		printf '\tg();\n'
	done
	printf '}\n'
}

body 100 | plant src/base/thing.c
accepts check-length
body 101 | plant src/base/thing.c
refuses 'a function of 101 lines' check-length
yes '/* line */' | head -n 1199 | plant src/base/thing.c
accepts check-length
yes '/* line */' | head -n 1200 | plant src/base/thing.c
refuses '1201 lines' check-length
finish
