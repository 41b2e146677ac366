// SPDX-License-Identifier: MIT OR Apache-2.0
/* Reports over the sample trace: the numbers, the choice and order of rows, the warning, the looks.
 */
#include "report/report.h"

#include "report/report_internal.h"
#include "report/text_table.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct trace *sample;

static const struct report_options plain = {
	.view = REPORT_ALL, .top = REPORT_TOP_ALL, .width = 80
};

static const char *text_of(struct buffer *out)
{
	static char text[65536];

	buffer_byte(out, 0);
	CHECK(buffer_ok(out) && out->length <= sizeof text);
	snprintf(text, sizeof text, "%s", (const char *)out->data);
	buffer_release(out);
	return text;
}

static bool run(struct report *report, const struct report_options *options)
{
	struct error err = ERROR_INIT;

	return CHECK_EQ(report_run(report, sample, options, &err), STATUS_OK) &&
	       CHECK_STR(err.message, "");
}

static const struct analyze_group *find(const struct report_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i]->name, name) == 0)
			return list->items[i];
	return NULL;
}

static void numbers_of_a_name(void)
{
	const struct analyze_group *matmul;
	struct report_list list;
	struct report report;

	if (!run(&report, &plain))
		return;
	CHECK_EQ(report.spans.span_count, SAMPLE_SPANS);
	CHECK_EQ(report_list_init(&list, &report.spans.names, REPORT_ROWS_ALL, REPORT_BY_TOTAL), 0);
	matmul = find(&list, "matmul");
	if (CHECK(matmul != NULL)) {
		/* Durations are 1 ms and 0 to 7 us, each twice; 200 us of each is in a child. */
		CHECK_EQ(matmul->stats.count, SAMPLE_MATMULS);
		CHECK_EQ(matmul->stats.total_ns, SAMPLE_MATMULS * 1000000 + 2 * 28000);
		CHECK_EQ(matmul->stats.self_ns, SAMPLE_MATMULS * 800000 + 2 * 28000);
		CHECK_EQ(matmul->stats.min_ns, 1000000);
		CHECK_EQ(matmul->stats.max_ns, 1007000);
		CHECK_NEAR(matmul->stats.mean_ns, 1003500, 0.001);
		CHECK_NEAR(matmul->stats.sd_ns, 2366.4319, 0.001);
		CHECK_STR(matmul->category, "op");
	}
	report_list_release(&list);
	report_release(&report);
}

static void choice_of_rows(void)
{
	static const struct {
		enum report_rows rows;
		size_t count;
		const char *in, *out;
	} cases[] = {
		{ REPORT_ROWS_ALL, 13, "step", NULL },
		{ REPORT_ROWS_WORK, 10, "gemm", "forward" },
		{ REPORT_ROWS_OPERATIONS, 8, "matmul", "copy" },
		{ REPORT_ROWS_KERNELS, 1, "gemm", "matmul" },
	};
	struct report report;

	if (!run(&report, &plain))
		return;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct report_list list;
		double share = 0;

		CHECK_EQ(report_list_init(
				 &list, &report.spans.names, cases[i].rows, REPORT_BY_TOTAL),
			0);
		CHECK_EQ(list.count, cases[i].count);
		CHECK(find(&list, cases[i].in) != NULL);
		CHECK(!cases[i].out || !find(&list, cases[i].out));
		for (size_t n = 0; n < list.count; n++)
			share += report_list_share(&list, list.items[n]);
		CHECK_NEAR(share, 1, 1e-9);
		report_list_release(&list);
	}
	report_release(&report);
}

static void order_of_rows(void)
{
	static const struct {
		enum report_sort sort;
		const char *first;
	} cases[] = {
		{ REPORT_BY_TOTAL, "gemm" },
		{ REPORT_BY_SELF, "gemm" },
		{ REPORT_BY_COUNT, "gemm" }, /* 16 as matmul and pack: then by name */
		{ REPORT_BY_MEAN, "decode" },
		{ REPORT_BY_MAX, "decode" },
		{ REPORT_BY_P50, "decode" },
		{ REPORT_BY_NAME, SAMPLE_BAD_NAME },
	};
	struct report report;

	if (!run(&report, &plain))
		return;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct report_list list;

		CHECK_EQ(report_list_init(
				 &list, &report.spans.names, REPORT_ROWS_WORK, cases[i].sort),
			0);
		CHECK_STR(list.items[0]->name, cases[i].first);
		report_list_release(&list);
	}
	report_release(&report);
}

