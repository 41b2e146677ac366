// SPDX-License-Identifier: MIT OR Apache-2.0
/* Formats that are text: collapsed stacks, perf script, PyTorch's execution trace. */
#include "tests/unit/import_fixture.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct trace *open_text(const char *text)
{
	return import_fixture_open(text, strlen(text));
}

static void collapsed_stacks_nest(void)
{
	struct trace *trace = import_fixture_corpus("import_collapsed/stacks");
	uint64_t start, duration;

	if (!trace)
		return;
	CHECK_EQ(import_fixture_span(trace, "main", &start, &duration, NULL), 1);
	CHECK_EQ(duration, 20);
	CHECK_EQ(import_fixture_span(trace, "a", &start, &duration, NULL), 1);
	CHECK_EQ(duration, 10);
	CHECK_EQ(import_fixture_span(trace, "b", &start, &duration, NULL), 2);
	CHECK_EQ(import_fixture_span(trace, "other", &start, &duration, NULL), 1);
	CHECK_EQ(start, 20);
	trace_close(trace);
}

static void collapsed_oddities(void)
{
	struct trace *trace = open_text(
		"a;b 5\r\n\n# comment;x 3\nno count\na;b 99999999999999999999999\n;; 2\nspaces in name;leaf fn() 7\n"
		"zero 0\nlast;line 1");

	if (!trace)
		return;
	CHECK_EQ(import_fixture_ledger(trace, "lines without a count"), 2);
	CHECK_EQ(import_fixture_span(trace, "spaces in name", NULL, NULL, NULL), 1);
	CHECK_EQ(import_fixture_span(trace, "leaf fn()", NULL, NULL, NULL), 1);
	CHECK_EQ(import_fixture_span(trace, "", NULL, NULL, NULL), 3);
	CHECK_EQ(import_fixture_span(trace, "line", NULL, NULL, NULL), 1);
	trace_close(trace);
}

/* A stack of a hundred thousand frames in one line. */
static void a_deep_stack(void)
{
	size_t frames = 100000, length = 0;
	char *text = malloc(frames * 2 + 16);
	struct trace *trace;

	if (!CHECK(text != NULL))
		return;
	for (size_t i = 0; i < frames; i++) {
		text[length++] = (char)('a' + i % 26);
		text[length++] = ';';
	}
	memcpy(text + length - 1, " 3\n", 4);
	trace = open_text("a;b 1\n");
	if (trace)
		trace_close(trace);
	CHECK_EQ(import_fixture_convert("x;y 1\n", 6, 0), STATUS_OK);
	/* The head of such a file is one unfinished line, which is no sign of any format. */
	CHECK_EQ(import_fixture_convert(text, strlen(text), 0), STATUS_FORMAT);
	memmove(text + 6, text, strlen(text) + 1);
	memcpy(text, "x;y 1\n", 6);
	trace = import_fixture_open(text, strlen(text));
	if (trace) {
		CHECK_EQ(import_fixture_ledger(trace, "frames deeper than 60000"), 1);
		trace_close(trace);
	}
	free(text);
}

static void perf_samples(void)
{
	struct trace *trace = import_fixture_corpus("import_perf_script/samples");
	uint64_t time;
	const uint32_t *frames;
	size_t count;

	if (!trace)
		return;
	CHECK_EQ(trace->row_counts[TABLE_SAMPLES], 3);
	frames = trace_stack(trace, 0, &count);
	if (CHECK_EQ(count, 3)) {
		CHECK_STR(string_table_borrow(&trace->strings, frames[0]),
			"PyEval_EvalFrame (/usr/bin/python3)");
		CHECK_STR(string_table_borrow(&trace->strings, frames[1]),
			"operator() (int) (/lib/a b.so)");
		CHECK_STR(string_table_borrow(&trace->strings, frames[2]), "55aa ([unknown])");
	}
	CHECK_EQ(import_fixture_span(trace, "sched:sched_switch", &time, NULL, NULL), 1);
	CHECK_EQ(time, 543000);
	CHECK_STR(import_fixture_argument(trace, "cycles:u", "period"), "250000");
	CHECK_STR(import_fixture_argument(trace, "cycles:u", "cpu"), "3");
	CHECK_EQ(import_fixture_track(trace, "python3 my prog")->os_id, 1240);
	trace_close(trace);
}

