// SPDX-License-Identifier: MIT OR Apache-2.0
/* tacho dump: asks a running flight recorder for the past. */
#include "base/json_writer.h"
#include "base/units.h"
#include "cli/cli.h"
#include "collect/control.h"
#include "collect/session_dir.h"
#include "report/report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dump_options {
	uint64_t last;
	const char *output;
	bool json;
};

#define AT(field) offsetof(struct dump_options, field)
static const struct option_spec dump_specs[] = {
	{ OPTION_DURATION, 0, "last", "DURATION", AT(last),
		"only the past DURATION (default: all that is kept)" },
	{ OPTION_STRING, 'o', "output", "FILE", AT(output),
		"file to write (default: beside the recording's output)" },
	{ OPTION_FLAG, 0, "json", NULL, AT(json), "write a JSON document" },
	{ 0 },
};
#undef AT

struct search {
	pid_t pid; /* 0: any */
	unsigned count;
	struct session_info found;
};

static int take(void *context, const struct session_info *info)
{
	struct search *search = context;

	if (search->pid && search->pid != info->collector_pid && search->pid != info->main_pid)
		return 0;
	search->found = *info;
	search->count++;
	return 0;
}

/* The collector has its own working folder, so it is told the whole path. */
static int absolute(const char *path, char *whole, size_t bytes)
{
	char here[PATH_MAX];

	if (path[0] == '/' || !getcwd(here, sizeof here))
		return snprintf(whole, bytes, "%s", path) < (int)bytes ? 0 : -1;
	return snprintf(whole, bytes, "%s/%s", here, path) < (int)bytes ? 0 : -1;
}

static void print_result(const char *path, bool as_json)
{
	struct json_writer json;

	if (!as_json) {
		printf("%s\n", path);
		return;
	}
	json_writer_init(&json, NULL, NULL);
	json.pretty = true;
	json_object(&json);
	report_json_head(&json, "dump");
	json_key_string(&json, "file", path);
	json_object_end(&json);
	if (json_writer_finish(&json) == STATUS_OK)
		fwrite(json.out.data, 1, json.out.length, stdout);
	json_writer_release(&json);
}

static int run_dump(struct cli *cli, int argc, char **argv)
{
	struct dump_options options = { 0 };
	struct search search = { 0 };
	struct error err = ERROR_INIT;
	char whole[PATH_MAX], path[PATH_MAX];
	const char *folder = getenv("TACHO_SESSION_DIR");
	uint64_t pid = 0;
	int count, status = options_parse(cli, dump_specs, &options, argc, argv, false, &count);

	if (status)
		return options_exit(status);
	if (count > 1 || (count == 1 && units_parse_u64(argv[0], &pid) != STATUS_OK))
		return cli_fail(cli, "dump takes one process number, of the program or of its "
				     "recorder");
	search.pid = (pid_t)pid;
	session_dir_each(folder ? folder : "", take, &search);
	if (search.count == 0 && pid)
		return cli_fail(cli, "process %d is not being recorded", (int)pid);
	if (search.count == 0)
		return cli_fail(cli, "nothing is being recorded; start a flight recorder with "
				     "tacho record --last 30s -- PROGRAM");
	if (search.count > 1)
		return cli_fail(cli, "%u recordings are running; name one by its process number",
			search.count);
	if (options.output && absolute(options.output, whole, sizeof whole) != 0)
		return cli_fail(cli, "%s: the path is too long", options.output);
	if (control_ask_dump(search.found.path, options.last, options.output ? whole : NULL, path,
		    sizeof path, &err) != STATUS_OK)
		return cli_fail_error(cli, &err);
	print_result(path, options.json);
	return EXIT_FINE;
}

const struct command cmd_dump = {
	.name = "dump",
	.group = "record",
	.summary = "ask a running flight recorder for the past",
	.usage = "tacho dump [options] [PID]",
	.description =
		"Writes what a flight recorder (tacho record --last) has kept to a trace file and "
		"prints its name. PID is the program's process number or its recorder's; it may be "
		"left out when only one recording is running.",
	.options = dump_specs,
	.run = run_dump,
};
