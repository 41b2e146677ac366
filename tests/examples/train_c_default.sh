#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# examples/train_c as `make demo` runs it: reaches its accuracy.
. "$(dirname "$0")/lib.sh"

train_c >out
grep -q '^test accuracy 9[5-9]\.[0-9] %$\|^test accuracy 100\.0 %$' out || { cat out; exit 1; }
