// SPDX-License-Identifier: MIT OR Apache-2.0
/* Options of a command from its table. The tables are small, so everything is a linear search. */
#include "base/array.h"
#include "base/nearest.h"
#include "base/units.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 64
#define HELP_GIVEN  1

/* What one word of the command line was found to be. */
struct option_match {
	const struct option_spec *spec;
	bool negated;      /* --no-NAME */
	char shown[80];    /* as it is named in messages */
	const char *value; /* behind "=" or the letter; NULL when none was */
};

static void *field_of(const struct option_spec *spec, void *values)
{
	return (char *)values + spec->offset;
}

static int fail_unknown(
	const struct cli *cli, const struct option_spec *options, const char *name, int length)
{
	const char *names[OPTIONS_MAX] = { "help" };
	size_t count = 1;
	char word[80];

	for (const struct option_spec *spec = options; spec && spec->name; spec++)
		if (count < OPTIONS_MAX)
			names[count++] = spec->name;
	snprintf(word, sizeof word, "%.*s", length, name);
	cli_fail(cli, "unknown option --%s; did you mean --%s?", word,
		nearest_word(word, names, count));
	return STATUS_USAGE;
}

/* "--name", "--name=value", "--no-name", without the dashes in front. */
static int match_long(const struct cli *cli, const struct option_spec *options, const char *text,
	struct option_match *match)
{
	size_t length = strcspn(text, "=");
	bool negated = strncmp(text, "no-", 3) == 0;

	match->value = text[length] == '=' ? text + length + 1 : NULL;
	snprintf(match->shown, sizeof match->shown, "--%.*s", (int)length, text);
	if (length == 4 && strncmp(text, "help", 4) == 0)
		return HELP_GIVEN;
	for (const struct option_spec *spec = options; spec && spec->name; spec++) {
		size_t name_length = strlen(spec->name);

		match->spec = spec;
		match->negated = false;
		if (name_length == length && strncmp(spec->name, text, length) == 0)
			return STATUS_OK;
		match->negated = true;
		if (negated && spec->type == OPTION_FLAG && name_length + 3 == length &&
			strncmp(spec->name, text + 3, length - 3) == 0)
			return STATUS_OK;
	}
	return fail_unknown(cli, options, text, (int)length);
}

/* One letter of "-abc", with what stands behind it as its value. */
static int match_letter(const struct cli *cli, const struct option_spec *options, const char *text,
	struct option_match *match)
{
	match->value = NULL;
	match->negated = false;
	snprintf(match->shown, sizeof match->shown, "-%c", text[0]);
	for (const struct option_spec *spec = options; spec && spec->name; spec++) {
		if (!spec->letter || spec->letter != text[0])
			continue;
		match->spec = spec;
		if (spec->type != OPTION_FLAG && text[1])
			match->value = text + 1;
		return STATUS_OK;
	}
	if (text[0] == 'h')
		return HELP_GIVEN;
	cli_fail(cli, "unknown option -%c; see 'tacho help %s'", text[0], cli->command->name);
	return STATUS_USAGE;
}

/* A word of "text|json|markdown". */
static int store_choice(const struct cli *cli, const struct option_match *match, const char *value,
	const char **field)
{
	const char *words[OPTIONS_MAX];
	size_t count = 0;
	char list[256], *at = list;

	snprintf(list, sizeof list, "%s", match->spec->argument);
	for (char *end; at && count < OPTIONS_MAX; at = end) {
		end = strchr(at, '|');
		if (end)
			*end++ = '\0';
		if (strcmp(at, value) == 0) {
			*field = value;
			return STATUS_OK;
		}
		words[count++] = at;
	}
	cli_fail(cli, "%s: '%s' is none of %s; did you mean '%s'?", match->shown, value,
		match->spec->argument, nearest_word(value, words, count));
	return STATUS_USAGE;
}

