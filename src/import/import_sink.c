// SPDX-License-Identifier: MIT OR Apache-2.0
/* Rows of a foreign trace in memory. Arguments: the list of keys and types of an event is a shape,
 * of which there are few; the values lie in chunks that never move. */
#include "import/import_sink_internal.h"

#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

struct import_sink *import_sink_new(uint64_t max_memory)
{
	struct import_sink *sink = calloc(1, sizeof *sink);
	uint32_t track, text, name;

	if (!sink)
		return NULL;
	sink->limit_bytes = max_memory ? max_memory
				       : (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 *
						 (uint64_t)sysconf(_SC_PAGESIZE);
	sink->first_ns = INT64_MAX;
	ledger_init(&sink->ledger);
	if (trace_dict_init(&sink->dict) != STATUS_OK ||
		import_sink_track(sink, 0, TRACK_MACHINE, 0, "machine", "", &track) != STATUS_OK ||
		import_sink_string(sink, "?", 1, &text) != STATUS_OK ||
		trace_dict_name(&sink->dict, text, 0, &name) != STATUS_OK) {
		import_sink_free(sink);
		return NULL;
	}
	return sink;
}

void import_sink_free(struct import_sink *sink)
{
	if (!sink)
		return;
	for (size_t i = 0; i < sink->track_count; i++) {
		free(sink->tracks[i].spans.items);
		free(sink->tracks[i].instants.items);
	}
	for (size_t i = 0; i < sink->chunk_count; i++)
		free(sink->chunks[i]);
	free(sink->tracks);
	free(sink->chunks);
	free(sink->shapes);
	free(sink->shape_keys);
	free(sink->shape_types);
	id_map_release(&sink->shape_ids);
	table_rows_release(&sink->metadata);
	table_rows_release(&sink->links);
	table_rows_release(&sink->counters);
	table_rows_release(&sink->real_counters);
	table_rows_release(&sink->samples);
	table_rows_release(&sink->allocations);
	ledger_release(&sink->ledger);
	trace_dict_release(&sink->dict);
	free(sink);
}

struct trace_dict *import_sink_dict(struct import_sink *sink)
{
	return &sink->dict;
}

void import_sink_reserve(struct import_sink *sink, int64_t bytes)
{
	sink->row_bytes += (uint64_t)bytes;
}

uint64_t import_sink_room(const struct import_sink *sink)
{
	uint64_t used = sink->dict.strings.arena.used_bytes + sink->row_bytes;

	return used < sink->limit_bytes ? sink->limit_bytes - used : 0;
}

struct ledger *import_sink_ledger(struct import_sink *sink)
{
	return &sink->ledger;
}

int import_sink_string(struct import_sink *sink, const char *text, size_t length, uint32_t *ret_id)
{
	/* A string has to fit into a block. */
	if (length > IMPORT_TEXT_MAX) {
		ledger_add(&sink->ledger, 1, "texts longer than 16 MiB", "import", "cut");
		length = IMPORT_TEXT_MAX;
	}
	if (sink->dict.strings.arena.used_bytes + sink->row_bytes > sink->limit_bytes)
		return STATUS_LIMIT;
	/* An empty text may have no place. */
	return trace_dict_string(&sink->dict, length ? text : "", length, ret_id);
}

int import_sink_name(struct import_sink *sink, const char *name, size_t name_length,
	const char *category, size_t category_length, uint32_t *ret_id)
{
	uint32_t name_string, category_string;
	int status = import_sink_string(sink, name, name_length, &name_string);

	if (status == STATUS_OK)
		status = import_sink_string(sink, category, category_length, &category_string);
	if (status == STATUS_OK)
		status = trace_dict_name(&sink->dict, name_string, category_string, ret_id);
	return status;
}

int import_sink_track(struct import_sink *sink, uint32_t parent, enum track_kind kind,
	uint64_t os_id, const char *name, const char *unit, uint32_t *ret_track)
{
	uint32_t name_string, unit_string, track;

	if (import_sink_string(sink, name, strlen(name), &name_string) ||
		import_sink_string(sink, unit, strlen(unit), &unit_string) ||
		trace_dict_track(
			&sink->dict, parent, kind, os_id, name_string, unit_string, &track) ||
		array_grow((void **)&sink->tracks, &sink->track_capacity, (size_t)track + 1,
			sizeof *sink->tracks))
		return STATUS_NOMEM;
	memset(&sink->tracks[track], 0, sizeof *sink->tracks);
	sink->track_count = (size_t)track + 1;
	*ret_track = track;
	return STATUS_OK;
}

void import_sink_track_name(struct import_sink *sink, uint32_t track, uint32_t name_string)
{
	sink->dict.tracks.cells[TRACKS_NAME][track] = name_string;
}

void import_sink_track_kind(struct import_sink *sink, uint32_t track, enum track_kind kind)
{
	sink->dict.tracks.cells[TRACKS_KIND][track] = kind;
}

void import_sink_track_place(
	struct import_sink *sink, uint32_t track, uint32_t parent, uint64_t os_id)
{
	sink->dict.tracks.cells[TRACKS_PARENT][track] = parent;
	sink->dict.tracks.cells[TRACKS_OS_ID][track] = os_id;
}

void import_sink_track_unit(struct import_sink *sink, uint32_t track, uint32_t unit_string)
{
	sink->dict.tracks.cells[TRACKS_UNIT][track] = unit_string;
}

/* Time of any row: the trace begins with the first. */
static void see_time(struct import_sink *sink, int64_t time_ns)
{
	if (time_ns < sink->first_ns)
		sink->first_ns = time_ns;
}

/* Room for `count` words in one chunk; their place, or UINT64_MAX. */
static uint64_t take_words(struct import_sink *sink, uint32_t count)
{
	size_t used = sink->chunk_used;

	if (sink->chunk_count == 0 || used + count > IMPORT_WORDS) {
		uint32_t *chunk = malloc(IMPORT_WORDS * sizeof *chunk);

		if (!chunk || array_grow((void **)&sink->chunks, &sink->chunk_capacity,
				      sink->chunk_count + 1, sizeof(uint32_t *))) {
			free(chunk);
			return UINT64_MAX;
		}
		sink->chunks[sink->chunk_count++] = chunk;
		sink->row_bytes += IMPORT_WORDS * sizeof *chunk;
		used = 0;
	}
	sink->chunk_used = used + count;
	return (uint64_t)(sink->chunk_count - 1) << 32 | used;
}

/* Packs the values; small integers and numbers of strings take one word. */
static uint32_t pack(const struct import_args *args, uint8_t *types, uint32_t *words)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < args->count; i++) {
		uint64_t value = args->values[i];
		bool narrow = args->types[i] >= ARG_STRING ||
			      (args->types[i] == ARG_INTEGER && (int64_t)value == (int32_t)value);

		types[i] = args->types[i] | (narrow ? IMPORT_NARROW : 0);
		words[used++] = (uint32_t)value;
		if (!narrow)
			words[used++] = (uint32_t)(value >> 32);
	}
	return used;
}

