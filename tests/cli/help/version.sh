# SPDX-License-Identifier: MIT OR Apache-2.0
"$TACHO" version | sed "s/$(cat "$TEST_ROOT/VERSION")/VERSION/; /^platform/d"
"$TACHO" --version | cmp - <("$TACHO" version)
"$TACHO" version --json | python3 -c '
import json, sys
document = json.load(sys.stdin)
print(sorted(document), document["tacho"]["command"], document["format_version"])'
