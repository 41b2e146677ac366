/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Python's pickle, protocols 2 to 5, as data and nothing else: numbers, texts, lists, tuples,
 * dicts. An opcode that would import, call or build something is refused with its offset; nothing
 * is ever executed. Values live in an arena with a limit. A list may contain itself, as in Python:
 * whoever walks must bound its depth. */
#pragma once

#include "base/arena.h"
#include "base/id_map.h"
#include "base/json_writer.h"
#include "import/json_input.h"

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

struct pickle_reader {
	struct json_input window;
	struct arena arena;
	struct pickle_value *stack;
	size_t count, capacity;
	size_t *marks;
	size_t mark_count, mark_capacity;
	struct pickle_value *memo;
	size_t memo_count, memo_capacity;
	struct id_map memo_ids; /* number in the file -> place in memo */
	uint64_t op_offset, limit_bytes;
};

void pickle_reader_init(
	struct pickle_reader *reader, struct import_source *source, uint64_t limit_bytes);
void pickle_reader_release(struct pickle_reader *reader);

/* Reads up to STOP. The value lives as long as the reader. */
int pickle_reader_load(
	struct pickle_reader *reader, struct pickle_value *ret_value, struct error *err) MUST_USE;

/* Memory that the values take. */
uint64_t pickle_reader_bytes(const struct pickle_reader *reader);

/* The value of a text key of a dict, or NULL; of several the last, as in Python. */
const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key);
bool pickle_is(const struct pickle_value *text, const char *word);
/* Items of a list, 0 for anything else. */
uint32_t pickle_count(const struct pickle_value *list);
/* Writes a value as JSON. What lies deeper than 32 levels or beyond `max_bytes` is left out. */
void pickle_json(const struct pickle_value *value, size_t max_bytes, struct json_writer *json);
