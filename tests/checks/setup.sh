#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# setup: silent when all is there, installs as root, and tells everyone else what to type.
. "$(dirname "$0")/lib.bash"

# A machine with almost nothing on it: apt-get writes down what it was asked, id says who we are.
bin=$tree/bin
mkdir "$bin"
for command in sh mktemp tail rm env; do
	ln -s "$(type -P $command)" "$bin/"
done
cat >"$bin/apt-get" <<END
#!/bin/sh
echo "\$*" >>"$tree/asked"
[ ! -e "$tree/broken" ]
END
printf '#!/bin/sh\ncat "%s"\n' "$tree/uid" >"$bin/id"
ln -s "$(type -P cat)" "$bin/"
printf '#!/bin/sh\nexit 1\n' >"$bin/dpkg"
chmod +x "$bin"/{apt-get,id,dpkg}

# try STATUS TEXT: setup build on that machine exits so and says so.
try()
{
	output=$(PATH=$bin sh "$root/tools/setup" build 2>&1)
	status=$?
	if [ $status != "$1" ] || [[ $output != *"$2"* ]]; then
		failed=$((failed + 1))
		printf 'expected status %s and "%s", got %s and\n%s\n' "$1" "$2" $status "$output"
	else
		passed=$((passed + 1))
	fi
}

echo 1000 >"$tree/uid"
try 2 'sudo apt-get update && sudo apt-get install -y --no-install-recommends gcc g++ cmake'
[ ! -e "$tree/asked" ] || try 0 'no call of apt-get'

echo 0 >"$tree/uid"
try 0 'installing gcc g++ cmake'
[[ $(cat "$tree/asked") == *update*"install -y --no-install-recommends gcc g++ cmake"* ]] ||
	try 0 'a call of apt-get with the packages'

touch "$tree/broken"
try 2 'the installation failed'

for command in gcc g++ cmake ninja pkg-config; do
	ln -s "$bin/dpkg" "$bin/$command"
done
if [ -e /usr/include/zstd.h ] && [ -e /usr/include/xxhash.h ] && [ -e /usr/include/sqlite3.h ] &&
	[ -e /usr/include/zlib.h ]; then
	rm "$tree/asked"
	try 0 ''
	[ -z "$output" ] && [ ! -e "$tree/asked" ] || try 0 'nothing at all'
fi
finish
