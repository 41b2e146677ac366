/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The shape of a command and of its options. A command is one file that ends with its descriptor;
 * commands.c lists them. Help, man pages and completion come from these tables. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a command is given. Results go to stdout, everything else to stderr. */
struct cli {
	const char *program; /* "tacho" */
	const struct command *command;
	bool colour;    /* stdout is a terminal and NO_COLOR is unset */
	bool progress;  /* stderr is a terminal */
	unsigned width; /* of the terminal, 80 when it is none */
};

enum option_type {
	OPTION_FLAG,     /* bool: set to true; --no-NAME sets it to false */
	OPTION_STRING,   /* const char * */
	OPTION_U64,      /* uint64_t */
	OPTION_DOUBLE,   /* double */
	OPTION_DURATION, /* uint64_t nanoseconds */
	OPTION_BYTES,    /* uint64_t */
	OPTION_LIST,     /* struct option_list: may be given several times */
};

struct option_list {
	const char **items;
	size_t count, capacity;
};

struct option_spec {
	enum option_type type;
	char letter;      /* 0: none */
	const char *name; /* without dashes; NULL ends the table */
	const char
		*argument; /* "FILE"; NULL for flags; "text|json": a string that is one of these */
	size_t offset;     /* of the field in the command's options struct */
	const char *help;
};

struct command {
	const char *name;
	const char *group;       /* "record", "look", "other": heading in `tacho help` */
	const char *summary;     /* one line, no full stop */
	const char *usage;       /* "tacho report [options] FILE" */
	const char *description; /* paragraphs for --help and the man page; may be NULL */
	const struct option_spec *options;
	int (*run)(struct cli *cli, int argc, char **argv); /* argv: the words after the name */
};

extern const struct command *const commands[]; /* sorted by name, ends with NULL */

/* Exit statuses. */
enum exit_status { EXIT_FINE = 0, EXIT_NO = 1, EXIT_USAGE = 2 };

/* Parses options into `values` (a struct the table's offsets refer to, defaults set by the caller).
 * Operands are moved to argv[0..*ret_count). Parsing ends at "--"; with `stop_at_operand` at the
 * first operand too (record), both without reordering what follows. --help prints the command's
 * help and returns 1. A mistake prints one line with the nearest option name and returns
 * STATUS_USAGE. Anything but 0 means: `return options_exit(status)`. */
int options_parse(struct cli *cli, const struct option_spec *options, void *values, int argc,
	char **argv, bool stop_at_operand, int *ret_count) MUST_USE;
void option_list_release(struct option_list *list);
static inline int options_exit(int status)
{
	return status < 0 ? EXIT_USAGE : EXIT_FINE;
}

/* "tacho: MESSAGE" on stderr in one line; returns EXIT_USAGE. */
int cli_fail(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_fail_error(const struct cli *cli, const struct error *err);

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);
/* cli_fail() for a name that is no command, with the nearest one. */
int cli_fail_command(const struct cli *cli, const char *name);

/* Texts of help, from the tables. */
int help_print_command(const struct cli *cli, const struct command *command);
