// SPDX-License-Identifier: MIT OR Apache-2.0
/* PyTorch's memory snapshot: what is kept, and pickles that want something else than to be read. */
#include "tests/unit/import_fixture.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void every_protocol(void)
{
	static const char *const files[] = { "import_torch_memory/protocol2",
		"import_torch_memory/protocol3", "import_torch_memory/protocol4",
		"import_torch_memory/protocol5" };

	for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
		struct trace *trace = import_fixture_corpus(files[f]);
		uint64_t bytes[8], duration;

		if (!trace)
			continue;
		CHECK_EQ(
			import_fixture_cells(trace, TABLE_ALLOCATIONS, ALLOCATIONS_BYTES, bytes, 8),
			5);
		CHECK_EQ(bytes[0], 1 << 21);
		CHECK_EQ(bytes[1], 1024);
		CHECK_EQ(bytes[2], 2048);
		CHECK_EQ(bytes[3], 0);   /* a free */
		CHECK_EQ(bytes[4], 512); /* held, from before the history */
		CHECK_EQ(trace->row_counts[TABLE_SAMPLES], 7);
		CHECK_EQ(import_fixture_span(trace, "step", NULL, &duration, NULL), 1);
		CHECK_EQ(duration, 6000);
		CHECK_EQ(import_fixture_span(trace, "active_allocated", NULL, NULL, NULL), 2);
		CHECK_STR(import_fixture_argument(trace, "segment", "segment_pool_id"), "[0,0]");
		CHECK_STR(import_fixture_argument(trace, "oom", "size"), "1099511627776");
		CHECK_EQ(trace->header.start_unix_ns, UINT64_C(1700000000000000000));
		trace_close(trace);
	}
}

/* Importing, calling and building: each by its opcode, refused where it stands. */
static void calls_are_refused(void)
{
	static const char calls[] = "cRbioPQ\x81\x82\x83\x84\x92\x93";

	for (size_t i = 0; calls[i]; i++) {
		char pickle[] = "\x80\x02}X\x08\0\0\0segments(os\nsystem\n.";

		pickle[4 + 12] = calls[i];
		CHECK_EQ(import_fixture_convert(pickle, sizeof pickle - 1, 0), STATUS_DENIED);
		CHECK_EQ(import_fixture_error.offset, 16);
		CHECK(strstr(import_fixture_error.message, "call a function") != NULL);
	}
}

static void refused(const char *bytes, size_t count, int status, const char *text)
{
	CHECK_EQ(import_fixture_convert(bytes, count, 0), status);
	if (!CHECK(strstr(import_fixture_error.message, text) != NULL))
		fprintf(stderr, "%s: %s\n", text, import_fixture_error.message);
}

#define REFUSED(text, status, says) refused((text), sizeof(text) - 1, (status), (says))

static void damaged_stacks(void)
{
	REFUSED("\x80\x02.", STATUS_FORMAT, "no value");
	REFUSED("\x80\x02"
		"0.",
		STATUS_FORMAT, "stack is empty");
	REFUSED("\x80\x02"
		"e.",
		STATUS_FORMAT, "no mark");
	REFUSED("\x80\x02]K\x01K\x02"
		"a.",
		STATUS_FORMAT, "container");
	REFUSED("\x80\x02}(K\x01u.", STATUS_FORMAT, "without a value");
	REFUSED("\x80\x02h\x07.", STATUS_FORMAT, "reference to nothing");
	REFUSED("\x80\x02(q\x01.", STATUS_FORMAT, "nothing to remember");
	REFUSED("\x80\x02K", STATUS_FORMAT, "ends early");
	REFUSED("\x80\x02N.", STATUS_FORMAT, "no memory snapshot");
	REFUSED("\x80\x02\xfe.", STATUS_FORMAT, "opcode 0xfe");
	REFUSED("\x80\x02X\xff\xff\xff\x7f"
		"abc",
		STATUS_FORMAT, "ends early");
	REFUSED("\x80\x02\x8b\xff\xff\xff\x7f"
		"abc",
		STATUS_FORMAT, "1024 bytes");
	/* A tuple may not take what lies below a mark. */
	REFUSED("\x80\x02NN(\x86.", STATUS_FORMAT, "stack is empty");
}

/* A list that contains itself, as an argument: {'device_traces': [[{'time_us': 1, 'x': loop}]]} */
static void a_list_in_itself(void)
{
	static const char pickle[] = "\x80\x02}X\x0d\0\0\0device_traces]]}(X\x07\0\0\0time_usK\x01"
				     "X\x01\0\0\0x]q\x01(h\x01h\x01h\x01h\x01"
				     "eu"
				     "aas.";
	struct trace *trace = import_fixture_open(pickle, sizeof pickle - 1);

	if (!trace)
		return;
	CHECK_EQ(import_fixture_span(trace, "?", NULL, NULL, NULL), 1);
	CHECK(strncmp(import_fixture_argument(trace, "?", "x"), "[[[", 3) == 0);
	trace_close(trace);
}

static void numbers(void)
{
	static const char pickle[] =
		"\x80\x02}X\x0d\0\0\0device_traces]]}(X\x07\0\0\0time_us\x8a\x08\0\0\0\0\0\0\x01\0"
		"X\x01\0\0\0a\x8a\x01\xffX\x01\0\0\0b\x8a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
		"X\x01\0\0\0cG?\xe0\0\0\0\0\0\0X\x01\0\0\0dJ\xfe\xff\xff\xff"
		"X\x01\0\0\0eC\x01\xffX\x01\0\0\0f\x88u"
		"aas.";
	struct trace *trace = import_fixture_open(pickle, sizeof pickle - 1);

	if (!trace)
		return;
	CHECK_STR(import_fixture_argument(trace, "?", "a"), "-1");
	CHECK_STR(import_fixture_argument(trace, "?", "b"), "0x01ffffffffffffffffff");
	CHECK_STR(import_fixture_argument(trace, "?", "c"), "0.5");
	CHECK_STR(import_fixture_argument(trace, "?", "d"), "-2");
	CHECK_STR(import_fixture_argument(trace, "?", "e (base64)"), "/w==");
	CHECK_STR(import_fixture_argument(trace, "?", "f"), "true");
	trace_close(trace);
}

/* MEMOIZE costs a byte in the file and many in memory. */
static void a_memo_that_grows(void)
{
	size_t count = 4 << 20;
	char *pickle = malloc(count);

	if (!CHECK(pickle != NULL))
		return;
	memset(pickle, '\x94', count);
	memcpy(pickle, "\x80\x04N", 3);
	CHECK_EQ(import_fixture_convert(pickle, count, 32 << 20), STATUS_LIMIT);
	memset(pickle + 3, '(', count - 3);
	CHECK_EQ(import_fixture_convert(pickle, count, 8 << 20), STATUS_LIMIT);
	memset(pickle + 3, '2', count - 3);
	CHECK_EQ(import_fixture_convert(pickle, count, 32 << 20), STATUS_LIMIT);
	free(pickle);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(every_protocol),
		UNIT(calls_are_refused),
		UNIT(damaged_stacks),
		UNIT(a_list_in_itself),
		UNIT(numbers),
		UNIT(a_memo_that_grows),
	};
	int status;

	import_fixture_begin();
	status = unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
	import_fixture_end();
	return status;
}
