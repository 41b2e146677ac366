# SPDX-License-Identifier: MIT OR Apache-2.0
# A trace written anew holds the same; a window cut out holds what a report of the window shows.
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
"$TACHO" export small.tacho -o copy.tacho || exit
for table in spans counters marks links allocations samples; do
	"$TACHO" export small.tacho --to csv --table $table >one
	"$TACHO" export copy.tacho --to csv --table $table >two
	cmp one two || exit
done
"$TACHO" export small.tacho --from 15ms --until 70ms -o cut.tacho || exit
"$TACHO" report --by name --top 0 --from 15ms --until 70ms small.tacho | sed '1,/^$/d' >one
"$TACHO" report --by name --top 0 cut.tacho | sed '1,/^$/d' >two
cmp one two || exit
"$TACHO" info cut.tacho | grep -A 3 'a window'
"$TACHO" export small.tacho -o small.tacho && "$TACHO" export small.tacho --to csv | wc -l
ls