static int store_list(const struct cli *cli, const char *value, struct option_list *list)
{
	if (array_grow(
		    (void **)&list->items, &list->capacity, list->count + 1, sizeof *list->items)) {
		cli_fail(cli, "out of memory");
		return STATUS_USAGE;
	}
	list->items[list->count++] = value;
	return STATUS_OK;
}

static int store_value(
	const struct cli *cli, const struct option_match *match, const char *value, void *field)
{
	const struct option_spec *spec = match->spec;
	const char *wanted = NULL;

	switch (spec->type) {
	case OPTION_FLAG:
		break;
	case OPTION_STRING:
		if (spec->argument && strchr(spec->argument, '|'))
			return store_choice(cli, match, value, field);
		*(const char **)field = value;
		break;
	case OPTION_LIST:
		return store_list(cli, value, field);
	case OPTION_U64:
		wanted = units_parse_u64(value, field) ? "a whole number" : NULL;
		break;
	case OPTION_DOUBLE:
		wanted = units_parse_double(value, field) ? "a number" : NULL;
		break;
	case OPTION_DURATION:
		wanted = units_parse_duration(value, field) ? "a time such as 1.5s or 250ms" : NULL;
		break;
	case OPTION_BYTES:
		wanted = units_parse_bytes(value, field) ? "a size such as 64MiB or 4k" : NULL;
		break;
	}
	if (!wanted)
		return STATUS_OK;
	cli_fail(cli, "%s: '%s' is not %s", match->shown, value, wanted);
	return STATUS_USAGE;
}

/* Stores what was matched; the value may be the next word, which is then used up. */
static int apply(const struct cli *cli, const struct option_match *match, void *values,
	const char *next_word, bool *ret_used)
{
	const struct option_spec *spec = match->spec;
	const char *value = match->value;

	*ret_used = false;
	if (spec->type == OPTION_FLAG) {
		if (value) {
			cli_fail(cli, "%s takes no value", match->shown);
			return STATUS_USAGE;
		}
		*(bool *)field_of(spec, values) = !match->negated;
		return STATUS_OK;
	}
	if (!value) {
		if (!next_word) {
			cli_fail(cli, "%s needs a value: %s", match->shown, spec->argument);
			return STATUS_USAGE;
		}
		value = next_word;
		*ret_used = true;
	}
	return store_value(cli, match, value, field_of(spec, values));
}

/* All options of one word. */
static int parse_word(const struct cli *cli, const struct option_spec *options, void *values,
	const char *word, const char *next_word, bool *ret_used)
{
	struct option_match match = { 0 };
	int status;

	if (word[1] == '-') {
		status = match_long(cli, options, word + 2, &match);
		return status ? status : apply(cli, &match, values, next_word, ret_used);
	}
	for (const char *at = word + 1; *at; at++) {
		status = match_letter(cli, options, at, &match);
		if (status == STATUS_OK)
			status = apply(cli, &match, values, next_word, ret_used);
		if (status != STATUS_OK || match.spec->type != OPTION_FLAG)
			return status;
	}
	return STATUS_OK;
}

int options_parse(struct cli *cli, const struct option_spec *options, void *values, int argc,
	char **argv, bool stop_at_operand, int *ret_count)
{
	int count = 0, i = 0;

	for (; i < argc; i++) {
		const char *word = argv[i];
		bool used = false;
		int status;

		if (strcmp(word, "--") == 0) {
			i++;
			break;
		}
		if (word[0] != '-' || !word[1]) {
			if (stop_at_operand)
				break;
			argv[count++] = argv[i];
			continue;
		}
		status = parse_word(
			cli, options, values, word, i + 1 < argc ? argv[i + 1] : NULL, &used);
		if (status == HELP_GIVEN)
			help_print_command(cli, cli->command);
		if (status != STATUS_OK)
			return status;
		i += used;
	}
	while (i < argc)
		argv[count++] = argv[i++];
	*ret_count = count;
	return STATUS_OK;
}

void option_list_release(struct option_list *list)
{
	free(list->items);
	memset(list, 0, sizeof *list);
}
