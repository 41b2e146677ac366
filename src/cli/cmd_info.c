// SPDX-License-Identifier: MIT OR Apache-2.0
/* tacho info: what is in a trace, without reading its blocks. */
#include "cli/cli_input.h"
#include "cli/cli_output.h"
#include "report/report.h"

struct info_options {
	bool json;
	const char *output;
	struct cli_input_options input;
};

static const struct option_spec info_specs[] = {
	{ OPTION_FLAG, 0, "json", NULL, offsetof(struct info_options, json),
		"write a JSON document" },
	{ OPTION_STRING, 'o', "output", "FILE", offsetof(struct info_options, output),
		"write to FILE instead of standard output" },
	CLI_INPUT_SPECS(struct info_options, input),
	{ 0 },
};

static int run_info(struct cli *cli, int argc, char **argv)
{
	struct info_options options = { 0 };
	struct cli_output output;
	struct error err = ERROR_INIT;
	struct trace *trace;
	int count, status = options_parse(cli, info_specs, &options, argc, argv, false, &count);

	if (status)
		return options_exit(status);
	if (count != 1)
		return cli_fail(cli, "info needs one trace file: %s", cli->command->usage);
	if (cli_input_open(cli, argv[0], &options.input, &trace, &err) != STATUS_OK)
		return cli_fail_error(cli, &err);
	if (cli_output_open(&output, options.output, &err) == STATUS_OK) {
		if (options.json)
			report_info_json(trace, &output.json);
		else
			report_info_text(
				trace, cli->width, cli->colour && !options.output, &output.text);
		cli_output_finish(&output, options.json, &err);
	}
	trace_close(trace);
	return err.status ? cli_fail_error(cli, &err) : EXIT_FINE;
}

const struct command cmd_info = {
	.name = "info",
	.group = "look",
	.summary = "show what is in a trace: size, span, tracks, sources, ledger",
	.usage = "tacho info [options] FILE",
	.description = "Shows size, format, time span, counts, tracks, metadata, settings and "
		       "environment of "
		       "a trace, and its ledger: how many events were produced, recorded and "
		       "dropped, what "
		       "was repaired or skipped, what the recording cost, and how far clocks may "
		       "be off. Reads "
		       "only the index, so it is quick for a file of any size.",
	.options = info_specs,
	.run = run_info,
};
