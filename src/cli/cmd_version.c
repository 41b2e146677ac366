// SPDX-License-Identifier: MIT OR Apache-2.0
/* tacho version: what this tool is, without anything that depends on who compiled it. */
#include "base/json_writer.h"
#include "cli/cli.h"
#include "format/block.h"
#include "report/report.h"

#include <stdio.h>
#include <tacho/version.h>

#if defined(__x86_64__)
#define PLATFORM "x86_64"
#elif defined(__aarch64__)
#define PLATFORM "aarch64"
#elif defined(__riscv)
#define PLATFORM "riscv64"
#else
#define PLATFORM "other"
#endif

struct version_options {
	bool json;
};

static const struct option_spec version_specs[] = {
	{ OPTION_FLAG, 0, "json", NULL, offsetof(struct version_options, json),
		"write a JSON document" },
	{ 0 },
};

static void print_json(void)
{
	struct json_writer json;

	json_writer_init(&json, NULL, NULL);
	json.pretty = true;
	json_object(&json);
	report_json_head(&json, "version");
	json_key_string(&json, "version", TACHO_VERSION);
	json_key_u64(&json, "format_version", FORMAT_VERSION);
	json_key_string(&json, "platform", PLATFORM);
	json_object_end(&json);
	if (json_writer_finish(&json) == STATUS_OK)
		fwrite(json.out.data, 1, json.out.length, stdout);
	json_writer_release(&json);
}

static int run_version(struct cli *cli, int argc, char **argv)
{
	struct version_options options = { 0 };
	int count, status = options_parse(cli, version_specs, &options, argc, argv, false, &count);

	if (status)
		return options_exit(status);
	if (count)
		return cli_fail(cli, "version takes no operand: '%s'", argv[0]);
	if (options.json)
		print_json();
	else
		printf("tacho %s\ntrace format %u\nplatform %s\n", TACHO_VERSION, FORMAT_VERSION,
			PLATFORM);
	return EXIT_FINE;
}

const struct command cmd_version = {
	.name = "version",
	.group = "other",
	.summary = "show the version of the tool and of its trace format",
	.usage = "tacho version [options]",
	.options = version_specs,
	.run = run_version,
};
