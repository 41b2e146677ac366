#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# check-headers: a header that leans on another, and public headers that are not plain.
. "$(dirname "$0")/lib.bash"

plant src/base/thing.h <<<'#include <stddef.h>
size_t thing_count(void);'
plant include/tacho/tacho.h <<<'int tacho_on(void);'
accepts check-headers

plant src/base/leans.h <<<'size_t leans_count(void);'
refuses 'base/leans.h: does not compile alone' check-headers
rm "$tree/src/base/leans.h"

plant include/tacho/tacho.h <<<'static inline int tacho_on(void) { return ({ 1; }); }'
refuses 'does not compile as C99' check-headers
plant include/tacho/tacho.h <<<'int tacho_on(int class);'
refuses 'does not compile as C++17' check-headers
plant include/tacho/tacho.h <<<'#ifdef TACHO_DISABLE
typo
#endif'
refuses '-DTACHO_DISABLE' check-headers
finish
