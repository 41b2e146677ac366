# SPDX-License-Identifier: MIT OR Apache-2.0
# bash completes commands, options and the words an option takes; the other scripts are there.
"$TACHO" help --completion bash >tacho.bash || exit
. ./tacho.bash || exit
complete_words()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_tacho
	echo "$*: ${COMPREPLY[*]}"
}
complete_words tacho rep
complete_words tacho report --fr
complete_words tacho report --format ''
complete_words tacho export --to c
complete_words tacho help vers
for shell in zsh fish; do
	"$TACHO" help --completion "$shell" >"tacho.$shell" || exit
	for name in $("$TACHO" help --list); do
		grep -q "\b$name\b" "tacho.$shell" || echo "$shell: $name is missing"
	done
done
head -n 1 tacho.zsh
grep -c "subcommand_from report" tacho.fish
