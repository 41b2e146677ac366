// SPDX-License-Identifier: MIT OR Apache-2.0
/* pprof and collapsed stacks: decoded, every path has the self time and the count that the call
 * tree has; with samples, how often each stack was seen. */
#include "base/wire.h"
#include "tests/unit/export_fixture.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 64

struct path {
	char text[256]; /* outermost first, with semicolons */
	uint64_t values[2];
};

struct paths {
	struct path items[MAX];
	size_t count;
};

static struct path *path_of(struct paths *paths, const char *text)
{
	for (size_t i = 0; i < paths->count; i++)
		if (strcmp(paths->items[i].text, text) == 0)
			return &paths->items[i];
	CHECK(paths->count < MAX);
	snprintf(paths->items[paths->count].text, 256, "%s", text);
	return &paths->items[paths->count++];
}

/* The paths of the sample trace, by containment of its spans alone. */
static void expected_paths(struct paths *paths)
{
	memset(paths, 0, sizeof *paths);
	for (size_t i = 0; i < fixture_span_count; i++) {
		const struct fixture_span *span = &fixture_spans[i];
		char text[256] = "";
		struct path *path;

		if (fixture_trace->tracks[span->track].kind != TRACK_THREAD)
			continue;
		for (uint32_t depth = 0; depth <= span->depth; depth++)
			for (size_t o = 0; o < fixture_span_count; o++) {
				const struct fixture_span *outer = &fixture_spans[o];

				if (outer->track != span->track || outer->depth != depth ||
					outer->start_ns > span->start_ns ||
					outer->start_ns + outer->duration_ns <
						span->start_ns + span->duration_ns ||
					(depth == span->depth && o != i))
					continue;
				snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
					depth ? ";" : "", fixture_utf8(outer->name));
				break;
			}
		path = path_of(paths, text);
		path->values[0]++;
		path->values[1] += span->self_ns;
	}
}

struct profile {
	char strings[64][64];
	size_t string_count, sample_types;
	uint64_t functions[64],
		locations[64]; /* name of a function, function of a location; by id */
	struct reader samples[MAX];
	size_t sample_count;
	uint64_t default_type, time_ns, duration_ns;
};

static void decode_pair(struct reader in, uint64_t *items, bool location)
{
	struct wire_field field, line;
	uint64_t id = 0, value = 0;

	while (wire_next(&in, &field) == 1) {
		if (field.field == 1)
			id = field.number;
		else if (!location && field.field == 2)
			value = field.number;
		else if (location && field.field == 4)
			while (wire_next(&field.bytes, &line) == 1)
				value = line.field == 1 ? line.number : value;
	}
	if (CHECK(id > 0 && id < 64))
		items[id] = value;
}

static void decode_profile(struct profile *profile, struct reader in)
{
	struct wire_field field;
	int status;

	memset(profile, 0, sizeof *profile);
	while ((status = wire_next(&in, &field)) == 1) {
		if (field.field == 2 && CHECK(profile->sample_count < MAX))
			profile->samples[profile->sample_count++] = field.bytes;
		else if (field.field == 4)
			decode_pair(field.bytes, profile->locations, true);
		else if (field.field == 5)
			decode_pair(field.bytes, profile->functions, false);
		else if (field.field == 6 && CHECK(profile->string_count < 64))
			snprintf(profile->strings[profile->string_count++], 64, "%.*s",
				(int)reader_left(&field.bytes), (const char *)field.bytes.at);
		else if (field.field == 9)
			profile->time_ns = field.number;
		else if (field.field == 10)
			profile->duration_ns = field.number;
		else if (field.field == 14)
			profile->default_type = field.number;
		profile->sample_types += field.field == 1;
	}
	CHECK_EQ(status, 0);
	CHECK_STR(profile->strings[0], "");
}

/* A sample's stack, turned round to begin with the outermost frame. */
static void decode_sample(const struct profile *profile, struct reader in, struct paths *paths)
{
	struct wire_field field;
	uint64_t ids[32], values[2] = { 0 };
	size_t count = 0, value_count = 0;
	char text[256] = "";
	struct path *path;

	while (wire_next(&in, &field) == 1)
		while (reader_left(&field.bytes)) {
			uint64_t number = wire_read_varint(&field.bytes);

			if (field.field == 1 && CHECK(count < 32))
				ids[count++] = number;
			else if (field.field == 2 && CHECK(value_count < 2))
				values[value_count++] = number;
		}
	CHECK_EQ(value_count, profile->sample_types);
	while (count > 0) {
		uint64_t id = ids[--count];

		if (!CHECK(id > 0 && id < 64))
			return;
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
			text[0] ? ";" : "",
			profile->strings[profile->functions[profile->locations[id]]]);
	}
	path = path_of(paths, text);
	path->values[0] += values[0];
	path->values[1] += values[1];
}

