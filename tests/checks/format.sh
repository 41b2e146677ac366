#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# check-format: spaces instead of tabs; --fix mends them.
. "$(dirname "$0")/lib.bash"

cp "$root/.clang-format" "$tree/"
plant src/base/thing.c <<<'int f(void) {
    return 1; }'
refuses 'src/base/thing.c:2: run `make fmt`' check-format
accepts check-format --fix
accepts check-format
finish
