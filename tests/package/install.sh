#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# An installed copy: laid down below a prefix and moved away, found by pkg-config and by CMake, with
# man pages and completion.
set -eu
passed=0

fail()
{
	echo "$*"
	echo "$passed passed, 1 failed"
	exit 1
}
ok()
{
	passed=$((passed + 1))
}

stage=$PWD/stage
DESTDIR=$stage cmake --install "$TEST_BUILD" --prefix /opt/tacho >install.log || fail "$(cat install.log)"
prefix=$PWD/moved
mv "$stage/opt/tacho" "$prefix"
ok

for path in bin/tacho lib/libtacho.so lib/libtacho.so.0 include/tacho/tacho.h \
	include/tacho/tacho.hpp include/tacho/version.h lib/pkgconfig/tacho.pc \
	lib/cmake/tacho/tacho-config.cmake share/man/man1/tacho.1 share/man/man1/tacho-record.1 \
	share/bash-completion/completions/tacho share/zsh/site-functions/_tacho \
	share/fish/vendor_completions.d/tacho.fish share/doc/tacho/LICENSE-MIT; do
	[ -s "$prefix/$path" ] || fail "$path: is not installed"
	ok
done

env -u TEST_LIB "$prefix/bin/tacho" version >version.txt || fail "the moved tool does not run"
grep -q "$(cat "$TEST_ROOT/VERSION")" version.txt || fail "tacho version says: $(cat version.txt)"
ok
bash -n "$prefix/share/bash-completion/completions/tacho" || fail "the bash completion is not bash"
ok

cat >user.c <<'END'
#include <tacho/tacho.h>
#include <tacho/version.h>
int main(void)
{
	TACHO_BEGIN("work");
	tacho_end();
	return TACHO_VERSION_MAJOR > 1000;
}
END

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
[ "$(pkg-config --modversion tacho)" = "$(cat "$TEST_ROOT/VERSION")" ] || fail "pkg-config: wrong version"
gcc user.c -o user_pc $(pkg-config --cflags --libs tacho) "-Wl,-rpath,$prefix/lib" || fail "pkg-config: no build"
./user_pc || fail "pkg-config: the program does not run"
ok

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(tacho 0.1 REQUIRED)
add_executable(user_cmake user.c)
target_link_libraries(user_cmake PRIVATE tacho::tacho)
END
{ cmake -G Ninja -B out -DCMAKE_PREFIX_PATH="$prefix" && cmake --build out; } >cmake.log 2>&1 ||
	fail "CMake package: $(cat cmake.log)"
./out/user_cmake || fail "CMake package: the program does not run"
ok

echo "$passed passed, 0 failed"
