# SPDX-License-Identifier: MIT OR Apache-2.0
"$TACHO" help --man export | sed 's/tacho [0-9][0-9.]*/tacho VERSION/'
