# SPDX-License-Identifier: MIT OR Apache-2.0
# Whatever is wrong is one line with its place and exit status 2, and leaves nothing behind.
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
try() { echo "\$ tacho query $*" >&2; "$TACHO" query "$@"; echo "exit $?" >&2; }
sql() { try small.tacho "$@"; }
try
try small.tacho "SELECT 1" "SELECT 2"
try no.tacho "SELECT 1"
try --json --format csv small.tacho "SELECT 1"
try --shell small.tacho "SELECT 1"
try --shell -o x small.tacho
try --max-memory 1k small.tacho "SELECT 1"
try - -
sql ""
sql "SELEC 1"
sql "SELECT nam FROM spans"
sql "SELECT count(*) FROM spams"
sql "SELECT 1;
SELECT 2,
  x.y FROM tracks"
sql 'SELECT "text" FROM spans'
sql "SELECT ?1"
sql "SELECT 1; SELECT 'not closed"
for statement in "ATTACH 'x.db' AS x" "PRAGMA journal_mode" "INSERT INTO spans(id) VALUES(1)" "UPDATE spans SET id = 1" \
	"DELETE FROM spans" "CREATE TABLE x(a)" "CREATE VIRTUAL TABLE x USING fts5(a)" "DROP TABLE spans" "VACUUM INTO 'x.db'" \
	"BEGIN" "SELECT load_extension('x.so')" "SELECT writefile('x', 'y')" "SELECT readfile('/etc/hostname')" \
	"SELECT fts3_tokenizer('simple')" "SELECT * FROM sqlite_master" "SELECT * FROM pragma_database_list" "SELECT 1; BEGIN"; do
	sql "$statement"
done
sql --timeout 100ms "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT max(x) FROM a"
sql --max-rows 2 "SELECT id FROM tracks"
sql --max-rows 2 --json "SELECT id FROM tracks" | grep -v '"version"'
sql --max-rows 2 -o cut.csv "SELECT id FROM tracks"
sql --max-memory 8MiB "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a WHERE x < 900000) SELECT x FROM a ORDER BY -x LIMIT 1 OFFSET 500000"
sql -o no/such/folder "SELECT 1"
sql "SELECT id FROM spans" >/dev/full
sql --json "SELECT id FROM spans" >/dev/full
ls
