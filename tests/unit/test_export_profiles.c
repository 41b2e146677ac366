// SPDX-License-Identifier: MIT OR Apache-2.0
/* The formats in JSON: speedscope, Firefox, JSON lines. Each document is read by a parser of the
 * tests' own and compared with the trace span by span. */
#include "tests/unit/export_fixture.h"
#include "tests/unit/mini_json.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mini_json *read_json(const struct trace *trace, const char *format,
	const char *extension, struct export_options options)
{
	size_t bytes;
	char *text = (char *)fixture_export(trace, format, extension, options, &bytes);
	struct mini_json *json = text ? mini_json_parse(text, NULL) : NULL;

	CHECK(json != NULL);
	free(text);
	return json;
}

/* Which spans of the trace were found. */
static bool seen[SAMPLE_SPANS];

static const struct fixture_span *find_span(
	const char *track, const char *name, uint64_t start_ns, uint64_t end_ns)
{
	for (size_t i = 0; i < fixture_span_count; i++) {
		const struct fixture_span *span = &fixture_spans[i];

		if (!seen[i] && span->start_ns == start_ns &&
			span->start_ns + span->duration_ns == end_ns &&
			strcmp(fixture_utf8(span->name), name) == 0 &&
			strstr(track, fixture_trace->tracks[span->track].name)) {
			seen[i] = true;
			return span;
		}
	}
	CHECK_STR(name, "a span of the trace");
	return NULL;
}

static void all_seen(void)
{
	for (size_t i = 0; i < fixture_span_count; i++)
		if (!CHECK(seen[i]))
			printf("\t%s\n", fixture_spans[i].name);
	memset(seen, 0, sizeof seen);
}

static void speedscope_evented(const struct mini_json *profile, const struct mini_json *frames)
{
	const struct mini_json *events = mini_json_get(profile, "events");
	const char *name = mini_json_get(profile, "name")->text;
	uint64_t starts[16], last = mini_json_ns(mini_json_get(profile, "startValue"), 0);
	size_t open[16], depth = 0;

	CHECK_STR(mini_json_get(profile, "unit")->text, "nanoseconds");
	for (size_t i = 0; i < events->count; i++) {
		const struct mini_json *event = mini_json_at(events, i);
		uint64_t at = mini_json_ns(mini_json_get(event, "at"), 0);
		size_t frame = (size_t)mini_json_get(event, "frame")->number;

		CHECK(at >= last);
		last = at;
		if (strcmp(mini_json_get(event, "type")->text, "O") == 0) {
			if (!CHECK(depth < 16))
				return;
			starts[depth] = at;
			open[depth++] = frame;
			continue;
		}
		if (!CHECK(depth > 0))
			return;
		CHECK_EQ(open[--depth], frame);
		find_span(name, mini_json_get(mini_json_at(frames, frame), "name")->text,
			starts[depth], at);
	}
	CHECK_EQ(depth, 0);
	CHECK_EQ(last, mini_json_ns(mini_json_get(profile, "endValue"), 0));
}

static void speedscope(void)
{
	struct mini_json *json = read_json(
		fixture_trace, "speedscope", ".speedscope.json", (struct export_options){ 0 });
	const struct mini_json *profiles, *frames;
	size_t sampled = 0;

	if (!json)
		return;
	profiles = mini_json_get(json, "profiles");
	frames = mini_json_get(mini_json_get(json, "shared"), "frames");
	for (size_t i = 0; i < profiles->count; i++) {
		const struct mini_json *profile = mini_json_at(profiles, i);

		if (strcmp(mini_json_get(profile, "type")->text, "evented") == 0) {
			speedscope_evented(profile, frames);
			continue;
		}
		sampled++;
		CHECK_EQ(mini_json_get(profile, "samples")->count, 6);
		CHECK_EQ(mini_json_get(profile, "weights")->count, 6);
		CHECK_EQ(mini_json_at(mini_json_get(profile, "samples"), 1)->count, 3);
	}
	CHECK_EQ(sampled, 1);
	all_seen();
	mini_json_free(json);
}

static const char *string_of(const struct mini_json *thread, const struct mini_json *index)
{
	const struct mini_json *text =
		mini_json_at(mini_json_get(thread, "stringArray"), (size_t)index->number);

	return text->text ? text->text : "?";
}

