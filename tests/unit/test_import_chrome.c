// SPDX-License-Identifier: MIT OR Apache-2.0
/* Chrome and Kineto JSON: every phase, nesting, bad input, packed input, pieces. */
#include "import/import.h"
#include "tests/unit/unit.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static char folder[] = "/tmp/tacho-import-XXXXXX";
static char input_path[64], output_path[64];
static struct error error;

static void write_input(const void *bytes, size_t count)
{
	FILE *file = fopen(input_path, "w");

	CHECK(file != NULL);
	CHECK_EQ(fwrite(bytes, 1, count, file), count);
	fclose(file);
}

static int convert_bytes(const void *bytes, size_t count)
{
	struct import_options options = { 0 };

	write_input(bytes, count);
	error = (struct error)ERROR_INIT;
	return import_convert(input_path, output_path, &options, &error);
}

static int convert(const char *text)
{
	return convert_bytes(text, strlen(text));
}

/* Converts and opens; NULL when that fails, which is a failed check. */
static struct trace *open_text(const char *text)
{
	struct trace *trace = NULL;

	if (!CHECK_EQ(convert(text), STATUS_OK) ||
		!CHECK_EQ(trace_open(output_path, &trace, &error), STATUS_OK))
		fprintf(stderr, "%s\n", error.message);
	return trace;
}

/* The span of a name: its number in trace order, or -1. */
static bool find_span(const struct trace *trace, const char *name, uint64_t *ret_start,
	uint64_t *ret_duration, uint32_t *ret_depth)
{
	struct trace_cursor cursor;
	bool found = false;

	CHECK_EQ(trace_cursor_init(&cursor, trace), STATUS_OK);
	for (size_t b = 0; b < trace->block_count && !found; b++) {
		if (trace->blocks[b].table != TABLE_SPANS)
			continue;
		CHECK_EQ(trace_cursor_spans(&cursor, b, true, &error), STATUS_OK);
		for (uint32_t i = 0; i < cursor.spans.count && !found; i++) {
			found = strcmp(trace->names[cursor.spans.name[i]].name, name) == 0;
			*ret_start = cursor.spans.start_ns[i];
			*ret_duration = cursor.spans.duration_ns[i];
			*ret_depth = cursor.spans.depth[i];
		}
	}
	trace_cursor_release(&cursor);
	return found;
}

static void test_spans_nest(void)
{
	struct trace *trace = open_text(
		"[{\"ph\":\"X\",\"name\":\"child\",\"pid\":1,\"tid\":2,\"ts\":20.5,\"dur\":5},"
		"{\"ph\":\"X\",\"name\":\"parent\",\"cat\":\"c\",\"pid\":1,\"tid\":2,\"ts\":10,"
		"\"dur\":100,\"args\":{\"n\":7}},"
		"{\"ph\":\"X\",\"name\":\"crossing\",\"pid\":1,\"tid\":2,\"ts\":100,\"dur\":50}]");
	uint64_t start, duration;
	uint32_t depth;

	if (!trace)
		return;
	CHECK(find_span(trace, "child", &start, &duration, &depth));
	CHECK_EQ(start, 10500);
	CHECK_EQ(duration, 5000);
	CHECK_EQ(depth, 1);
	CHECK(find_span(trace, "parent", &start, &duration, &depth));
	CHECK_EQ(start, 0);
	CHECK_EQ(depth, 0);
	CHECK(find_span(trace, "crossing", &start, &duration, &depth));
	CHECK_EQ(duration, 50000);
	CHECK_EQ(trace->ledger.count, 1);
	CHECK(strstr(trace->ledger.entries[0].what, "cross") != NULL);
	trace_close(trace);
}

