// SPDX-License-Identifier: MIT OR Apache-2.0
/* Help as man pages. */
#include "cli/help.h"

#include <ctype.h>
#include <string.h>
#include <tacho/version.h>

/* Text in which roff sees nothing to obey. */
static void put_plain(struct buffer *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\')
			buffer_text(out, "\\e");
		else if (text[i] == '-')
			buffer_text(out, "\\-");
		else if ((text[i] == '.' || text[i] == '\'') && (i == 0 || text[i - 1] == '\n'))
			buffer_printf(out, "\\&%c", text[i]);
		else
			buffer_byte(out, (uint8_t)text[i]);
	}
}

static void put_line(struct buffer *out, const char *text)
{
	put_plain(out, text, strlen(text));
	buffer_byte(out, '\n');
}

static void put_title(struct buffer *out, const char *name)
{
	buffer_text(out, ".TH TACHO");
	if (name)
		buffer_text(out, "\\-");
	for (; name && *name; name++)
		buffer_byte(out, (uint8_t)toupper((unsigned char)*name));
	buffer_text(out, " 1 \"\" \"tacho " TACHO_VERSION "\" \"Tacho\"\n");
}

/* Paragraphs; lines that begin with a space are an example. */
static void put_description(struct buffer *out, const char *text)
{
	bool example = false;

	while (*text) {
		size_t length = strcspn(text, "\n");
		bool indented = *text == ' ';

		if (indented != example)
			buffer_text(out, indented ? ".nf\n" : ".fi\n");
		example = indented;
		if (length == 0)
			buffer_text(out, ".PP\n");
		else {
			put_plain(out, text, length);
			buffer_byte(out, '\n');
		}
		text += length + (text[length] == '\n');
	}
	if (example)
		buffer_text(out, ".fi\n");
}

static void put_option(struct buffer *out, const struct option_spec *spec)
{
	buffer_text(out, ".TP\n");
	if (spec->letter)
		buffer_printf(out, "\\fB\\-%c\\fR, ", spec->letter);
	buffer_text(out, "\\fB\\-\\-");
	put_plain(out, spec->name, strlen(spec->name));
	buffer_text(out, "\\fR");
	if (spec->argument) {
		buffer_text(out, " \\fI");
		put_plain(out, spec->argument, strlen(spec->argument));
		buffer_text(out, "\\fR");
	}
	buffer_byte(out, '\n');
	put_line(out, spec->help);
}

static void command_page(const struct command *command, struct buffer *out)
{
	put_title(out, command->name);
	buffer_printf(out, ".SH NAME\ntacho\\-%s \\- ", command->name);
	put_line(out, command->summary);
	buffer_text(out, ".SH SYNOPSIS\n.nf\n");
	put_line(out, command->usage);
	buffer_text(out, ".fi\n");
	if (command->description) {
		buffer_text(out, ".SH DESCRIPTION\n");
		put_description(out, command->description);
	}
	buffer_text(out, ".SH OPTIONS\n");
	for (const struct option_spec *spec = command->options; spec && spec->name; spec++)
		put_option(out, spec);
	put_option(out, &help_option);
}

static void tool_page(struct buffer *out)
{
	put_title(out, NULL);
	buffer_text(out, ".SH NAME\ntacho \\- profiler for deep learning\n"
			 ".SH SYNOPSIS\n\\fBtacho\\fR \\fICOMMAND\\fR [options]\n"
			 ".SH DESCRIPTION\n"
			 "Tacho records what a program does, and explains where its time goes.\n"
			 ".SH COMMANDS\n");
	for (size_t i = 0; commands[i]; i++) {
		buffer_printf(out, ".TP\n\\fBtacho\\-%s\\fR(1)\n", commands[i]->name);
		put_line(out, commands[i]->summary);
	}
}

void help_man_page(const struct command *command, struct buffer *out)
{
	if (command)
		command_page(command, out);
	else
		tool_page(out);
	buffer_text(out, ".SH EXIT STATUS\n"
			 "0: fine. 1: the question was answered with no. "
			 "2: wrong use or unreadable input.\n.SH SEE ALSO\n");
	if (command)
		buffer_text(out, "\\fBtacho\\fR(1)\n");
	else
		buffer_text(out, "\\fBtacho help\\fR, and the folder docs\n");
}
