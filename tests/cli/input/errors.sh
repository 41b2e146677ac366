# SPDX-License-Identifier: MIT OR Apache-2.0
# A file that cannot be read is one line on stderr and exit status 2, whatever the command.
try() { "$TACHO" "$@"; echo "exit $?" >&2; }
mkdir folder.tacho
: >empty.tacho
echo "something else that somebody keeps in a file" >foreign.tacho
cp "$TEST_ROOT/tests/data/v1/small.tacho" newer.tacho
printf '\377' | dd of=newer.tacho bs=1 seek=8 conv=notrunc status=none
mkfifo pipe.tacho
for file in missing folder empty foreign newer pipe; do
	try info $file.tacho
	try report $file.tacho
	try export --to csv $file.tacho
done
