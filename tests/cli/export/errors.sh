# SPDX-License-Identifier: MIT OR Apache-2.0
# Output that cannot be written is an error, and leaves nothing behind.
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
try() { "$TACHO" "$@"; echo "exit $?" >&2; }
for format in chrome csv json tacho; do
	try export small.tacho --to $format -o no/such/folder 2>&1 | sed 's/\.[0-9]*\.tmp//' >&2
done
for format in chrome csv json; do
	try export small.tacho --to $format >/dev/full
done
try report small.tacho >/dev/full
try info --json small.tacho >/dev/full
try help >/dev/full
try report -o no/such/folder small.tacho
ls
