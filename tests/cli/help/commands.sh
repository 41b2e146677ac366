# SPDX-License-Identifier: MIT OR Apache-2.0
# The list of commands has every command, and each answers --help the way `tacho help` does.
"$TACHO" help >all || exit
"$TACHO" --help | cmp - all || exit
"$TACHO" -h | cmp - all || exit
head -n 3 all
for name in $("$TACHO" help --list); do
	grep -q "^  $name " all || echo "$name is not in the list"
	"$TACHO" "$name" --help >one || echo "$name --help: exit $?"
	"$TACHO" help "$name" | cmp - one
	grep -q "^usage: tacho $name" one || echo "$name: no usage"
	awk -v name="$name" 'length > 80 { print name ": longer than 80 columns: " $0 }' one
	"$TACHO" help --man "$name" >"$name.1" || echo "$name: no man page"
	head -n 1 "$name.1" | grep -q "^\.TH TACHO" || echo "$name: no title in the man page"
done
"$TACHO" help --man | head -n 1 | sed 's/tacho [0-9.]*/tacho VERSION/'
