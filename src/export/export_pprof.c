// SPDX-License-Identifier: MIT OR Apache-2.0
/* pprof: a gzip file with one Profile message. A function and a location per name; a sample per
 * distinct stack, with how often and how long (of scopes), or how often (of stack samples).
 *
 * Its fields may come in any order, so samples are written as they come, and what they refer to
 * afterwards. */
#include "base/array.h"
#include "base/id_map.h"
#include "base/wire.h"
#include "export/export_sink.h"
#include "export/export_stacks.h"

#include <stdlib.h>
#include <string.h>
#include <tacho/version.h>

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2 };
enum location_field { LOCATION_ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1 };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3 };

/* The first strings of every profile; those of frames follow. */
enum fixed_string {
	STRING_EMPTY,
	STRING_COUNT,
	STRING_SAMPLES,
	STRING_SCOPES,
	STRING_WALL,
	STRING_NANOSECONDS,
	STRING_WRITER,
	STRING_FIXED
};
static const char *const fixed_strings[STRING_FIXED] = { "", "count", "samples", "scopes", "wall",
	"nanoseconds", ("written by tacho " TACHO_VERSION) };

struct pprof_export {
	const struct trace *trace;
	struct export_sink sink;
	struct id_map known; /* frame -> place in `frames` */
	uint32_t *frames;
	size_t frame_count, frame_capacity;
	bool sampled;
};

/* Locations and functions are numbered alike, from 1 on. */
static int location_of(struct pprof_export *export, uint32_t frame, uint64_t *ret_id)
{
	uint64_t place = export->frame_count;

	if (!id_map_get(&export->known, frame, &place)) {
		if (array_grow((void **)&export->frames, &export->frame_capacity,
			    export->frame_count + 1, sizeof *export->frames) ||
			id_map_put(&export->known, frame, place))
			return STATUS_NOMEM;
		export->frames[export->frame_count++] = frame;
	}
	*ret_id = place + 1;
	return STATUS_OK;
}

static int put_stack(void *context, const struct export_stack *stack)
{
	struct pprof_export *export = context;
	struct buffer *out = &export->sink.out;
	size_t sample = wire_open(out, PROFILE_SAMPLE), packed;

	packed = wire_open(out, SAMPLE_LOCATIONS);
	for (size_t i = stack->count; i > 0; i--) {
		uint64_t id;

		if (location_of(export, stack->frames[i - 1], &id) != STATUS_OK)
			return STATUS_NOMEM;
		wire_varint(out, id);
	}
	wire_close(out, packed);
	packed = wire_open(out, SAMPLE_VALUES);
	wire_varint(out, stack->hits);
	if (!export->sampled)
		wire_varint(out, stack->self_ns);
	wire_close(out, packed);
	wire_close(out, sample);
	return export_sink_spill(&export->sink);
}

static void put_value_type(struct buffer *out, uint32_t field, uint64_t type, uint64_t unit)
{
	size_t opened = wire_open(out, field);

	wire_u64(out, VALUE_TYPE_TYPE, type);
	wire_u64(out, VALUE_TYPE_UNIT, unit);
	wire_close(out, opened);
}

static void put_head(struct pprof_export *export, const struct trace_window *window)
{
	struct buffer *out = &export->sink.out;
	const struct trace *trace = export->trace;
	uint64_t until = window->until_ns ? window->until_ns : trace->span_ns;

	if (export->sampled) {
		put_value_type(out, PROFILE_SAMPLE_TYPE, STRING_SAMPLES, STRING_COUNT);
		put_value_type(out, PROFILE_PERIOD_TYPE, STRING_SAMPLES, STRING_COUNT);
	} else {
		put_value_type(out, PROFILE_SAMPLE_TYPE, STRING_SCOPES, STRING_COUNT);
		put_value_type(out, PROFILE_SAMPLE_TYPE, STRING_WALL, STRING_NANOSECONDS);
		put_value_type(out, PROFILE_PERIOD_TYPE, STRING_WALL, STRING_NANOSECONDS);
	}
	wire_u64(out, PROFILE_PERIOD, 1);
	wire_u64(out, PROFILE_DEFAULT_TYPE, export->sampled ? STRING_SAMPLES : STRING_WALL);
	wire_u64(out, PROFILE_TIME, trace->header.start_unix_ns + window->from_ns);
	if (until > window->from_ns)
		wire_u64(out, PROFILE_DURATION, until - window->from_ns);
	wire_u64(out, PROFILE_COMMENT, STRING_WRITER);
	for (size_t i = 0; i < STRING_FIXED; i++)
		wire_text(out, PROFILE_STRING, fixed_strings[i]);
}

static int put_frames(struct pprof_export *export)
{
	struct buffer *out = &export->sink.out;
	int status = STATUS_OK;

	for (size_t i = 0; i < export->frame_count && status == STATUS_OK; i++) {
		const char *text = export_frame(export->trace, export->frames[i]);
		size_t opened = wire_open(out, PROFILE_LOCATION), line;

		wire_u64(out, LOCATION_ID, i + 1);
		line = wire_open(out, LOCATION_LINE);
		wire_u64(out, LINE_FUNCTION, i + 1);
		wire_close(out, line);
		wire_close(out, opened);
		opened = wire_open(out, PROFILE_FUNCTION);
		wire_u64(out, FUNCTION_ID, i + 1);
		wire_u64(out, FUNCTION_NAME, STRING_FIXED + i);
		wire_u64(out, FUNCTION_SYSTEM_NAME, STRING_FIXED + i);
		wire_close(out, opened);
		wire_text(out, PROFILE_STRING, text[0] ? text : "?");
		status = export_sink_spill(&export->sink);
	}
	return status;
}

static int run_pprof(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct pprof_export export = { .trace = trace,
		.sampled = export_stacks_sampled(trace, options) };
	int status = export_sink_open(&export.sink, options, true, err);

	if (status != STATUS_OK)
		return status;
	id_map_init(&export.known);
	put_head(&export, &options->window);
	status = export_stacks(trace, options, put_stack, &export, ret_result, err);
	if (status == STATUS_OK)
		status = put_frames(&export);
	id_map_release(&export.known);
	free(export.frames);
	return export_sink_finish(&export.sink, status, err);
}

const struct exporter export_pprof = {
	.name = "pprof",
	.summary = "a profile for go tool pprof and what reads its format",
	.extensions = ".pb.gz .pprof",
	.has_tables = true, /* spans or samples */
	.run = run_pprof,
};