static void test_phases(void)
{
	struct trace *trace = open_text(
		"{\"displayTimeUnit\":\"ns\",\"traceEvents\":["
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"main\"}},"
		"{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":1},"
		"{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":3,\"args\":{\"x\":1}},"
		"{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":4},"
		"{\"ph\":\"b\",\"cat\":\"a\",\"name\":\"async\",\"id\":\"0x1\",\"pid\":1,\"tid\":2,\"ts\":5},"
		"{\"ph\":\"e\",\"cat\":\"a\",\"name\":\"async\",\"id\":\"0x1\",\"pid\":1,\"tid\":3,\"ts\":9},"
		"{\"ph\":\"C\",\"name\":\"mem\",\"pid\":1,\"tid\":2,\"ts\":6,\"args\":{\"used\":5,\"free\":1.5}},"
		"{\"ph\":\"i\",\"name\":\"now\",\"pid\":1,\"tid\":2,\"ts\":7,\"s\":\"g\"},"
		"{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"f\",\"id\":3,\"pid\":1,\"tid\":2,\"ts\":1},"
		"{\"ph\":\"f\",\"name\":\"f\",\"cat\":\"f\",\"id\":3,\"pid\":1,\"tid\":2,\"ts\":8,\"bp\":\"e\"},"
		"{\"ph\":\"N\",\"name\":\"object\",\"id\":\"o\",\"pid\":1,\"tid\":2,\"ts\":8},"
		"{}, {\"ph\":\"X\",\"name\":\"no time\",\"pid\":1,\"tid\":2}"
		"],\"otherData\":{\"a\":[1,2]}}");
	uint64_t start, duration;
	uint32_t depth;

	if (!trace)
		return;
	CHECK(find_span(trace, "b", &start, &duration, &depth));
	CHECK_EQ(duration, 2000);
	CHECK(find_span(trace, "async", &start, &duration, &depth));
	CHECK_EQ(duration, 4000);
	CHECK(find_span(trace, "now", &start, &duration, &depth));
	CHECK(find_span(trace, "object", &start, &duration, &depth));
	CHECK_EQ(trace->row_counts[TABLE_COUNTERS], 2);
	CHECK_EQ(trace->row_counts[TABLE_LINKS], 2);
	CHECK_STR(trace_metadata(trace, "chrome.otherData"), "{\"a\":[1,2]}");
	CHECK_STR(trace_metadata(trace, "chrome.displayTimeUnit"), "\"ns\"");
	CHECK_EQ(trace->ledger.skipped, 3);
	trace_close(trace);
}

static void test_rows_that_are_no_numbers(void)
{
	struct trace *trace = open_text(
		"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":\"Spans\",\"tid\":\"T\",\"ts\":-5,\"dur\":1},"
		"{\"ph\":\"X\",\"name\":\"b\",\"ts\":1,\"dur\":1},"
		"{\"ph\":\"X\",\"name\":\"c\",\"pid\":-1,\"tid\":0,\"ts\":1,\"dur\":1}]");

	if (!trace)
		return;
	CHECK_EQ(trace->row_counts[TABLE_SPANS], 3);
	CHECK_EQ(trace->track_count, 7);
	CHECK_STR(trace_metadata(trace, "import.first_ns"), "-5000");
	trace_close(trace);
}

static void test_bad_input(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "empty" },
		{ "hello", "not a trace" },
		{ "[{\"ph\" \"X\"}]", "at byte 7" },
		{ "[{\"ph\":\"X\",\"ts\":1,}]", "not JSON" },
		{ "[{\"ph\":\"X\"} x", "not JSON" },
		{ "{\"traceEvents\": [1, 2]}", "at byte 17" },
		{ "{\"traceEvents\": [], \"a\": nope}", "not JSON" },
		{ "{\"ph\":\"X\",\"ts\":}", "not JSON" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CHECK(convert(cases[i].text) != STATUS_OK);
		if (!CHECK(strstr(error.message, cases[i].says) != NULL))
			fprintf(stderr, "%s -> %s\n", cases[i].text, error.message);
	}
}

