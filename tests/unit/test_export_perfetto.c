// SPDX-License-Identifier: MIT OR Apache-2.0
/* The Perfetto export, decoded field by field and put together again: the same spans with the same
 * arguments, counters, marks, tracks and flows, in an order that a reader can follow. */
#include "base/wire.h"
#include "tests/unit/export_fixture.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/trace_maker.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX      4096
#define START_NS 5000000000u /* of CLOCK_MONOTONIC, in the sample */
#define TABLES   4

/* A track as described, with the slices open on it. */
struct track {
	uint64_t uuid, parent, last_ns;
	char name[64], unit[32];
	int64_t pid, tid;
	size_t open[16], depth;
};

struct slice {
	uint64_t uuid, start_ns, end_ns;
	char name[64], category[32], args[256];
	bool instant;
};

struct flow {
	uint64_t id, source_ns, target_ns;
	size_t sources, targets;
};

static struct decoded {
	struct track tracks[64];
	struct slice slices[MAX];
	struct flow flows[256];
	size_t track_count, slice_count, flow_count;
	size_t packets, clocks, counters;
	double counter_sum;
	char *interned[TABLES][512]; /* categories, names, keys, texts */
} decoded;

static const struct trace *current; /* being decoded */

static char *text_of(struct reader bytes)
{
	return strndup((const char *)bytes.at, reader_left(&bytes));
}

static struct track *track_of(uint64_t uuid)
{
	for (size_t i = 0; i < decoded.track_count; i++)
		if (decoded.tracks[i].uuid == uuid)
			return &decoded.tracks[i];
	/* A descriptor comes before its use. */
	CHECK_EQ(uuid, 0);
	return &decoded.tracks[0];
}

static const char *interned(int table, uint64_t id)
{
	CHECK(id > 0 && id < 512 && decoded.interned[table][id]);
	return id < 512 && decoded.interned[table][id] ? decoded.interned[table][id] : "?";
}

static void decode_interned(struct reader in)
{
	static const uint32_t numbers[TABLES] = { 1, 2, 3, 29 };
	struct wire_field field, entry;

	while (wire_next(&in, &field) == 1) {
		uint64_t id = 0;
		char *text = NULL;

		while (wire_next(&field.bytes, &entry) == 1) {
			if (entry.field == 1)
				id = entry.number;
			else if (entry.field == 2)
				text = text_of(entry.bytes);
		}
		for (int t = 0; t < TABLES; t++)
			if (numbers[t] == field.field && CHECK(id && id < 512 && text)) {
				/* Once each. */
				CHECK(decoded.interned[t][id] == NULL);
				decoded.interned[t][id] = text;
			}
	}
}

static void decode_names(struct track *track, struct reader in, bool thread)
{
	struct wire_field field;

	while (wire_next(&in, &field) == 1) {
		if (field.field == 1)
			track->pid = (int64_t)field.number;
		else if (thread && field.field == 2)
			track->tid = (int64_t)field.number;
		else if (field.field == (thread ? 5 : 6))
			snprintf(track->name, sizeof track->name, "%.*s",
				(int)reader_left(&field.bytes), (const char *)field.bytes.at);
	}
}

static void decode_descriptor(struct reader in)
{
	struct track *track = &decoded.tracks[decoded.track_count++];
	struct wire_field field, unit;

	while (wire_next(&in, &field) == 1) {
		if (field.field == 1)
			track->uuid = field.number;
		else if (field.field == 5)
			track->parent = field.number;
		else if (field.field == 2)
			snprintf(track->name, sizeof track->name, "%.*s",
				(int)reader_left(&field.bytes), (const char *)field.bytes.at);
		else if (field.field == 3 || field.field == 4)
			decode_names(track, field.bytes, field.field == 4);
		else if (field.field == 8)
			while (wire_next(&field.bytes, &unit) == 1)
				snprintf(track->unit, sizeof track->unit, "%s",
					unit.field == 3 ? "bytes" : "%");
	}
	CHECK(track->uuid != 0);
	if (track->parent)
		CHECK(track_of(track->parent)->uuid == track->parent);
}

