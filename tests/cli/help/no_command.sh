# SPDX-License-Identifier: MIT OR Apache-2.0
"$TACHO" 2>text
status=$?
head -n 1 text
exit $status
