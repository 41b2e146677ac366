// SPDX-License-Identifier: MIT OR Apache-2.0
/* Lines become tracks, events become spans.
 *
 *   XLine  { id 1, name 2, timestamp_ns 3, events 4, duration_ps 9, display_id 10, display_name 11
 * } XEvent { metadata_id 1, offset_ps 2 or num_occurrences 5, duration_ps 3, stats 4 } */
#include "import/xplane_line.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST_PID 701 /* what the profile's own viewer shows when the process is not known */

struct xplane_line {
	struct reader name, display;
	uint64_t id, display_id;
	int64_t timestamp_ns;
	bool has_display_id;
};

/* Picoseconds to nanoseconds, rounded: both ends of a span alike, so that nesting survives. */
static int64_t time_of(int64_t base_ns, __int128 offset_ps)
{
	__int128 ps = (__int128)base_ns * 1000 + offset_ps + 500;
	__int128 ns = ps / 1000 - (ps % 1000 < 0);

	return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

static bool text_is(const struct reader *text, const char *word)
{
	return reader_left(text) == strlen(word) && memcmp(text->at, word, strlen(word)) == 0;
}

/* The number at the end of a text: "train 12", "12". */
static bool trailing_number(const char *text, int64_t *ret_value)
{
	size_t length = strlen(text), at = length;

	while (at && isdigit((unsigned char)text[at - 1]) && length - at < 18)
		at--;
	if (at == length)
		return false;
	*ret_value = (int64_t)strtoll(text + at, NULL, 10);
	return true;
}

static bool begins(const char *text, const char *word)
{
	return strncasecmp(text, word, strlen(word)) == 0;
}

static const char *category_of(
	const struct xplane_import *import, const char *name, const struct xplane_values *values)
{
	if (import->steps || (!import->device && values->has[XPLANE_STEP_NUM]))
		return "step";
	if (!import->work)
		return import->category;
	if (values->has[XPLANE_MEMSET_DETAILS] || begins(name, "memset"))
		return "gpu_memset";
	if (values->has[XPLANE_MEMCPY_DETAILS] || begins(name, "memcpy"))
		return "gpu_memcpy";
	return "kernel";
}

static int add_links(
	struct xplane_import *import, int64_t time_ns, const struct xplane_values *values)
{
	int status = STATUS_OK;
	uint32_t name;

	if (values->has[XPLANE_CORRELATION] && values->value[XPLANE_CORRELATION])
		status = import_sink_link(import->sink, import->track, time_ns,
			values->value[XPLANE_CORRELATION], LINK_CORRELATION, 0);
	if (!values->has[XPLANE_PRODUCER] && !values->has[XPLANE_CONSUMER])
		return status;
	if (status == STATUS_OK)
		status = import_sink_name(import->sink, "context", 7, "flow", 4, &name);
	/* Contexts of different types may have the same number. */
	if (status == STATUS_OK && values->has[XPLANE_PRODUCER])
		status = import_sink_link(import->sink, import->track, time_ns,
			values->value[XPLANE_PRODUCER] ^ values->value[XPLANE_PRODUCER_TYPE] << 56,
			LINK_FLOW_BEGIN | LINK_ENCLOSING, name);
	if (status == STATUS_OK && values->has[XPLANE_CONSUMER])
		status = import_sink_link(import->sink, import->track, time_ns,
			values->value[XPLANE_CONSUMER] ^ values->value[XPLANE_CONSUMER_TYPE] << 56,
			LINK_FLOW_END | LINK_ENCLOSING, name);
	return status;
}

static int put_event(struct xplane_import *import, const struct xplane_event_name *event,
	int64_t offset_ps, int64_t duration_ps, const struct xplane_values *values, bool timed)
{
	struct event_args *args = &import->args;
	const char *name =
		event ? string_table_borrow(&import_sink_dict(import->sink)->strings, event->name)
		      : "?";
	const char *category = category_of(import, name, values);
	int64_t start_ns = time_of(import->line_ns, offset_ps), step = 0;
	uint32_t name_id;
	int status;

	if (strcmp(category, "step") == 0) {
		if (values->has[XPLANE_STEP_NUM])
			event_args_integer(args, "step", (int64_t)values->value[XPLANE_STEP_NUM]);
		else if (trailing_number(name, &step))
			event_args_integer(args, "step", step);
	}
	status = import_sink_name(
		import->sink, name, strlen(name), category, strlen(category), &name_id);
	if (status != STATUS_OK)
		return status;
	import->events++;
	if (!timed)
		return event_instant(args, import->track, name_id, start_ns);
	status = event_span(args, import->track, name_id, start_ns,
		time_of(import->line_ns, (__int128)offset_ps + duration_ps));
	if (status == STATUS_OK && event_time_ok(import->sink, start_ns))
		status = add_links(import, start_ns, values);
	return status;
}

static int read_event(struct xplane_import *import, struct reader bytes)
{
	struct xplane_values values = { 0 };
	const struct xplane_event_name *event;
	struct wire_field field;
	uint64_t id = 0;
	int64_t offset_ps = 0, duration_ps = 0, occurrences = 0;
	int status = STATUS_OK, more;

	event_args_reset(&import->args);
	while (status == STATUS_OK && (more = wire_next(&bytes, &field)) == 1) {
		if (field.field == 4 && field.type == WIRE_BYTES)
			status =
				xplane_meta_add(&import->meta, field.bytes, &import->args, &values);
		else if (field.type != WIRE_VARINT)
			continue;
		else if (field.field == 1)
			id = field.number;
		else if (field.field == 2)
			offset_ps = (int64_t)field.number;
		else if (field.field == 3)
			duration_ps = (int64_t)field.number;
		else if (field.field == 5)
			occurrences = (int64_t)field.number;
	}
	if (status == STATUS_OK)
		status = more;
	event = xplane_meta_find(&import->meta, id);
	if (!event)
		import->meta.unresolved++;
	else if (status == STATUS_OK)
		status = xplane_meta_describe(&import->meta, event, &import->args, &values);
	if (occurrences) {
		/* A sum over the profile, without a time of its own. */
		event_args_integer(&import->args, "num_occurrences", occurrences);
		event_args_integer(&import->args, "duration_ps", duration_ps);
	}
	return status == STATUS_OK
		       ? put_event(import, event, offset_ps, duration_ps, &values, occurrences == 0)
		       : status;
}

static int need_process(struct xplane_import *import)
{
	uint64_t pid = import->device ? import->plane_index + 1
		       : import->pid  ? import->pid
				      : HOST_PID;
	int status;

	if (import->has_process)
		return STATUS_OK;
	status = event_track(import->sink, 0, TRACK_PROCESS, pid, import->plane,
		strlen(import->plane), &import->process);
	import->has_process = status == STATUS_OK;
	return status;
}

/* What kind of row a line is. Lines that the profiler derives from others (modules, steps, scopes)
 * lie beside the work and are not work themselves. */
static void judge_line(struct xplane_import *import, const struct reader *name)
{
	static const char *const derived[] = { "Steps", "XLA Modules", "Framework Ops",
		"Framework Name Scope", "Source code", "Source Code", "Launch Stats", "XLA TraceMe",
		"Async XLA Ops", "Module Launch Stats", "Step Info" };
	bool is_derived = import->gpu && text_is(name, "XLA Ops");

	for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++)
		is_derived |= text_is(name, derived[i]);
	import->steps = text_is(name, "Steps");
	import->work = import->device && !is_derived;
	import->category[0] = 0;
	if (is_derived)
		snprintf(import->category, sizeof import->category, "%.*s",
			(int)(reader_left(name) < 60 ? reader_left(name) : 60),
			(const char *)name->at);
}

