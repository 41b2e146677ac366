// SPDX-License-Identifier: MIT OR Apache-2.0
/* Descriptions of the plain tables and their one encoder.
 *
 *   payload:  u8 column count   then each column as column.h says, in the order of the schema */
#include "format/table.h"

#include <stdlib.h>
#include <string.h>

static const struct table_schema schemas[TABLE_COUNT] = {
	[TABLE_NAMES] = { 2, -1, { { "name", COLUMN_DELTA }, { "category", COLUMN_PLAIN } } },
	[TABLE_TRACKS] = { 5, -1,
		{ { "parent", COLUMN_PLAIN }, { "kind", COLUMN_PLAIN }, { "os_id", COLUMN_DELTA },
			{ "name", COLUMN_DELTA }, { "unit", COLUMN_PLAIN } } },
	[TABLE_COUNTERS] = { 4, COUNTERS_TIME,
		{ { "track", COLUMN_DELTA }, { "time", COLUMN_DELTA }, { "kind", COLUMN_PLAIN },
			{ "value", COLUMN_DELTA } } },
	[TABLE_MARKS] = { 3, MARKS_TIME,
		{ { "track", COLUMN_DELTA }, { "time", COLUMN_DELTA }, { "name", COLUMN_PLAIN } } },
	[TABLE_LINKS] = { 5, LINKS_TIME,
		{ { "track", COLUMN_DELTA }, { "time", COLUMN_DELTA }, { "id", COLUMN_DELTA },
			{ "kind", COLUMN_PLAIN }, { "name", COLUMN_PLAIN } } },
	[TABLE_ALLOCATIONS] = { 6, ALLOCATIONS_TIME,
		{ { "track", COLUMN_DELTA }, { "time", COLUMN_DELTA }, { "address", COLUMN_DELTA },
			{ "bytes", COLUMN_PLAIN }, { "pool", COLUMN_PLAIN },
			{ "kind", COLUMN_PLAIN } } },
	[TABLE_SAMPLES] = { 3, SAMPLES_TIME,
		{ { "track", COLUMN_DELTA }, { "time", COLUMN_DELTA },
			{ "stack", COLUMN_PLAIN } } },
	[TABLE_METADATA] = { 2, -1, { { "key", COLUMN_DELTA }, { "value", COLUMN_DELTA } } },
	[TABLE_LEDGER] = { 5, -1,
		{ { "kind", COLUMN_PLAIN }, { "what", COLUMN_PLAIN }, { "count", COLUMN_PLAIN },
			{ "where", COLUMN_PLAIN }, { "effect", COLUMN_PLAIN } } },
	[TABLE_INDEX] = { 8, -1,
		{ { "offset", COLUMN_DELTA }, { "table", COLUMN_PLAIN }, { "track", COLUMN_PLAIN },
			{ "rows", COLUMN_PLAIN }, { "time_min", COLUMN_DELTA },
			{ "time_max", COLUMN_DELTA }, { "stored", COLUMN_DELTA },
			{ "busy", COLUMN_PLAIN } } },
};

const struct table_schema *table_schema(enum block_table table)
{
	return table < TABLE_COUNT && schemas[table].column_count ? &schemas[table] : NULL;
}

const char *track_kind_name(unsigned kind)
{
	static const char *const names[TRACK_KINDS] = { "machine", "process", "thread", "device",
		"remote", "async", "counter", "other" };

	return kind < TRACK_KINDS ? names[kind] : "other";
}

const char *link_kind_name(unsigned kind)
{
	static const char *const names[LINK_KINDS] = { "flow_begin", "flow_step", "flow_end",
		"correlation" };

	kind &= LINK_KIND_MASK;
	return kind < LINK_KINDS ? names[kind] : "?";
}

void table_rows_init(struct table_rows *rows)
{
	memset(rows, 0, sizeof *rows);
}

void table_rows_release(struct table_rows *rows)
{
	for (unsigned c = 0; c < TABLE_COLUMNS_MAX; c++)
		free(rows->cells[c]);
	table_rows_init(rows);
}

static int table_rows_grow(struct table_rows *rows, unsigned columns, size_t need)
{
	size_t capacity = rows->capacity ? rows->capacity : 64;

	while (capacity < need)
		capacity *= 2;
	if (columns < rows->columns)
		columns = rows->columns;
	for (unsigned c = 0; c < columns; c++) {
		uint64_t *cells = realloc(rows->cells[c], capacity * sizeof *cells);

		if (!cells)
			return STATUS_NOMEM;
		rows->cells[c] = cells;
	}
	rows->capacity = capacity;
	rows->columns = columns;
	return STATUS_OK;
}

int table_rows_add(
	struct table_rows *rows, const struct table_schema *schema, const uint64_t *values)
{
	if ((rows->count == rows->capacity || rows->columns < schema->column_count) &&
		table_rows_grow(rows, schema->column_count, rows->count + 1) != STATUS_OK)
		return STATUS_NOMEM;
	for (unsigned c = 0; c < schema->column_count; c++)
		rows->cells[c][rows->count] = values[c];
	rows->count++;
	return STATUS_OK;
}

void table_rows_encode(const struct table_rows *rows, const struct table_schema *schema,
	size_t first, size_t count, struct buffer *out)
{
	buffer_byte(out, (uint8_t)schema->column_count);
	for (unsigned c = 0; c < schema->column_count; c++)
		column_put(out, count ? rows->cells[c] + first : NULL, count,
			schema->columns[c].transform);
}

int table_rows_decode(
	struct table_rows *rows, const struct table_schema *schema, size_t count, struct reader *in)
{
	unsigned columns = reader_byte(in);

	rows->count = 0;
	if (in->failed || columns < schema->column_count || count > BLOCK_ROWS_MAX)
		return STATUS_FORMAT;
	if ((count > rows->capacity || rows->columns < schema->column_count) &&
		table_rows_grow(rows, schema->column_count, count) != STATUS_OK)
		return STATUS_NOMEM;
	for (unsigned c = 0; count && c < schema->column_count; c++) {
		int status = column_get(in, rows->cells[c], count);

		if (status != STATUS_OK)
			return status;
	}
	rows->count = count;
	return STATUS_OK;
}

void table_rows_span(const struct table_rows *rows, const struct table_schema *schema,
	uint64_t *ret_min_ns, uint64_t *ret_max_ns)
{
	uint64_t min = 0, max = 0;

	if (schema->time_column >= 0 && rows->count) {
		const uint64_t *time = rows->cells[schema->time_column];

		min = UINT64_MAX;
		for (size_t i = 0; i < rows->count; i++) {
			min = time[i] < min ? time[i] : min;
			max = time[i] > max ? time[i] : max;
		}
	}
	*ret_min_ns = min;
	*ret_max_ns = max;
}
