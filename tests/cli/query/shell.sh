# SPDX-License-Identifier: MIT OR Apache-2.0
# The shell without a terminal: statements over several lines, commands, the first mistake.
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
set -o pipefail
"$TACHO" query --shell small.tacho <<'END' | grep -v '"version"'
.tables
.schema spans
SELECT count(*),
       ';' -- a semicolon in a text, and one in a comment;
  FROM spans;
;
.format csv
SELECT number, duration_ns FROM steps WHERE number > 5; SELECT 1;
.format json
SELECT 2 AS two
END
echo "exit $?" >&2
.() { printf '%s\n' "$@" | "$TACHO" query --shell small.tacho; echo "exit $?" >&2; }
. .help .quit "SELECT 'never';"
. "SELECT 1;" "SELECT missing;" "SELECT 'never';"
. .nothing
. ".schema nothing"
. ".format xml"
printf 'SELECT 1\0;' | "$TACHO" query --shell small.tacho
echo "exit $?" >&2