static void decode_annotation(struct slice *slice, struct reader in)
{
	struct wire_field field;
	char key[64] = "", value[80] = "";

	while (wire_next(&in, &field) == 1) {
		if (field.field == 1)
			snprintf(key, sizeof key, "%s", interned(2, field.number));
		else if (field.field == 4)
			snprintf(value, sizeof value, "%lld", (long long)field.number);
		else if (field.field == 5)
			snprintf(value, sizeof value, "%.17g", wire_as_double(field.number));
		else if (field.field == 17)
			snprintf(value, sizeof value, "%s", interned(3, field.number));
	}
	if (key[0])
		fixture_arg(slice->args, key, value);
}

static void note_flow(uint64_t id, uint64_t time_ns, bool target)
{
	size_t i = 0;

	while (i < decoded.flow_count && decoded.flows[i].id != id)
		i++;
	if (i == decoded.flow_count)
		decoded.flows[decoded.flow_count++].id = id;
	if (target) {
		decoded.flows[i].targets++;
		decoded.flows[i].target_ns = time_ns;
	} else {
		decoded.flows[i].sources++;
		decoded.flows[i].source_ns = time_ns;
	}
}

static void apply(struct slice *slice, uint64_t type, uint64_t time_ns)
{
	struct track *track = track_of(slice->uuid);

	if (type == 1 || type == 2) {
		CHECK(time_ns >= track->last_ns);
		track->last_ns = time_ns;
	}
	if (type == 2) {
		if (CHECK(track->depth > 0))
			decoded.slices[track->open[--track->depth]].end_ns = time_ns;
		return;
	}
	slice->start_ns = slice->end_ns = time_ns;
	slice->instant = type == 3;
	if (type == 1 && CHECK(track->depth < 16))
		track->open[track->depth++] = decoded.slice_count;
	if (type != 4 && CHECK(decoded.slice_count < MAX))
		decoded.slices[decoded.slice_count++] = *slice;
}

static void decode_event(struct reader in, uint64_t time_ns)
{
	struct slice slice = { 0 };
	struct wire_field field;
	uint64_t type = 0;

	while (wire_next(&in, &field) == 1) {
		if (field.field == 9)
			type = field.number;
		else if (field.field == 11)
			slice.uuid = field.number;
		else if (field.field == 10)
			snprintf(slice.name, sizeof slice.name, "%s", interned(1, field.number));
		else if (field.field == 3)
			snprintf(slice.category, sizeof slice.category, "%s",
				interned(0, field.number));
		else if (field.field == 4)
			decode_annotation(&slice, field.bytes);
		else if (field.field == 47 || field.field == 48)
			note_flow(field.number, time_ns, field.field == 48);
		else if (field.field == 30)
			decoded.counter_sum += (double)(int64_t)field.number;
		else if (field.field == 44)
			decoded.counter_sum += wire_as_double(field.number);
		decoded.counters += field.field == 30 || field.field == 44;
	}
	apply(&slice, type, time_ns);
}

static void decode_clocks(struct reader in)
{
	const uint64_t expected[][2] = { { 6, current->header.start_mono_ns },
		{ 3, current->header.start_mono_ns }, { 1, current->header.start_unix_ns } };
	struct wire_field field, part;

	while (wire_next(&in, &field) == 1) {
		uint64_t values[3] = { 0 };

		if (field.field != 1)
			continue;
		while (wire_next(&field.bytes, &part) == 1)
			if (part.field < 3)
				values[part.field] = part.number;
		if (CHECK(decoded.clocks < 3)) {
			CHECK_EQ(values[1], expected[decoded.clocks][0]);
			CHECK_EQ(values[2], expected[decoded.clocks][1]);
		}
		decoded.clocks++;
	}
}

