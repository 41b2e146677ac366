# SPDX-License-Identifier: MIT OR Apache-2.0
# The same report, asked for in every way that options can be written.
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
"$TACHO" report --by name --top 2 -o one small.tacho || exit
"$TACHO" report small.tacho --by=name --top=2 -otwo || exit
"$TACHO" report --json --no-json --by name --output three --top 2 -- small.tacho || exit
cmp one two && cmp one three && tail -n 3 one
