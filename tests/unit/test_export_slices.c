// SPDX-License-Identifier: MIT OR Apache-2.0
/* Begins and ends in the order of time: random trees of scopes over small blocks, and random spans
 * that overlap, come out nested, in order, and as the same spans. */
#include "export/export_slices.h"

#include "base/array.h"
#include "tests/unit/trace_maker.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define NAMES 5u
#define KEY   "number"

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t random_below(uint64_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % limit;
}

struct span {
	uint64_t start_ns, end_ns, arg;
	uint32_t name, lane;
};

struct list {
	struct span *items;
	size_t count, capacity;
};

/* What came out: open spans of each lane, and finished ones. */
struct watcher {
	const struct trace *trace;
	struct list open[64], done;
	uint64_t last_ns[64], last_begin_ns;
	size_t lanes, instants, wrong;
};

static void add(struct list *list, struct span span)
{
	CHECK_EQ(array_grow((void **)&list->items, &list->capacity, list->count + 1,
			 sizeof *list->items),
		STATUS_OK);
	list->items[list->count++] = span;
}

static int begin(void *context, const struct export_slice *slice)
{
	struct watcher *watcher = context;
	const struct export_span *span = &slice->span;
	struct span kept = { .start_ns = span->start_ns,
		.end_ns = span->start_ns + span->duration_ns,
		.name = span->name,
		.lane = slice->lane,
		.arg = span->arg_count ? span->args[0].value : 0 };

	if (!CHECK(slice->lane < 64))
		return STATUS_LIMIT;
	watcher->wrong += span->start_ns < watcher->last_ns[slice->lane];
	watcher->wrong += span->start_ns < watcher->last_begin_ns;
	watcher->wrong += slice->quiet_ns < span->start_ns || slice->quiet_ns > kept.end_ns;
	watcher->last_ns[slice->lane] = watcher->last_begin_ns = span->start_ns;
	if (slice->lane >= watcher->lanes)
		watcher->lanes = slice->lane + 1;
	add(&watcher->open[slice->lane], kept);
	return STATUS_OK;
}

static int end(void *context, uint32_t track, uint32_t lane, uint64_t time_ns)
{
	struct watcher *watcher = context;
	struct list *open = &watcher->open[lane];

	(void)track;
	if (!CHECK(open->count > 0))
		return STATUS_FORMAT;
	/* The innermost ends, and when it said it would. */
	watcher->wrong += open->items[open->count - 1].end_ns != time_ns;
	watcher->wrong += time_ns < watcher->last_ns[lane];
	watcher->last_ns[lane] = time_ns;
	add(&watcher->done, open->items[--open->count]);
	return STATUS_OK;
}

static int instant(void *context, const struct export_span *span)
{
	struct watcher *watcher = context;

	watcher->wrong += span->duration_ns != 0;
	watcher->instants++;
	return STATUS_OK;
}

static int compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return x->arg < y->arg ? -1 : x->arg > y->arg;
}

static void watch(const struct trace *trace, uint32_t track, struct export_options options,
	struct watcher *watcher)
{
	static const struct export_slice_calls calls = { begin, end, instant };
	struct error err = ERROR_INIT;
	struct export_walk walk;

	memset(watcher, 0, sizeof *watcher);
	watcher->trace = trace;
	CHECK_EQ(export_walk_init(&walk, trace, &options, &err), STATUS_OK);
	export_slices_prepare(&walk);
	CHECK_EQ(export_slices(&walk, track, &calls, watcher, &err), STATUS_OK);
	CHECK_EQ(walk.result.rows, watcher->done.count + watcher->instants);
	for (size_t i = 0; i < 64; i++)
		CHECK_EQ(watcher->open[i].count, 0);
	CHECK_EQ(watcher->wrong, 0);
	if (watcher->done.count)
		qsort(watcher->done.items, watcher->done.count, sizeof(struct span), compare);
	export_walk_release(&walk);
}

static void watcher_release(struct watcher *watcher)
{
	for (size_t i = 0; i < 64; i++)
		free(watcher->open[i].items);
	free(watcher->done.items);
}

