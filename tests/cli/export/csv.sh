# SPDX-License-Identifier: MIT OR Apache-2.0
# Every table, read by another CSV reader.
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
for table in spans counters marks links allocations samples; do
	"$TACHO" export small.tacho --table $table -o $table.csv || exit
done
cat marks.csv allocations.csv samples.csv
python3 - <<'END'
import csv, json
spans = list(csv.DictReader(open("spans.csv", newline="")))
print(len(spans), list(spans[0]))
print(sorted({s["name"] for s in spans}))
print(json.loads(next(s for s in spans if s["name"] == "matmul")["args"]))
counters = list(csv.DictReader(open("counters.csv", newline="")))
print(len(counters), [float(c["value"]) for c in counters if c["name"] == "loss"])
print(len(list(csv.DictReader(open("links.csv", newline="")))))
END
"$TACHO" export small.tacho --to csv | cmp - spans.csv
