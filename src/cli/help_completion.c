// SPDX-License-Identifier: MIT OR Apache-2.0
/* Completion scripts for the usual shells. Words that stand in the tables are plain (a test
 * holds them to letters, digits and dashes); help texts are quoted. */
#include "cli/help.h"

#include <string.h>

static void bash_choice(struct buffer *out, const char *word, size_t length)
{
	buffer_printf(out, "%.*s ", (int)length, word);
}

static void bash_choices(const struct command *command, struct buffer *out)
{
	for (const struct option_spec *spec = command->options; spec && spec->name; spec++) {
		if (!spec->argument || !strchr(spec->argument, '|'))
			continue;
		buffer_printf(out, "\t%s:--%s", command->name, spec->name);
		if (spec->letter)
			buffer_printf(out, "|%s:-%c", command->name, spec->letter);
		buffer_text(out, ") words='");
		help_each_choice(spec, bash_choice, out);
		buffer_text(out, "' ;;\n");
	}
}

static void bash_script(struct buffer *out)
{
	buffer_text(out,
		"# bash completion for tacho\n_tacho()\n{\n"
		"\tlocal now=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
		"\tlocal words=\n\tCOMPREPLY=()\n"
		"\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\twords='");
	for (size_t i = 0; commands[i]; i++)
		buffer_printf(out, "%s ", commands[i]->name);
	buffer_text(out, "'\n\telse\n\t\tcase ${COMP_WORDS[1]}:$before in\n");
	for (size_t i = 0; commands[i]; i++)
		bash_choices(commands[i], out);
	buffer_text(out, "\t*) case ${COMP_WORDS[1]}:$now in\n");
	for (size_t i = 0; commands[i]; i++) {
		buffer_printf(out, "\t\t%s:-*) words='", commands[i]->name);
		for (const struct option_spec *spec = commands[i]->options; spec && spec->name;
			spec++)
			buffer_printf(out, "--%s ", spec->name);
		buffer_text(out, "--help' ;;\n");
	}
	buffer_text(out, "\t\thelp:*) words='");
	for (size_t i = 0; commands[i]; i++)
		buffer_printf(out, "%s ", commands[i]->name);
	buffer_text(out, "' ;;\n\t\tesac ;;\n\t\tesac\n\tfi\n"
			 "\tif [ -n \"$words\" ]; then\n"
			 "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$now\"))\n\tfi\n}\n"
			 "complete -o default -F _tacho tacho\n");
}

/* Text inside single quotes of a POSIX shell or fish. */
static void put_quoted(struct buffer *out, const char *text, const char *quote, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			buffer_text(out, quote);
		else if (strchr(special, *text))
			buffer_printf(out, "\\%c", *text);
		else
			buffer_byte(out, (uint8_t)(*text == '\n' ? ' ' : *text));
	}
}

static void zsh_option(const struct option_spec *spec, struct buffer *out)
{
	buffer_text(out, "\t\t\t");
	if (spec->letter)
		buffer_printf(out, "'(-%c --%s)'{-%c,--%s", spec->letter, spec->name, spec->letter,
			spec->name);
	else
		buffer_printf(out, "'--%s", spec->name);
	buffer_printf(out, spec->letter ? "%s}'[" : "%s[", spec->argument ? "=" : "");
	put_quoted(out, spec->help, "'\\''", "[]:\\");
	buffer_byte(out, ']');
	if (spec->argument && strchr(spec->argument, '|')) {
		buffer_printf(out, ":%s:(", spec->name);
		help_each_choice(spec, bash_choice, out);
		buffer_byte(out, ')');
	} else if (spec->argument) {
		buffer_printf(out, ":%s:_files", spec->name);
	}
	buffer_text(out, "' \\\n");
}

static void zsh_script(struct buffer *out)
{
	buffer_text(out, "#compdef tacho\n_tacho()\n{\n\tlocal -a names\n\tnames=(\n");
	for (size_t i = 0; commands[i]; i++) {
		buffer_printf(out, "\t\t'%s:", commands[i]->name);
		put_quoted(out, commands[i]->summary, "'\\''", ":\\");
		buffer_text(out, "'\n");
	}
	buffer_text(out, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command names\n"
			 "\t\treturn\n\tfi\n\tshift words\n\t(( CURRENT-- ))\n"
			 "\tcase $words[1] in\n");
	for (size_t i = 0; commands[i]; i++) {
		buffer_printf(out, "\t%s)\n\t\t_arguments \\\n", commands[i]->name);
		for (const struct option_spec *spec = commands[i]->options; spec && spec->name;
			spec++)
			zsh_option(spec, out);
		zsh_option(&help_option, out);
		buffer_text(out, "\t\t\t'*:file:_files' ;;\n");
	}
	buffer_text(out, "\tesac\n}\n_tacho \"$@\"\n");
}

static void fish_option(
	const struct command *command, const struct option_spec *spec, struct buffer *out)
{
	buffer_printf(out, "complete -c tacho -n '__fish_seen_subcommand_from %s' -l %s",
		command->name, spec->name);
	if (spec->letter)
		buffer_printf(out, " -s %c", spec->letter);
	if (spec->argument && strchr(spec->argument, '|')) {
		buffer_text(out, " -x -a '");
		help_each_choice(spec, bash_choice, out);
		buffer_byte(out, '\'');
	} else if (spec->argument) {
		buffer_text(out, " -r");
	}
	buffer_text(out, " -d '");
	put_quoted(out, spec->help, "\\'", "\\");
	buffer_text(out, "'\n");
}

static void fish_script(struct buffer *out)
{
	buffer_text(out, "# fish completion for tacho\n");
	for (size_t i = 0; commands[i]; i++) {
		buffer_printf(out, "complete -c tacho -f -n __fish_use_subcommand -a %s -d '",
			commands[i]->name);
		put_quoted(out, commands[i]->summary, "\\'", "\\");
		buffer_text(out, "'\n");
	}
	for (size_t i = 0; commands[i]; i++) {
		for (const struct option_spec *spec = commands[i]->options; spec && spec->name;
			spec++)
			fish_option(commands[i], spec, out);
		fish_option(commands[i], &help_option, out);
	}
}

int help_completion(const char *shell, struct buffer *out)
{
	if (strcmp(shell, "bash") == 0)
		bash_script(out);
	else if (strcmp(shell, "zsh") == 0)
		zsh_script(out);
	else if (strcmp(shell, "fish") == 0)
		fish_script(out);
	else
		return STATUS_NOTFOUND;
	return STATUS_OK;
}
