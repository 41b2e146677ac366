// SPDX-License-Identifier: MIT OR Apache-2.0
/* TrackEvent { category_iids 3, debug_annotations 4, legacy_event 6, type 9, name_iid 10,
 * track_uuid 11, extra_counter_values 12, categories 22, name 23, counter_value 30,
 * extra_counter_track_uuids 31, source_location 33, source_location_iid 34, flow_ids_old 36,
 * terminating_flow_ids_old 42, double_counter_value 44, extra_double_counter_track_uuids 45,
 * extra_double_counter_values 46, flow_ids 47, terminating_flow_ids 48, correlation_id 52,
 * correlation_id_str 53, callstack 55, callstack_iid 56 } */
#include "import/perfetto_event.h"

#include "format/span_block.h"

#include <stdio.h>
#include <string.h>

#define EXTRAS_MAX 8
#define FLOWS_MAX  64

enum event_type { TYPE_NONE, TYPE_BEGIN, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

struct track_event {
	enum event_type type;
	int64_t time_ns, duration_ns;
	uint64_t uuid, name_id;
	bool has_uuid, has_name, has_value, has_double, complete;
	struct reader name;
	int64_t value;
	double number;
	uint64_t extra_tracks[EXTRAS_MAX], extra_values[EXTRAS_MAX];
	uint64_t extra_double_tracks[EXTRAS_MAX], extra_doubles[EXTRAS_MAX];
	unsigned extra_track_count, extra_value_count;
	unsigned extra_double_track_count, extra_double_count;
	uint64_t flows[FLOWS_MAX];
	bool flow_ends[FLOWS_MAX];
	unsigned flow_count;
	uint64_t correlation;
	uint32_t correlation_text, stack;
	bool has_correlation, has_stack;
};

int perfetto_events_init(struct perfetto_events *events, struct import_sink *sink,
	struct perfetto_sequences *sequences, struct perfetto_tracks *tracks)
{
	memset(events, 0, sizeof *events);
	events->sink = sink;
	events->sequences = sequences;
	events->tracks = tracks;
	event_args_init(&events->args, sink);
	events->annotations =
		(struct perfetto_args){ .sequences = sequences, .args = &events->args };
	buffer_init(&events->text);
	if (slice_stack_init(&events->slices, &events->args) != STATUS_OK)
		return STATUS_NOMEM;
	return import_sink_name(sink, "flow", 4, "flow", 4, &events->flow_name);
}

void perfetto_events_release(struct perfetto_events *events)
{
	slice_stack_release(&events->slices);
	id_map_release(&events->flows);
	buffer_release(&events->text);
}

int perfetto_events_finish(struct perfetto_events *events)
{
	struct ledger *ledger = import_sink_ledger(events->sink);
	int status = slice_stack_finish(&events->slices, events->last_ns);

	event_args_finish(&events->args);

	if (events->annotations.too_deep)
		ledger_add(ledger, events->annotations.too_deep,
			"arguments nested deeper than 32 levels", "import", "left out below that");
	return status;
}

/* A list of numbers, packed or one by one; what is beyond `room` is left. */
static void add_numbers(const struct wire_field *field, size_t bytes, uint64_t *items,
	unsigned *count, unsigned room)
{
	struct reader list = field->bytes;

	if (field->type != WIRE_BYTES) {
		if (*count < room)
			items[(*count)++] = field->number;
		return;
	}
	while (reader_left(&list) && *count < room && !list.failed) {
		uint64_t value = bytes ? reader_fixed(&list, bytes) : wire_read_varint(&list);

		if (!list.failed)
			items[(*count)++] = value;
	}
}

static void add_flows(struct track_event *event, const struct wire_field *field, bool end)
{
	bool fixed = field->field >= 47;
	unsigned before = event->flow_count;

	add_numbers(field, fixed ? 8 : 0, event->flows, &event->flow_count, FLOWS_MAX);
	for (unsigned i = before; i < event->flow_count; i++)
		event->flow_ends[i] = end;
}

/* Categories are joined with commas, as Chrome's are. */
static void add_category(struct perfetto_events *events, const char *text, size_t length)
{
	if (events->text.length)
		buffer_byte(&events->text, ',');
	buffer_append(&events->text, text, length);
}

static void add_categories(struct perfetto_events *events, const struct perfetto_sequence *sequence,
	const struct wire_field *field)
{
	const struct string_table *strings = &import_sink_dict(events->sink)->strings;
	uint64_t ids[16];
	unsigned count = 0;

	if (field->field == 22) {
		add_category(events, (const char *)field->bytes.at, reader_left(&field->bytes));
		return;
	}
	add_numbers(field, 0, ids, &count, 16);
	for (unsigned i = 0; i < count; i++) {
		const struct string_entry *entry = &strings->entries[perfetto_interned(
			events->sequences, sequence, INTERNED_CATEGORY, ids[i])];

		add_category(events, entry->text, entry->length);
	}
}

/* LegacyEvent { name_iid 1, phase 2, duration_us 3, ...}: what was Chrome's format once. */
static int read_legacy(
	struct perfetto_events *events, struct track_event *event, struct reader bytes)
{
	struct wire_field field;
	uint64_t phase = 0;
	int more;