static void decode_packet(struct reader in)
{
	struct reader again = in;
	struct wire_field field;
	uint64_t time_ns = START_NS, sequence = 0, flags = 0;

	/* What an event refers to may stand anywhere in its packet. */
	while (wire_next(&again, &field) == 1) {
		if (field.field == 8)
			time_ns = field.number;
		else if (field.field == 10)
			sequence = field.number;
		else if (field.field == 13)
			flags = field.number;
		else if (field.field == 12)
			decode_interned(field.bytes);
	}
	CHECK_EQ(sequence, 1);
	CHECK_EQ(flags & 1, decoded.packets == 0);
	decoded.packets++;
	while (wire_next(&in, &field) == 1) {
		if (field.field == 60)
			decode_descriptor(field.bytes);
		else if (field.field == 11)
			decode_event(field.bytes, time_ns - START_NS);
		else if (field.field == 6)
			decode_clocks(field.bytes);
	}
}

static bool decode(const struct trace *trace, struct export_options options)
{
	struct wire_field field;
	struct reader in;
	size_t bytes;
	uint8_t *file = fixture_export(trace, "perfetto", ".pftrace", options, &bytes);
	int status;

	current = trace;
	for (int t = 0; t < TABLES; t++)
		for (size_t i = 0; i < 512; i++)
			free(decoded.interned[t][i]);
	memset(&decoded, 0, sizeof decoded);
	if (!file)
		return false;
	reader_init(&in, file, bytes);
	while ((status = wire_next(&in, &field)) == 1) {
		CHECK_EQ(field.field, 1);
		decode_packet(field.bytes);
	}
	CHECK_EQ(status, 0);
	for (size_t i = 0; i < decoded.track_count; i++)
		CHECK_EQ(decoded.tracks[i].depth, 0);
	free(file);
	return true;
}

/* Every span of the trace is there once. */
static void spans_are_equal(void)
{
	size_t found = 0, slices = 0;

	if (!decode(fixture_trace, (struct export_options){ 0 }))
		return;
	for (size_t i = 0; i < decoded.slice_count; i++)
		slices += !decoded.slices[i].instant;
	CHECK_EQ(slices, fixture_span_count);
	for (size_t s = 0; s < fixture_span_count; s++) {
		const struct fixture_span *span = &fixture_spans[s];

		for (size_t i = 0; i < decoded.slice_count; i++) {
			const struct slice *slice = &decoded.slices[i];

			if ((uint32_t)slice->uuid != span->track + 1 || slice->instant ||
				slice->start_ns != span->start_ns ||
				slice->end_ns != span->start_ns + span->duration_ns ||
				strcmp(slice->name, fixture_utf8(span->name)) != 0)
				continue;
			CHECK_STR(slice->category, span->category);
			CHECK_STR(slice->args, span->args);
			found++;
			break;
		}
	}
	CHECK_EQ(found, fixture_span_count);
}

static void tracks(void)
{
	const struct track *track;

	if (!decode(fixture_trace, (struct export_options){ 0 }))
		return;
	CHECK_EQ(decoded.clocks, 3);
	track = track_of(SAMPLE_LOADER + 1);
	CHECK_EQ(track->pid, 1000);
	CHECK_EQ(track->tid, 1001);
	CHECK_STR(track->name, "loader");
	CHECK_EQ(track->parent, SAMPLE_TRAIN + 1);
	track = track_of(SAMPLE_STREAM + 1);
	CHECK_STR(track->name, "GPU 0 stream 7");
	CHECK_EQ(track->tid, 0);
	CHECK_STR(track_of(SAMPLE_RSS + 1)->unit, "bytes");
	CHECK_STR(track_of(SAMPLE_CPU + 1)->unit, "%");
	CHECK_EQ(track_of(SAMPLE_CPU + 1)->parent, 0);
	/* Requests overlap three deep. */
	CHECK_STR(track_of((uint64_t)2 << 32 | (SAMPLE_REQUESTS + 1))->name, "request");
}