static void check_columns(const struct mini_json *table)
{
	size_t length = (size_t)mini_json_get(table, "length")->number;

	for (size_t i = 0; i < table->count; i++)
		if (table->items[i].kind == MINI_ARRAY && table->items[i].count != length) {
			printf("\t%s\n", table->items[i].key);
			CHECK_EQ(table->items[i].count, length);
		}
}

static size_t firefox_markers(const struct mini_json *thread)
{
	const struct mini_json *markers = mini_json_get(thread, "markers");
	const char *name = mini_json_get(thread, "name")->text;
	size_t count = (size_t)mini_json_get(markers, "length")->number, instants = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t start =
			mini_json_ns(mini_json_at(mini_json_get(markers, "startTime"), i), 6);
		const struct mini_json *end = mini_json_at(mini_json_get(markers, "endTime"), i);
		const char *label =
			string_of(thread, mini_json_at(mini_json_get(markers, "name"), i));
		const struct mini_json *data = mini_json_at(mini_json_get(markers, "data"), i);
		const struct fixture_span *span;
		char args[256] = "";

		if (mini_json_at(mini_json_get(markers, "phase"), i)->number == 0) {
			CHECK_EQ(end->kind, MINI_NULL);
			instants++;
			continue;
		}
		span = find_span(name, label, start, mini_json_ns(end, 6));
		for (size_t a = 0; a < data->count; a++)
			if (strcmp(data->items[a].key, "type") != 0)
				fixture_arg(args, data->items[a].key, data->items[a].text);
		if (span)
			CHECK_STR(args, span->args);
	}
	return instants;
}

/* The samples of a thread add up to the time in its outermost scopes. */
static void firefox_samples(const struct mini_json *thread)
{
	const struct mini_json *samples = mini_json_get(thread, "samples");
	const struct mini_json *stacks = mini_json_get(thread, "stackTable");
	size_t count = (size_t)mini_json_get(samples, "length")->number;
	uint64_t sum = 0, expected = 0, last = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t time = mini_json_ns(mini_json_at(mini_json_get(samples, "time"), i), 6);
		double stack = mini_json_at(mini_json_get(samples, "stack"), i)->number;

		CHECK(time >= last);
		last = time;
		CHECK(stack < mini_json_get(stacks, "length")->number);
		sum += mini_json_ns(mini_json_at(mini_json_get(samples, "weight"), i), 6);
	}
	for (size_t i = 0; i < mini_json_get(stacks, "prefix")->count; i++)
		CHECK(mini_json_at(mini_json_get(stacks, "prefix"), i)->number <= (double)i);
	if (strcmp(mini_json_get(samples, "weightType")->text, "samples") == 0) {
		CHECK_EQ(count, 6);
		return;
	}
	for (size_t i = 0; i < fixture_span_count; i++)
		if (fixture_spans[i].depth == 0 &&
			fixture_trace->tracks[fixture_spans[i].track].kind == TRACK_THREAD &&
			(double)fixture_trace->tracks[fixture_spans[i].track].os_id ==
				mini_json_get(thread, "tid")->number)
			expected += fixture_spans[i].duration_ns;
	CHECK_EQ(sum, expected);
}

static void firefox(void)
{
	static const char *const tables[] = { "samples", "markers", "stackTable", "frameTable",
		"funcTable", "resourceTable", "nativeSymbols" };
	struct mini_json *json =
		read_json(fixture_trace, "firefox", ".firefox.json", (struct export_options){ 0 });
	const struct mini_json *threads, *meta, *counters;
	size_t instants = 0;

	if (!json)
		return;
	threads = mini_json_get(json, "threads");
	for (size_t i = 0; i < threads->count; i++) {
		for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
			check_columns(mini_json_get(mini_json_at(threads, i), tables[t]));
		instants += firefox_markers(mini_json_at(threads, i));
		firefox_samples(mini_json_at(threads, i));
	}
	CHECK_EQ(instants, 2);
	all_seen();
	counters = mini_json_get(json, "counters");
	CHECK_EQ(counters->count, 3);
	for (size_t i = 0; i < counters->count; i++) {
		const struct mini_json *counter = mini_json_at(counters, i);
		const struct mini_json *owner = mini_json_at(
			threads, (size_t)mini_json_get(counter, "mainThreadIndex")->number);

		check_columns(mini_json_get(counter, "samples"));
		CHECK_STR(mini_json_get(counter, "pid")->text, mini_json_get(owner, "pid")->text);
	}
	meta = mini_json_get(json, "meta");
	CHECK_EQ((int)mini_json_get(meta, "preprocessedProfileVersion")->number, 48);
	CHECK_EQ(mini_json_get(mini_json_at(mini_json_get(meta, "markerSchema"), 0), "data")->count,
		5);
	mini_json_free(json);
}

