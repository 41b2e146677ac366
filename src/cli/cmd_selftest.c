// SPDX-License-Identifier: MIT OR Apache-2.0
/* tacho selftest: does recording work on this machine, and what does it cost? */
#include "base/clock.h"
#include "base/json_writer.h"
#include "cli/calibrate.h"
#include "cli/cli.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>

struct selftest_options {
	bool json, quick;
};

#define AT(field) offsetof(struct selftest_options, field)
static const struct option_spec selftest_specs[] = {
	{ OPTION_FLAG, 0, "json", NULL, AT(json), "write a JSON document" },
	{ OPTION_FLAG, 0, "quick", NULL, AT(quick), "fewer rounds" },
	{ 0 },
};
#undef AT

static void print_json(const struct calibration *found, bool whole)
{
	struct json_writer json;

	json_writer_init(&json, NULL, NULL);
	json.pretty = true;
	json_object(&json);
	report_json_head(&json, "selftest");
	json_key_string(&json, "clock", clock_kind_name(clock_best_kind()));
	json_key_double(&json, "scope_ns", found->scope_ns);
	json_key_double(&json, "event_ns", found->event_ns);
	json_key_double(&json, "disabled_ns", found->disabled_ns);
	json_key_double(&json, "floor_ns", found->floor_ns);
	json_key_u64(&json, "produced", found->produced);
	json_key_u64(&json, "recorded", found->recorded);
	json_key_bool(&json, "passed", whole);
	json_object_end(&json);
	if (json_writer_finish(&json) == STATUS_OK)
		fwrite(json.out.data, 1, json.out.length, stdout);
	json_writer_release(&json);
}

static void print_text(const struct calibration *found, bool whole)
{
	printf("clock            %s\n", clock_kind_name(clock_best_kind()));
	printf("scope            %.1f ns  (begin and end; %.2f x two clock readings and two "
	       "stores, "
	       "%.1f ns)\n",
		found->scope_ns, found->scope_ns / found->floor_ns, found->floor_ns);
	printf("counter value    %.1f ns\n", found->event_ns);
	printf("scope, disabled  %.2f ns\n", found->disabled_ns);
	printf("events           %" PRIu64 " produced, %" PRIu64 " recorded\n", found->produced,
		found->recorded);
	printf("%s\n", whole ? "passed: recording works here"
			     : "FAILED: events are missing; is the machine overloaded?");
}

static int run_selftest(struct cli *cli, int argc, char **argv)
{
	struct selftest_options options = { 0 };
	struct calibration found;
	struct error err = ERROR_INIT;
	bool whole;
	int count, status = options_parse(cli, selftest_specs, &options, argc, argv, false, &count);

	if (status)
		return options_exit(status);
	if (count)
		return cli_fail(cli, "selftest takes no operand: '%s'", argv[0]);
	if (calibrate(options.quick, &found, &err) != STATUS_OK) {
		cli_fail_error(cli, &err);
		return EXIT_NO;
	}
	whole = found.recorded == found.produced;
	calibrate_store(&found);
	if (options.json)
		print_json(&found, whole);
	else
		print_text(&found, whole);
	return whole ? EXIT_FINE : EXIT_NO;
}

const struct command cmd_selftest = {
	.name = "selftest",
	.group = "other",
	.summary = "check that recording works here and what it costs",
	.usage = "tacho selftest [options]",
	.description =
		"Records a measuring loop through libtacho.so and a collector, checks that every "
		"event arrived, and prints what one costs on this machine: the fastest of many "
		"short blocks. The figures are kept in the user's cache; every recording states "
		"its own cost from them. Exit status 1 when an event is missing.",
	.options = selftest_specs,
	.run = run_selftest,
};
