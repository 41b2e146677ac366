# SPDX-License-Identifier: MIT OR Apache-2.0
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
"$TACHO" info small.tacho
