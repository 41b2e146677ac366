# SPDX-License-Identifier: MIT OR Apache-2.0
cp "$TEST_ROOT/tests/data/v1/small.tacho" .
"$TACHO" export small.tacho -o small.json || exit
"$TACHO" export small.tacho --to json | cmp - small.json || exit
python3 - <<'END'
import json
document = json.load(open("small.json"))
for key, value in document.items():
    print(key, len(value), (value[0] if value else None) if isinstance(value, list) else sorted(value))
END