static int find_shape(struct import_sink *sink, const struct import_args *args,
	const uint8_t *types, uint32_t *ret_shape)
{
	uint64_t hash = XXH3_64bits(args->keys, args->count * sizeof *args->keys) ^
			XXH3_64bits_withSeed(types, args->count, 1);
	size_t first = sink->shape_key_count;
	uint64_t found;

	if (id_map_get(&sink->shape_ids, hash, &found)) {
		const struct import_shape *shape = &sink->shapes[found];

		if (shape->count == args->count &&
			memcmp(sink->shape_keys + shape->first, args->keys,
				args->count * sizeof *args->keys) == 0 &&
			memcmp(sink->shape_types + shape->first, types, args->count) == 0) {
			*ret_shape = (uint32_t)found;
			return STATUS_OK;
		}
	}
	if (array_grow((void **)&sink->shape_keys, &sink->shape_key_capacity, first + args->count,
		    sizeof *sink->shape_keys) ||
		array_grow((void **)&sink->shape_types, &sink->shape_type_capacity,
			first + args->count, 1) ||
		array_grow((void **)&sink->shapes, &sink->shape_capacity, sink->shape_count + 1,
			sizeof *sink->shapes) ||
		id_map_put(&sink->shape_ids, hash, sink->shape_count))
		return STATUS_NOMEM;
	memcpy(sink->shape_keys + first, args->keys, args->count * sizeof *args->keys);
	memcpy(sink->shape_types + first, types, args->count);
	sink->shape_key_count += args->count;
	sink->shapes[sink->shape_count] =
		(struct import_shape){ .first = (uint32_t)first, .count = args->count };
	*ret_shape = (uint32_t)sink->shape_count++;
	return STATUS_OK;
}

static int add_row(struct import_sink *sink, struct import_rows *rows, uint32_t name,
	int64_t start_ns, uint64_t duration_ns, const struct import_args *args)
{
	struct import_row row = { .start_ns = start_ns,
		.duration_ns = duration_ns,
		.name = name,
		.shape = IMPORT_NO_SHAPE };
	size_t before = rows->capacity;

	if (sink->row_bytes + sink->dict.strings.arena.used_bytes > sink->limit_bytes)
		return STATUS_LIMIT;
	if (args && args->count) {
		uint8_t types[IMPORT_ARGS_MAX];
		uint32_t words[2 * IMPORT_ARGS_MAX], used;

		if (args->count > IMPORT_ARGS_MAX)
			return STATUS_USAGE;
		used = pack(args, types, words);
		if (find_shape(sink, args, types, &row.shape) != STATUS_OK)
			return STATUS_NOMEM;
		row.words = take_words(sink, used);
		if (row.words == UINT64_MAX)
			return STATUS_NOMEM;
		memcpy(import_words(sink, row.words), words, used * sizeof *words);
	}
	if (array_grow((void **)&rows->items, &rows->capacity, rows->count + 1, sizeof row))
		return STATUS_NOMEM;
	sink->row_bytes += (rows->capacity - before) * sizeof row;
	rows->items[rows->count++] = row;
	see_time(sink, start_ns);
	return STATUS_OK;
}

