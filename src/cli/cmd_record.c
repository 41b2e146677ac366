// SPDX-License-Identifier: MIT OR Apache-2.0
/* tacho record: runs a program and records it. The program's output, status and signals are its
 * own; what we have to say we say after it ended, and only on a terminal or with -v. */
#include "base/buffer.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/calibrate.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/recording_settings.h"
#include "collect/collector.h"
#include "collect/session_dir.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct record_options {
	const char *output, *last, *last_bytes, *schedule, *duration, *max_size, *rate;
	struct option_list set;
	bool follow, no_follow, counters, no_counters, verbose;
};

#define AT(field) offsetof(struct record_options, field)
static const struct option_spec record_specs[] = {
	{ OPTION_STRING, 'o', "output", "FILE", AT(output),
		"trace file; {pid} {rank} {host} {time} {name} are replaced "
		"(default {name}-{time}.tacho)" },
	{ OPTION_STRING, 0, "last", "DURATION", AT(last),
		"flight recorder: keep only the past DURATION in memory, write it when asked by "
		"`tacho dump`, on SIGUSR2, on an unusually slow step, and when the program ends" },
	{ OPTION_STRING, 0, "last-bytes", "SIZE", AT(last_bytes),
		"flight recorder: keep at most SIZE (default 64MiB)" },
	{ OPTION_STRING, 0, "schedule", "W,U,A,R", AT(schedule),
		"by steps: wait W, warm up U, record A, repeat R times (0: for ever)" },
	{ OPTION_STRING, 0, "duration", "DURATION", AT(duration),
		"end the recording after DURATION; the program goes on" },
	{ OPTION_STRING, 0, "max-size", "SIZE", AT(max_size),
		"stop writing at SIZE; what comes later is counted in the ledger" },
	{ OPTION_LIST, 0, "set", "KEY=VALUE", AT(set), "any setting; see `tacho help --settings`" },
	/* In front of their positives, so that an explicit --follow can overrule the environment.
	 */
	{ OPTION_FLAG, 0, "no-follow", NULL, AT(no_follow), "do not record child processes" },
	{ OPTION_FLAG, 0, "follow", NULL, AT(follow), "record child processes too (default)" },
	{ OPTION_FLAG, 0, "no-counters", NULL, AT(no_counters), "no machine counters" },
	{ OPTION_FLAG, 0, "counters", NULL, AT(counters), "sample machine counters (default)" },
	{ OPTION_STRING, 0, "counters-rate", "HZ", AT(rate), "samples per second (default 10)" },
	{ OPTION_FLAG, 'v', "verbose", NULL, AT(verbose),
		"say what was recorded even when stderr is no terminal" },
	{ 0 },
};
#undef AT

static int gather_settings(
	const struct cli *cli, const struct record_options *options, struct settings *settings)
{
	const struct {
		const char *key, *value;
	} given[] = {
		{ "output", options->output },
		{ "last", options->last },
		{ "last_bytes", options->last_bytes },
		{ "schedule", options->schedule },
		{ "duration", options->duration },
		{ "max_size", options->max_size },
		{ "counters_rate", options->rate },
		{ "follow", options->no_follow ? "off"
			    : options->follow  ? "on"
					       : NULL },
		{ "counters", options->no_counters ? "off"
			      : options->counters  ? "on"
						   : NULL },
	};
	int status = recording_settings_load(cli, settings);

	if (status == EXIT_FINE)
		status = recording_settings_assign(cli, settings, &options->set);
	for (size_t i = 0; status == EXIT_FINE && i < sizeof given / sizeof *given; i++)
		status = recording_settings_set(cli, settings, given[i].key, given[i].value);
	return status;
}