/* Spans in any order; each has a number of its own as its argument. */
static struct trace *make(struct maker *maker, enum track_kind kind, enum spans_layout layout,
	const struct maker_span *spans, size_t count, size_t cut, uint32_t *ret_track)
{
	struct span_arg *args = calloc(count + 1, sizeof *args);
	uint32_t process;

	maker_open(maker);
	for (uint32_t i = 0; i < NAMES; i++)
		maker_name(maker, (const char *[]){ "a", "b", "c", "d", "e" }[i], "");
	process = maker_track(maker, maker_track(maker, 0, TRACK_MACHINE, "m"), TRACK_PROCESS, "p");
	*ret_track = maker_track(maker, process, kind, "t");
	for (size_t i = 0; i < count; i++)
		args[i] = (struct span_arg){ .row = (uint32_t)i,
			.key = maker_string(maker, KEY),
			.type = ARG_INTEGER,
			.value = i + 1 };
	maker_spans(maker, *ret_track, layout, spans, count, args, count, cut);
	maker_finish(maker);
	free(args);
	return maker_trace(maker->path);
}

static void compare_all(const struct watcher *watcher, const struct maker_span *spans, size_t count)
{
	struct span *expected = calloc(count + 1, sizeof *expected);

	for (size_t i = 0; i < count; i++)
		expected[i] = (struct span){ .start_ns = spans[i].start_ns,
			.end_ns = spans[i].end_ns,
			.name = spans[i].name,
			.arg = i + 1 };
	qsort(expected, count, sizeof *expected, compare);
	CHECK_EQ(watcher->done.count, count);
	for (size_t i = 0; i < count && i < watcher->done.count; i++) {
		const struct span *x = &expected[i], *y = &watcher->done.items[i];

		if (x->start_ns != y->start_ns || x->end_ns != y->end_ns || x->name != y->name ||
			x->arg != y->arg) {
			CHECK_EQ(y->arg, x->arg);
			break;
		}
	}
	free(expected);
}

/* Opens and closes at random; steps of 0 make scopes without length and many equal times. */
static size_t random_tree(struct maker_span *spans, size_t count, uint32_t depth_max)
{
	struct maker_span open[64];
	uint64_t now = 100;
	uint32_t depth = 0;
	size_t made = 0;

	while (made < count || depth) {
		now += random_below(3) ? random_below(4) : 0;
		if (made < count && depth < depth_max && random_below(2)) {
			open[depth] = (struct maker_span){ .name = (uint32_t)random_below(NAMES),
				.depth = depth,
				.start_ns = now };
			depth++;
		} else if (depth) {
			open[--depth].end_ns = now;
			spans[made++] = open[depth];
		}
	}
	return made;
}

static void scopes(void)
{
	static const size_t cuts[] = { 1, 2, 3, 7, 50, 100000 };

	for (size_t round = 0; round < 60; round++) {
		struct maker_span spans[400];
		size_t count = random_tree(spans, 1 + random_below(300),
			1 + (uint32_t)random_below(round % 2 ? 30 : 4));
		struct watcher watcher;
		struct maker maker;
		struct trace *trace;
		uint32_t track;

		trace = make(
			&maker, TRACK_THREAD, SPANS_NESTED, spans, count, cuts[round % 6], &track);
		if (trace) {
			watch(trace, track, (struct export_options){ 0 }, &watcher);
			compare_all(&watcher, spans, count);
			CHECK_EQ(watcher.lanes, 1);
			watcher_release(&watcher);
			trace_close(trace);
		}
		maker_remove(&maker);
	}
}

/* With a window and a filter there are fewer, still in order. */
static void some_scopes(void)
{
	for (size_t round = 0; round < 30; round++) {
		struct maker_span spans[400];
		size_t count = random_tree(spans, 200, 8), expected = 0;
		struct export_options options = { .window = { 150, 260 }, .filter = "b" };
		struct watcher watcher;
		struct maker maker;
		uint32_t track;
		struct trace *trace =
			make(&maker, TRACK_THREAD, SPANS_NESTED, spans, count, 5, &track);

		for (size_t i = 0; i < count; i++)
			expected += spans[i].name == 1 && spans[i].end_ns >= 150 &&
				    spans[i].start_ns < 260;
		if (trace) {
			watch(trace, track, options, &watcher);
			CHECK_EQ(watcher.done.count, expected);
			watcher_release(&watcher);
			trace_close(trace);
		}
		maker_remove(&maker);
	}
}