int import_sink_span(struct import_sink *sink, uint32_t track, uint32_t name, int64_t start_ns,
	uint64_t duration_ns, const struct import_args *args)
{
	return add_row(sink, &sink->tracks[track].spans, name, start_ns, duration_ns, args);
}

int import_sink_instant(struct import_sink *sink, uint32_t track, uint32_t name, int64_t time_ns,
	const struct import_args *args)
{
	return add_row(sink, &sink->tracks[track].instants, name, time_ns, 0, args);
}

static int add_plain(struct import_sink *sink, enum block_table table, struct table_rows *rows,
	int64_t time_ns, const uint64_t *values)
{
	sink->row_bytes += table_schema(table)->column_count * sizeof *values;
	if (sink->row_bytes > sink->limit_bytes)
		return STATUS_LIMIT;
	see_time(sink, time_ns);
	return table_rows_add(rows, table_schema(table), values);
}

int import_sink_counter(struct import_sink *sink, uint32_t track, int64_t time_ns, double value)
{
	uint64_t row[] = { [COUNTERS_TRACK] = track,
		[COUNTERS_TIME] = (uint64_t)time_ns,
		[COUNTERS_KIND] = COUNTER_DOUBLE,
		[COUNTERS_VALUE] = 0 };

	memcpy(&row[COUNTERS_VALUE], &value, sizeof value);
	return add_plain(sink, TABLE_COUNTERS, &sink->real_counters, time_ns, row);
}

int import_sink_counter_integer(
	struct import_sink *sink, uint32_t track, int64_t time_ns, int64_t value)
{
	uint64_t row[] = { [COUNTERS_TRACK] = track,
		[COUNTERS_TIME] = (uint64_t)time_ns,
		[COUNTERS_KIND] = COUNTER_INTEGER,
		[COUNTERS_VALUE] = (uint64_t)value };

	return add_plain(sink, TABLE_COUNTERS, &sink->counters, time_ns, row);
}

int import_sink_link(struct import_sink *sink, uint32_t track, int64_t time_ns, uint64_t id,
	uint32_t kind, uint32_t name)
{
	uint64_t row[] = { [LINKS_TRACK] = track,
		[LINKS_TIME] = (uint64_t)time_ns,
		[LINKS_ID] = id,
		[LINKS_KIND] = kind,
		[LINKS_NAME] = name };

	return add_plain(sink, TABLE_LINKS, &sink->links, time_ns, row);
}

int import_sink_sample(struct import_sink *sink, uint32_t track, int64_t time_ns, uint32_t stack)
{
	uint64_t row[] = {
		[SAMPLES_TRACK] = track, [SAMPLES_TIME] = (uint64_t)time_ns, [SAMPLES_STACK] = stack
	};

	return add_plain(sink, TABLE_SAMPLES, &sink->samples, time_ns, row);
}

int import_sink_allocation(struct import_sink *sink, uint32_t track, int64_t time_ns,
	uint64_t address, uint64_t bytes, uint32_t pool_name, uint32_t kind)
{
	uint64_t row[] = { [ALLOCATIONS_TRACK] = track,
		[ALLOCATIONS_TIME] = (uint64_t)time_ns,
		[ALLOCATIONS_ADDRESS] = address,
		[ALLOCATIONS_BYTES] = bytes,
		[ALLOCATIONS_POOL] = pool_name,
		[ALLOCATIONS_KIND] = kind };

	return add_plain(sink, TABLE_ALLOCATIONS, &sink->allocations, time_ns, row);
}

int import_sink_metadata(
	struct import_sink *sink, const char *key, const char *value, size_t value_length)
{
	uint32_t key_id, value_id;
	int status = import_sink_string(sink, key, strlen(key), &key_id);

	if (status == STATUS_OK)
		status = import_sink_string(sink, value, value_length, &value_id);
	if (status != STATUS_OK)
		return status;
	uint64_t row[] = { [METADATA_KEY] = key_id, [METADATA_VALUE] = value_id };

	return table_rows_add(&sink->metadata, table_schema(TABLE_METADATA), row);
}

void import_sink_skip(struct import_sink *sink, const char *what, const char *effect)
{
	sink->ledger.skipped++;
	ledger_add(&sink->ledger, 1, what, "import", effect);
}

void import_sink_format(struct import_sink *sink, const char *name)
{
	sink->format = name;
}

void import_sink_epoch(struct import_sink *sink, int64_t unix_ns_at_zero)
{
	sink->epoch_ns = unix_ns_at_zero;
	sink->has_epoch = true;
}
