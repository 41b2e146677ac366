# SPDX-License-Identifier: MIT OR Apache-2.0
# Each mistake is one line on stderr and exit status 2.
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
try() { echo "\$ tacho $*" >&2; "$TACHO" "$@"; echo "exit $?" >&2; }
try report --jsno small.tacho
try report --by=nmae small.tacho
try report --sort fastest small.tacho
try report --top many small.tacho
try report --top
try report --from soon small.tacho
try report --from 2s --until 1s small.tacho
try report --from 1s small.tacho
try export --to csv --from 1s small.tacho
try report --json=yes small.tacho
try report --json --format markdown small.tacho
try report -x small.tacho
try report
try report small.tacho small.tacho
try info
try info --output
try info -q small.tacho
try version extra
try export small.tacho
try export small.tacho -o table.xlsx
try export small.tacho --to pdf
try export small.tacho --to tacho
try export small.tacho --to json --table marks
try export small.tacho --to csv --table stack
try export
try --jsno
