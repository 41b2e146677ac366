# SPDX-License-Identifier: MIT OR Apache-2.0
# A file cut off anywhere opens as a repaired trace with a ledger entry, or is refused in one line.
whole=$TEST_ROOT/tests/data/v1/small.tacho
size=$(stat -c %s "$whole")
opened=0
refused=0
for ((at = 1; at < size; at += 97)); do
	head -c "$at" "$whole" >cut.tacho
	if "$TACHO" report --json cut.tacho >out.json 2>err; then
		opened=$((opened + 1))
		python3 - "$at" <<-'END' || exit
		import json, sys
		report = json.load(open("out.json"))
		assert report["warnings"], sys.argv
		assert report["ledger"]["entries"], sys.argv
		END
	else
		[ $? = 2 ] && [ "$(wc -l <err)" = 1 ] || { echo "at $at:"; cat err; exit 1; }
		refused=$((refused + 1))
	fi
done
[ "$opened" -gt 20 ] && [ "$refused" -lt 5 ] && echo fine