static void counters_and_marks(void)
{
	double sum = 0;
	size_t marks = 0;

	if (!decode(fixture_trace, (struct export_options){ 0 }))
		return;
	for (unsigned i = 0; i < SAMPLE_STEPS; i++)
		sum += (double)((100 + i) << 20) + 2.0 / (i + 1) + 50 + i;
	CHECK_EQ(decoded.counters, 3 * SAMPLE_STEPS);
	CHECK_NEAR(decoded.counter_sum, sum, 1e-6);
	for (size_t i = 0; i < decoded.slice_count; i++)
		marks += decoded.slices[i].instant &&
			 (strcmp(decoded.slices[i].name, "epoch") == 0 ||
				 strcmp(decoded.slices[i].name, "checkpoint") == 0);
	CHECK_EQ(marks, 2);
}

/* Each batch and each launch is an arrow that points forward in time. */
static void flows(void)
{
	if (!decode(fixture_trace, (struct export_options){ 0 }))
		return;
	CHECK_EQ(decoded.flow_count, SAMPLE_STEPS + SAMPLE_MATMULS);
	for (size_t i = 0; i < decoded.flow_count; i++) {
		CHECK_EQ(decoded.flows[i].sources, 1);
		CHECK_EQ(decoded.flows[i].targets, 1);
		CHECK(decoded.flows[i].source_ns <= decoded.flows[i].target_ns);
	}
}

static void window_and_filter(void)
{
	struct export_options options = { .window = { 22000000, 32000000 }, .filter = "MATmul" };

	if (!decode(fixture_trace, options))
		return;
	for (size_t i = 0; i < decoded.slice_count; i++)
		if (!decoded.slices[i].instant) {
			CHECK_STR(decoded.slices[i].name, "matmul");
			CHECK(decoded.slices[i].end_ns >= 22000000);
			CHECK(decoded.slices[i].start_ns < 32000000);
		}
}

static void empty(void)
{
	struct trace *trace = fixture_empty();
	size_t bytes;
	uint8_t *file;

	if (!trace)
		return;
	file = fixture_export(
		trace, "perfetto", ".perfetto-trace", (struct export_options){ 0 }, &bytes);
	CHECK(file && bytes > 0);
	free(file);
	trace_close(trace);
}

/* Numbers of a process and of a thread that were used before are replaced, and 0 always is. */
static void numbers_once(void)
{
	struct maker maker;
	struct trace *trace;
	uint32_t machine;

	maker_open(&maker);
	machine = maker_track(&maker, 0, TRACK_MACHINE, "machine");
	for (int i = 0; i < 2; i++)
		maker_track(&maker, maker_track(&maker, machine, TRACK_PROCESS, "p"), TRACK_THREAD,
			"t");
	maker_finish(&maker);
	trace = maker_trace(maker.path);
	if (trace && decode(trace, (struct export_options){ 0 }))
		for (size_t i = 0; i < decoded.track_count; i++)
			for (size_t j = 0; j < i; j++) {
				const struct track *a = &decoded.tracks[i], *b = &decoded.tracks[j];

				CHECK(!a->pid || a->tid || b->tid || a->pid != b->pid);
				CHECK(!a->tid || a->tid != b->tid);
			}
	trace_close(trace);
	maker_remove(&maker);
	decode(fixture_trace, (struct export_options){ 0 });
}

static void release(void)
{
	for (int t = 0; t < TABLES; t++)
		for (size_t i = 0; i < 512; i++)
			free(decoded.interned[t][i]);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(spans_are_equal),
		UNIT(tracks),
		UNIT(counters_and_marks),
		UNIT(flows),
		UNIT(window_and_filter),
		UNIT(empty),
		UNIT(numbers_once),
	};
	int status = fixture_main(tests, sizeof tests / sizeof tests[0], argc, argv);

	release();
	return status;
}
