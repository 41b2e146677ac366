// SPDX-License-Identifier: MIT OR Apache-2.0
/* tacho query: questions in SQL. */
#include "base/clock.h"
#include "base/units.h"
#include "cli/cli_input.h"
#include "cli/query_output.h"
#include "cli/query_shell.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct cmd_query_options {
	const char *format, *output;
	bool json, shell;
	uint64_t timeout_ns, max_rows;
	struct cli_input_options input;
};

static const struct option_spec query_specs[] = {
	{ OPTION_STRING, 0, "format", QUERY_FORMAT_WORDS,
		offsetof(struct cmd_query_options, format), "how to write the answer" },
	{ OPTION_FLAG, 0, "json", NULL, offsetof(struct cmd_query_options, json),
		"the same as --format json" },
	{ OPTION_BYTES, 0, "max-memory", "SIZE",
		offsetof(struct cmd_query_options, input.max_memory),
		"memory that the query may take, 512MiB by default; an import has half of the "
		"machine's unless this is given" },
	{ OPTION_U64, 0, "max-rows", "N", offsetof(struct cmd_query_options, max_rows),
		"an answer of more rows is an error; 1000000 by default" },
	{ OPTION_FLAG, 0, "no-cache", NULL, offsetof(struct cmd_query_options, input.no_cache),
		"convert a foreign trace anew and keep nothing of it" },
	{ OPTION_STRING, 'o', "output", "FILE", offsetof(struct cmd_query_options, output),
		"write to FILE instead of standard output" },
	{ OPTION_FLAG, 0, "shell", NULL, offsetof(struct cmd_query_options, shell),
		"read statements line by line, with history and completion on a terminal" },
	{ OPTION_DURATION, 0, "timeout", "TIME", offsetof(struct cmd_query_options, timeout_ns),
		"longest time that a query may take; 60s by default" },
	{ 0 },
};

/* The query that Ctrl-C ends. */
static struct query *running;

static void on_interrupt(int signal)
{
	(void)signal;
	if (running)
		query_interrupt(running);
}

int query_answer(const struct cli *cli, struct query *query, enum query_format format,
	const char *path, const char *sql, size_t length)
{
	struct sigaction interrupt = { .sa_handler = on_interrupt }, before;
	struct error err = ERROR_INIT, write_err = ERROR_INIT;
	struct query_result result = { 0 };
	struct query_output output;
	uint64_t start_ns = clock_mono_ns();
	char text[UNITS_TEXT];
	int status;

	if (query_output_open(&output, cli, format, path, &err) != STATUS_OK)
		return cli_fail_error(cli, &err);
	running = query;
	sigaction(SIGINT, &interrupt, &before);
	status = query_run(query, sql, length, &output.sink, &result, &err);
	sigaction(SIGINT, &before, NULL);
	running = NULL;
	/* A sink that fails has a reason of its own, which the file knows. */
	if (status != STATUS_OK && !err.message[0])
		error_set(&err, status, "%s", status_text(status));
	query_output_finish(&output, status == STATUS_OK ? NULL : &err, &write_err);
	if (write_err.status)
		return cli_fail_error(cli, &write_err);
	if (status != STATUS_OK)
		return cli_fail_error(cli, &err);
	if (result.damaged_blocks)
		fprintf(stderr, "warning: %llu damaged blocks were left out: rows are missing\n",
			(unsigned long long)result.damaged_blocks);
	if (result.demangle_missing)
		fputs("note: demangle() found no C++ library here and left names as they are\n",
			stderr);
	if (cli->progress)
		fprintf(stderr, "%llu row%s in %s\n", (unsigned long long)result.rows,
			result.rows == 1 ? "" : "s",
			units_duration(text, (double)(clock_mono_ns() - start_ns)));
	return EXIT_FINE;
}

static int read_stdin(struct buffer *sql)
{
	for (;;) {
		char piece[4096];
		ssize_t got = read(STDIN_FILENO, piece, sizeof piece);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 || !buffer_ok(sql) ? STATUS_IO : STATUS_OK;
		buffer_append(sql, piece, (size_t)got);
		if (sql->length > QUERY_TEXT_MAX)
			return STATUS_LIMIT;
	}
}

static int answer_stdin(
	const struct cli *cli, struct query *query, enum query_format format, const char *path)
{
	struct buffer sql;
	int status;

	buffer_init(&sql);
	status = read_stdin(&sql);
	if (status != STATUS_OK)
		status = cli_fail(cli, "cannot read SQL from standard input: %s",
			status == STATUS_IO ? strerror(errno) : status_text(status));
	else
		status = query_answer(cli, query, format, path,
			sql.length ? (const char *)sql.data : "", sql.length);
	buffer_release(&sql);
	return status;
}

static int answer(
	const struct cli *cli, const struct cmd_query_options *options, int count, char **argv)
{
	struct query_options limits = { .max_memory_bytes = options->input.max_memory,
		.timeout_ns = options->timeout_ns,
		.max_rows = options->max_rows };
	enum query_format format = options->json     ? QUERY_FORMAT_JSON
				   : options->format ? query_format_of(options->format)
						     : QUERY_FORMAT_TABLE;
	struct error err = ERROR_INIT;
	struct trace *trace;
	struct query *query;
	int status;

	if (cli_input_open(cli, argv[0], &options->input, &trace, &err) != STATUS_OK)
		return cli_fail_error(cli, &err);
	if (query_open(trace, &limits, &query, &err) != STATUS_OK) {
		trace_close(trace);
		return cli_fail_error(cli, &err);
	}
	if (options->shell || (count == 1 && isatty(STDIN_FILENO)))
		status = query_shell(cli, query, format);
	else if (count == 1 || strcmp(argv[1], "-") == 0)
		status = answer_stdin(cli, query, format, options->output);
	else
		status =
			query_answer(cli, query, format, options->output, argv[1], strlen(argv[1]));
	query_close(query);
	trace_close(trace);
	return status;
}

static int run_query(struct cli *cli, int argc, char **argv)
{
	struct cmd_query_options options = { 0 };
	int count, status = options_parse(cli, query_specs, &options, argc, argv, false, &count);

	if (status)
		return options_exit(status);
	if (count < 1 || count > 2)
		return cli_fail(
			cli, "query needs a trace file and one SQL text: %s", cli->command->usage);
	if (options.shell && (count == 2 || options.output))
		return cli_fail(
			cli, "--shell reads its statements itself, and writes to the terminal");
	if (options.json && options.format && strcmp(options.format, "json") != 0)
		return cli_fail(
			cli, "--json and --format %s contradict each other", options.format);
	if (options.input.max_memory && options.input.max_memory < QUERY_MEMORY_MIN)
		return cli_fail(cli, "--max-memory must be 8MiB or more");
	if (strcmp(argv[0], "-") == 0 && (count == 1 || strcmp(argv[1], "-") == 0))
		return cli_fail(cli, "standard input cannot be both the trace and the SQL");
	return answer(cli, &options, count, argv);
}

const struct command cmd_query = {
	.name = "query",
	.group = "look",
	.summary = "answer questions in SQL over a trace",
	.usage = "tacho query [options] FILE [SQL]",
	.description =
		"The tables are spans, names, tracks, steps, counters, marks, links, allocations, "
		"samples, frames, arguments, strings, metadata and ledger. SQL is that of SQLite, with "
		"the functions duration(), bytes(), demangle(), ns_to_utc(), arg() and stack(). Only "
		"SELECT is allowed; several statements are separated by semicolons. Without SQL, or "
		"with '-', statements come from standard input; on a terminal that is a shell.",
	.options = query_specs,
	.run = run_query,
};