	while ((more = wire_next(&bytes, &field)) == 1) {
		if (field.type != WIRE_VARINT)
			continue;
		if (field.field == 1)
			event->name_id = field.number;
		else if (field.field == 2)
			phase = field.number;
		else if (field.field == 3)
			event->duration_ns = (int64_t)(field.number * 1000);
		else if (field.field == 6 || field.field == 10 || field.field == 11)
			event_args_unsigned(&events->args, event_args_key(&events->args, "id", 2),
				field.number);
	}
	if (more < 0)
		return more;
	switch (phase) {
	case 'B':
		event->type = TYPE_BEGIN;
		break;
	case 'E':
		event->type = TYPE_END;
		break;
	case 'X':
		event->complete = true;
		break;
	case 0:
		break;
	default:
		event->type = TYPE_INSTANT;
		event_args_string(&events->args, "~ph", &(char){ (char)phase }, 1);
		break;
	}
	return STATUS_OK;
}

static int read_text_field(struct perfetto_events *events, const struct perfetto_sequence *sequence,
	const struct wire_field *field, struct track_event *event)
{
	uint32_t string = 0;
	char name[32];
	int status;

	switch (field->field) {
	case 4:
		return perfetto_args_add(&events->annotations, sequence, field->bytes);
	case 6:
		return read_legacy(events, event, field->bytes);
	case 23:
		event->name = field->bytes;
		event->has_name = true;
		return STATUS_OK;
	case 53:
		event->has_correlation = true;
		return import_sink_string(events->sink, (const char *)field->bytes.at,
			reader_left(&field->bytes), &event->correlation_text);
	case 55:
		event->has_stack = true;
		return perfetto_inline_stack(events->sequences, field->bytes, &event->stack);
	case 33:
		status = perfetto_location(
			events->sequences, field->bytes, LOCATION_SOURCE, &string);
		event_args_add(&events->args, event_args_key(&events->args, "source_location", 15),
			ARG_STRING, string);
		return status;
	default:
		/* Messages that have no column of ours are kept to the byte. */
		snprintf(name, sizeof name, "field %u", field->field);
		event_args_bytes(&events->args, event_args_key(&events->args, name, strlen(name)),
			field->bytes.at, reader_left(&field->bytes));
		return events->args.status;
	}
}

static void read_number_field(struct perfetto_events *events,
	const struct perfetto_sequence *sequence, const struct wire_field *field,
	struct track_event *event)
{
	char name[32];

	switch (field->field) {
	case 9:
		event->type =
			field->number <= TYPE_COUNTER ? (enum event_type)field->number : TYPE_NONE;
		break;
	case 10:
		event->name_id = field->number;
		break;
	case 11:
		event->uuid = field->number;
		event->has_uuid = true;
		break;
	case 30:
		event->value = (int64_t)field->number;
		event->has_value = true;
		break;
	case 34:
		event_args_add(&events->args, event_args_key(&events->args, "source_location", 15),
			ARG_STRING,
			perfetto_interned(
				events->sequences, sequence, INTERNED_LOCATION, field->number));
		break;
	case 44:
		event->number = wire_as_double(field->number);
		event->has_double = true;
		break;
	case 52:
		event->correlation = field->number;
		event->has_correlation = true;
		break;
	case 56:
		event->stack = perfetto_interned(
			events->sequences, sequence, INTERNED_STACK, field->number);
		event->has_stack = event->stack != 0;
		event->stack -= event->has_stack;
		break;
	case 1: /* a time of its own: taken by the packet reader */
	case 16:
		break;
	default:
		/* What has no column of ours is kept as a number. */
		snprintf(name, sizeof name, "field %u", field->field);
		event_args_unsigned(&events->args,
			event_args_key(&events->args, name, strlen(name)), field->number);
		break;
	}
}

static int read_fields(struct perfetto_events *events, const struct perfetto_sequence *sequence,
	struct reader bytes, struct track_event *event)
{
	struct wire_field field;
	int status = STATUS_OK, more = 0;

