// SPDX-License-Identifier: MIT OR Apache-2.0
/* XPlane, the profile of JAX, TensorFlow and PyTorch/XLA. A plane is a device or the host, a line a
 * stream or a thread, an event a span; names and stats are described once per plane, behind the
 * lines, so a plane is held in memory while it is read.
 *
 *   XSpace { planes 1, errors 2, warnings 3, hostnames 4 }
 *   XPlane { id 1, name 2, lines 3, event_metadata 4, stat_metadata 5, stats 6 }
 *   XLine  { id 1, name 2, timestamp_ns 3, events 4, duration_ps 9, display_id 10, display_name 11
 * } XEvent { metadata_id 1, offset_ps 2 or num_occurrences 5, duration_ps 3, stats 4 } */
#include "format/span_block.h"
#include "import/xplane_line.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bad(struct xplane_import *import, int status)
{
	if (status == STATUS_FORMAT)
		return error_set_at(import->err, status, import->input.offset,
			"damaged plane: its protobuf data does not hang together");
	return event_fail(import->err, status);
}

/* One argument as text, for metadata. */
static int keep_argument(
	struct xplane_import *import, const char *prefix, const char *middle, uint32_t index)
{
	const struct string_table *strings = &import_sink_dict(import->sink)->strings;
	const struct event_args *args = &import->args;
	struct buffer *text = &import->text;
	uint64_t value = args->values[index];
	const struct string_entry *entry;
	size_t from;

	buffer_reset(text);
	buffer_printf(text, "xplane.%s%s%s.%s", prefix, *middle ? "." : "", middle,
		string_table_borrow(strings, args->keys[index]));
	buffer_byte(text, 0);
	from = text->length;
	switch (args->types[index]) {
	case ARG_INTEGER:
		buffer_printf(text, "%" PRId64, (int64_t)value);
		break;
	case ARG_DOUBLE:
		buffer_printf(text, "%.17g", wire_as_double(value));
		break;
	default:
		entry = &strings->entries[value];
		buffer_append(text, entry->text, entry->length);
		break;
	}
	if (!buffer_ok(text))
		return STATUS_NOMEM;
	return import_sink_metadata(
		import->sink, (char *)text->data, (char *)text->data + from, text->length - from);
}

static int keep_arguments(struct xplane_import *import, const char *middle)
{
	int status = import->args.status;

	for (uint32_t i = 0; status == STATUS_OK && i < import->args.count; i++)
		status = keep_argument(import, import->plane, middle, i);
	return status;
}

static int plane_stat(struct xplane_import *import, struct reader bytes)
{
	struct xplane_values values = { 0 };
	int status;

	event_args_reset(&import->args);
	status = xplane_meta_add(&import->meta, bytes, &import->args, &values);
	if (values.has[XPLANE_PROCESS_ID])
		import->pid = values.value[XPLANE_PROCESS_ID];
	if (values.has[XPLANE_START_TIME]) {
		import->has_start = true;
		import->start_unix_ns = values.value[XPLANE_START_TIME];
	}
	return status == STATUS_OK ? keep_arguments(import, "") : status;
}

/* A plane without lines describes things (programs) that no event here refers to. */
static int keep_descriptions(struct xplane_import *import)
{
	struct xplane_values values;
	int status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < import->meta.event_count; i++) {
		const struct xplane_event_name *event = &import->meta.events[i];

		event_args_reset(&import->args);
		status = xplane_meta_describe(&import->meta, event, &import->args, &values);
		if (status == STATUS_OK)
			status = keep_arguments(import,
				string_table_borrow(
					&import_sink_dict(import->sink)->strings, event->name));
	}
	return status;
}

/* Names first: they come behind the lines that use them. */
static int read_names(struct xplane_import *import, struct reader plane)
{
	struct wire_field field;
	int status = STATUS_OK, more;

	xplane_meta_reset(&import->meta);
	snprintf(import->plane, sizeof import->plane, "plane %" PRIu64, import->plane_index);
	import->line_count = 0;
	while (status == STATUS_OK && (more = wire_next(&plane, &field)) == 1) {
		if (field.type != WIRE_BYTES)
			continue;
		if (field.field == 2)
			snprintf(import->plane, sizeof import->plane, "%.*s",
				(int)(reader_left(&field.bytes) < 120 ? reader_left(&field.bytes)
								      : 120),
				(const char *)field.bytes.at);
		else if (field.field == 3)
			import->line_count++;
		else if (field.field == 4)
			status = xplane_meta_event(&import->meta, field.bytes);
		else if (field.field == 5)
			status = xplane_meta_stat(&import->meta, field.bytes);
	}
	return status == STATUS_OK ? more : status;
}

