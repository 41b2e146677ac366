# SPDX-License-Identifier: MIT OR Apache-2.0
# Tables, CSV and JSON; values of every kind; files that appear whole.
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
show() { echo "\$ tacho query $*"; "$TACHO" query "$@"; }
values="SELECT 1 AS one, -2.5 AS real, NULL AS none, '' AS empty, x'00ff' AS blob, name AS \"a,b\" FROM spans WHERE track = 9"
show small.tacho "$values"
show --format csv small.tacho "$values"
show --json small.tacho "$values" | grep -v '"version"'
show small.tacho "SELECT 1 AS a; SELECT 2 AS b, 'x' AS c WHERE 0; SELECT 3 AS d"
show --format csv small.tacho "SELECT 1 AS a; SELECT 2 AS b WHERE 0"
show --format json small.tacho "SELECT 1 AS a; SELECT 2 AS b WHERE 0" | grep -v '"version"'
show small.tacho "SELECT char(27, 91, 51, 49, 109) || 'red', char(0x202e), 'a' || char(0) || 'b', char(9)"
show small.tacho "SELECT printf('%.*c', 100, 'x') AS wide, 1 AS n"
show -o answer.csv --format csv small.tacho "SELECT id, name FROM tracks LIMIT 2"
cat answer.csv
show -o answer.json --json small.tacho "SELECT 1e999, -0.0, 1e15, 9223372036854775807"
grep -v '"version"' answer.json
echo "SELECT count(*) FROM spans -- the end" | show small.tacho
echo "SELECT count(*) FROM spans" | show small.tacho -
ls
