#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# check-spdx: a source without its licence, and a path of one machine.
. "$(dirname "$0")/lib.bash"

plant src/base/thing.c <<<'int x;'
plant docs/page.md <<<'See ./work/results and https://example.org/root/x.'
accepts check-spdx

echo 'int y;' >"$tree/src/base/bare.c"
refuses 'src/base/bare.c: has no line' check-spdx
rm "$tree/src/base/bare.c"

mkdir "$tree/tools"
echo 'echo hello' >"$tree/tools/bare-tool"
refuses 'tools/bare-tool: has no line' check-spdx
rm "$tree/tools/bare-tool"

# In two pieces, or this file would be found.
for path in /wor"k/main" /roo"t/cache"; do
	plant docs/page.md <<<"It is in $path/x."
	refuses 'docs/page.md:1:' check-spdx
done
finish