static double children_cpu_s(void)
{
	struct rusage use;

	getrusage(RUSAGE_CHILDREN, &use);
	return (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
	       1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void print_summary(const struct collector_summary *summary)
{
	char bytes[UNITS_TEXT], scopes[UNITS_TEXT];

	fprintf(stderr, "tacho: %s scopes from %u process%s, %s in %s\n",
		units_count(scopes, (double)summary->scopes), summary->processes,
		summary->processes == 1 ? "" : "es", units_bytes(bytes, (double)summary->bytes),
		summary->output);
	if (summary->overhead_percent >= 0)
		fprintf(stderr, "tacho: recording cost the program about %.2f %% of its time\n",
			summary->overhead_percent);
	if (summary->dropped)
		fprintf(stderr,
			"tacho: %" PRIu64 " events were dropped for want of buffers; "
			"raise pool_size\n",
			summary->dropped);
	if (summary->failure[0])
		fprintf(stderr, "tacho: %" PRIu64 " rows are missing: %s\n", summary->skipped,
			summary->failure);
	fprintf(stderr, "tacho: next: tacho report %s\n", summary->output);
}

/* Finishes the file. Problems are told even without a terminal: silence would be a lie. */
static void finish(const struct cli *cli, struct collector *collector, bool verbose, double cpu_s)
{
	struct collector_cost cost = { .program_cpu_s = cpu_s };
	struct collector_summary summary;
	struct calibration calibration;
	struct error err = ERROR_INIT;

	collector_stop(collector);
	if (collector_events(collector) && calibrate_cached(&calibration, &err) == STATUS_OK) {
		cost.scope_ns = calibration.scope_ns;
		cost.event_ns = calibration.event_ns;
	}
	if (collector_finish(collector, &cost, &summary, &err) != STATUS_OK)
		cli_fail_error(cli, &err);
	else if (verbose)
		print_summary(&summary);
	else if (summary.failure[0])
		fprintf(stderr, "tacho: %s: %" PRIu64 " rows are missing: %s\n", summary.output,
			summary.skipped, summary.failure);
}

static void dump_on_signal(const struct cli *cli, struct collector *collector)
{
	struct error err = ERROR_INIT;
	char path[1100];

	if (collector_dump(collector, 0, NULL, "signal", path, sizeof path, &err) != STATUS_OK)
		cli_fail_error(cli, &err);
}

/* Ticks until the program ends; the recording may end earlier. */
static void watch(
	const struct cli *cli, struct child *child, struct collector *collector, bool verbose)
{
	bool recording = true;

	while (!child->ended) {
		uint64_t wait = recording ? collector_tick(collector) : UINT64_MAX;
		struct timespec time = { .tv_sec = (time_t)(wait / 1000000000u),
			.tv_nsec = (long)(wait % 1000000000u) };
		struct pollfd ready[] = {
			{ .fd = child->signal_fd, .events = POLLIN },
			{ .fd = recording ? collector_control_fd(collector) : -1,
				.events = POLLIN },
		};

		if (ppoll(ready, 2, recording ? &time : NULL, NULL) > 0)
			child_handle_signals(child);
		if (child->dump_asked && recording)
			dump_on_signal(cli, collector);
		child->dump_asked = false;
		if (recording && collector_is_over(collector)) {
			/* The program's CPU time is not known before it ends: wall time is used. */
			finish(cli, collector, verbose, 0);
			recording = false;
		}
	}
	if (recording)
		finish(cli, collector, verbose, children_cpu_s());
}

/* The command line as one text, when the user wants it stored. */
static char *join_command(char **argv)
{
	struct buffer text;

	buffer_init(&text);
	for (; *argv; argv++) {
		buffer_text(&text, *argv);
		buffer_byte(&text, argv[1] ? ' ' : 0);
	}
	if (buffer_ok(&text))
		return (char *)text.data;
	buffer_release(&text);
	return NULL;
}

static int record_program(
	const struct cli *cli, const struct settings *settings, char **argv, bool verbose)
{
	struct collector *collector = NULL;
	struct error err = ERROR_INIT;
	struct child child;
	char *command = NULL;
	int status = CHILD_STATUS_OWN;

	session_dir_each(settings_text(settings, SETTING_SESSION_DIR), NULL, NULL);
	if (collector_new(settings, &collector, &err) != STATUS_OK) {
		cli_fail_error(cli, &err);
		return status;
	}
	if (child_prepare(&child, argv, collector_folder(collector), &err) != STATUS_OK) {
		cli_fail_error(cli, &err);
		goto out;
	}
	if (settings_number(settings, SETTING_STORE_COMMAND))
		command = join_command(argv);
	if (collector_start(collector, child.pid, argv[0], command, &err) != STATUS_OK) {
		child_abandon(&child);
		cli_fail_error(cli, &err);
		goto out;
	}
	if (child_go(&child, &status, &err) != STATUS_OK) {
		error_prefix(&err, "%s: ", argv[0]);
		cli_fail_error(cli, &err);
		/* A trace of nothing is litter; a flight recorder has not made one yet. */
		if (!settings_number(settings, SETTING_LAST))
			unlink(collector_output(collector));
		goto out;
	}
	watch(cli, &child, collector, verbose);
	collector_free(collector);
	free(command);
	return child_exit_like(&child);
out:
	collector_free(collector);
	free(command);
	return status;
}

/* Where the standard descriptors are closed, a file of ours would get their number, and what we
 * print would go into it. The program still finds them closed. */
static void fill_standard_descriptors(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
}

static int run_record(struct cli *cli, int argc, char **argv)
{
	static struct settings settings;
	struct record_options options = { 0 };
	int count, status = options_parse(cli, record_specs, &options, argc, argv, true, &count);

	if (status) {
		option_list_release(&options.set);
		return options_exit(status);
	}
	status = gather_settings(cli, &options, &settings);
	option_list_release(&options.set);
	if (status != EXIT_FINE)
		return status;
	if (count == 0)
		return cli_fail(cli, "record needs a program: tacho record [options] -- PROGRAM");
	argv[count] = NULL;
	fill_standard_descriptors();
	return record_program(cli, &settings, argv, options.verbose || isatty(STDERR_FILENO));
}

const struct command cmd_record = {
	.name = "record",
	.group = "record",
	.summary = "run a program and record it",
	.usage = "tacho record [options] -- PROGRAM [ARGUMENT...]",
	.description =
		"Runs the program and records what it says of itself through libtacho, its child "
		"processes included, and counters of the machine. Output, exit status and signals "
		"of the program pass through untouched; 125 means that Tacho could not set up, 126 "
		"that the program could not be run, 127 that it was not found.",
	.options = record_specs,
	.run = run_record,
};
