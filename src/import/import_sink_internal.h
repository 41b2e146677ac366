/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The sink's memory, shared by gathering (import_sink.c) and writing (import_write.c). */
#pragma once

#include "base/id_map.h"
#include "format/span_block.h"
#include "import/import_sink.h"

#define IMPORT_WORDS    (1u << 18) /* of 32 bits in a chunk: 1 MiB */
#define IMPORT_NO_SHAPE UINT32_MAX
#define IMPORT_TEXT_MAX (16u << 20)

struct import_row {
	int64_t start_ns;
	uint64_t duration_ns;
	uint32_t name, shape;
	uint64_t words; /* values of the arguments: chunk << 32 | place in it */
};

struct import_rows {
	struct import_row *items;
	size_t count, capacity;
};

struct import_track {
	struct import_rows spans, instants;
};

/* Keys and types of an event's arguments. A type here is an enum arg_type, with IMPORT_NARROW for
 * an integer that fits into 32 bits; numbers of strings always do. */
#define IMPORT_NARROW 0x80u
struct import_shape {
	uint32_t first, count; /* in shape_keys and shape_types */
};

struct import_sink {
	struct trace_dict dict;
	struct ledger ledger;
	struct table_rows metadata, links, counters, real_counters, samples, allocations;
	struct import_track *tracks;
	size_t track_count, track_capacity;
	uint32_t **chunks;
	size_t chunk_count, chunk_capacity, chunk_used;
	struct import_shape *shapes;
	size_t shape_count, shape_capacity;
	uint32_t *shape_keys;
	uint8_t *shape_types;
	size_t shape_key_count, shape_key_capacity, shape_type_capacity;
	struct id_map shape_ids;
	int64_t first_ns, epoch_ns;
	bool has_epoch;
	const char *format; /* NULL: the importer's name */
	uint64_t row_bytes, limit_bytes;
};

static inline uint32_t *import_words(const struct import_sink *sink, uint64_t place)
{
	return sink->chunks[place >> 32] + (uint32_t)place;
}
