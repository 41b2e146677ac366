/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Values that were read from a pickle. A list may contain itself, as in Python: whoever walks must
 * bound its depth. */
#pragma once

#include "base/json_writer.h"

enum pickle_kind {
	PICKLE_NONE,
	PICKLE_FALSE,
	PICKLE_TRUE,
	PICKLE_INTEGER,
	PICKLE_DOUBLE,
	PICKLE_TEXT,
	PICKLE_BYTES,
	PICKLE_BIG,  /* an integer beyond int64: `text` has its digits */
	PICKLE_LIST, /* and tuples, and sets */
	PICKLE_DICT,
};

struct pickle_list;

struct pickle_value {
	uint8_t kind;
	uint32_t length; /* of TEXT, BYTES and BIG */
	union {
		int64_t integer;
		double number;
		const char *text;
		struct pickle_list *list; /* of LIST; of DICT: key, value, key, value ... */
	};
};

struct pickle_list {
	uint32_t count, capacity;
	struct pickle_value *items;
};

/* The value of a text key of a dict, or NULL; of several the last, as in Python. */
const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key);
bool pickle_is(const struct pickle_value *text, const char *word);
/* Items of a list, 0 for anything else. */
uint32_t pickle_count(const struct pickle_value *list);
/* Writes a value as JSON. What lies deeper than 32 levels or beyond `max_bytes` is left out. */
void pickle_json(const struct pickle_value *value, size_t max_bytes, struct json_writer *json);
