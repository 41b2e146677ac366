// SPDX-License-Identifier: MIT OR Apache-2.0
/* tacho export: a trace in another format. */
#include "base/progress.h"
#include "cli/cli_input.h"
#include "cli/cli_window.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct cmd_export_options {
	const char *to, *output, *filter, *table;
	uint64_t from_ns, until_ns;
	struct cli_input_options input;
};

static const struct option_spec export_specs[] = {
	{ OPTION_STRING, 0, "filter", "TEXT", offsetof(struct cmd_export_options, filter),
		"only spans and marks whose name contains TEXT, in upper or lower case" },
	{ OPTION_DURATION, 0, "from", "TIME", offsetof(struct cmd_export_options, from_ns),
		"leave out what was before TIME, counted from the trace's start (1.5s, 250ms)" },
	{ OPTION_STRING, 'o', "output", "FILE", offsetof(struct cmd_export_options, output),
		"write to FILE instead of standard output" },
	{ OPTION_STRING, 0, "table", "spans|counters|marks|links|allocations|samples",
		offsetof(struct cmd_export_options, table), "csv: which table; spans by default" },
	{ OPTION_STRING, 0, "to", EXPORTER_WORDS, offsetof(struct cmd_export_options, to),
		"the format; without it the extension of FILE tells: .json, .csv, .chrome.json or "
		".trace.json, .tacho" },
	{ OPTION_DURATION, 0, "until", "TIME", offsetof(struct cmd_export_options, until_ns),
		"leave out what was after TIME" },
	CLI_INPUT_SPECS(struct cmd_export_options, input),
	{ 0 },
};

static enum block_table table_of(const char *name)
{
	for (unsigned i = 0; name && i < TABLE_COUNT; i++)
		if (strcmp(block_table_name(i), name) == 0)
			return (enum block_table)i;
	return TABLE_SPANS;
}

static int export_trace(struct cli *cli, const struct exporter *exporter,
	const struct cmd_export_options *options, const char *path)
{
	struct progress progress;
	struct export_options wanted = {
		.window = { options->from_ns, options->until_ns },
		.filter = options->filter,
		.table = table_of(options->table),
		.path = options->output,
		.fd = STDOUT_FILENO,
		.progress = progress_report,
		.progress_context = &progress,
	};
	struct export_result result = { 0 };
	struct error err = ERROR_INIT;
	struct trace *trace;
	int status;

	if (cli_input_open(cli, path, &options->input, &trace, &err) != STATUS_OK)
		return cli_fail_error(cli, &err);
	status = cli_check_window(cli, trace, &wanted.window);
	if (status != EXIT_FINE) {
		trace_close(trace);
		return status;
	}
	progress_init(&progress, cli->progress ? STDERR_FILENO : -1, "writing");
	status = exporter->run(trace, &wanted, &result, &err);
	progress_end(&progress);
	trace_close(trace);
	if (status != STATUS_OK)
		return cli_fail_error(cli, &err);
	if (result.damaged_blocks)
		fprintf(stderr,
			"%s: warning: damaged blocks left out, their rows are missing: "
			"%" PRIu64 "\n",
			cli->program, result.damaged_blocks);
	return EXIT_FINE;
}

static int run_export(struct cli *cli, int argc, char **argv)
{
	struct cmd_export_options options = { 0 };
	const struct exporter *exporter = NULL;
	int count, status = options_parse(cli, export_specs, &options, argc, argv, false, &count);

	if (status)
		return options_exit(status);
	if (count != 1)
		return cli_fail(cli, "export needs one trace file: %s", cli->command->usage);
	if (options.to)
		exporter = exporter_find(options.to);
	else if (options.output)
		exporter = exporter_for_path(options.output);
	if (!exporter)
		return cli_fail(cli, "which format? Give --to %s, or -o with its extension",
			EXPORTER_WORDS);
	if (exporter->needs_path && !options.output)
		return cli_fail(cli, "%s cannot be written to standard output; give -o FILE",
			exporter->name);
	if (options.table && strcmp(exporter->name, "csv") != 0)
		return cli_fail(cli, "--table is for csv; %s holds all tables", exporter->name);
	return export_trace(cli, exporter, &options, argv[0]);
}

const struct command cmd_export = {
	.name = "export",
	.group = "look",
	.summary = "write a trace in another format",
	.usage = "tacho export [options] FILE",
	.description = "Writes a trace as JSON, as a table of comma-separated values, as trace "
		       "events that "
		       "Perfetto and chrome://tracing open, or as a trace again: then a file that "
		       "had to be "
		       "repaired becomes a whole one, and --from and --until cut a window out. A "
		       "file appears "
		       "under its name only when it is whole.",
	.options = export_specs,
	.run = run_export,
};