static void test_odd_values(void)
{
	static char text[5000000];
	int head;
	struct trace *trace = open_text(
		"[{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":1e308,\"dur\":1},"
		"{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":NaN,\"dur\":1},"
		"{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":-1},"
		"{\"ph\":\"X\",\"name\":\"a\\u0001\nb\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1,"
		"\"args\":{\"x\":NaN,\"y\":Infinity,\"z\":1e999,\"x\":2}}]");

	if (trace) {
		CHECK_EQ(trace->row_counts[TABLE_SPANS], 1);
		CHECK_EQ(trace->ledger.skipped, 3);
		trace_close(trace);
	}
	/* A string larger than a chunk, and nesting beyond any reason. */
	head = snprintf(text, sizeof text,
		"[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"");
	memset(text + head, 'n', sizeof text - (size_t)head - 8);
	snprintf(text + sizeof text - 8, 8, "\"}]");
	CHECK_EQ(convert(text), STATUS_OK);
	memset(text, '[', 200000);
	text[200000] = 0;
	CHECK(convert(text) != STATUS_OK);
}

/* Cut at every byte: what was whole is there, or one line says where it ends. */
static void test_truncation(void)
{
	static const char text[] =
		"{\"schemaVersion\": 1, \"traceEvents\": [\n"
		"{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1.5,\"dur\":2,\"args\":{\"k\":\"v\"}},\n"
		"{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":9,\"dur\":2}\n], \"last\": \"x\"}";

	for (size_t length = 1; length < sizeof text - 1; length++) {
		struct trace *trace;
		int status = convert_bytes(text, length);

		if (status != STATUS_OK) {
			CHECK(error.message[0]);
			continue;
		}
		if (!CHECK_EQ(trace_open(output_path, &trace, &error), STATUS_OK))
			return;
		CHECK(trace->ledger.count > 0);
		trace_close(trace);
	}
}

static void test_packed(void)
{
	static const char text[] =
		"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2}]";
	uint8_t packed[512];
	struct trace *trace;
	size_t count;
	gzFile file = gzopen(input_path, "wb");

	gzwrite(file, text, sizeof text - 1);
	gzclose(file);
	CHECK_EQ(import_convert(input_path, output_path, &(struct import_options){ 0 }, &error),
		STATUS_OK);
	CHECK_EQ(trace_open(output_path, &trace, &error), STATUS_OK);
	CHECK_EQ(trace->row_counts[TABLE_SPANS], 1);
	trace_close(trace);
	count = ZSTD_compress(packed, sizeof packed, text, sizeof text - 1, 3);
	CHECK_EQ(convert_bytes(packed, count), STATUS_OK);
	/* Cut and damaged archives are said to be so. */
	CHECK(convert_bytes(packed, count - 4) != STATUS_OK);
	packed[count / 2] ^= 0x55;
	CHECK(convert_bytes(packed, count) != STATUS_OK || error.message[0] == 0);
	CHECK(convert_bytes("\x1f\x8b\x08garbage garbage", 18) != STATUS_OK);
	CHECK(strstr(error.message, "gzip") != NULL);
}

static void test_memory_limit(void)
{
	struct import_options options = { .max_memory = 4 << 20 };
	FILE *file = fopen(input_path, "w");

	fprintf(file, "[");
	for (int i = 0; i < 200000; i++)
		fprintf(file,
			"%s{\"ph\":\"X\",\"name\":\"n%d\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":1}",
			i ? "," : "", i, i);
	fprintf(file, "]");
	fclose(file);
	CHECK_EQ(import_convert(input_path, output_path, &options, &error), STATUS_LIMIT);
	CHECK(strstr(error.message, "--max-memory") != NULL);
}

static const struct unit_test tests[] = {
	UNIT(test_spans_nest),
	UNIT(test_phases),
	UNIT(test_rows_that_are_no_numbers),
	UNIT(test_bad_input),
	UNIT(test_odd_values),
	UNIT(test_truncation),
	UNIT(test_packed),
	UNIT(test_memory_limit),
};

int main(int argc, char **argv)
{
	int status;

	if (!mkdtemp(folder))
		return 2;
	snprintf(input_path, sizeof input_path, "%s/in", folder);
	snprintf(output_path, sizeof output_path, "%s/out.tacho", folder);
	status = unit_main(tests, sizeof tests / sizeof *tests, argc, argv);
	unlink(input_path);
	unlink(output_path);
	rmdir(folder);
	return status;
}
