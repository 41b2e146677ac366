// SPDX-License-Identifier: MIT OR Apache-2.0
/* DebugAnnotation { name_iid 1, bool 2, uint 3, int 4, double 5, string 6, pointer 7, nested_value
 * 8, legacy_json 9, name 10, dict_entries 11, array_values 12, string_value_iid 17 } */
#include "import/perfetto_args.h"

#include "base/json_scan.h"
#include "base/json_writer.h"
#include "format/span_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEVELS_MAX 32u

struct annotation {
	struct reader name, bytes;
	uint64_t name_id;
	bool has_name;
	struct wire_field value; /* field 0: none; dict and array: their first entry */
};

static int read_annotation(struct reader bytes, struct annotation *ret_annotation)
{
	struct wire_field field;
	int more;

	memset(ret_annotation, 0, sizeof *ret_annotation);
	ret_annotation->bytes = bytes;
	while ((more = wire_next(&bytes, &field)) == 1) {
		switch (field.field) {
		case 1:
			ret_annotation->name_id = field.number;
			break;
		case 10:
			if (field.type == WIRE_BYTES) {
				ret_annotation->name = field.bytes;
				ret_annotation->has_name = true;
			}
			break;
		case 2:
		case 3:
		case 4:
		case 7:
		case 17:
			if (field.type == WIRE_VARINT)
				ret_annotation->value = field;
			break;
		case 5:
			if (field.type == WIRE_FIXED64)
				ret_annotation->value = field;
			break;
		case 6:
		case 8:
		case 9:
		case 11:
		case 12:
			if (field.type == WIRE_BYTES)
				ret_annotation->value = field;
			break;
		default:
			break;
		}
	}
	return more;
}

/* The older form { type 1, dict_keys 2, dict_values 3, array_values 4, int 5, double 6, bool 7,
 * string 8 }; keys and values of a dict go in pairs, each in its own order. */
static int put_nested(
	struct perfetto_args *args, struct reader bytes, unsigned level, struct json_writer *json)
{
	struct reader keys = bytes, values = bytes;
	struct wire_field field, key;
	bool dict = false, array = false, done = false;
	int status = STATUS_OK, more;

	if (level >= LEVELS_MAX) {
		args->too_deep++;
		json_null(json);
		return STATUS_OK;
	}
	while ((more = wire_next(&bytes, &field)) == 1) {
		dict |= field.field == 2 || (field.field == 1 && field.number == 1);
		array |= field.field == 4 || (field.field == 1 && field.number == 2);
		if (dict || array || done)
			continue;
		done = field.field >= 5 && field.field <= 8;
		if (field.field == 5)
			json_i64(json, (int64_t)field.number);
		else if (field.field == 6)
			json_double(json, wire_as_double(field.number));
		else if (field.field == 7)
			json_bool(json, field.number != 0);
		else if (field.field == 8)
			json_string_n(
				json, (const char *)field.bytes.at, reader_left(&field.bytes));
	}
	if (more < 0)
		return more;
	if (!dict && !array) {
		if (!done)
			json_null(json);
		return STATUS_OK;
	}
	dict ? json_object(json) : json_array(json);
	while (status == STATUS_OK && wire_next(&values, &field) == 1) {
		if (field.type != WIRE_BYTES || field.field != (dict ? 3 : 4))
			continue;
		while (dict && wire_next(&keys, &key) == 1)
			if (key.field == 2 && key.type == WIRE_BYTES) {
				char text[128];

				snprintf(text, sizeof text, "%.*s",
					(int)(reader_left(&key.bytes) < 127
							? reader_left(&key.bytes)
							: 127),
					(const char *)key.bytes.at);
				json_key(json, text);
				break;
			}
		status = put_nested(args, field.bytes, level + 1, json);
	}
	dict ? json_object_end(json) : json_array_end(json);
	return status;
}

static int put_value(struct perfetto_args *args, const struct perfetto_sequence *sequence,
	const struct annotation *annotation, unsigned level, struct json_writer *json);

static const char *name_of(struct perfetto_args *args, const struct perfetto_sequence *sequence,
	const struct annotation *annotation, uint32_t *ret_id)
{
	const struct string_table *strings = &import_sink_dict(args->args->sink)->strings;

	*ret_id = annotation->has_name
			  ? event_args_key(args->args, (const char *)annotation->name.at,
				    reader_left(&annotation->name))
			  : perfetto_interned(args->sequences, sequence, INTERNED_ANNOTATION,
				    annotation->name_id);
	return string_table_borrow(strings, *ret_id);
}

