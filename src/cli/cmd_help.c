// SPDX-License-Identifier: MIT OR Apache-2.0
/* tacho help: the manual that the tables know. */
#include "base/settings.h"
#include "cli/help.h"

struct help_options {
	bool list, settings, man;
	const char *completion;
};

static const struct option_spec help_specs[] = {
	{ OPTION_STRING, 0, "completion", "bash|zsh|fish",
		offsetof(struct help_options, completion),
		"write a completion script for a shell" },
	{ OPTION_FLAG, 0, "list", NULL, offsetof(struct help_options, list),
		"write the names of all commands, one a line" },
	{ OPTION_FLAG, 0, "man", NULL, offsetof(struct help_options, man),
		"write the man page of the command, or of the tool, in roff" },
	{ OPTION_FLAG, 0, "settings", NULL, offsetof(struct help_options, settings),
		"write the table of settings: key, type, default, meaning" },
	{ 0 },
};

static void put_settings(struct buffer *out)
{
	size_t count;
	const struct setting *table = settings_table(&count);

	for (size_t i = 0; i < count; i++) {
		buffer_printf(out, "%-16s %-9s %-8s ", table[i].key,
			setting_type_name(table[i].type),
			table[i].fallback[0] ? table[i].fallback : "-");
		help_wrap(out, table[i].help, 0, 0);
	}
}

static int put_help(
	struct cli *cli, const struct help_options *options, const char *name, struct buffer *out)
{
	const struct command *command = name ? command_find(name) : NULL;

	if (name && !command)
		return cli_fail_command(cli, name);
	if (options->list) {
		for (size_t i = 0; commands[i]; i++)
			buffer_printf(out, "%s\n", commands[i]->name);
	} else if (options->settings) {
		put_settings(out);
	} else if (options->completion) {
		if (help_completion(options->completion, out) != STATUS_OK)
			return cli_fail(cli, "no completion for %s", options->completion);
	} else if (options->man) {
		help_man_page(command, out);
	} else if (command) {
		help_command_text(command, out);
	} else {
		help_all_text(out);
	}
	return EXIT_FINE;
}

static int run_help(struct cli *cli, int argc, char **argv)
{
	struct help_options options = { 0 };
	struct buffer out;
	int count, status = options_parse(cli, help_specs, &options, argc, argv, false, &count);

	if (status)
		return options_exit(status);
	if (count > 1)
		return cli_fail(cli, "help takes one command, not %d", count);
	buffer_init(&out);
	status = put_help(cli, &options, count ? argv[0] : NULL, &out);
	if (status == EXIT_FINE && !buffer_ok(&out))
		status = cli_fail(cli, "out of memory");
	if (status == EXIT_FINE)
		fwrite(out.data, 1, out.length, stdout);
	buffer_release(&out);
	return status;
}

const struct command cmd_help = {
	.name = "help",
	.group = "other",
	.summary = "show the commands, or tell about one",
	.usage = "tacho help [options] [COMMAND]",
	.options = help_specs,
	.run = run_help,
};
