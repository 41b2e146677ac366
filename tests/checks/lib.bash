# SPDX-License-Identifier: MIT OR Apache-2.0
# For the tests of the checks: a tree to plant things in, and two verbs.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
export TACHO_CHECK_ROOT=$tree TEST_BUILD=${TEST_BUILD:-$root/build/dev}
passed=0
failed=0

# plant PATH: writes standard input into the tree, below a licence line.
plant()
{
	mkdir -p "$(dirname "$tree/$1")"
	{
		case $1 in
		*.c | *.h) echo '// SPDX-License-Identifier: MIT OR Apache-2.0' ;;
		esac
		cat
	} >"$tree/$1"
}

# accepts CHECK [ARGUMENT ...]: the check finds nothing.
accepts()
{
	if output=$("$root/tools/$1" "${@:2}" 2>&1); then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf '%s refused what is right:\n%s\n' "$1" "$output"
	fi
}

# refuses TEXT CHECK [ARGUMENT ...]: the check fails and says TEXT.
refuses()
{
	if output=$("$root/tools/$2" "${@:3}" 2>&1) || [[ $output != *"$1"* ]]; then
		failed=$((failed + 1))
		printf '%s did not say "%s", but:\n%s\n' "$2" "$1" "$output"
	else
		passed=$((passed + 1))
	fi
}

finish()
{
	echo "$passed passed, $failed failed"
	exit $((failed != 0))
}