static bool read_pprof(struct export_options options, struct profile *profile, struct paths *paths)
{
	size_t packed_bytes, bytes;
	uint8_t *packed = fixture_export(fixture_trace, "pprof", ".pb.gz", options, &packed_bytes);
	uint8_t *raw = packed ? fixture_gunzip(packed, packed_bytes, &bytes) : NULL;
	struct reader in;

	if (raw) {
		reader_init(&in, raw, bytes);
		decode_profile(profile, in);
		memset(paths, 0, sizeof *paths);
		for (size_t i = 0; i < profile->sample_count; i++)
			decode_sample(profile, profile->samples[i], paths);
	}
	free(packed);
	free(raw);
	return raw != NULL;
}

static void compare(struct paths *got, struct paths *expected)
{
	CHECK_EQ(got->count, expected->count);
	for (size_t i = 0; i < expected->count; i++) {
		const struct path *path = path_of(got, expected->items[i].text);

		CHECK_EQ(path->values[0], expected->items[i].values[0]);
		CHECK_EQ(path->values[1], expected->items[i].values[1]);
	}
	CHECK_EQ(got->count, expected->count);
}

static void pprof_of_scopes(void)
{
	struct paths got, expected;
	struct profile profile;

	if (!read_pprof((struct export_options){ .table = TABLE_SPANS }, &profile, &got))
		return;
	expected_paths(&expected);
	compare(&got, &expected);
	CHECK_EQ(profile.sample_types, 2);
	CHECK_STR(profile.strings[profile.default_type], "wall");
	CHECK_EQ(profile.time_ns, SAMPLE_START_NS);
	CHECK_EQ(profile.duration_ns, fixture_trace->span_ns);
}

static void pprof_of_samples(void)
{
	struct paths got;
	struct profile profile;

	/* The trace has samples, so they are what is taken. */
	if (!read_pprof((struct export_options){ 0 }, &profile, &got))
		return;
	CHECK_EQ(profile.sample_types, 1);
	CHECK_STR(profile.strings[profile.default_type], "samples");
	CHECK_EQ(got.count, 2);
	CHECK_EQ(path_of(&got, "main;matmul;gemm_inner")->values[0], 4);
	CHECK_EQ(path_of(&got, "main;matmul")->values[0], 2);
}

static void read_collapsed(char *text, struct paths *paths)
{
	memset(paths, 0, sizeof *paths);
	for (char *line = strtok_r(text, "\n", &text); line; line = strtok_r(NULL, "\n", &text)) {
		char *blank = strrchr(line, ' ');

		if (!CHECK(blank != NULL))
			return;
		*blank = '\0';
		path_of(paths, line)->values[1] += strtoull(blank + 1, NULL, 10);
	}
}

static void collapsed(void)
{
	struct export_options options = { .table = TABLE_SPANS };
	struct paths got, expected;
	size_t bytes;
	char *text = (char *)fixture_export(fixture_trace, "collapsed", ".folded", options, &bytes);

	if (!text)
		return;
	expected_paths(&expected);
	read_collapsed(text, &got);
	free(text);
	for (size_t i = 0; i < expected.count; i++) {
		char name[256];

		/* A line break would end the line. */
		snprintf(name, sizeof name, "%s", expected.items[i].text);
		for (char *at = name; *at; at++)
			*at = *at == '\n' ? ' ' : *at;
		if (expected.items[i].values[1])
			CHECK_EQ(path_of(&got, name)->values[1], expected.items[i].values[1]);
		else
			got.count++; /* paths without time have no line */
	}
	CHECK_EQ(got.count, expected.count);
	text = (char *)fixture_export(
		fixture_trace, "collapsed", ".collapsed", (struct export_options){ 0 }, &bytes);
	if (text)
		CHECK_STR(text, "main;matmul;gemm_inner 4\nmain;matmul 2\n");
	free(text);
}

static void empty(void)
{
	struct trace *trace = fixture_empty();
	size_t bytes = 1, raw_bytes = 0;
	uint8_t *file;

	if (!trace)
		return;
	file = fixture_export(
		trace, "collapsed", ".collapsed", (struct export_options){ 0 }, &bytes);
	CHECK_EQ(bytes, 0);
	free(file);
	file = fixture_export(trace, "pprof", ".pprof", (struct export_options){ 0 }, &bytes);
	if (file) {
		uint8_t *raw = fixture_gunzip(file, bytes, &raw_bytes);

		CHECK(raw_bytes > 0);
		free(raw);
	}
	free(file);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(pprof_of_scopes),
		UNIT(pprof_of_samples),
		UNIT(collapsed),
		UNIT(empty),
	};

	return fixture_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