/* Entries of a dict, or values of an array: all fields of that number. */
static int put_list(struct perfetto_args *args, const struct perfetto_sequence *sequence,
	const struct annotation *annotation, unsigned level, struct json_writer *json)
{
	bool dict = annotation->value.field == 11;
	struct reader bytes = annotation->bytes;
	struct wire_field field;
	int status = STATUS_OK;

	dict ? json_object(json) : json_array(json);
	while (status == STATUS_OK && wire_next(&bytes, &field) == 1) {
		struct annotation inner;
		uint32_t id;

		if (field.field != annotation->value.field || field.type != WIRE_BYTES)
			continue;
		status = read_annotation(field.bytes, &inner);
		if (status != STATUS_OK)
			break;
		if (dict)
			json_key(json, name_of(args, sequence, &inner, &id));
		status = put_value(args, sequence, &inner, level + 1, json);
	}
	dict ? json_object_end(json) : json_array_end(json);
	return status;
}

static int put_value(struct perfetto_args *args, const struct perfetto_sequence *sequence,
	const struct annotation *annotation, unsigned level, struct json_writer *json)
{
	const struct string_table *strings = &import_sink_dict(args->args->sink)->strings;
	const struct wire_field *value = &annotation->value;
	const struct string_entry *entry;
	char text[32];

	switch (value->field) {
	case 2:
		json_bool(json, value->number != 0);
		break;
	case 3:
		json_u64(json, value->number);
		break;
	case 4:
		json_i64(json, (int64_t)value->number);
		break;
	case 5:
		json_double(json, wire_as_double(value->number));
		break;
	case 7:
		snprintf(text, sizeof text, "0x%" PRIx64, value->number);
		json_string(json, text);
		break;
	case 8:
		return put_nested(args, value->bytes, level, json);
	case 6:
	case 9:
		json_string_n(json, (const char *)value->bytes.at, reader_left(&value->bytes));
		break;
	case 11:
	case 12:
		if (level < LEVELS_MAX)
			return put_list(args, sequence, annotation, level, json);
		args->too_deep++;
		json_null(json);
		break;
	case 17:
		entry = &strings->entries[perfetto_interned(
			args->sequences, sequence, INTERNED_TEXT, value->number)];
		json_string_n(json, entry->text, entry->length);
		break;
	default:
		json_null(json);
		break;
	}
	return STATUS_OK;
}

/* Nested values are kept as JSON. */
static int add_json(struct perfetto_args *args, const struct perfetto_sequence *sequence,
	const struct annotation *annotation, uint32_t key)
{
	struct json_writer json;
	int status;

	json_writer_init(&json, NULL, NULL);
	status = put_value(args, sequence, annotation, 0, &json);
	if (json_writer_finish(&json) < 0 && status == STATUS_OK)
		status = STATUS_NOMEM;
	if (status == STATUS_OK)
		event_args_json(args->args, key, (char *)json.out.data, json.out.length);
	json_writer_release(&json);
	return status == STATUS_OK ? args->args->status : status;
}

/* Whether a text that is said to be JSON is. */
static bool is_json(const struct reader *text)
{
	const char *at = (const char *)text->at, *end = at + reader_left(text);
	struct json_slice slice;

	return at && json_scan_value(&at, end, true, &slice) == JSON_OK &&
	       json_space(at, end) == end;
}

int perfetto_args_add(struct perfetto_args *args, const struct perfetto_sequence *sequence,
	struct reader annotation_bytes)
{
	struct annotation annotation;
	const struct wire_field *value = &annotation.value;
	char text[32];
	uint32_t key;
	int status = read_annotation(annotation_bytes, &annotation);

	if (status != STATUS_OK)
		return status;
	name_of(args, sequence, &annotation, &key);
	switch (value->field) {
	case 2:
		event_args_json(
			args->args, key, value->number ? "true" : "false", value->number ? 4 : 5);
		break;
	case 3:
		event_args_unsigned(args->args, key, value->number);
		break;
	case 4:
		event_args_add(args->args, key, ARG_INTEGER, value->number);
		break;
	case 5:
		event_args_double(args->args, key, wire_as_double(value->number));
		break;
	case 6:
		event_args_add(args->args, key, ARG_STRING,
			event_args_key(args->args, (const char *)value->bytes.at,
				reader_left(&value->bytes)));
		break;
	case 7:
		snprintf(text, sizeof text, "0x%" PRIx64, value->number);
		event_args_add(args->args, key, ARG_STRING,
			event_args_key(args->args, text, strlen(text)));
		break;
	case 9:
		if (is_json(&value->bytes))
			event_args_json(args->args, key, (const char *)value->bytes.at,
				reader_left(&value->bytes));
		else
			event_args_bytes(
				args->args, key, value->bytes.at, reader_left(&value->bytes));
		break;
	case 17:
		event_args_add(args->args, key, ARG_STRING,
			perfetto_interned(args->sequences, sequence, INTERNED_TEXT, value->number));
		break;
	default:
		return add_json(args, sequence, &annotation, key);
	}
	return args->args->status;
}