static void steps_and_phases(void)
{
	const struct analyze_step **steps;
	struct report report;

	if (!run(&report, &plain))
		return;
	CHECK(report.spans.steps_recorded);
	CHECK_EQ(report.spans.step_count, SAMPLE_STEPS);
	CHECK_EQ(report.spans.step_stats.total_ns,
		(SAMPLE_STEPS - 1) * (uint64_t)SAMPLE_STEP_NS + SAMPLE_SLOW_NS);
	CHECK_EQ(report_steps_order(&report.spans, true, &steps), 0);
	CHECK_EQ(steps[0]->number, SAMPLE_SLOW_STEP);
	CHECK_EQ(steps[0]->duration_ns, SAMPLE_SLOW_NS);
	CHECK_EQ(steps[0]->phase_count, 2);
	CHECK_STR(report.spans.phases[steps[0]->first_phase].name, "forward");
	CHECK_EQ(steps[1]->number, 0);
	free(steps);
	report_release(&report);
}

static void window(void)
{
	struct report_options options = plain;
	struct report report;

	/* Step 2 is from 22 to 32 ms; the window holds it and nothing of its neighbours. */
	options.analyze.window = (struct trace_window){ 22000000, 32000000 };
	if (!run(&report, &options))
		return;
	CHECK_EQ(report.spans.wall_ns, 10000000);
	CHECK_EQ(report.spans.step_count, 1);
	CHECK_EQ(report.spans.steps[0].number, 2);
	CHECK_EQ(report.spans.kernel_count, 2);
	report_release(&report);
}

static void text_holds_what_matters(void)
{
	static const char *const wanted[] = { "sample.tacho\n", "wall       99.5 ms\n",
		"processes  2 with 3 threads, 1 device track\n", "steps      8; mean 11.9 ms",
		"warning: 3 of 153 events were dropped (1.96 %): counts and totals are too low",
		"\nNames\n", "\nCategories\n", "\nThreads\n", "\nSteps\n", "\nPhases\n",
		"\nCall tree\n", "\nCounters\n", "bad \\xff name",
		"\xe2\x94\x94\xe2\x94\x80 pack" };
	struct report report;
	struct buffer out;
	const char *text;

	if (!run(&report, &plain))
		return;
	buffer_init(&out);
	report_text(&report, &out);
	text = text_of(&out);
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		if (!CHECK(strstr(text, wanted[i]) != NULL))
			printf("missing: %s\n", wanted[i]);
	CHECK(strchr(text, '\033') == NULL);
	report_release(&report);
}

/* Tables keep to the width; only the warning may be longer. */
static void text_fits_its_width(void)
{
	for (unsigned width = 60; width <= 160; width += 20) {
		struct report_options options = plain;
		struct report report;
		struct buffer out;
		bool in_table = false;

		options.width = width;
		if (!run(&report, &options))
			return;
		buffer_init(&out);
		report_text(&report, &out);
		for (const char *line = text_of(&out), *end; *line; line = end) {
			char copy[512];

			end = line + strcspn(line, "\n");
			snprintf(copy, sizeof copy, "%.*s", (int)(end - line), line);
			in_table = in_table || copy[0] == '\0';
			if (in_table)
				CHECK(text_width(copy) <= width);
			end += *end == '\n';
		}
		report_release(&report);
	}
}

static void top_rows(void)
{
	struct report_options options = plain;
	struct report report;
	struct buffer out;
	const char *text;

	options.view = REPORT_NAME;
	options.top = 2;
	if (!run(&report, &options))
		return;
	buffer_init(&out);
	report_text(&report, &out);
	text = text_of(&out);
	CHECK(strstr(text, "\n11 more; --top 0 shows all\n") != NULL);
	CHECK(strstr(text, "pack") == NULL);
	report_release(&report);
}

