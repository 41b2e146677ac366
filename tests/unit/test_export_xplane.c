// SPDX-License-Identifier: MIT OR Apache-2.0
/* The XPlane export, decoded: planes, lines and events by start, stats, steps, correlation ids on
 * both sides, and the folders that TensorBoard looks into. */
#include "base/wire.h"
#include "export/xplane_path.h"
#include "tests/unit/export_fixture.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX 512

struct event {
	char plane[32], line[64], name[64], args[256];
	uint64_t start_ps, duration_ps, step, correlation;
	bool root, correlated, kernel;
};

static struct decoded {
	struct event events[MAX];
	size_t count, planes, lines;
	char stats[256][64], names[256][64]; /* of the plane being read, by id */
} decoded;

static const char *look_up(char table[256][64], uint64_t id)
{
	return CHECK(id > 0 && id < 256 && table[id][0]) ? table[id] : "?";
}

static void decode_metadata(struct reader in, char table[256][64])
{
	struct wire_field field, inner;
	uint64_t key = 0, id = 0;
	char name[64] = "";

	while (wire_next(&in, &field) == 1) {
		if (field.field == 1)
			key = field.number;
		while (field.field == 2 && wire_next(&field.bytes, &inner) == 1) {
			if (inner.field == 1)
				id = inner.number;
			else if (inner.field == 2)
				snprintf(name, sizeof name, "%.*s", (int)reader_left(&inner.bytes),
					(const char *)inner.bytes.at);
		}
	}
	CHECK_EQ(key, id);
	if (CHECK(id > 0 && id < 256))
		snprintf(table[id], 64, "%s", name);
}

static void decode_stat(struct event *event, struct reader in)
{
	struct wire_field field;
	const char *key = "?";
	uint64_t number = 0;
	char value[80] = "";

	while (wire_next(&in, &field) == 1) {
		number = field.field == 1 ? number : field.number;
		if (field.field == 1)
			key = look_up(decoded.stats, field.number);
		else if (field.field == 2)
			snprintf(value, sizeof value, "%.17g", wire_as_double(field.number));
		else if (field.field == 4)
			snprintf(value, sizeof value, "%lld", (long long)field.number);
		else if (field.field == 7)
			snprintf(value, sizeof value, "%s", look_up(decoded.stats, field.number));
	}
	if (strcmp(key, "_r") == 0) {
		event->root = number == 1;
	} else if (strcmp(key, "step_num") == 0) {
		event->step = number;
	} else if (strcmp(key, "correlation_id") == 0) {
		event->correlation = number;
		event->correlated = true;
	} else if (strcmp(key, "kernel_details") == 0) {
		event->kernel = true;
	} else if (strcmp(key, "memcpy_details") != 0) {
		fixture_arg(event->args, key, value);
	}
}

static void decode_event(const char *plane, const char *line, struct reader in)
{
	struct event *event = &decoded.events[decoded.count];
	struct wire_field field;

	if (!CHECK(decoded.count < MAX))
		return;
	decoded.count++;
	snprintf(event->plane, sizeof event->plane, "%s", plane);
	snprintf(event->line, sizeof event->line, "%s", line);
	while (wire_next(&in, &field) == 1) {
		if (field.field == 1)
			snprintf(event->name, sizeof event->name, "%s",
				look_up(decoded.names, field.number));
		else if (field.field == 2)
			event->start_ps = field.number;
		else if (field.field == 3)
			event->duration_ps = field.number;
		else if (field.field == 4)
			decode_stat(event, field.bytes);
	}
}

static void decode_line(const char *plane, struct reader in)
{
	struct reader again = in;
	struct wire_field field;
	char name[64] = "";
	size_t first = decoded.count;

	decoded.lines++;
	while (wire_next(&again, &field) == 1)
		if (field.field == 2)
			snprintf(name, sizeof name, "%.*s", (int)reader_left(&field.bytes),
				(const char *)field.bytes.at);
	while (wire_next(&in, &field) == 1)
		if (field.field == 4)
			decode_event(plane, name, field.bytes);
	for (size_t i = first + 1; i < decoded.count; i++)
		CHECK(decoded.events[i - 1].start_ps <= decoded.events[i].start_ps);
}

static void decode_plane(struct reader in)
{
	struct reader again = in;
	struct wire_field field;
	char name[32] = "";

	memset(decoded.stats, 0, sizeof decoded.stats);
	memset(decoded.names, 0, sizeof decoded.names);
	decoded.planes++;
	while (wire_next(&again, &field) == 1) {
		if (field.field == 2)
			snprintf(name, sizeof name, "%.*s", (int)reader_left(&field.bytes),
				(const char *)field.bytes.at);
		else if (field.field == 4)
			decode_metadata(field.bytes, decoded.names);
		else if (field.field == 5)
			decode_metadata(field.bytes, decoded.stats);
	}
	while (wire_next(&in, &field) == 1)
		if (field.field == 3)
			decode_line(name, field.bytes);
}

