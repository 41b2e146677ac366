// SPDX-License-Identifier: MIT OR Apache-2.0
/* XEventMetadata, XStatMetadata and XStat. */
#include "import/xplane_meta.h"

#include "base/array.h"
#include "format/span_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void xplane_meta_init(struct xplane_meta *meta, struct import_sink *sink)
{
	memset(meta, 0, sizeof *meta);
	meta->sink = sink;
}

void xplane_meta_release(struct xplane_meta *meta)
{
	id_map_release(&meta->event_ids);
	id_map_release(&meta->stat_ids);
	free(meta->events);
	free(meta->stats);
}

void xplane_meta_reset(struct xplane_meta *meta)
{
	id_map_release(&meta->event_ids);
	id_map_release(&meta->stat_ids);
	meta->event_count = meta->stat_count = 0;
}

static enum xplane_known known_stat(const char *name, size_t length)
{
	static const char *const names[XPLANE_KNOWN] = {
		[XPLANE_CORRELATION] = "correlation_id",
		[XPLANE_STEP_NUM] = "step_num",
		[XPLANE_PRODUCER_TYPE] = "_pt",
		[XPLANE_PRODUCER] = "_p",
		[XPLANE_CONSUMER_TYPE] = "_ct",
		[XPLANE_CONSUMER] = "_c",
		[XPLANE_MEMCPY_DETAILS] = "memcpy_details",
		[XPLANE_MEMSET_DETAILS] = "memset_details",
		[XPLANE_PROCESS_ID] = "process_id",
		[XPLANE_START_TIME] = "profile_start_time",
	};

	for (int i = 1; i < XPLANE_KNOWN; i++)
		if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
			return (enum xplane_known)i;
	return XPLANE_OTHER;
}

static int intern(struct xplane_meta *meta, const struct reader *text, uint32_t *ret_id)
{
	return import_sink_string(meta->sink, (const char *)text->at, reader_left(text), ret_id);
}

/* A map entry: key 1 and value 2. */
static int split_entry(struct reader entry, uint64_t *ret_key, struct reader *ret_value)
{
	struct wire_field field;
	int more;

	*ret_key = 0;
	reader_init(ret_value, NULL, 0);
	while ((more = wire_next(&entry, &field)) == 1) {
		if (field.field == 1 && field.type == WIRE_VARINT)
			*ret_key = field.number;
		else if (field.field == 2 && field.type == WIRE_BYTES)
			*ret_value = field.bytes;
	}
	return more;
}

int xplane_meta_event(struct xplane_meta *meta, struct reader entry)
{
	struct xplane_event_name event = { 0 };
	struct wire_field field;
	struct reader value;
	uint64_t key;
	int status = split_entry(entry, &key, &value), more = 0;

	if (status != STATUS_OK)
		return status;
	event.bytes = value;
	while (status == STATUS_OK && (more = wire_next(&value, &field)) == 1) {
		if (field.field == 2 && field.type == WIRE_BYTES)
			status = intern(meta, &field.bytes, &event.name);
		else if (field.field == 4 && field.type == WIRE_BYTES)
			status = intern(meta, &field.bytes, &event.display);
		else if (field.field == 3 || field.field == 5 || field.field == 6)
			event.has_more = true;
	}
	if (status == STATUS_OK)
		status = more;
	event.has_display = event.display != 0 && event.display != event.name;
	if (status == STATUS_OK)
		status = array_grow((void **)&meta->events, &meta->event_capacity,
			meta->event_count + 1, sizeof *meta->events);
	if (status == STATUS_OK)
		status = id_map_put(&meta->event_ids, key, meta->event_count);
	if (status == STATUS_OK)
		meta->events[meta->event_count++] = event;
	return status;
}

int xplane_meta_stat(struct xplane_meta *meta, struct reader entry)
{
	struct xplane_stat_name stat = { 0 };
	struct wire_field field;
	struct reader value;
	uint64_t key;
	int status = split_entry(entry, &key, &value), more = 0;

	if (status != STATUS_OK)
		return status;
	while (status == STATUS_OK && (more = wire_next(&value, &field)) == 1)
		if (field.field == 2 && field.type == WIRE_BYTES) {
			stat.known =
				known_stat((const char *)field.bytes.at, reader_left(&field.bytes));
			status = intern(meta, &field.bytes, &stat.name);
		}
	if (status == STATUS_OK)
		status = more;
	if (status == STATUS_OK)
		status = array_grow((void **)&meta->stats, &meta->stat_capacity,
			meta->stat_count + 1, sizeof *meta->stats);
	if (status == STATUS_OK)
		status = id_map_put(&meta->stat_ids, key, meta->stat_count);
	if (status == STATUS_OK)
		meta->stats[meta->stat_count++] = stat;
	return status;
}

