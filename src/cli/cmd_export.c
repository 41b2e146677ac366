// SPDX-License-Identifier: MIT OR Apache-2.0
/* tacho export: a trace in another format. */
#include "base/progress.h"
#include "base/units.h"
#include "cli/cli_input.h"
#include "cli/cli_window.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cmd_export_options {
	const char *to, *output, *filter, *table;
	uint64_t from_ns, until_ns;
	struct option_list offsets;
	struct cli_input_options input;
};

static const struct option_spec export_specs[] = {
	{ OPTION_STRING, 0, "filter", "TEXT", offsetof(struct cmd_export_options, filter),
		"only spans and marks whose name contains TEXT, in upper or lower case" },
	{ OPTION_DURATION, 0, "from", "TIME", offsetof(struct cmd_export_options, from_ns),
		"leave out what was before TIME, counted from the trace's start (1.5s, 250ms)" },
	{ OPTION_LIST, 0, "offset", "TIME", offsetof(struct cmd_export_options, offsets),
		"merging: move the files' times by this, once per file in their order; without it they are aligned by their wall clocks" },
	{ OPTION_STRING, 'o', "output", "FILE", offsetof(struct cmd_export_options, output),
		"write to FILE instead of standard output" },
	{ OPTION_STRING, 0, "table", "spans|counters|marks|links|allocations|samples",
		offsetof(struct cmd_export_options, table),
		"csv, parquet: which table, spans by default; collapsed, pprof: spans or samples" },
	{ OPTION_STRING, 0, "to", EXPORTER_WORDS, offsetof(struct cmd_export_options, to),
		"the format; without it the extension of FILE tells" },
	{ OPTION_DURATION, 0, "until", "TIME", offsetof(struct cmd_export_options, until_ns),
		"leave out what was after TIME" },
	CLI_INPUT_SPECS(struct cmd_export_options, input),
	{ 0 },
};

/* 0 when none was asked for: the exporter chooses. */
static enum block_table table_of(const char *name)
{
	for (unsigned i = 0; name && i < TABLE_COUNT; i++)
		if (strcmp(block_table_name(i), name) == 0)
			return (enum block_table)i;
	return (enum block_table)0;
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

/* How far each trace is moved: as the user says, else so that their wall clocks agree. */
static int find_shifts(struct cli *cli, const struct cmd_export_options *options,
	struct trace *const *traces, size_t count, uint64_t *shifts)
{
	uint64_t earliest = UINT64_MAX;

	if (options->offsets.count && options->offsets.count != count)
		return cli_fail(cli, "%zu files need %zu times --offset, not %zu", count, count,
			options->offsets.count);
	for (size_t i = 0; i < count; i++) {
		if (options->offsets.count &&
			units_parse_duration(options->offsets.items[i], &shifts[i]) != STATUS_OK)
			return cli_fail(cli, "--offset: '%s' is no time; 1.5s and 250ms are",
				options->offsets.items[i]);
		if (traces[i]->header.start_unix_ns < earliest)
			earliest = traces[i]->header.start_unix_ns;
	}
	/* A trace that does not know when it began begins with the others. */
	for (size_t i = 0; !options->offsets.count && i < count; i++)
		shifts[i] = earliest ? traces[i]->header.start_unix_ns - earliest : 0;
	return EXIT_FINE;
}

/* Several files into one trace. */
static int merge_traces(
	struct cli *cli, const struct cmd_export_options *options, char **paths, size_t count)
{
	struct export_options wanted = { .path = options->output, .filter = options->filter };
	struct trace **traces = calloc(count, sizeof(struct trace *));
	uint64_t *shifts = calloc(count, sizeof *shifts);
	struct export_result result;
	struct error err = ERROR_INIT;
	int status = EXIT_FINE;

	if (!traces || !shifts) {
		free((void *)traces);
		free(shifts);
		return cli_fail(cli, "out of memory");
	}
	for (size_t i = 0; status == EXIT_FINE && i < count; i++)
		if (cli_input_open(cli, paths[i], &options->input, &traces[i], &err) != STATUS_OK)
			status = cli_fail_error(cli, &err);
	if (status == EXIT_FINE)
		status = find_shifts(cli, options, traces, count, shifts);
	if (status == EXIT_FINE && export_merge((const struct trace *const *)traces, shifts, count,
					   &wanted, &result, &err) != STATUS_OK)
		status = cli_fail_error(cli, &err);
	for (size_t i = 0; i < count; i++)
		trace_close(traces[i]);
	free((void *)traces);
	free(shifts);
	return status;
}

static int export_checked(
	struct cli *cli, const struct cmd_export_options *options, char **paths, int count)
{
	const struct exporter *exporter = NULL;

	if (options->to)
		exporter = exporter_find(options->to);
	else if (options->output)
		exporter = exporter_for_path(options->output);
	if (!exporter)
		return cli_fail(cli, "which format? Give --to %s, or -o with its extension",
			EXPORTER_WORDS);
	if (exporter->needs_path && !options->output)
		return cli_fail(cli, "%s cannot be written to standard output; give -o FILE",
			exporter->name);
	if (options->table && !exporter->has_tables)
		return cli_fail(
			cli, "--table is not for %s, which holds all tables", exporter->name);
	if (count == 1 && !options->offsets.count)
		return export_trace(cli, exporter, options, paths[0]);
	if (strcmp(exporter->name, "tacho") != 0)
		return cli_fail(cli, "several files are merged into a .tacho file first: "
				     "tacho export A B -o all.tacho");
	if (options->from_ns || options->until_ns)
		return cli_fail(cli, "--from and --until are for one file; merge first, then cut");
	return merge_traces(cli, options, paths, (size_t)count);
}

static int run_export(struct cli *cli, int argc, char **argv)
{
	struct cmd_export_options options = { 0 };
	int count, status = options_parse(cli, export_specs, &options, argc, argv, false, &count);

	if (status)
		status = options_exit(status);
	else if (count == 0)
		status = cli_fail(cli, "export needs a trace file: %s", cli->command->usage);
	else
		status = export_checked(cli, &options, argv, count);
	option_list_release(&options.offsets);
	return status;
}

const struct command cmd_export = {
	.name = "export",
	.group = "look",
	.summary = "write a trace in another format",
	.usage = "tacho export [options] FILE...",
	.description =
		"Writes a trace in another format. As a trace again (tacho), a file that had to be repaired becomes a whole one, --from and --until cut a window out, and several files become one with their processes kept apart. A file appears under its name only when it is whole.",
	.options = export_specs,
	.run = run_export,
};