	while (status == STATUS_OK && (more = wire_next(&bytes, &field)) == 1) {
		switch (field.field) {
		case 3:
		case 22:
			add_categories(events, sequence, &field);
			break;
		case 12:
			add_numbers(&field, 0, event->extra_values, &event->extra_value_count,
				EXTRAS_MAX);
			break;
		case 31:
			add_numbers(&field, 0, event->extra_tracks, &event->extra_track_count,
				EXTRAS_MAX);
			break;
		case 45:
			add_numbers(&field, 0, event->extra_double_tracks,
				&event->extra_double_track_count, EXTRAS_MAX);
			break;
		case 46:
			add_numbers(&field, 8, event->extra_doubles, &event->extra_double_count,
				EXTRAS_MAX);
			break;
		case 36:
		case 47:
			add_flows(event, &field, false);
			break;
		case 42:
		case 48:
			add_flows(event, &field, true);
			break;
		default:
			if (field.type == WIRE_BYTES)
				status = read_text_field(events, sequence, &field, event);
			else
				read_number_field(events, sequence, &field, event);
			break;
		}
	}
	return status == STATUS_OK ? more : status;
}

static int event_name(struct perfetto_events *events, const struct perfetto_sequence *sequence,
	const struct track_event *event, uint32_t *ret_name)
{
	uint32_t name = 0, category;
	int status = STATUS_OK;

	if (event->has_name)
		status = import_sink_string(events->sink, (const char *)event->name.at,
			reader_left(&event->name), &name);
	else if (event->name_id)
		name = perfetto_interned(
			events->sequences, sequence, INTERNED_NAME, event->name_id);
	if (status == STATUS_OK && !buffer_ok(&events->text))
		status = STATUS_NOMEM;
	if (status == STATUS_OK)
		status = import_sink_string(events->sink, (const char *)events->text.data,
			events->text.length, &category);
	return status == STATUS_OK
		       ? trace_dict_name(import_sink_dict(events->sink), name, category, ret_name)
		       : status;
}

static int put_counter(struct perfetto_events *events, struct perfetto_sequence *sequence,
	uint64_t uuid, int64_t time_ns, uint64_t bits, bool real)
{
	struct perfetto_track *track;
	uint64_t value = bits, last = 0;
	int status = perfetto_tracks_find(events->tracks, uuid, &track);

	if (status != STATUS_OK)
		return status;
	track->kind = TRACK_COUNTER;
	if (real)
		return import_sink_counter(events->sink, track->track, time_ns,
			wire_as_double(bits) * (double)track->multiplier);
	if (track->incremental) {
		id_map_get(&sequence->counters, uuid, &last);
		value += last;
		status = id_map_put(&sequence->counters, uuid, value);
	}
	return status == STATUS_OK
		       ? import_sink_counter_integer(events->sink, track->track, time_ns,
				 (int64_t)(value * (uint64_t)track->multiplier))
		       : status;
}

static int put_extras(struct perfetto_events *events, struct perfetto_sequence *sequence,
	const struct track_event *event)
{
	const uint64_t *tracks = event->extra_tracks, *doubles = event->extra_double_tracks;
	unsigned count = event->extra_track_count, double_count = event->extra_double_track_count;
	int status = STATUS_OK;

	if (!count) {
		tracks = sequence->extra_tracks;
		count = sequence->extra_count;
	}
	if (!double_count) {
		doubles = sequence->extra_double_tracks;
		double_count = sequence->extra_double_count;
	}
	for (unsigned i = 0; status == STATUS_OK && i < count && i < event->extra_value_count; i++)
		status = put_counter(
			events, sequence, tracks[i], event->time_ns, event->extra_values[i], false);
	for (unsigned i = 0;
		status == STATUS_OK && i < double_count && i < event->extra_double_count; i++)
		status = put_counter(events, sequence, doubles[i], event->time_ns,
			event->extra_doubles[i], true);
	return status;
}

/* An id begins a flow where it is seen first, and is a step of it after that. */
static int put_links(
	struct perfetto_events *events, uint32_t track, const struct track_event *event)
{
	int status = STATUS_OK;