static int each_field(struct xplane_import *import, struct reader plane, uint32_t number,
	int (*each)(struct xplane_import *import, struct reader bytes))
{
	struct wire_field field;
	int status = STATUS_OK, more = 0;

	while (status == STATUS_OK && (more = wire_next(&plane, &field)) == 1)
		if (field.field == number && field.type == WIRE_BYTES)
			status = each(import, field.bytes);
	return status == STATUS_OK ? more : status;
}

static int read_plane(struct xplane_import *import, struct reader plane)
{
	int status = read_names(import, plane);

	import->device = strncmp(import->plane, "/device:", 8) == 0;
	import->gpu = strstr(import->plane, "GPU") != NULL;
	import->has_process = false;
	import->pid = 0;
	if (status == STATUS_OK)
		status = each_field(import, plane, 6, plane_stat);
	if (status == STATUS_OK)
		status = each_field(import, plane, 3, xplane_line_read);
	if (status == STATUS_OK && import->line_count == 0)
		status = keep_descriptions(import);
	import->plane_index++;
	return status;
}

static int read_space(struct xplane_import *import)
{
	static const char *const keys[] = {
		[2] = "xplane.error", [3] = "xplane.warning", [4] = "xplane.hostname"
	};
	struct wire_field field;
	int more;

	while ((more = wire_input_next(&import->input, &field, import->err)) == 1) {
		int status = STATUS_OK;

		if (field.type != WIRE_BYTES)
			continue;
		if (field.field == 1)
			status = read_plane(import, field.bytes);
		else if (field.field < 5)
			status = import_sink_metadata(import->sink, keys[field.field],
				(const char *)field.bytes.at, reader_left(&field.bytes));
		if (status != STATUS_OK)
			return bad(import, status);
	}
	if (more < 0)
		return more;
	if (import->input.cut_bytes && import->plane_index == 0)
		return error_set_at(import->err, STATUS_FORMAT, import->input.offset,
			"the file ends inside its first plane");
	if (import->input.cut_bytes)
		import_sink_skip(import->sink, "a plane that is cut off at the end",
			"left out; what came before was read");
	return STATUS_OK;
}

static void finish(struct xplane_import *import)
{
	struct ledger *ledger = import_sink_ledger(import->sink);

	event_args_finish(&import->args);
	if (import->meta.unresolved)
		ledger_add(ledger, import->meta.unresolved,
			"references to names that are not there", "import",
			"kept as numbers, or as '?'");
	/* Profiles are written relative to their start; older ones hold unix time. */
	if (import->first_line_ns != INT64_MAX && import->first_line_ns > INT64_C(1) << 59)
		import_sink_epoch(import->sink, 0);
	else if (import->has_start && import->start_unix_ns < INT64_MAX / 2)
		import_sink_epoch(import->sink, (int64_t)import->start_unix_ns);
}

static int run_xplane(struct import_source *source, struct import_sink *sink, struct error *err)
{
	struct xplane_import *import = calloc(1, sizeof *import);
	int status;

	if (!import)
		return error_set(err, STATUS_NOMEM, "out of memory");
	import->sink = sink;
	import->err = err;
	import->first_line_ns = INT64_MAX;
	wire_input_init(&import->input, source, import_sink_room(sink));
	xplane_meta_init(&import->meta, sink);
	event_args_init(&import->args, sink);
	buffer_init(&import->text);
	status = read_space(import);
	if (status == STATUS_OK)
		finish(import);
	wire_input_release(&import->input);
	xplane_meta_release(&import->meta);
	buffer_release(&import->text);
	free(import);
	return status;
}

/* The first field must be a plane, and its first fields must be those of a plane. */
static int detect_xplane(const uint8_t *head, size_t count)
{
	static const uint8_t types[] = { 9, WIRE_VARINT, WIRE_BYTES, WIRE_BYTES, WIRE_BYTES,
		WIRE_BYTES, WIRE_BYTES };
	struct wire_field field;
	struct reader in, plane;
	uint64_t length;

	reader_init(&in, head, count);
	if (reader_byte(&in) != (1 << 3 | WIRE_BYTES))
		return 0;
	length = wire_read_varint(&in);
	reader_init(&plane, in.at, length < reader_left(&in) ? (size_t)length : reader_left(&in));
	while (wire_next(&plane, &field) == 1) {
		if (field.field >= sizeof types || field.type != types[field.field])
			return 0;
		if (field.field == 2)
			return reader_left(&field.bytes) && isprint(field.bytes.at[0]) ? 85 : 0;
	}
	return 0;
}

const struct importer import_xplane = {
	.name = "xplane",
	.summary = "XPlane profile of JAX, TensorFlow and PyTorch/XLA",
	.version = 1,
	.detect = detect_xplane,
	.run = run_xplane,
};
