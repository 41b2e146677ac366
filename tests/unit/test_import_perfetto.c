// SPDX-License-Identifier: MIT OR Apache-2.0
/* Perfetto packets, written with the wire format: events, state of sequences, clocks, compression.
 */
#include "base/wire.h"
#include "tests/unit/import_fixture.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

static struct buffer file;

/* A packet: open, fields, close. */
static size_t packet(uint32_t sequence, uint64_t flags)
{
	size_t opened = wire_open(&file, 1);

	wire_u64(&file, 10, sequence);
	if (flags)
		wire_u64(&file, 13, flags);
	return opened;
}

static void describe(uint64_t uuid, uint64_t parent, const char *name)
{
	size_t outer = packet(1, 0), inner = wire_open(&file, 60);

	wire_u64(&file, 1, uuid);
	if (parent)
		wire_u64(&file, 5, parent);
	wire_text(&file, 2, name);
	wire_close(&file, inner);
	wire_close(&file, outer);
}

static void event(uint32_t sequence, uint64_t time, unsigned type, uint64_t track, const char *name)
{
	size_t outer = packet(sequence, 0), inner;

	wire_u64(&file, 8, time);
	inner = wire_open(&file, 11);
	wire_u64(&file, 9, type);
	wire_u64(&file, 11, track);
	if (name)
		wire_text(&file, 23, name);
	wire_close(&file, inner);
	wire_close(&file, outer);
}

static struct trace *open_file(void)
{
	return import_fixture_open(file.data, file.length);
}

static void the_sample(void)
{
	static const char *const files[] = { "import_perfetto/events", "import_perfetto/packed" };

	for (size_t f = 0; f < 2; f++) {
		struct trace *trace = import_fixture_corpus(files[f]);
		uint64_t start, duration;
		const char *category;

		if (!trace)
			continue;
		CHECK_EQ(import_fixture_span(trace, "outer", &start, &duration, &category), 1);
		CHECK_EQ(start, 0);
		CHECK_EQ(duration, 5000);
		CHECK_STR(category, "cat");
		CHECK_STR(import_fixture_argument(trace, "outer", "nested"),
			"{\"a\":1,\"b\":[2,\"c\"]}");
		CHECK_STR(import_fixture_argument(trace, "outer", "big"), "18446744073709551615");
		CHECK_STR(import_fixture_argument(trace, "outer", "late"), "9");
		CHECK_EQ(import_fixture_span(trace, "crossing", &start, &duration, NULL), 1);
		CHECK_EQ(start, 1009000);
		CHECK_EQ(duration, 10000);
		CHECK_EQ(trace->row_counts[TABLE_LINKS], 2);
		CHECK_EQ(trace->row_counts[TABLE_COUNTERS], 2);
		CHECK_EQ(trace->row_counts[TABLE_SAMPLES], 1);
		CHECK_EQ(import_fixture_track(trace, "main thread")->os_id, 43);
		CHECK_EQ(import_fixture_track(trace, "main thread")->kind, TRACK_THREAD);
		CHECK_EQ(import_fixture_ledger(trace, "tracks that are their own ancestors"), 1);
		trace_close(trace);
	}
}

/* Two writers on one track: the file's order means nothing, times do. */
static void ends_before_begins_in_the_file(void)
{
	struct trace *trace;
	uint64_t start, duration;

	buffer_reset(&file);
	describe(9, 0, "shared");
	event(2, 50, 2, 9, NULL);
	event(2, 90, 2, 9, NULL);
	event(1, 10, 1, 9, "first");
	event(1, 60, 1, 9, "second");
	event(1, 70, 1, 9, "third");
	event(2, 80, 2, 9, NULL);
	trace = open_file();
	if (!trace)
		return;
	CHECK_EQ(import_fixture_span(trace, "first", &start, &duration, NULL), 1);
	CHECK_EQ(duration, 40);
	CHECK_EQ(import_fixture_span(trace, "second", &start, &duration, NULL), 1);
	CHECK_EQ(duration, 30);
	CHECK_EQ(import_fixture_span(trace, "third", &start, &duration, NULL), 1);
	CHECK_EQ(duration, 10);
	/* The first two ends had no begin yet when they were read, as far as one writer goes. */
	CHECK_EQ(trace->ledger.skipped, import_fixture_ledger(trace, "ends without a begin"));
	trace_close(trace);
}

