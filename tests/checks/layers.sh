#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# check-layers: each way to cross a layer.
. "$(dirname "$0")/lib.bash"

mkdir -p "$tree/docs"
cp "$root/docs/architecture.md" "$tree/docs/"
plant src/base/thing.h </dev/null
plant src/base/thing_internal.h </dev/null
plant src/base/thing.c <<<'#include "base/thing_internal.h"'
plant src/base/CMakeLists.txt <<<'tacho_module(base thing.c)'
plant src/trace/cursor.h <<<'#include "base/thing.h"'
plant src/cli/main.c <<<'#include "trace/cursor.h"'
plant src/cli/CMakeLists.txt <<<'tacho_module(cli main.c USES base trace)'
accepts check-layers

try()
{
	plant src/trace/wrong.h <<<"$2"
	refuses "$1" check-layers
	rm "$tree/src/trace/wrong.h"
}
try 'trace may not include cli' '#include "cli/main.h"'
try 'belongs to base alone' '#include "base/thing_internal.h"'
try 'is not written as' '#include "cursor.h"'
try 'does not exist' '#include "base/nothing.h"'
try 'the table does not know' '#include "utils/drawer.h"'
try 'is not for this module' '#include <tacho/tacho.h>'

plant src/record/emit.h </dev/null
plant src/cli/wrong.h <<<'#include "record/emit.h"'
refuses 'cli may not include record' check-layers
rm "$tree/src/cli/wrong.h"

plant src/utils/drawer.h </dev/null
refuses 'no row for the module utils' check-layers
rm -r "$tree/src/utils"

plant src/base/CMakeLists.txt <<<'tacho_module(base thing.c USES trace)'
refuses 'base may not use trace' check-layers
plant src/base/CMakeLists.txt <<<'tacho_module(base other_thing.c)'
refuses 'thing.c: is not in its CMakeLists.txt' check-layers
plant src/base/CMakeLists.txt <<<'tacho_module(base thing.c)'
plant tests/unit/CMakeLists.txt <<<'tacho_unit_test(thing_two USES base)'
plant tests/unit/test_thing.c </dev/null
refuses 'test_thing.c: is not in its CMakeLists.txt' check-layers
plant tests/unit/CMakeLists.txt <<<'tacho_unit_test(thing USES base)'
accepts check-layers
finish