static void perf_oddities(void)
{
	struct trace *trace =
		open_text("prog 1 2.5: cycles:\n\tabc f+0x1 (x)\nprog 1 3.5: cycles:\n"
			  "not a sample\n\tabc orphan (x)\n\nprog 1/ 4.5: cycles:\n"
			  "prog 1 99999999999999999999.0: cycles:\n");

	if (!trace)
		return;
	CHECK_EQ(import_fixture_span(trace, "cycles", NULL, NULL, NULL), 2);
	CHECK_EQ(trace->row_counts[TABLE_SAMPLES], 1);
	CHECK_EQ(import_fixture_ledger(trace, "lines that are no sample"), 4);
	trace_close(trace);
}

static void execution_trace(void)
{
	struct trace *trace = import_fixture_corpus("import_torch_et/nodes");
	uint64_t start, duration;

	if (!trace)
		return;
	CHECK_EQ(import_fixture_span(trace, "aten::add", &start, &duration, NULL), 1);
	CHECK_EQ(start, 4);
	CHECK_STR(import_fixture_argument(trace, "aten::add", "inputs.shapes"), "[[10,10],[]]");
	CHECK_STR(import_fixture_argument(trace, "aten::add", "op_schema"),
		"aten::add(Tensor) -> \"x\"");
	CHECK_EQ(import_fixture_track(trace, "thread 7")->span_count, 2);
	CHECK_EQ(import_fixture_ledger(trace, "nodes whose parent is not there"), 1);
	CHECK_STR(trace_metadata(trace, "torch_et.schema"), "1.1.1-chakra.0.0.4");
	trace_close(trace);
}

static void execution_trace_cut(void)
{
	static const char head[] = "{\"schema\": \"1\", \"nodes\": [{\"id\": 1, \"name\": \"a\"}, ";
	struct trace *trace = open_text(head);

	if (trace) {
		CHECK_EQ(import_fixture_span(trace, "a", NULL, NULL, NULL), 1);
		CHECK_EQ(trace->ledger.skipped, 1);
		trace_close(trace);
	}
	CHECK_EQ(import_fixture_convert("{\"schema\": 1, \"nodes\": []}", 26, 0), STATUS_FORMAT);
	CHECK_EQ(import_fixture_convert("{\"schema\": 1, \"nodes\": [}", 25, 0), STATUS_FORMAT);
	CHECK_EQ(import_fixture_error.offset, 24);
}

/* Ids at both ends of the range, the same id twice, ids that are texts. */
static void execution_trace_ids(void)
{
	struct trace *trace = open_text(
		"{\"schema\":\"1\",\"nodes\":[{\"id\":9223372036854775807,\"name\":\"a\",\"ctrl_deps\":"
		"-9223372036854775808},{\"id\":-9223372036854775808,\"name\":\"b\"},{\"id\":5,\"name\":\"c\"},"
		"{\"id\":5,\"name\":\"d\",\"ctrl_deps\":5},{\"id\":\"x\",\"name\":7},[],{}]}");

	if (!trace)
		return;
	CHECK_EQ(trace->row_counts[TABLE_SPANS], 6);
	CHECK_EQ(import_fixture_ledger(trace, "nodes that are no object"), 1);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(collapsed_stacks_nest),
		UNIT(collapsed_oddities),
		UNIT(a_deep_stack),
		UNIT(perf_samples),
		UNIT(perf_oddities),
		UNIT(execution_trace),
		UNIT(execution_trace_cut),
		UNIT(execution_trace_ids),
	};
	int status;

	import_fixture_begin();
	status = unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
	import_fixture_end();
	return status;
}
