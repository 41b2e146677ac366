// SPDX-License-Identifier: MIT OR Apache-2.0
/* Incremental state of packet sequences. */
#include "import/perfetto_state.h"

#include "base/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX  4096u
#define ENTRY_BYTES 48 /* of a map, at its emptiest */

/* Fields of InternedData in the order in which they may refer to each other. */
static const struct {
	uint32_t field;
	enum perfetto_table table;
} interned_fields[] = {
	{ 1, INTERNED_CATEGORY },
	{ 2, INTERNED_NAME },
	{ 3, INTERNED_ANNOTATION },
	{ 29, INTERNED_TEXT },
	{ 5, INTERNED_FUNCTION },
	{ 4, INTERNED_LOCATION },
	{ 6, INTERNED_FRAME },
	{ 7, INTERNED_STACK },
};

void perfetto_sequences_init(struct perfetto_sequences *sequences, struct import_sink *sink)
{
	memset(sequences, 0, sizeof *sequences);
	sequences->sink = sink;
}

void perfetto_sequences_release(struct perfetto_sequences *sequences)
{
	for (size_t i = 0; i < sequences->count; i++) {
		perfetto_sequence_clear(sequences, sequences->items[i]);
		free(sequences->items[i]);
	}
	free(sequences->items);
	free(sequences->frames);
	id_map_release(&sequences->ids);
}

struct perfetto_sequence *perfetto_sequence(struct perfetto_sequences *sequences, uint32_t id)
{
	struct perfetto_sequence *sequence;
	uint64_t place;

	if (id_map_get(&sequences->ids, id, &place))
		return sequences->items[place];
	sequence = calloc(1, sizeof *sequence);
	if (!sequence ||
		array_grow((void **)&sequences->items, &sequences->capacity, sequences->count + 1,
			sizeof(struct perfetto_sequence *)) ||
		id_map_put(&sequences->ids, id, sequences->count)) {
		free(sequence);
		return NULL;
	}
	sequence->id = id;
	sequences->items[sequences->count++] = sequence;
	import_sink_reserve(sequences->sink, sizeof *sequence);
	return sequence;
}

void perfetto_sequence_clear(
	struct perfetto_sequences *sequences, struct perfetto_sequence *sequence)
{
	import_sink_reserve(sequences->sink, -(int64_t)sequence->entry_count * ENTRY_BYTES);
	sequence->entry_count = 0;
	for (int i = 0; i < INTERNED_TABLES; i++)
		id_map_release(&sequence->interned[i]);
	id_map_release(&sequence->counters);
	sequence->has_clock = sequence->has_track = false;
	sequence->extra_count = sequence->extra_double_count = 0;
}

/* TrackEventDefaults */
static int event_defaults(struct perfetto_sequence *sequence, struct reader bytes)
{
	struct wire_field field;
	int more;

	sequence->extra_count = sequence->extra_double_count = 0;
	while ((more = wire_next(&bytes, &field)) == 1) {
		if (field.type != WIRE_VARINT)
			continue;
		if (field.field == 11) {
			sequence->has_track = true;
			sequence->track = field.number;
		} else if (field.field == 31 && sequence->extra_count < 8) {
			sequence->extra_tracks[sequence->extra_count++] = field.number;
		} else if (field.field == 45 && sequence->extra_double_count < 8) {
			sequence->extra_double_tracks[sequence->extra_double_count++] =
				field.number;
		}
	}
	return more;
}

int perfetto_sequence_defaults(struct perfetto_sequence *sequence, struct reader bytes)
{
	struct wire_field field;
	int status = STATUS_OK, more = 0;

	sequence->has_clock = sequence->has_track = false;
	while (status == STATUS_OK && (more = wire_next(&bytes, &field)) == 1) {
		if (field.field == 58 && field.type == WIRE_VARINT) {
			sequence->has_clock = true;
			sequence->clock = (uint32_t)field.number;
		} else if (field.field == 11 && field.type == WIRE_BYTES) {
			status = event_defaults(sequence, field.bytes);
		}
	}
	return status == STATUS_OK ? more : status;
}

