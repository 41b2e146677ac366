// SPDX-License-Identifier: MIT OR Apache-2.0
/* Planes of an XSpace. Field numbers are those of xplane.proto. */
#include "export/xplane_plane.h"

#include "base/wire.h"

#include <stdlib.h>
#include <string.h>

enum space_field { SPACE_PLANES = 1 };
enum plane_field {
	PLANE_ID = 1,
	PLANE_NAME = 2,
	PLANE_LINES = 3,
	PLANE_EVENT_METADATA = 4,
	PLANE_STAT_METADATA = 5,
	PLANE_STATS = 6,
};
enum line_field { LINE_ID = 1, LINE_NAME = 2, LINE_TIMESTAMP_NS = 3, LINE_EVENTS = 4 };
enum event_field {
	EVENT_METADATA = 1,
	EVENT_OFFSET_PS = 2,
	EVENT_DURATION_PS = 3,
	EVENT_STATS = 4
};
enum stat_field {
	STAT_METADATA = 1,
	STAT_DOUBLE = 2,
	STAT_UINT64 = 3,
	STAT_INT64 = 4,
	STAT_TEXT = 5,
	STAT_REF = 7,
};
/* Entries of the tables: {key, {id, name}}. */
enum metadata_field { ENTRY_KEY = 1, ENTRY_VALUE = 2, METADATA_ID = 1, METADATA_NAME = 2 };

static const char *const key_names[XPLANE_KEYS] = {
	[XPLANE_ROOT] = "_r",
	[XPLANE_STEP_NUM] = "step_num",
	[XPLANE_CORRELATION] = "correlation_id",
	[XPLANE_KERNEL_DETAILS] = "kernel_details",
	[XPLANE_MEMCPY_DETAILS] = "memcpy_details",
	[XPLANE_START_TIME] = "profile_start_time",
	[XPLANE_STOP_TIME] = "profile_stop_time",
};

int xplane_init(struct xplane *plane, const struct trace *trace)
{
	memset(plane, 0, sizeof *plane);
	plane->trace = trace;
	buffer_init(&plane->out);
	plane->names = calloc((size_t)trace->name_count + 1, 1);
	plane->strings = calloc(trace->strings.count + 1, 1);
	return plane->names && plane->strings ? STATUS_OK : STATUS_NOMEM;
}

void xplane_release(struct xplane *plane)
{
	buffer_release(&plane->out);
	free(plane->names);
	free(plane->strings);
	memset(plane, 0, sizeof *plane);
}

/* Numbers begin at 1: first the strings of the trace, then the fixed keys. */
static uint64_t string_id(struct xplane *plane, uint64_t string)
{
	if (string >= plane->trace->strings.count)
		string = 0;
	plane->strings[string] = true;
	return string + 1;
}

static uint64_t key_id(struct xplane *plane, enum xplane_key key)
{
	plane->keys[key] = true;
	return plane->trace->strings.count + 1 + key;
}

size_t xplane_event(struct xplane *plane, struct buffer *events, uint32_t name, uint64_t start_ns,
	uint64_t duration_ns)
{
	size_t opened = wire_open(events, LINE_EVENTS);

	plane->names[name] = true;
	wire_u64(events, EVENT_METADATA, (uint64_t)name + 1);
	wire_u64(events, EVENT_OFFSET_PS, start_ns * 1000);
	wire_u64(events, EVENT_DURATION_PS, duration_ns * 1000);
	return opened;
}

void xplane_event_end(struct buffer *events, size_t opened)
{
	wire_close(events, opened);
}

void xplane_stat(struct xplane *plane, struct buffer *events, enum xplane_key key, uint64_t value)
{
	size_t opened = wire_open(events, EVENT_STATS);

	wire_u64(events, STAT_METADATA, key_id(plane, key));
	wire_u64(events, STAT_INT64, value);
	wire_close(events, opened);
}

void xplane_stat_text(
	struct xplane *plane, struct buffer *events, enum xplane_key key, const char *text)
{
	size_t opened = wire_open(events, EVENT_STATS);

	wire_u64(events, STAT_METADATA, key_id(plane, key));
	wire_text(events, STAT_TEXT, text);
	wire_close(events, opened);
}

void xplane_stat_arg(struct xplane *plane, struct buffer *events, const struct span_arg *arg)
{
	size_t opened = wire_open(events, EVENT_STATS);

	wire_u64(events, STAT_METADATA, string_id(plane, arg->key));
	if (arg->type == ARG_INTEGER)
		wire_u64(events, STAT_INT64, arg->value);
	else if (arg->type == ARG_DOUBLE)
		wire_fixed64(events, STAT_DOUBLE, arg->value);
	else
		wire_u64(events, STAT_REF, string_id(plane, arg->value));
	wire_close(events, opened);
}

void xplane_line(struct xplane *plane, uint64_t id, const char *name, const struct buffer *events)
{
	size_t opened = wire_open(&plane->out, PLANE_LINES);

	wire_u64(&plane->out, LINE_ID, id);
	wire_text(&plane->out, LINE_NAME, name);
	/* Times count from the profile's start, which the plane "Task Environment" knows. */
	wire_u64(&plane->out, LINE_TIMESTAMP_NS, 0);
	buffer_append(&plane->out, events->data, events->length);
	wire_close(&plane->out, opened);
}

void xplane_fact(struct xplane *plane, enum xplane_key key, uint64_t value)
{
	size_t opened = wire_open(&plane->out, PLANE_STATS);

	wire_u64(&plane->out, STAT_METADATA, key_id(plane, key));
	wire_u64(&plane->out, STAT_UINT64, value);
	wire_close(&plane->out, opened);
}

static void put_metadata(struct buffer *out, uint32_t field, uint64_t id, const char *name)
{
	size_t entry = wire_open(out, field), value;

	wire_u64(out, ENTRY_KEY, id);
	value = wire_open(out, ENTRY_VALUE);
	wire_u64(out, METADATA_ID, id);
	wire_text(out, METADATA_NAME, name);
	wire_close(out, value);
	wire_close(out, entry);
}

static void put_tables(struct xplane *plane)
{
	const struct trace *trace = plane->trace;

	for (uint32_t i = 0; i < trace->name_count; i++)
		if (plane->names[i])
			put_metadata(&plane->out, PLANE_EVENT_METADATA, (uint64_t)i + 1,
				trace->names[i].name);
	for (size_t i = 0; i < trace->strings.count; i++)
		if (plane->strings[i])
			put_metadata(&plane->out, PLANE_STAT_METADATA, i + 1,
				string_table_borrow(&trace->strings, (uint32_t)i));
	for (int i = 0; i < XPLANE_KEYS; i++)
		if (plane->keys[i])
			put_metadata(&plane->out, PLANE_STAT_METADATA,
				trace->strings.count + 1 + (uint64_t)i, key_names[i]);
	memset(plane->names, 0, (size_t)trace->name_count + 1);
	memset(plane->strings, 0, trace->strings.count + 1);
	memset(plane->keys, 0, sizeof plane->keys);
}

void xplane_finish(struct xplane *plane, uint64_t id, const char *name, struct buffer *out)
{
	size_t opened;

	put_tables(plane);
	opened = wire_open(out, SPACE_PLANES);
	wire_u64(out, PLANE_ID, id);
	wire_text(out, PLANE_NAME, name);
	buffer_append(out, plane->out.data, plane->out.length);
	wire_close(out, opened);
	if (!buffer_ok(&plane->out))
		out->failed = true;
	buffer_reset(&plane->out);
}