const struct xplane_event_name *xplane_meta_find(const struct xplane_meta *meta, uint64_t id)
{
	uint64_t index;

	return id_map_get(&meta->event_ids, id, &index) ? &meta->events[index] : NULL;
}

static uint32_t stat_key(struct xplane_meta *meta, struct event_args *args, uint64_t id,
	enum xplane_known *ret_known)
{
	char text[40];
	uint64_t index;

	*ret_known = XPLANE_OTHER;
	if (id_map_get(&meta->stat_ids, id, &index) && meta->stats[index].name) {
		*ret_known = meta->stats[index].known;
		return meta->stats[index].name;
	}
	/* Some planes use stats that they never name: call stacks of scopes, for one. */
	snprintf(text, sizeof text, "stat %" PRId64, (int64_t)id);
	return event_args_key(args, text, strlen(text));
}

static void add_value(struct xplane_meta *meta, struct event_args *args, uint32_t key,
	const struct wire_field *value)
{
	uint64_t index;

	switch (value->field) {
	case 2:
		event_args_double(args, key, wire_as_double(value->number));
		break;
	case 3:
		event_args_unsigned(args, key, value->number);
		break;
	case 4:
		event_args_add(args, key, ARG_INTEGER, value->number);
		break;
	case 7:
		if (id_map_get(&meta->stat_ids, value->number, &index)) {
			event_args_add(args, key, ARG_STRING, meta->stats[index].name);
		} else {
			meta->unresolved++;
			event_args_unsigned(args, key, value->number);
		}
		break;
	case 5:
		event_args_add(args, key, ARG_STRING,
			event_args_key(
				args, (const char *)value->bytes.at, reader_left(&value->bytes)));
		break;
	default:
		event_args_bytes(args, key, value->bytes.at, reader_left(&value->bytes));
		break;
	}
}

int xplane_meta_add(struct xplane_meta *meta, struct reader stat, struct event_args *args,
	struct xplane_values *values)
{
	static const uint8_t types[] = { 9, WIRE_VARINT, WIRE_FIXED64, WIRE_VARINT, WIRE_VARINT,
		WIRE_BYTES, WIRE_BYTES, WIRE_VARINT };
	struct wire_field field, value = { 0 };
	enum xplane_known known;
	uint64_t id = 0;
	uint32_t key;
	int more;

	while ((more = wire_next(&stat, &field)) == 1) {
		if (field.field >= sizeof types || field.type != types[field.field])
			continue;
		if (field.field == 1)
			id = field.number;
		else
			value = field;
	}
	if (more != 0)
		return more;
	key = stat_key(meta, args, id, &known);
	if (value.field == 0) {
		/* A value of zero need not be written. */
		value.field = 4;
		value.number = 0;
	}
	values->has[known] = true;
	values->value[known] = value.field == 3 || value.field == 4 ? value.number : 0;
	add_value(meta, args, key, &value);
	return args->status;
}

/* Packed numbers, as a JSON list. */
static void add_children(struct event_args *args, struct reader list)
{
	struct buffer text;

	buffer_init(&text);
	while (reader_left(&list) && !list.failed)
		buffer_printf(&text, "%c%" PRId64, text.length ? ',' : '[',
			(int64_t)wire_read_varint(&list));
	buffer_text(&text, text.length ? "]" : "[]");
	if (buffer_ok(&text))
		event_args_json(
			args, event_args_key(args, "child_id", 8), (char *)text.data, text.length);
	buffer_release(&text);
}

int xplane_meta_describe(struct xplane_meta *meta, const struct xplane_event_name *event,
	struct event_args *args, struct xplane_values *values)
{
	struct reader bytes = event->bytes;
	struct wire_field field;
	int status = STATUS_OK;

	if (event->has_display)
		event_args_add(
			args, event_args_key(args, "display_name", 12), ARG_STRING, event->display);
	if (!event->has_more)
		return args->status;
	/* It was checked to its end when it was read first. */
	while (status == STATUS_OK && wire_next(&bytes, &field) == 1) {
		if (field.field == 3 && field.type == WIRE_BYTES)
			event_args_bytes(args, event_args_key(args, "metadata", 8), field.bytes.at,
				reader_left(&field.bytes));
		else if (field.field == 5 && field.type == WIRE_BYTES)
			status = xplane_meta_add(meta, field.bytes, args, values);
		else if (field.field == 6 && field.type == WIRE_BYTES)
			add_children(args, field.bytes);
	}
	return status == STATUS_OK ? args->status : status;
}
