// SPDX-License-Identifier: MIT OR Apache-2.0
/* The shell of tacho query. */
#include "cli/query_shell.h"

#include "cli/line_editor.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct shell {
	const struct cli *cli;
	struct query *query;
	enum query_format format;
	struct buffer sql; /* the statement so far */
	bool terminal, quit, failed;
};

static const struct {
	const char *name, *help;
} dots[] = {
	{ ".format", "table, csv or json: how answers are written" },
	{ ".help", "show this list" },
	{ ".quit", "leave, as Ctrl-D does" },
	{ ".schema", "the columns of a table, or of all" },
	{ ".tables", "what tables there are" },
};
#define DOTS (sizeof dots / sizeof dots[0])

static void print_tables(void)
{
	for (size_t i = 0; query_tables[i]; i++)
		printf("%-12s %s\n", query_tables[i]->name, query_tables[i]->summary);
}

static void print_schema(const struct query_table *table)
{
	printf("%s(", table->name);
	for (const struct query_column *column = table->columns; column->name; column++)
		printf("%s%s%s%s%s", column == table->columns ? "" : ", ", column->name,
			*column->type ? " " : "", column->type, column->hidden ? " HIDDEN" : "");
	printf(")\n");
}

#define fail(shell, ...) ((shell)->failed = cli_fail((shell)->cli, __VA_ARGS__) != EXIT_FINE)

static void run_schema(struct shell *shell, const char *name)
{
	bool found = false;

	for (size_t i = 0; query_tables[i]; i++) {
		if (*name && strcasecmp(query_tables[i]->name, name) != 0)
			continue;
		print_schema(query_tables[i]);
		found = true;
	}
	if (!found)
		fail(shell, "there is no table '%s'; .tables lists all", name);
}

static void run_format(struct shell *shell, const char *word)
{
	if (strcmp(word, "table") != 0 && strcmp(word, "csv") != 0 && strcmp(word, "json") != 0)
		fail(shell, "'%s' is no format; table, csv and json are", word);
	else
		shell->format = query_format_of(word);
}

/* A line that begins with a dot is for the shell and not for SQL. */
static void run_dot(struct shell *shell, char *line)
{
	size_t length = strcspn(line, " \t;");
	char *word = line + length + strspn(line + length, " \t");

	word[strcspn(word, " \t;")] = 0;
	line[length] = 0;
	if (strcmp(line, ".tables") == 0) {
		print_tables();
	} else if (strcmp(line, ".schema") == 0) {
		run_schema(shell, word);
	} else if (strcmp(line, ".format") == 0) {
		run_format(shell, word);
	} else if (strcmp(line, ".quit") == 0 || strcmp(line, ".exit") == 0) {
		shell->quit = true;
	} else if (strcmp(line, ".help") == 0) {
		for (size_t i = 0; i < DOTS; i++)
			printf("%-8s %s\n", dots[i].name, dots[i].help);
		printf("Anything else is SQL, up to a semicolon; docs/query.md describes it.\n");
	} else {
		fail(shell, "unknown command '%s'; .help lists all", line);
	}
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n;")] == 0;
}

static void run_sql(struct shell *shell)
{
	buffer_byte(&shell->sql, 0);
	if (!buffer_ok(&shell->sql))
		fail(shell, "out of memory");
	else if (!is_blank((const char *)shell->sql.data) &&
		 query_answer(shell->cli, shell->query, shell->format, NULL,
			 (const char *)shell->sql.data, shell->sql.length - 1) != EXIT_FINE)
		shell->failed = true;
	buffer_reset(&shell->sql);
}

static void take_line(struct shell *shell, char *line)
{
	if (shell->sql.length == 0 && line[0] == '.') {
		run_dot(shell, line);
		return;
	}
	buffer_text(&shell->sql, line);
	buffer_text(&shell->sql, "\n");
	if (shell->sql.length > QUERY_TEXT_MAX) {
		fail(shell, "the statement is too long");
		buffer_reset(&shell->sql);
		return;
	}
	/* Asked with a NUL behind it, which the next line overwrites. */
	buffer_byte(&shell->sql, 0);
	if (!buffer_ok(&shell->sql))
		return;
	shell->sql.length--;
	if (query_is_complete((const char *)shell->sql.data))
		run_sql(shell);
	else if (is_blank((const char *)shell->sql.data))
		buffer_reset(&shell->sql);
}

/* Offers everything that the word in front of the cursor may become. */
static void complete(void *context, const char *word, struct line_words *words)
{
	const char *const *fixed;
	size_t count;

	(void)context;
	if (word[0] == '.') {
		for (size_t i = 0; i < DOTS; i++)
			line_words_add(words, word, dots[i].name);
		return;
	}
	for (size_t i = 0; query_tables[i]; i++) {
		line_words_add(words, word, query_tables[i]->name);
		for (const struct query_column *column = query_tables[i]->columns; column->name;
			column++)
			line_words_add(words, word, column->name);
	}
	fixed = query_words(&count);
	for (size_t i = 0; i < count; i++)
		line_words_add(words, word, fixed[i]);
}

static void run_terminal(struct shell *shell)
{
	struct line_editor editor;
	struct buffer line;
	int got;

	line_editor_init(&editor, STDIN_FILENO, STDOUT_FILENO, complete, shell);
	line_editor_load(&editor, "query_history");
	buffer_init(&line);
	printf("SQL over the trace; .help for help, Tab completes, Ctrl-D ends.\n");
	fflush(stdout);
	while (!shell->quit) {
		got = line_editor_read(&editor, shell->sql.length ? "    ...> " : "tacho> ", &line);
		if (got == LINE_CANCELLED)
			buffer_reset(&shell->sql);
		if (got == LINE_CANCELLED)
			continue;
		if (got != LINE_READ)
			break;
		if (!is_blank((char *)line.data))
			line_editor_remember(&editor, (char *)line.data);
		take_line(shell, (char *)line.data);
		fflush(stdout);
	}
	line_editor_save(&editor, "query_history");
	buffer_release(&line);
	line_editor_release(&editor);
	shell->failed = false;
}

static void run_lines(struct shell *shell)
{
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;

	while (!shell->quit && !shell->failed && (length = getline(&line, &capacity, stdin)) > 0) {
		if (strlen(line) != (size_t)length) {
			fail(shell, "a NUL byte in the SQL");
			break;
		}
		line[strcspn(line, "\r\n")] = 0;
		take_line(shell, line);
		fflush(stdout);
	}
	/* The last statement may do without its semicolon. */
	if (!shell->quit && !shell->failed && shell->sql.length)
		run_sql(shell);
	free(line);
}

int query_shell(const struct cli *cli, struct query *query, enum query_format format)
{
	struct shell shell = { .cli = cli, .query = query, .format = format };
	const char *term = getenv("TERM");

	buffer_init(&shell.sql);
	shell.terminal =
		isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
	if (shell.terminal)
		run_terminal(&shell);
	else
		run_lines(&shell);
	buffer_release(&shell.sql);
	return shell.failed ? EXIT_USAGE : EXIT_FINE;
}
