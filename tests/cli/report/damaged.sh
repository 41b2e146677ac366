# SPDX-License-Identifier: MIT OR Apache-2.0
# A report over damaged blocks says so, as text, as Markdown and as JSON.
cp "$TEST_ROOT/tests/data/v1/small.tacho" bad.tacho
python3 - <<'END'
import re
data = bytearray(open("bad.tacho", "rb").read())
blocks = [m.start() for m in re.finditer(b"TBLK\x04", data)]
data[blocks[0] + 80] ^= 0xff
open("bad.tacho", "wb").write(data)
END
"$TACHO" report bad.tacho | grep -A 1 warning
"$TACHO" report --format markdown bad.tacho | grep Warning
"$TACHO" report --json bad.tacho | python3 -c '
import json, sys
report = json.load(sys.stdin)
print(len(report["warnings"]), report["summary"]["damaged_blocks"] + report["ledger"]["skipped"])'
"$TACHO" export --to csv bad.tacho >table.csv
"$TACHO" export bad.tacho -o whole.tacho
"$TACHO" info whole.tacho | grep -A 8 '^ledger'
