#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# `make dist` makes its tarball, and the checks inside it pass.
set -eu
"$TEST_ROOT/tools/make-dist" "$PWD/dist" >log 2>&1 || { cat log; exit 1; }
tail -n 4 log
