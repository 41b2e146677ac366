// SPDX-License-Identifier: MIT OR Apache-2.0
/* What every command needs: messages in one shape, and the search of the table of commands. */
#include "cli/cli.h"

#include "base/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COMMANDS_MAX 64

int cli_fail(const struct cli *cli, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", cli->program);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

int cli_fail_error(const struct cli *cli, const struct error *err)
{
	/* A message with an offset has it in its text already. */
	return cli_fail(cli, "%s", err->message[0] ? err->message : status_text(err->status));
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

int cli_fail_command(const struct cli *cli, const char *name)
{
	const char *names[COMMANDS_MAX];
	size_t count = 0;

	for (; commands[count] && count < COMMANDS_MAX; count++)
		names[count] = commands[count]->name;
	return cli_fail(cli, "unknown command '%s'; did you mean '%s'? 'tacho help' lists all",
		name, nearest_word(name, names, count));
}