uint32_t perfetto_interned(struct perfetto_sequences *sequences,
	const struct perfetto_sequence *sequence, enum perfetto_table table, uint64_t id)
{
	uint64_t value;

	if (id_map_get(&sequence->interned[table], id, &value))
		return (uint32_t)value;
	sequences->unresolved++;
	return 0;
}

/* Frame { function_name_id 2, rel_pc 4, source_path_iid 5, line_number 6 } as a text. */
static int frame_text(struct perfetto_sequences *sequences,
	const struct perfetto_sequence *sequence, struct reader bytes, uint32_t *ret_string)
{
	struct wire_field field;
	uint64_t function = 0, address = 0;
	char text[32];
	int more;

	while ((more = wire_next(&bytes, &field)) == 1) {
		if (field.type == WIRE_VARINT && field.field == 2)
			function = field.number;
		else if (field.type == WIRE_VARINT && field.field == 4)
			address = field.number;
	}
	if (more < 0)
		return more;
	*ret_string = 0;
	if (function)
		*ret_string = perfetto_interned(sequences, sequence, INTERNED_FUNCTION, function);
	if (*ret_string)
		return STATUS_OK;
	snprintf(text, sizeof text, "0x%" PRIx64, address);
	return import_sink_string(sequences->sink, text, strlen(text), ret_string);
}

int perfetto_location(struct perfetto_sequences *sequences, struct reader bytes,
	enum perfetto_location_kind kind, uint32_t *ret_string)
{
	/* SourceLocation { file_name 2, function_name 3, line_number 4 }
	 * Callstack.Frame { function_name 1, source_file 2, line_number 3 } */
	bool frame = kind == LOCATION_FRAME;
	struct reader file, function;
	struct wire_field field;
	struct buffer text;
	uint64_t line = 0;
	int status, more;

	reader_init(&file, NULL, 0);
	reader_init(&function, NULL, 0);
	while ((more = wire_next(&bytes, &field)) == 1) {
		if (field.field == 2 && field.type == WIRE_BYTES)
			file = field.bytes;
		else if (field.field == (frame ? 1 : 3) && field.type == WIRE_BYTES)
			function = field.bytes;
		else if (field.field == (frame ? 3 : 4) && field.type == WIRE_VARINT)
			line = field.number;
	}
	if (more < 0)
		return more;
	buffer_init(&text);
	buffer_append(&text, function.at, reader_left(&function));
	if (reader_left(&file)) {
		buffer_text(&text, text.length ? " (" : "(");
		buffer_append(&text, file.at, reader_left(&file));
		buffer_printf(&text, ":%" PRIu64 ")", line);
	}
	status = buffer_ok(&text) ? import_sink_string(sequences->sink, (char *)text.data,
					    text.length, ret_string)
				  : STATUS_NOMEM;
	buffer_release(&text);
	return status;
}

static int add_frame(struct perfetto_sequences *sequences, const struct perfetto_sequence *sequence,
	uint64_t id, size_t *count)
{
	if (*count >= FRAMES_MAX)
		return STATUS_OK;
	if (array_grow((void **)&sequences->frames, &sequences->frame_capacity, *count + 1,
		    sizeof *sequences->frames))
		return STATUS_NOMEM;
	sequences->frames[(*count)++] = perfetto_interned(sequences, sequence, INTERNED_FRAME, id);
	return STATUS_OK;
}

/* The frames gathered, turned round: Perfetto has the outermost first. */
static int finish_stack(struct perfetto_sequences *sequences, size_t count, uint32_t *ret_stack)
{
	struct trace_dict *dict = import_sink_dict(sequences->sink);
	size_t before = dict->stack_count;
	int status;

	for (size_t i = 0; i < count / 2; i++) {
		uint32_t frame = sequences->frames[i];

		sequences->frames[i] = sequences->frames[count - 1 - i];
		sequences->frames[count - 1 - i] = frame;
	}
	status = trace_dict_stack(dict, sequences->frames, count, ret_stack);
	/* A new one stays in memory. */
	if (dict->stack_count > before)
		import_sink_reserve(
			sequences->sink, (int64_t)(count * sizeof *sequences->frames + 48));
	return status == STATUS_OK && import_sink_room(sequences->sink) == 0 ? STATUS_LIMIT
									     : status;
}