static int line_track(struct xplane_import *import, const struct xplane_line *line)
{
	struct reader name = reader_left(&line->display) ? line->display : line->name;
	enum track_kind kind;
	char text[48];
	int status;

	judge_line(import, reader_left(&line->name) ? &line->name : &name);
	kind = !import->device ? TRACK_THREAD : import->work ? TRACK_DEVICE : TRACK_OTHER;
	if (!reader_left(&name)) {
		snprintf(text, sizeof text, "line %" PRIu64, line->id);
		reader_init(&name, text, strlen(text));
	}
	status = event_track(import->sink, import->process, kind,
		line->has_display_id ? line->display_id : line->id, (const char *)name.at,
		reader_left(&name), &import->track);
	if (status == STATUS_OK && reader_left(&line->display) && reader_left(&line->name) &&
		(reader_left(&line->display) != reader_left(&line->name) ||
			memcmp(line->display.at, line->name.at, reader_left(&line->name)) != 0)) {
		snprintf(text, sizeof text, "xplane.line_name.%u", import->track);
		status = import_sink_metadata(
			import->sink, text, (const char *)line->name.at, reader_left(&line->name));
	}
	return status;
}

int xplane_line_read(struct xplane_import *import, struct reader bytes)
{
	struct xplane_line line = { 0 };
	struct reader again = bytes;
	struct wire_field field;
	int status, more;

	reader_init(&line.name, NULL, 0);
	reader_init(&line.display, NULL, 0);
	while ((more = wire_next(&bytes, &field)) == 1) {
		if (field.type == WIRE_BYTES && field.field == 2)
			line.name = field.bytes;
		else if (field.type == WIRE_BYTES && field.field == 11)
			line.display = field.bytes;
		else if (field.type != WIRE_VARINT)
			continue;
		else if (field.field == 1)
			line.id = field.number;
		else if (field.field == 3)
			line.timestamp_ns = (int64_t)field.number;
		else if (field.field == 10) {
			line.display_id = field.number;
			line.has_display_id = true;
		}
	}
	status = more == 0 ? need_process(import) : more;
	if (status == STATUS_OK)
		status = line_track(import, &line);
	import->line_ns = line.timestamp_ns;
	if (line.timestamp_ns && line.timestamp_ns < import->first_line_ns)
		import->first_line_ns = line.timestamp_ns;
	while (status == STATUS_OK && (more = wire_next(&again, &field)) == 1)
		if (field.field == 4 && field.type == WIRE_BYTES)
			status = read_event(import, field.bytes);
	return status == STATUS_OK ? more : status;
}