static bool decode(const struct trace *trace)
{
	size_t bytes;
	uint8_t *file =
		fixture_export(trace, "xplane", ".xplane.pb", (struct export_options){ 0 }, &bytes);
	struct wire_field field;
	struct reader in;
	int status;

	memset(&decoded, 0, sizeof decoded);
	if (!file)
		return false;
	reader_init(&in, file, bytes);
	while ((status = wire_next(&in, &field)) == 1)
		if (field.field == 1)
			decode_plane(field.bytes);
	CHECK_EQ(status, 0);
	free(file);
	return true;
}

static void spans_are_equal(void)
{
	size_t found = 0;

	if (!decode(fixture_trace))
		return;
	CHECK_EQ(decoded.planes, 3);
	for (size_t s = 0; s < fixture_span_count; s++) {
		const struct fixture_span *span = &fixture_spans[s];
		const struct trace_track *track = &fixture_trace->tracks[span->track];

		for (size_t i = 0; i < decoded.count; i++) {
			const struct event *event = &decoded.events[i];

			if (event->start_ps != span->start_ns * 1000 ||
				event->duration_ps != span->duration_ns * 1000 ||
				strcmp(event->name, fixture_utf8(span->name)) != 0 ||
				!strstr(event->line, track->name))
				continue;
			CHECK_STR(event->plane,
				track->kind == TRACK_DEVICE ? "/device:GPU:0" : "/host:CPU");
			CHECK_STR(event->args, span->args);
			found++;
			break;
		}
	}
	CHECK_EQ(found, fixture_span_count);
}

static void steps_and_launches(void)
{
	bool host[SAMPLE_MATMULS] = { 0 }, device[SAMPLE_MATMULS] = { 0 };
	size_t steps = 0, kernels = 0;

	if (!decode(fixture_trace))
		return;
	for (size_t i = 0; i < decoded.count; i++) {
		const struct event *event = &decoded.events[i];

		if (event->root) {
			CHECK_STR(event->name, "step");
			CHECK_EQ(event->step, steps);
			steps++;
		}
		kernels += event->kernel;
		if (!event->correlated || !CHECK(event->correlation < SAMPLE_MATMULS))
			continue;
		if (strcmp(event->plane, "/host:CPU") == 0)
			host[event->correlation] = true;
		else
			device[event->correlation] = true;
	}
	CHECK_EQ(steps, SAMPLE_STEPS);
	CHECK_EQ(kernels, SAMPLE_MATMULS);
	for (size_t i = 0; i < SAMPLE_MATMULS; i++)
		CHECK(host[i] && device[i]);
}

static void folders(void)
{
	static const char run[] = "2023_11_14_22_13_20";
	char base[] = "/tmp/tacho-xplane-XXXXXX", folder[64], expected[256], *path = NULL;
	static const char *const parts[] = { "/plugins/profile/2023_11_14_22_13_20",
		"/plugins/profile", "/plugins", "" };
	struct export_options options = { .fd = -1 };
	struct export_result result;
	struct error err = ERROR_INIT;
	struct stat info;

	if (!CHECK(mkdtemp(base) != NULL))
		return;
	snprintf(folder, sizeof folder, "%s/log", base);
	options.path = folder;
	CHECK_EQ(exporter_find("xplane")->run(fixture_trace, &options, &result, &err), STATUS_OK);
	snprintf(expected, sizeof expected, "%s/plugins/profile/%s/tacho.xplane.pb", folder, run);
	CHECK(stat(expected, &info) == 0 && info.st_size > 1000);
	CHECK_EQ(xplane_path(fixture_trace, "a.xplane.pb", &path, &err), STATUS_OK);
	CHECK_STR(path, "a.xplane.pb");
	free(path);
	CHECK_EQ(xplane_path(fixture_trace, "/dev/null/log", &path, &err), STATUS_IO);
	CHECK(strstr(err.message, "cannot make folder /dev/null/log: ") != NULL);
	unlink(expected);
	for (size_t i = 0; i < 4; i++) {
		snprintf(expected, sizeof expected, "%s%s", folder, parts[i]);
		CHECK_EQ(rmdir(expected), 0);
	}
	rmdir(base);
}

static void empty(void)
{
	struct trace *trace = fixture_empty();

	if (trace && decode(trace)) {
		CHECK_EQ(decoded.planes, 2);
		CHECK_EQ(decoded.count, 0);
	}
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(spans_are_equal),
		UNIT(steps_and_launches),
		UNIT(folders),
		UNIT(empty),
	};

	return fixture_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
