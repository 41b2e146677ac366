#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# check-abi: libraries that export, import or need what they may not.
. "$(dirname "$0")/lib.bash"

export TACHO_CHECK_ABI=$tree/abi
mkdir "$TACHO_CHECK_ABI"
library=$tree/libtacho.so

# build OPTIONS...: makes the library from standard input.
build()
{
	plant lib.c
	gcc -std=gnu17 -w -g -O1 -shared -fPIC "$tree/lib.c" -o "$library" -nostartfiles "$@" || exit 1
}
good='#include <unistd.h>
int tacho_on(void) { return getpid(); }'

build <<<"$good"
echo 'getpid # to notice a fork' >"$TACHO_CHECK_ABI/libtacho.imports"
accepts check-abi --update "$library"
accepts check-abi "$library"

build <<<"$good
int tacho_more(void) { return 1; }"
refuses 'new export: tacho_more' check-abi "$library"
build <<<"$good
int helper(void) { return 1; }"
refuses 'exports helper, which does not start with tacho_' check-abi "$library"
build <<<'#include <unistd.h>
long tacho_on(int x) { return getpid() + x; }'
refuses 'the ABI changed' check-abi "$library"
build <<<"$good
int f(void) __attribute__((visibility(\"hidden\")));
int f(void) { return getppid(); }"
refuses 'imports getppid, which is not in libtacho.imports' check-abi "$library"
build <<<"$good
#include <stdlib.h>
__attribute__((visibility(\"hidden\"))) void *f(void) { return malloc(1); }"
refuses 'imports malloc, which is never allowed' check-abi "$library"
build <<<"$good
#include <pthread.h>
__attribute__((visibility(\"hidden\"))) int f(pthread_key_t *k) { return pthread_key_create(k, 0); }"
refuses 'newer than glibc 2.28' check-abi "$library"
build -Wl,--no-as-needed -lm <<<"$good"
refuses 'may need only libc.so.6' check-abi "$library"

build <<<"$good"
echo 'getpid' >"$TACHO_CHECK_ABI/libtacho.imports"
refuses 'has no reason' check-abi "$library"
printf 'getpid # to notice a fork\nabort # on error\n' >"$TACHO_CHECK_ABI/libtacho.imports"
refuses 'abort cannot be allowed' check-abi "$library"
printf 'getpid # to notice a fork\ngetuid # old\n' >"$TACHO_CHECK_ABI/libtacho.imports"
refuses 'getuid is not imported any more' check-abi "$library"
finish
