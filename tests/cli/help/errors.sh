# SPDX-License-Identifier: MIT OR Apache-2.0
try() { echo "\$ tacho $*" >&2; "$TACHO" "$@"; echo "exit $?" >&2; }
try help repotr
try help report info
try help --completion tcsh
try help --lst