int perfetto_stack(struct perfetto_sequences *sequences, const struct perfetto_sequence *sequence,
	struct reader callstack, uint32_t *ret_stack)
{
	struct wire_field field;
	size_t count = 0;
	int status = STATUS_OK, more = 0;

	while (status == STATUS_OK && (more = wire_next(&callstack, &field)) == 1) {
		if (field.field != 2)
			continue;
		if (field.type == WIRE_VARINT)
			status = add_frame(sequences, sequence, field.number, &count);
		while (status == STATUS_OK && field.type == WIRE_BYTES &&
			reader_left(&field.bytes)) {
			status = add_frame(
				sequences, sequence, wire_read_varint(&field.bytes), &count);
			if (field.bytes.failed)
				return STATUS_FORMAT;
		}
	}
	if (status == STATUS_OK)
		status = more;
	if (status != STATUS_OK)
		return status;
	return finish_stack(sequences, count, ret_stack);
}

int perfetto_inline_stack(
	struct perfetto_sequences *sequences, struct reader callstack, uint32_t *ret_stack)
{
	struct wire_field field;
	size_t count = 0;
	int status = STATUS_OK, more = 0;

	while (status == STATUS_OK && (more = wire_next(&callstack, &field)) == 1) {
		if (field.field != 1 || field.type != WIRE_BYTES || count >= FRAMES_MAX)
			continue;
		status = array_grow((void **)&sequences->frames, &sequences->frame_capacity,
			count + 1, sizeof *sequences->frames);
		if (status == STATUS_OK)
			status = perfetto_location(
				sequences, field.bytes, LOCATION_FRAME, &sequences->frames[count]);
		count += status == STATUS_OK;
	}
	if (status == STATUS_OK)
		status = more;
	return status == STATUS_OK ? finish_stack(sequences, count, ret_stack) : status;
}

/* One entry: iid 1, text 2. */
static int add_entry(struct perfetto_sequences *sequences, struct perfetto_sequence *sequence,
	enum perfetto_table table, struct reader bytes)
{
	struct reader again = bytes, text;
	struct wire_field field;
	uint64_t id = 0;
	uint32_t value = 0;
	int status = STATUS_OK, more;

	reader_init(&text, NULL, 0);
	while ((more = wire_next(&bytes, &field)) == 1) {
		if (field.field == 1 && field.type == WIRE_VARINT)
			id = field.number;
		else if (field.field == 2 && field.type == WIRE_BYTES)
			text = field.bytes;
	}
	if (more < 0)
		return more;
	if (table == INTERNED_STACK)
		status = perfetto_stack(sequences, sequence, again, &value);
	else if (table == INTERNED_FRAME)
		status = frame_text(sequences, sequence, again, &value);
	else if (table == INTERNED_LOCATION)
		status = perfetto_location(sequences, again, LOCATION_SOURCE, &value);
	else
		status = import_sink_string(
			sequences->sink, (const char *)text.at, reader_left(&text), &value);
	value += table == INTERNED_STACK; /* 0 is a stack, too */
	if (status == STATUS_OK && import_sink_room(sequences->sink) < 1)
		status = STATUS_LIMIT;
	import_sink_reserve(sequences->sink, ENTRY_BYTES);
	sequence->entry_count++;
	return status == STATUS_OK ? id_map_put(&sequence->interned[table], id, value) : status;
}

int perfetto_sequence_intern(struct perfetto_sequences *sequences,
	struct perfetto_sequence *sequence, struct reader bytes)
{
	int status = STATUS_OK;

	for (size_t i = 0;
		status == STATUS_OK && i < sizeof interned_fields / sizeof interned_fields[0];
		i++) {
		struct reader again = bytes;
		struct wire_field field;
		int more = 0;

		while (status == STATUS_OK && (more = wire_next(&again, &field)) == 1)
			if (field.field == interned_fields[i].field && field.type == WIRE_BYTES)
				status = add_entry(
					sequences, sequence, interned_fields[i].table, field.bytes);
		if (status == STATUS_OK && more < 0)
			status = more;
	}
	return status;
}
