// SPDX-License-Identifier: MIT OR Apache-2.0
/* The tool's entry: finds the command and hands over. */
#include "cli/cli.h"
#include "cli/help.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Started by libtacho, not by people, so it stands in no table. */
extern const struct command cmd_collect;

#define WIDTH_DEFAULT 80
#define WIDTH_MIN     40

static void look_at_terminal(struct cli *cli)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	bool dumb = !term || strcmp(term, "dumb") == 0;
	struct winsize size;

	cli->width = WIDTH_DEFAULT;
	cli->progress = isatty(STDERR_FILENO) && !dumb;
	if (!isatty(STDOUT_FILENO))
		return;
	cli->colour = !dumb && !(no_color && *no_color);
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= WIDTH_MIN)
		cli->width = size.ws_col;
}

/* The words that stand for a command. */
static const char *command_name(const char *word)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return "help";
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return "version";
	return word;
}

/* A result that did not reach its reader is a failure, not a success. */
static int finish_stdout(const struct cli *cli, int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	return cli_fail(cli, "cannot write to standard output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct cli cli = { .program = "tacho" };
	const char *name;

	look_at_terminal(&cli);
	if (argc < 2) {
		help_print_all(stderr);
		return EXIT_USAGE;
	}
	name = command_name(argv[1]);
	cli.command = strcmp(name, cmd_collect.name) == 0 ? &cmd_collect : command_find(name);
	if (!cli.command && name[0] == '-')
		return cli_fail(&cli, "unknown option %s before a command; see 'tacho help'", name);
	if (!cli.command)
		return cli_fail_command(&cli, name);
	return finish_stdout(&cli, cli.command->run(&cli, argc - 2, argv + 2));
}