	for (unsigned i = 0; status == STATUS_OK && i < event->flow_count; i++) {
		uint64_t seen = 0;
		uint32_t kind;

		id_map_get(&events->flows, event->flows[i], &seen);
		kind = event->flow_ends[i] ? LINK_FLOW_END
		       : seen              ? LINK_FLOW_STEP
					   : LINK_FLOW_BEGIN;
		if (!seen)
			status = id_map_put(&events->flows, event->flows[i], 1);
		if (status == STATUS_OK)
			status = import_sink_link(events->sink, track, event->time_ns,
				event->flows[i], kind | LINK_ENCLOSING, events->flow_name);
	}
	if (status == STATUS_OK && event->has_correlation)
		status = import_sink_link(events->sink, track, event->time_ns,
			event->correlation_text ? event->correlation_text : event->correlation,
			LINK_CORRELATION | (event->correlation_text ? LINK_TEXT_ID : 0), 0);
	if (status == STATUS_OK && event->has_stack)
		status = import_sink_sample(events->sink, track, event->time_ns, event->stack);
	return status;
}

static int put_event(struct perfetto_events *events, struct perfetto_sequence *sequence,
	uint32_t track, const struct track_event *event)
{
	uint32_t name;
	int status = event_name(events, sequence, event, &name);

	if (status != STATUS_OK)
		return status;
	if (event->complete)
		status = event->duration_ns < 0 || event->duration_ns > INT64_MAX / 2
				 ? event_span(&events->args, track, name, 1, 0)
				 : event_span(&events->args, track, name, event->time_ns,
					   event->time_ns + event->duration_ns);
	else if (event->type == TYPE_BEGIN)
		status = slice_stack_begin(
			&events->slices, track, sequence->id, name, event->time_ns);
	else if (event->type == TYPE_END)
		status = slice_stack_end(&events->slices, track, sequence->id, event->time_ns);
	else if (event->type == TYPE_INSTANT)
		status = event_instant(&events->args, track, name, event->time_ns);
	else
		import_sink_skip(events->sink, "track events without a type", "left out");
	return status == STATUS_OK ? put_links(events, track, event) : status;
}

/* Whether the category at hand is that of work on a device. */
static bool is_device_work(const struct perfetto_events *events)
{
	static const char *const words[] = { "kernel", "gpu_memcpy", "gpu_memset" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (events->text.length == strlen(words[i]) &&
			memcmp(events->text.data, words[i], events->text.length) == 0)
			return true;
	return false;
}

/* Which track an event without a uuid is on: the sequence's default, its thread, or none. */
static int event_track_of(struct perfetto_events *events, const struct perfetto_sequence *sequence,
	const struct track_event *event, uint32_t *ret_track)
{
	uint64_t uuid = event->has_uuid ? event->uuid : sequence->has_track ? sequence->track : 0;
	struct perfetto_track *track;
	int status;

	if (!event->has_uuid && !sequence->has_track && sequence->has_thread)
		return perfetto_tracks_thread(
			events->tracks, sequence->pid, sequence->tid, ret_track);
	status = perfetto_tracks_find(events->tracks, uuid, &track);
	if (status != STATUS_OK)
		return status;
	track->device |= is_device_work(events);
	*ret_track = track->track;
	return STATUS_OK;
}

int perfetto_events_read(struct perfetto_events *events, struct perfetto_sequence *sequence,
	struct reader bytes, int64_t time_ns)
{
	struct track_event event = { .time_ns = time_ns };
	uint32_t track;
	int status;

	event_args_reset(&events->args);
	buffer_reset(&events->text);
	if (!event_time_ok(events->sink, time_ns))
		return STATUS_OK;
	status = read_fields(events, sequence, bytes, &event);
	if (status != STATUS_OK)
		return status;
	if (!events->any || time_ns > events->last_ns)
		events->last_ns = time_ns;
	events->any = true;
	if (event.type == TYPE_COUNTER) {
		uint64_t uuid = event.has_uuid ? event.uuid : sequence->track, bits;

		memcpy(&bits, &event.number, sizeof bits);
		status = put_counter(events, sequence, uuid, time_ns,
			event.has_double ? bits : (uint64_t)event.value, event.has_double);
	} else {
		status = event_track_of(events, sequence, &event, &track);
		if (status == STATUS_OK)
			status = put_event(events, sequence, track, &event);
	}
	return status == STATUS_OK ? put_extras(events, sequence, &event) : status;
}
