/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Help, man pages and completion, written from the tables of commands and options. */
#pragma once

#include "base/buffer.h"
#include "cli/cli.h"

#include <stdio.h>

#define HELP_WIDTH 80

/* The option every command has, for those who walk a table. */
extern const struct option_spec help_option;

/* What a command's --help says. */
void help_command_text(const struct command *command, struct buffer *out);
/* The list of commands. */
void help_all_text(struct buffer *out);
void help_print_all(FILE *stream);

/* Text in lines of at most HELP_WIDTH columns, from column `column` on with `indent` columns in
 * front of every further line. A blank line in the text begins a paragraph; a line that begins with
 * a space is kept as it is. */
void help_wrap(struct buffer *out, const char *text, unsigned indent, unsigned column);

/* A man page in roff; NULL is the page of the tool itself. */
void help_man_page(const struct command *command, struct buffer *out);
/* A completion script for "bash", "zsh" or "fish"; STATUS_NOTFOUND for another shell. */
int help_completion(const char *shell, struct buffer *out) MUST_USE;
/* The words of "text|json"; calls `each` with a word and its length. */
void help_each_choice(const struct option_spec *spec,
	void (*each)(struct buffer *out, const char *word, size_t length), struct buffer *out);
