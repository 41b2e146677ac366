// SPDX-License-Identifier: MIT OR Apache-2.0
/* What the tests of exporters share. */
#include "tests/unit/export_fixture.h"

#include "base/array.h"
#include "base/utf8.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/trace_maker.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

struct trace *fixture_trace;
struct fixture_span *fixture_spans;
size_t fixture_span_count;

static char folder[] = "/tmp/tacho-export-XXXXXX";
static size_t span_capacity;

void fixture_arg(char args[256], const char *key, const char *value)
{
	size_t length = strlen(args);

	snprintf(args + length, 256 - length, "%s%s=%s", length ? " " : "", key, value);
}

static int keep_span(void *context, const struct export_span *span)
{
	const struct trace *trace = context;
	struct fixture_span kept = { .track = span->track,
		.depth = span->depth,
		.name = trace->names[span->name].name,
		.category = trace->names[span->name].category,
		.start_ns = span->start_ns,
		.duration_ns = span->duration_ns,
		.self_ns = span->self_ns };

	for (size_t i = 0; i < span->arg_count; i++) {
		const struct span_arg *arg = &span->args[i];
		char value[64];
		double real;

		memcpy(&real, &arg->value, sizeof real);
		if (arg->type == ARG_INTEGER)
			snprintf(value, sizeof value, "%lld", (long long)arg->value);
		else if (arg->type == ARG_DOUBLE)
			snprintf(value, sizeof value, "%.17g", real);
		else
			snprintf(value, sizeof value, "%s", export_string(trace, arg->value));
		fixture_arg(kept.args, export_string(trace, arg->key), value);
	}
	if (array_grow((void **)&fixture_spans, &span_capacity, fixture_span_count + 1,
		    sizeof *fixture_spans) != STATUS_OK)
		return STATUS_NOMEM;
	fixture_spans[fixture_span_count++] = kept;
	return STATUS_OK;
}

static int load(const char *path)
{
	struct export_options options = { 0 };
	struct error err = ERROR_INIT;
	struct export_walk walk;

	if (sample_trace_write(path, &err) != STATUS_OK ||
		trace_open(path, &fixture_trace, &err) != STATUS_OK ||
		export_walk_init(&walk, fixture_trace, &options, &err) != STATUS_OK) {
		printf("%s\n", err.message);
		return 1;
	}
	if (export_walk_spans(&walk, false, keep_span, fixture_trace, &err) != STATUS_OK)
		return 1;
	export_walk_release(&walk);
	return fixture_span_count != SAMPLE_SPANS;
}

int fixture_main(const struct unit_test *tests, size_t count, int argc, char **argv)
{
	char path[64];
	int status;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/sample.tacho", folder);
	status = load(path);
	if (status == 0)
		status = unit_main(tests, count, argc, argv);
	trace_close(fixture_trace);
	free(fixture_spans);
	unlink(path);
	rmdir(folder);
	return status;
}

static uint8_t *read_all(const char *path, size_t *ret_bytes)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	long size;

	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0) {
		rewind(file);
		bytes = calloc((size_t)size + 1, 1);
		*ret_bytes = bytes ? fread(bytes, 1, (size_t)size, file) : 0;
	}
	fclose(file);
	return bytes;
}

uint8_t *fixture_export(const struct trace *trace, const char *format, const char *extension,
	struct export_options options, size_t *ret_bytes)
{
	const struct exporter *exporter = exporter_find(format);
	struct export_result result = { 0 };
	struct error err = ERROR_INIT;
	uint8_t *bytes = NULL;
	char path[96];

	snprintf(path, sizeof path, "%s/out%s", folder, extension);
	options.path = path;
	if (!CHECK(exporter != NULL))
		return NULL;
	CHECK(exporter_for_path(path) == exporter);
	if (CHECK_EQ(exporter->run(trace, &options, &result, &err), STATUS_OK)) {
		CHECK_STR(err.message, "");
		bytes = read_all(path, ret_bytes);
		CHECK(bytes != NULL);
	} else {
		printf("%s\n", err.message);
	}
	unlink(path);
	return bytes;
}

struct trace *fixture_empty(void)
{
	struct maker maker;
	struct trace *trace;

	maker_open(&maker);
	maker_track(
		&maker, maker_track(&maker, 0, TRACK_MACHINE, "machine"), TRACK_PROCESS, "process");
	maker_finish(&maker);
	trace = maker_trace(maker.path);
	maker_remove(&maker);
	return trace;
}

const char *fixture_utf8(const char *text)
{
	static char texts[4][512];
	static unsigned turn;
	char *out = texts[turn++ % 4];
	size_t length = strlen(text), at = 0;

	for (size_t i = 0, step; i < length && at < 500; i += step) {
		step = utf8_decode(text + i, length - i, NULL);
		memcpy(out + at, step ? text + i : UTF8_REPLACEMENT, step ? step : 3);
		at += step ? step : 3;
		step = step ? step : 1;
	}
	out[at] = '\0';
	return out;
}

uint8_t *fixture_gunzip(const uint8_t *packed, size_t count, size_t *ret_bytes)
{
	size_t room = 1u << 20;
	uint8_t *bytes = malloc(room);
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)packed,
		.avail_in = (uInt)count,
		.next_out = bytes,
		.avail_out = (uInt)room };

	CHECK_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
	CHECK_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
	CHECK_EQ(stream.avail_in, 0);
	*ret_bytes = stream.total_out;
	inflateEnd(&stream);
	return bytes;
}