static void state_that_was_lost(void)
{
	struct trace *trace;
	size_t outer, inner, entry;

	buffer_reset(&file);
	for (unsigned round = 0; round < 3; round++) {
		/* Cleared and told, then dropped, then told without being cleared. */
		outer = packet(1, round == 0 ? 3 : 2);
		if (round == 1)
			wire_u64(&file, 42, 1);
		wire_u64(&file, 8, 100 * (round + 1));
		inner = wire_open(&file, 12);
		entry = wire_open(&file, 2);
		wire_u64(&file, 1, 5);
		wire_text(&file, 2, "name");
		wire_close(&file, entry);
		wire_close(&file, inner);
		inner = wire_open(&file, 11);
		wire_u64(&file, 9, 3);
		wire_u64(&file, 10, 5);
		wire_close(&file, inner);
		wire_close(&file, outer);
	}
	trace = open_file();
	if (!trace)
		return;
	CHECK_EQ(import_fixture_span(trace, "name", NULL, NULL, NULL), 1);
	CHECK_EQ(import_fixture_ledger(trace, "packets whose state was lost"), 2);
	trace_close(trace);
}

static void reading(uint32_t clock, uint64_t time)
{
	size_t inner = wire_open(&file, 1);

	wire_u64(&file, 1, clock);
	wire_u64(&file, 2, time);
	wire_close(&file, inner);
}

static void clock_event(uint32_t clock, uint64_t time, const char *name)
{
	size_t outer = packet(1, 0), inner;

	wire_u64(&file, 8, time);
	wire_u64(&file, 58, clock);
	inner = wire_open(&file, 11);
	wire_u64(&file, 9, 3);
	wire_text(&file, 23, name);
	wire_close(&file, inner);
	wire_close(&file, outer);
}

/* MONOTONIC is 1000 behind BOOTTIME; a clock of the user's is related to MONOTONIC only. */
static void clocks_lead_to_one(void)
{
	struct trace *trace;
	size_t outer, inner;
	uint64_t start;

	buffer_reset(&file);
	outer = packet(1, 1);
	inner = wire_open(&file, 6);
	reading(3, 4000);
	reading(6, 5000);
	reading(1, 1000000);
	wire_close(&file, inner);
	wire_close(&file, outer);
	outer = packet(1, 0);
	inner = wire_open(&file, 6);
	reading(200, 10);
	reading(3, 4010);
	wire_close(&file, inner);
	wire_close(&file, outer);
	clock_event(6, 5000, "zero");
	clock_event(3, 4100, "monotonic");
	clock_event(200, 300, "own");
	clock_event(1, 1000500, "wall");
	clock_event(77, 9, "nobody knows");
	trace = open_file();
	if (!trace)
		return;
	/* The clock that is related to nothing is taken as it is, and is the first. */
	CHECK_EQ(import_fixture_span(trace, "zero", &start, NULL, NULL), 1);
	CHECK_EQ(start, 5000 - 9);
	import_fixture_span(trace, "monotonic", &start, NULL, NULL);
	CHECK_EQ(start, 5100 - 9);
	import_fixture_span(trace, "own", &start, NULL, NULL);
	CHECK_EQ(start, 5300 - 9);
	import_fixture_span(trace, "wall", &start, NULL, NULL);
	CHECK_EQ(start, 5500 - 9);
	CHECK_EQ(import_fixture_ledger(trace, "times on a clock that no snapshot relates"), 1);
	CHECK_EQ(trace->header.start_unix_ns, 1000000 - 5000 + 9);
	trace_close(trace);
}

/* Annotations a thousand deep are cut, not followed. */
static void deep_annotations(void)
{
	struct trace *trace;
	struct buffer inner, outer;
	size_t opened, body;

	buffer_init(&inner);
	buffer_init(&outer);
	wire_text(&inner, 10, "leaf");
	wire_u64(&inner, 4, 1);
	for (int i = 0; i < 1000; i++) {
		struct buffer swap = outer;

		buffer_reset(&swap);
		wire_text(&swap, 10, "d");
		wire_bytes(&swap, 11, inner.data, inner.length);
		outer = inner;
		inner = swap;
	}
	buffer_reset(&file);
	opened = packet(1, 1);
	wire_u64(&file, 8, 5);
	body = wire_open(&file, 11);
	wire_u64(&file, 9, 3);
	wire_text(&file, 23, "deep");
	wire_bytes(&file, 4, inner.data, inner.length);
	wire_close(&file, body);
	wire_close(&file, opened);
	trace = open_file();
	if (trace) {
		CHECK(strncmp(import_fixture_argument(trace, "deep", "d"), "{\"d\":{\"d\":", 10) ==
			0);
		CHECK_EQ(import_fixture_ledger(trace, "arguments nested deeper than 32 levels"), 1);
		trace_close(trace);
	}
	buffer_release(&inner);
	buffer_release(&outer);
}

