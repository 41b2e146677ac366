# SPDX-License-Identifier: MIT OR Apache-2.0
# A foreign trace is converted once; the cache is found again, made anew when the file changes, and
# done without where there is no place for it.
spans() { "$TACHO" "$@" --json trace.json | grep -c '"spans": 1,'; }
entries() { find "$1" -name '*.tacho' 2>/dev/null | wc -l; }
event='{"ph":"X","name":"work","pid":1,"tid":2,"ts":10,"dur":5}'
echo "[$event]" >trace.json

export XDG_CACHE_HOME=$PWD/cache
echo "not kept: $(spans info --no-cache) $(entries cache)"
echo "kept: $(spans info) $(entries cache)"
echo "again: $(spans info) $(entries cache)"
echo "an entry that was damaged is made anew:"
entry=$(find cache -name '*.tacho')
echo rubbish >"$entry"
echo "  $(spans info) $(entries cache)"
head -c 6 "$entry"
echo
echo "another file, another entry:"
echo "[$event,{\"ph\":\"i\",\"name\":\"mark\",\"pid\":1,\"tid\":2,\"ts\":20}]" >trace.json
"$TACHO" report --by name trace.json | tail -n 1 | cut -c 1-4
entries cache

echo "without a home: $(env -u HOME -u XDG_CACHE_HOME "$TACHO" info --json trace.json | grep -c '"spans"')"
echo "a home that is none: $(HOME=/dev/null XDG_CACHE_HOME=/dev/null "$TACHO" info --json trace.json | grep -c '"spans"')"
echo "from standard input: $("$TACHO" info --json - <trace.json | grep -c '"spans"')"
echo "nothing is left behind: $(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'tacho-import-*' | wc -l)"