static void markdown_is_a_table(void)
{
	struct report report;
	struct buffer out;
	const char *text;

	if (!run(&report, &plain))
		return;
	buffer_init(&out);
	report_markdown(&report, &out);
	text = text_of(&out);
	CHECK(strncmp(text, "# sample.tacho\n", 15) == 0);
	CHECK(strstr(text, "\n## Names\n\n| name | category | count |") != NULL);
	CHECK(strstr(text, "\n**Warning:** 3 of 153 events") != NULL);
	report_release(&report);
}

static void json_has_the_promised_keys(void)
{
	static const char *const keys[] = { "\"tacho\":{\"schema\":1,\"version\":\"",
		"\"summary\":{\"wall_ns\":99500000,\"steps\":8",
		"\"step_ns\":{\"mean\":", "\"cpu_op_count\":16", "\"kernel_count\":16",
		"\"kernel_time_ns\":19200000", "\"gpu_busy_ns\":19600000", "\"memcpy_bytes\":65536",
		"\"operations\":[{\"name\":",
		"\"kernels\":[{\"name\":\"gemm\",\"category\":\"kernel\",\"count\":16",
		"\"layers\":[]", "\"steps\":[{\"number\":0,", "\"phases\":[{\"name\":\"backward\"",
		"\"threads\":[", "\"categories\":[", "\"counters\":[",
		"\"tree\":{\"cut\":false,\"nodes\":[", "\"ledger\":{\"produced\":153",
		"\"device_ns\":0" };
	struct json_writer json;
	struct report report;
	const char *text;

	if (!run(&report, &plain))
		return;
	json_writer_init(&json, NULL, NULL);
	report_json(&report, &json);
	CHECK_EQ(json_writer_finish(&json), 0);
	text = text_of(&json.out);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (!CHECK(strstr(text, keys[i]) != NULL))
			printf("missing: %s\n", keys[i]);
	report_release(&report);
}

static void info(void)
{
	struct json_writer json;
	struct buffer out;
	const char *text;

	buffer_init(&out);
	report_info_text(sample, 80, false, &out);
	text = text_of(&out);
	CHECK(strstr(text, "start         2023-11-14 22:13:20 UTC\n") != NULL);
	CHECK(strstr(text, "  process train 1000\n") != NULL);
	CHECK(strstr(text, "    thread loader 1001: 8 spans\n") != NULL);
	CHECK(strstr(text, "model                    three layers\n") != NULL);
	CHECK(strstr(text, "two layers") == NULL);
	CHECK(strstr(text, "\nsettings\n  counters_rate            100\n") != NULL);
	CHECK(strstr(text, "\nenvironment\n  cpu.model                Example CPU\n") != NULL);
	CHECK(strstr(text, "  produced 153, recorded 150, dropped 3, repaired 0, skipped 0\n"));
	json_writer_init(&json, NULL, NULL);
	report_info_json(sample, &json);
	CHECK_EQ(json_writer_finish(&json), 0);
	text = text_of(&json.out);
	CHECK(strstr(
		text, "\"counts\":{\"spans\":89,\"counters\":24,\"allocations\":4,\"links\":48"));
	CHECK(strstr(text, "\"sources\":[\"tacho record\"]"));
	CHECK(strstr(text, "\"metadata\":{\"start_unix_ns\":1700000000000000000,"));
	CHECK(strstr(text, "\"overhead_percent\":0.0017"));
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(numbers_of_a_name),
		UNIT(choice_of_rows),
		UNIT(order_of_rows),
		UNIT(steps_and_phases),
		UNIT(window),
		UNIT(text_holds_what_matters),
		UNIT(text_fits_its_width),
		UNIT(top_rows),
		UNIT(markdown_is_a_table),
		UNIT(json_has_the_promised_keys),
		UNIT(info),
	};
	struct error err = ERROR_INIT;
	char path[] = "/tmp/tacho-report-XXXXXX", file[64];
	int status = 1;

	if (!mkdtemp(path))
		return 1;
	snprintf(file, sizeof file, "%s/sample.tacho", path);
	if (sample_trace_write(file, &err) == STATUS_OK &&
		trace_open(file, &sample, &err) == STATUS_OK) {
		status = unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
		trace_close(sample);
	} else {
		printf("%s\n", err.message);
	}
	unlink(file);
	rmdir(path);
	return status;
}