static void firefox_packed(void)
{
	size_t packed_bytes, bytes;
	uint8_t *packed = fixture_export(fixture_trace, "firefox", ".firefox.json.gz",
		(struct export_options){ 0 }, &packed_bytes);
	uint8_t *raw = packed ? fixture_gunzip(packed, packed_bytes, &bytes) : NULL;

	CHECK(raw && bytes > 1000 && raw[0] == '{' && raw[bytes - 1] == '}');
	free(packed);
	free(raw);
}

static void jsonl_span(const struct mini_json *line)
{
	uint64_t start = mini_json_ns(mini_json_get(line, "start_ns"), 0);
	uint64_t duration = mini_json_ns(mini_json_get(line, "duration_ns"), 0);
	const struct mini_json *data = mini_json_get(line, "args");
	const struct fixture_span *span = find_span(mini_json_get(line, "thread")->text,
		mini_json_get(line, "name")->text, start, start + duration);
	char args[256] = "";

	for (size_t a = 0; a < data->count; a++)
		fixture_arg(args, data->items[a].key, data->items[a].text);
	if (!span)
		return;
	CHECK_STR(args, span->args);
	CHECK_EQ(mini_json_ns(mini_json_get(line, "self_ns"), 0), span->self_ns);
	CHECK_EQ(mini_json_ns(mini_json_get(line, "depth"), 0), span->depth);
	CHECK_EQ(mini_json_ns(mini_json_get(line, "track"), 0), span->track);
}

static void jsonl(void)
{
	static const struct {
		const char *type;
		size_t count;
	} expected[] = { { "header", 1 }, { "track", SAMPLE_TRACKS }, { "span", SAMPLE_SPANS },
		{ "counter", 24 }, { "mark", 2 }, { "link", 48 }, { "allocation", 4 },
		{ "sample", 6 }, { "metadata", 1 }, { "ledger", 1 } };
	size_t counts[16] = { 0 }, bytes, lines = 0;
	char *text = (char *)fixture_export(
		fixture_trace, "jsonl", ".jsonl", (struct export_options){ 0 }, &bytes);

	for (const char *at = text; at && *at; lines++) {
		const char *end = strchr(at, '\n'), *rest;
		struct mini_json *line = mini_json_parse(at, &rest);

		/* One object per line, and nothing else. */
		if (!CHECK(line && line->kind == MINI_OBJECT && end && rest == end + 1))
			break;
		at = rest;
		for (size_t i = 0; i < 10; i++)
			counts[i] += strcmp(line->items[0].text, expected[i].type) == 0;
		if (strcmp(mini_json_get(line, "type")->text, "span") == 0)
			jsonl_span(line);
		mini_json_free(line);
	}
	for (size_t i = 0; i < 10; i++)
		CHECK_EQ(counts[i], expected[i].count);
	CHECK_EQ(lines, 1 + SAMPLE_TRACKS + SAMPLE_SPANS + 24 + 2 + 48 + 4 + 6 + 2);
	all_seen();
	free(text);
}

static void empty(void)
{
	struct trace *trace = fixture_empty();
	struct mini_json *json;

	if (!trace)
		return;
	json = read_json(trace, "speedscope", ".speedscope.json", (struct export_options){ 0 });
	if (json)
		CHECK_EQ(mini_json_get(json, "profiles")->kind, MINI_ARRAY);
	mini_json_free(json);
	json = read_json(trace, "firefox", ".firefox.json", (struct export_options){ 0 });
	if (json)
		CHECK_EQ(mini_json_get(json, "threads")->kind, MINI_ARRAY);
	mini_json_free(json);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(speedscope),
		UNIT(firefox),
		UNIT(firefox_packed),
		UNIT(jsonl),
		UNIT(empty),
	};

	return fixture_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
