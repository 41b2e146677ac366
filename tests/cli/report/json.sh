# SPDX-License-Identifier: MIT OR Apache-2.0
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
"$TACHO" report --json --by all small.tacho | sed 's/"version": "[0-9.]*"/"version": "VERSION"/'
