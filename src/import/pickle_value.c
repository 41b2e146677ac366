// SPDX-License-Identifier: MIT OR Apache-2.0
/* Looking into values of a pickle, and writing them as JSON. */
#include "import/pickle_value.h"

#include "import/event_args.h"

#include <stdio.h>
#include <string.h>

#define JSON_LEVELS 32

bool pickle_is(const struct pickle_value *text, const char *word)
{
	return text && text->kind == PICKLE_TEXT && text->length == strlen(word) &&
	       memcmp(text->text, word, text->length) == 0;
}

const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key)
{
	if (dict->kind == PICKLE_DICT)
		for (uint32_t i = dict->list->count; i >= 2; i -= 2)
			if (pickle_is(&dict->list->items[i - 2], key))
				return &dict->list->items[i - 1];
	return NULL;
}

uint32_t pickle_count(const struct pickle_value *list)
{
	return list && list->kind == PICKLE_LIST ? list->list->count : 0;
}

static void put_key(const struct pickle_value *key, struct json_writer *json)
{
	char text[32];

	if (key->kind == PICKLE_TEXT || key->kind == PICKLE_BIG) {
		json_key(json, key->text);
		return;
	}
	/* JSON has no keys but texts. */
	if (key->kind == PICKLE_INTEGER)
		snprintf(text, sizeof text, "%lld", (long long)key->integer);
	else
		snprintf(text, sizeof text, "?");
	json_key(json, text);
}

static void put_bytes(const struct pickle_value *value, struct json_writer *json)
{
	struct buffer text;

	buffer_init(&text);
	event_base64(&text, value->text, value->length);
	json_string_n(json, text.length ? (char *)text.data : "", text.length);
	buffer_release(&text);
}

static void put_value(const struct pickle_value *value, size_t max_bytes, unsigned level,
	struct json_writer *json)
{
	bool too_much = level >= JSON_LEVELS || json->out.length > max_bytes;

	switch (value->kind) {
	case PICKLE_FALSE:
	case PICKLE_TRUE:
		json_bool(json, value->kind == PICKLE_TRUE);
		break;
	case PICKLE_INTEGER:
		json_i64(json, value->integer);
		break;
	case PICKLE_DOUBLE:
		json_double(json, value->number);
		break;
	case PICKLE_TEXT:
	case PICKLE_BIG:
		json_string_n(json, value->text, value->length);
		break;
	case PICKLE_BYTES:
		put_bytes(value, json);
		break;
	case PICKLE_LIST:
		json_array(json);
		for (uint32_t i = 0;
			!too_much && i < value->list->count && json->out.length <= max_bytes; i++)
			put_value(&value->list->items[i], max_bytes, level + 1, json);
		json_array_end(json);
		break;
	case PICKLE_DICT:
		json_object(json);
		for (uint32_t i = 0;
			!too_much && i + 1 < value->list->count && json->out.length <= max_bytes;
			i += 2) {
			put_key(&value->list->items[i], json);
			put_value(&value->list->items[i + 1], max_bytes, level + 1, json);
		}
		json_object_end(json);
		break;
	default:
		json_null(json);
		break;
	}
}

void pickle_json(const struct pickle_value *value, size_t max_bytes, struct json_writer *json)
{
	put_value(value, max_bytes, 0, json);
}
