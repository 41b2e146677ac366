// SPDX-License-Identifier: MIT OR Apache-2.0
/* Help as text. */
#include "cli/help.h"

#include <ctype.h>
#include <string.h>

#define OPTION_COLUMN 24

const struct option_spec help_option = { OPTION_FLAG, 'h', "help", NULL, 0, "show this text" };

static const struct {
	const char *group, *heading;
} headings[] = {
	{ "record", "Record" },
	{ "look", "Look at a trace" },
	{ "other", "Other" },
};

#define HEADINGS (sizeof headings / sizeof headings[0])

static void put_spaces(struct buffer *out, unsigned count)
{
	while (count--)
		buffer_byte(out, ' ');
}

/* Words of one paragraph, which ends at a blank line, at a line that begins with a space, or at the
 * end. Returns where it stopped. */
static const char *wrap_paragraph(
	struct buffer *out, const char *at, unsigned indent, unsigned column)
{
	bool first = true;

	while (*at) {
		size_t length = strcspn(at, " \n");

		if (*at == '\n' && (at[1] == '\n' || at[1] == ' ' || !at[1]))
			break;
		if (length == 0) {
			at++;
			continue;
		}
		if (!first && column + 1 + length > HELP_WIDTH) {
			buffer_byte(out, '\n');
			put_spaces(out, indent);
			column = indent;
		} else if (!first) {
			buffer_byte(out, ' ');
			column++;
		}
		buffer_append(out, at, length);
		column += (unsigned)length;
		at += length;
		first = false;
	}
	return at;
}

void help_wrap(struct buffer *out, const char *text, unsigned indent, unsigned column)
{
	while (*text) {
		if (*text == ' ') {
			size_t length = strcspn(text, "\n");

			put_spaces(out, indent);
			buffer_append(out, text, length);
			text += length;
		} else {
			text = wrap_paragraph(out, text, indent, column);
		}
		buffer_byte(out, '\n');
		if (*text == '\n')
			text++;
		if (*text == '\n') {
			buffer_byte(out, '\n');
			text++;
		}
		if (*text && *text != ' ')
			put_spaces(out, indent);
		column = indent;
	}
}

/* A list of words too long for its line stands under it, as part of the explanation. */
static void words_text(const struct option_spec *spec, struct buffer *out)
{
	struct buffer text;

	buffer_init(&text);
	buffer_text(&text, "one of");
	for (const char *at = spec->argument; *at;) {
		size_t length = strcspn(at, "|");

		buffer_byte(&text, ' ');
		buffer_append(&text, at, length);
		buffer_text(&text, at[length] ? "," : "");
		at += length + (at[length] == '|');
	}
	buffer_byte(&text, 0);
	if (buffer_ok(&text)) {
		put_spaces(out, OPTION_COLUMN);
		help_wrap(out, (const char *)text.data, OPTION_COLUMN, OPTION_COLUMN);
	}
	buffer_release(&text);
}

static void option_text(const struct option_spec *spec, struct buffer *out)
{
	size_t start = out->length, used;
	bool long_list = spec->argument && strchr(spec->argument, '|') &&
			 strlen(spec->argument) > HELP_WIDTH / 2;

	if (spec->letter)
		buffer_printf(out, "  -%c, --%s", spec->letter, spec->name);
	else
		buffer_printf(out, "      --%s", spec->name);
	if (spec->argument)
		buffer_printf(out, " %s", long_list ? "WORD" : spec->argument);
	used = out->length - start;
	if (used + 2 > OPTION_COLUMN) {
		buffer_byte(out, '\n');
		used = 0;
	}
	put_spaces(out, OPTION_COLUMN - (unsigned)used);
	help_wrap(out, spec->help, OPTION_COLUMN, OPTION_COLUMN);
	if (long_list)
		words_text(spec, out);
}

void help_command_text(const struct command *command, struct buffer *out)
{
	buffer_printf(out, "usage: %s\n\n%c%s.\n", command->usage,
		toupper((unsigned char)command->summary[0]), command->summary + 1);
	if (command->description) {
		buffer_byte(out, '\n');
		help_wrap(out, command->description, 0, 0);
	}
	buffer_text(out, "\noptions:\n");
	for (const struct option_spec *spec = command->options; spec && spec->name; spec++)
		option_text(spec, out);
	option_text(&help_option, out);
}

static void group_text(const char *group, const char *heading, struct buffer *out)
{
	bool any = false;

	for (size_t i = 0; commands[i]; i++) {
		if (strcmp(commands[i]->group, group) != 0)
			continue;
		if (!any)
			buffer_printf(out, "\n%s:\n", heading);
		any = true;
		buffer_printf(out, "  %-10s ", commands[i]->name);
		help_wrap(out, commands[i]->summary, 13, 13);
	}
}

static size_t heading_of(const char *group)
{
	size_t i = 0;

	while (i < HEADINGS && strcmp(headings[i].group, group) != 0)
		i++;
	return i;
}

void help_all_text(struct buffer *out)
{
	buffer_text(out, "usage: tacho COMMAND [options]\n\n"
			 "Tacho records what a program does, and explains where its time goes.\n");
	for (size_t i = 0; i < HEADINGS; i++)
		group_text(headings[i].group, headings[i].heading, out);
	/* A group without a heading of its own is shown under its name. */
	for (size_t i = 0; commands[i]; i++)
		if (heading_of(commands[i]->group) == HEADINGS)
			group_text(commands[i]->group, commands[i]->group, out);
	buffer_text(out, "\n'tacho help COMMAND' tells more about a command.\n");
}

void help_print_all(FILE *stream)
{
	struct buffer text;

	buffer_init(&text);
	help_all_text(&text);
	fwrite(text.data, 1, text.length, stream);
	buffer_release(&text);
}

int help_print_command(const struct cli *cli, const struct command *command)
{
	struct buffer text;
	int status = EXIT_FINE;

	buffer_init(&text);
	help_command_text(command, &text);
	if (buffer_ok(&text))
		fwrite(text.data, 1, text.length, stdout);
	else
		status = cli_fail(cli, "out of memory");
	buffer_release(&text);
	return status;
}

void help_each_choice(const struct option_spec *spec,
	void (*each)(struct buffer *out, const char *word, size_t length), struct buffer *out)
{
	const char *at = spec->argument;

	if (!at || !strchr(at, '|'))
		return;
	for (size_t length; *at; at += length + (at[length] == '|')) {
		length = strcspn(at, "|");
		each(out, at, length);
	}
}
