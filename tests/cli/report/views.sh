# SPDX-License-Identifier: MIT OR Apache-2.0
# Window, filter, order and number of rows.
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
show() { echo "\$ tacho report $*"; "$TACHO" report "$@" small.tacho | sed 1,9d; }
show --by name --sort count --top 3
show --by name --sort name --filter m
show --by steps --sort total --top 2
show --by steps --from 22ms --until 43ms
show --by tree --top 4
show --by counters --top 1
