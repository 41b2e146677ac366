// SPDX-License-Identifier: MIT OR Apache-2.0
/* tacho report: where the time of a trace went. */
#include "base/progress.h"
#include "cli/cli_input.h"
#include "cli/cli_output.h"
#include "cli/cli_window.h"
#include "report/report.h"

#include <string.h>
#include <unistd.h>

#define TOP_DEFAULT 20
#define TOP_UNSET   UINT64_MAX
#define WIDTH_ALL   200

struct cmd_report_options {
	const char *by, *sort, *filter, *format, *output;
	uint64_t from_ns, until_ns, top;
	bool json;
	struct cli_input_options input;
};

static const struct option_spec report_specs[] = {
	{ OPTION_STRING, 0, "by", REPORT_VIEW_WORDS, offsetof(struct cmd_report_options, by),
		"show one view instead of the summary" },
	{ OPTION_STRING, 0, "filter", "TEXT", offsetof(struct cmd_report_options, filter),
		"only spans whose name contains TEXT, in upper or lower case" },
	{ OPTION_STRING, 0, "format", "text|json|markdown",
		offsetof(struct cmd_report_options, format), "how to write the report" },
	{ OPTION_DURATION, 0, "from", "TIME", offsetof(struct cmd_report_options, from_ns),
		"leave out what was before TIME, counted from the trace's start (1.5s, 250ms)" },
	{ OPTION_FLAG, 0, "json", NULL, offsetof(struct cmd_report_options, json),
		"the same as --format json" },
	{ OPTION_STRING, 'o', "output", "FILE", offsetof(struct cmd_report_options, output),
		"write to FILE instead of standard output" },
	{ OPTION_STRING, 0, "sort", REPORT_SORT_WORDS, offsetof(struct cmd_report_options, sort),
		"what the rows of a table are sorted by; total by default" },
	{ OPTION_U64, 0, "top", "N", offsetof(struct cmd_report_options, top),
		"rows of a table; 20 by default, 0 for all; JSON has all by default" },
	{ OPTION_DURATION, 0, "until", "TIME", offsetof(struct cmd_report_options, until_ns),
		"leave out what was after TIME" },
	CLI_INPUT_SPECS(struct cmd_report_options, input),
	{ 0 },
};

/* What the report is to show, from what the user asked for. */
static void choose(const struct cli *cli, const struct cmd_report_options *from, bool json,
	struct report_options *ret_options)
{
	struct report_options options = {
		.view = from->by ? (enum report_view)report_view_of(from->by) : REPORT_SUMMARY,
		.sort = from->sort ? (enum report_sort)report_sort_of(from->sort) : REPORT_BY_TOTAL,
		.sorted = from->sort != NULL,
		.top = from->top,
		/* Who asks for one table and sends it elsewhere wants all of its columns. */
		.width = from->by && !isatty(STDOUT_FILENO) ? WIDTH_ALL : cli->width,
		.colour = cli->colour && !from->output,
		.analyze = { .window = { from->from_ns, from->until_ns }, .filter = from->filter },
	};

	if (from->top == TOP_UNSET)
		options.top = json ? REPORT_TOP_ALL : TOP_DEFAULT;
	else if (from->top == 0)
		options.top = REPORT_TOP_ALL;
	*ret_options = options;
}

static void write_report(const struct report *report, const struct cmd_report_options *options,
	bool json, struct error *err)
{
	struct cli_output output;

	if (cli_output_open(&output, options->output, err) != STATUS_OK)
		return;
	if (json)
		report_json(report, &output.json);
	else if (options->format && strcmp(options->format, "markdown") == 0)
		report_markdown(report, &output.text);
	else
		report_text(report, &output.text);
	cli_output_finish(&output, json, err);
}

static int report_trace(struct cli *cli, const struct cmd_report_options *options, const char *path)
{
	bool json = options->json || (options->format && strcmp(options->format, "json") == 0);
	struct report_options wanted;
	struct error err = ERROR_INIT;
	struct progress progress;
	struct report report;
	struct trace *trace;
	int status;

	if (cli_input_open(cli, path, &options->input, &trace, &err) != STATUS_OK)
		return cli_fail_error(cli, &err);
	choose(cli, options, json, &wanted);
	status = cli_check_window(cli, trace, &wanted.analyze.window);
	if (status != EXIT_FINE) {
		trace_close(trace);
		return status;
	}
	progress_init(&progress, cli->progress ? STDERR_FILENO : -1, "reading");
	wanted.analyze.progress = progress_report;
	wanted.analyze.progress_context = &progress;
	status = report_run(&report, trace, &wanted, &err);
	progress_end(&progress);
	if (status == STATUS_OK) {
		write_report(&report, options, json, &err);
		report_release(&report);
	}
	trace_close(trace);
	return err.status ? cli_fail_error(cli, &err) : EXIT_FINE;
}

static int run_report(struct cli *cli, int argc, char **argv)
{
	struct cmd_report_options options = { .top = TOP_UNSET };
	int count, status = options_parse(cli, report_specs, &options, argc, argv, false, &count);

	if (status)
		return options_exit(status);
	if (count != 1)
		return cli_fail(cli, "report needs one trace file: %s", cli->command->usage);
	if (options.json && options.format && strcmp(options.format, "json") != 0)
		return cli_fail(
			cli, "--json and --format %s contradict each other", options.format);
	return report_trace(cli, &options, argv[0]);
}

const struct command cmd_report = {
	.name = "report",
	.group = "look",
	.summary = "show where the time went: names, steps, phases, threads, counters",
	.usage = "tacho report [options] FILE",
	.description =
		"Without --by: a summary, the names with the largest total time, the steps with "
		"their "
		"phases, and the most telling counters. A span that crosses the edge of --from or "
		"--until counts with the part inside. When events were dropped or a part of the "
		"file "
		"is damaged, a warning says what follows from it.",
	.options = report_specs,
	.run = run_report,
};
