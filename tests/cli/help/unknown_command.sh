# SPDX-License-Identifier: MIT OR Apache-2.0
"$TACHO" exprot x.tacho
