# SPDX-License-Identifier: MIT OR Apache-2.0
# Shared by the tests of the examples. Sourced by sh; the current folder is empty and ours.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tacho=${TACHO:-tacho}
export PYTHONPATH="$here" PYTHONDONTWRITEBYTECODE=1

# run_example NAME [ARGUMENT...]: runs it bare and recorded into NAME.tacho. Both must exit with 0 and
# print the same; bare.out holds what that is.
run_example()
{
	name=$1
	"$@" >bare.out 2>bare.err || { echo "$name, bare: exit status $?"; cat bare.err; exit 1; }
	"$tacho" record -o "$name.tacho" -- "$@" >recorded.out 2>recorded.err ||
		{ echo "$name, recorded: exit status $?"; cat recorded.err; exit 1; }
	cmp bare.out recorded.out || { diff bare.out recorded.out; exit 1; }
	cmp bare.err recorded.err || { diff bare.err recorded.err; exit 1; }
}

# expect LINE: bare.out must hold it.
expect()
{
	grep -qxF -- "$1" bare.out || { echo "expected '$1' in:"; cat bare.out; exit 1; }
}

# check_trace NAME <<EOF ... EOF: runs a Python program with the names of libcheck.py over NAME.tacho.
check_trace()
{
	{ echo "from libcheck import *"; echo "check = Check('$1.tacho')"; cat; echo "check.finish()"; } >check.py
	python3 check.py
}