static void explicit_spans(void)
{
	for (size_t round = 0; round < 40; round++) {
		bool async = round % 2;
		struct maker_span spans[300];
		size_t count = 1 + random_below(299);
		struct watcher watcher;
		struct maker maker;
		struct trace *trace;
		uint32_t track;

		for (size_t i = 0; i < count; i++) {
			uint64_t start = i * 10 + random_below(round % 3 ? 40 : 2000);

			spans[i] = (struct maker_span){ .name = (uint32_t)random_below(NAMES),
				.start_ns = start,
				.end_ns = start + random_below(round % 5 ? 15 : 150) };
		}
		trace = make(&maker, async ? TRACK_ASYNC : TRACK_DEVICE, SPANS_EXPLICIT, spans,
			count, 1 + random_below(40), &track);
		if (trace) {
			watch(trace, track, (struct export_options){ 0 }, &watcher);
			compare_all(&watcher, spans, count);
			watcher_release(&watcher);
			trace_close(trace);
		}
		maker_remove(&maker);
	}
}

/* Spans side by side need as many lanes as there are at once, and not more. */
static void lanes(void)
{
	struct maker_span spans[2000];
	struct watcher watcher;
	struct maker maker;
	struct trace *trace;
	uint32_t track;

	for (size_t i = 0; i < 2000; i++)
		spans[i] = (struct maker_span){ .start_ns = i * 10, .end_ns = i * 10 + 395 };
	trace = make(&maker, TRACK_ASYNC, SPANS_EXPLICIT, spans, 2000, 64, &track);
	if (trace) {
		watch(trace, track, (struct export_options){ 0 }, &watcher);
		compare_all(&watcher, spans, 2000);
		CHECK_EQ(watcher.lanes, 40);
		watcher_release(&watcher);
		trace_close(trace);
	}
	maker_remove(&maker);
}

/* A span inside another nests on a stream, and stands beside it among requests. */
static void inside(void)
{
	static const struct maker_span spans[] = { { .start_ns = 10, .end_ns = 20 },
		{ .start_ns = 0, .end_ns = 100 }, { .start_ns = 10, .end_ns = 12 },
		{ .start_ns = 100, .end_ns = 100 } };
	static const enum track_kind kinds[] = { TRACK_DEVICE, TRACK_ASYNC };

	for (size_t i = 0; i < 2; i++) {
		struct watcher watcher;
		struct maker maker;
		uint32_t track;
		struct trace *trace = make(&maker, kinds[i], SPANS_EXPLICIT, spans, 4, 2, &track);

		if (trace) {
			watch(trace, track, (struct export_options){ 0 }, &watcher);
			compare_all(&watcher, spans, 4);
			CHECK_EQ(watcher.lanes, i ? 3 : 1);
			watcher_release(&watcher);
			trace_close(trace);
		}
		maker_remove(&maker);
	}
}

/* Scopes, spans with times of their own and points in time on one track. */
static void mixed(void)
{
	static const struct maker_span scopes_first[] = {
		{ .depth = 1, .start_ns = 2, .end_ns = 5 },
		{ .depth = 0, .start_ns = 1, .end_ns = 9 }
	};
	static const struct maker_span own[] = { { .start_ns = 3, .end_ns = 30 } };
	static const struct maker_span points[] = { { .start_ns = 4, .end_ns = 4 },
		{ .start_ns = 8, .end_ns = 8 } };
	struct watcher watcher;
	struct maker maker;
	struct trace *trace;
	uint32_t track;

	maker_open(&maker);
	maker_name(&maker, "a", "");
	track = maker_track(&maker, 0, TRACK_THREAD, "t");
	maker_spans(&maker, track, SPANS_NESTED, scopes_first, 2, NULL, 0, 1);
	maker_spans(&maker, track, SPANS_EXPLICIT, own, 1, NULL, 0, 10);
	maker_spans(&maker, track, SPANS_INSTANT, points, 2, NULL, 0, 10);
	maker_finish(&maker);
	trace = maker_trace(maker.path);
	if (trace) {
		watch(trace, track, (struct export_options){ 0 }, &watcher);
		CHECK_EQ(watcher.done.count, 3);
		CHECK_EQ(watcher.instants, 2);
		CHECK_EQ(watcher.lanes, 2);
		watcher_release(&watcher);
		trace_close(trace);
	}
	maker_remove(&maker);
}

