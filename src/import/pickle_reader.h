/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Python's pickle, protocols 2 to 5, as data and nothing else: numbers, texts, lists, tuples,
 * dicts. An opcode that would import, call or build something is refused with its offset; nothing
 * is ever executed. Values live in an arena with a limit. A list may contain itself, as in Python:
 * whoever walks must bound its depth. */
#pragma once

#include "base/arena.h"
#include "base/id_map.h"
#include "import/json_input.h"
#include "import/pickle_value.h"

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