/* A stack with its texts inside, outermost first, a place, and fields that nobody knows. */
static void texts_inside(void)
{
	struct trace *trace;
	size_t outer, event_at, inner, frame;
	const uint32_t *frames;
	size_t count = 0;

	buffer_reset(&file);
	outer = packet(1, 1);
	wire_u64(&file, 8, 5);
	event_at = wire_open(&file, 11);
	wire_u64(&file, 9, 3);
	wire_text(&file, 23, "here");
	inner = wire_open(&file, 55);
	for (unsigned i = 0; i < 2; i++) {
		frame = wire_open(&file, 1);
		wire_text(&file, 1, i ? "leaf" : "main");
		wire_text(&file, 2, "a.c");
		wire_u64(&file, 3, i + 1);
		wire_close(&file, frame);
	}
	wire_close(&file, inner);
	inner = wire_open(&file, 33);
	wire_text(&file, 2, "b.c");
	wire_text(&file, 3, "f");
	wire_u64(&file, 4, 7);
	wire_close(&file, inner);
	wire_u64(&file, 1999, 12);
	wire_text(&file, 2000, "text");
	wire_close(&file, event_at);
	wire_close(&file, outer);
	trace = open_file();
	if (!trace)
		return;
	frames = trace_stack(trace, 0, &count);
	if (CHECK_EQ(count, 2)) {
		CHECK_STR(string_table_borrow(&trace->strings, frames[0]), "leaf (a.c:2)");
		CHECK_STR(string_table_borrow(&trace->strings, frames[1]), "main (a.c:1)");
	}
	CHECK_STR(import_fixture_argument(trace, "here", "source_location"), "f (b.c:7)");
	CHECK_STR(import_fixture_argument(trace, "here", "field 1999"), "12");
	CHECK_STR(import_fixture_argument(trace, "here", "field 2000"), "text");
	trace_close(trace);
}

static void put_packed(uint32_t field, const void *bytes, size_t count)
{
	size_t outer;

	buffer_reset(&file);
	outer = packet(1, 1);
	wire_bytes(&file, field, bytes, count);
	wire_close(&file, outer);
}

/* Gigabytes of zeros in a packet of a few kilobytes, and packets that are no archive. */
static void bombs(void)
{
	size_t count = 64 << 20;
	uLongf room = compressBound(count);
	uint8_t *zeros = calloc(1, count), *packed = malloc(room);
	size_t zstd_count;
	struct trace *trace;

	if (!CHECK(zeros && packed))
		return;
	CHECK_EQ(compress2(packed, &room, zeros, count, 9), Z_OK);
	put_packed(50, packed, room);
	CHECK_EQ(import_fixture_convert(file.data, file.length, 16 << 20), STATUS_LIMIT);
	zstd_count = ZSTD_compress(packed, compressBound(count), zeros, count, 1);
	put_packed(133, packed, zstd_count);
	CHECK_EQ(import_fixture_convert(file.data, file.length, 16 << 20), STATUS_LIMIT);
	put_packed(50, packed, 100);
	event(1, 5, 3, 0, "after");
	trace = open_file();
	if (trace) {
		CHECK_EQ(import_fixture_ledger(trace, "packets that are damaged"), 1);
		CHECK_EQ(import_fixture_span(trace, "after", NULL, NULL, NULL), 1);
		trace_close(trace);
	}
	free(zeros);
	free(packed);
}

/* Garbage behind good packets: what came before stays, and the ledger has the place. */
static void garbage_behind(void)
{
	struct trace *trace;

	buffer_reset(&file);
	event(1, 5, 3, 0, "before");
	buffer_text(&file, "\x07garbage");
	trace = open_file();
	if (!trace)
		return;
	CHECK_EQ(import_fixture_span(trace, "before", NULL, NULL, NULL), 1);
	CHECK_EQ(trace->ledger.skipped, 1);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(the_sample),
		UNIT(ends_before_begins_in_the_file),
		UNIT(state_that_was_lost),
		UNIT(clocks_lead_to_one),
		UNIT(deep_annotations),
		UNIT(texts_inside),
		UNIT(bombs),
		UNIT(garbage_behind),
	};
	int status;

	import_fixture_begin();
	buffer_init(&file);
	status = unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
	buffer_release(&file);
	import_fixture_end();
	return status;
}