/* Writes a block of scopes whose depths and times have been tampered with. */
static void hostile_block(struct maker *maker, uint32_t track, size_t count)
{
	struct maker_span *spans = calloc(2 * count + 64, sizeof *spans);
	size_t made = random_tree(spans, count, 10);
	struct buffer raw = { 0 }, encoded = { 0 };
	struct span_builder builder;
	struct block_header header = { .table = TABLE_SPANS, .track = track };
	struct error err = ERROR_INIT;

	span_builder_init(&builder, SPANS_NESTED);
	CHECK_EQ(span_builder_start(&builder, NULL, 0), STATUS_OK);
	for (size_t i = 0; i < made; i++)
		CHECK_EQ(span_builder_add_nested(&builder, spans[i].name, spans[i].depth,
				 spans[i].start_ns, spans[i].end_ns, 0),
			STATUS_OK);
	for (uint32_t i = 0; i < builder.count; i++) {
		if (random_below(4) == 0)
			builder.depth[i] = (uint32_t)random_below(12);
		if (random_below(4) == 0)
			builder.second[i] = random_below(50);
	}
	header.rows = builder.count;
	header.time_max_ns = 1000000;
	CHECK_EQ(span_builder_encode(&builder, &raw), STATUS_OK);
	CHECK_EQ(block_encode(maker->codec, &header, raw.data, raw.length, &encoded), STATUS_OK);
	CHECK_EQ(trace_writer_dict(&maker->writer, &maker->dict, &err), STATUS_OK);
	CHECK_EQ(trace_writer_block(&maker->writer, &header, encoded.data, encoded.length, &err),
		STATUS_OK);
	span_builder_release(&builder);
	buffer_release(&raw);
	buffer_release(&encoded);
	free(spans);
}

static int begin_loosely(void *context, const struct export_slice *slice)
{
	struct watcher *watcher = context;

	watcher->wrong += slice->span.start_ns < watcher->last_ns[0];
	watcher->last_ns[0] = slice->span.start_ns;
	watcher->lanes++;
	return STATUS_OK;
}

static int end_loosely(void *context, uint32_t track, uint32_t lane, uint64_t time_ns)
{
	struct watcher *watcher = context;

	(void)track, (void)lane;
	watcher->wrong += watcher->lanes == 0 || time_ns < watcher->last_ns[0];
	watcher->last_ns[0] = time_ns;
	watcher->lanes--;
	watcher->instants++;
	return STATUS_OK;
}

/* Whatever a trace says, ends match begins and time does not go back. */
static void hostile(void)
{
	static const struct export_slice_calls calls = { begin_loosely, end_loosely, NULL };

	for (size_t round = 0; round < 60; round++) {
		struct export_options options = { 0 };
		struct watcher watcher = { 0 };
		struct error err = ERROR_INIT;
		struct export_walk walk;
		struct maker maker;
		struct trace *trace;
		uint32_t track;

		maker_open(&maker);
		for (uint32_t i = 0; i < NAMES; i++)
			maker_name(&maker, (const char *[]){ "a", "b", "c", "d", "e" }[i], "");
		track = maker_track(&maker, 0, TRACK_THREAD, "t");
		for (size_t i = 0; i < 5; i++)
			hostile_block(&maker, track, 1 + random_below(40));
		maker_finish(&maker);
		trace = maker_trace(maker.path);
		if (trace) {
			CHECK_EQ(export_walk_init(&walk, trace, &options, &err), STATUS_OK);
			CHECK_EQ(export_slices(&walk, track, &calls, &watcher, &err), STATUS_OK);
			CHECK_EQ(watcher.wrong, 0);
			CHECK_EQ(watcher.lanes, 0);
			CHECK(walk.result.damaged_blocks == 5 || watcher.instants > 0);
			export_walk_release(&walk);
			trace_close(trace);
		}
		maker_remove(&maker);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(scopes),
		UNIT(some_scopes),
		UNIT(explicit_spans),
		UNIT(lanes),
		UNIT(inside),
		UNIT(mixed),
		UNIT(hostile),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
