// SPDX-License-Identifier: MIT OR Apache-2.0
/* Reading of single blocks into reused memory. */
#include "base/reader.h"
#include "trace/trace_internal.h"

#include <string.h>

int trace_read_block(const struct trace *trace, size_t block, struct block_codec *codec,
	struct buffer *stored, struct buffer *raw, struct error *err)
{
	const struct trace_block *known = &trace->blocks[block];
	struct block_header header;
	uint8_t *room;
	int status;

	buffer_reset(stored);
	room = buffer_extend(stored, (size_t)BLOCK_HEADER_BYTES + known->stored_bytes);
	if (!room)
		return error_set(err, STATUS_NOMEM, "out of memory for a block");
	status = trace_read_at(trace, room, stored->length, known->offset, err);
	if (status != STATUS_OK)
		return status;
	if (block_header_get(room, &header) != STATUS_OK)
		return error_set_at(err, STATUS_FORMAT, known->offset,
			"%s block is damaged (header)", block_table_name(known->table));
	if (header.table != known->table || header.rows != known->rows ||
		header.stored_bytes != known->stored_bytes ||
		header.time_min_ns != known->time_min_ns ||
		header.time_max_ns != known->time_max_ns || header.busy_ns != known->busy_ns ||
		(header.track != known->track && known->track != trace->lost_track))
		return error_set_at(err, STATUS_FORMAT, known->offset,
			"%s block is not what the index says of it",
			block_table_name(known->table));
	if (header.flags & ~(unsigned)BLOCK_RAW)
		return error_set_at(err, STATUS_FORMAT, known->offset,
			"%s block has flags this tacho does not know",
			block_table_name(known->table));
	return block_decode(codec, &header, room + BLOCK_HEADER_BYTES, known->offset, raw, err);
}

int trace_cursor_init(struct trace_cursor *cursor, const struct trace *trace)
{
	memset(cursor, 0, sizeof *cursor);
	cursor->trace = trace;
	cursor->codec = block_codec_new();
	return cursor->codec ? STATUS_OK : STATUS_NOMEM;
}

void trace_cursor_release(struct trace_cursor *cursor)
{
	block_codec_free(cursor->codec);
	buffer_release(&cursor->stored);
	buffer_release(&cursor->raw);
	span_batch_release(&cursor->spans);
	table_rows_release(&cursor->rows);
	memset(cursor, 0, sizeof *cursor);
}

/* Puts the offset of the block behind a message that does not have one. */
static int decode_failed(struct error *err, int status, uint64_t offset)
{
	struct error inner;

	if (!err)
		return status;
	inner = *err;
	return error_set_at(err, status, offset, "%.200s", inner.message);
}

static int decode_spans(
	struct trace_cursor *cursor, size_t block, bool with_args, struct error *err)
{
	const struct trace *trace = cursor->trace;
	const struct trace_block *known = &trace->blocks[block];
	bool lost = trace->lost_name != UINT32_MAX;
	struct span_batch *spans = &cursor->spans;
	int status = span_batch_decode(spans, &cursor->raw, known->rows,
		lost ? UINT32_MAX : trace->name_count, with_args, err);

	if (status != STATUS_OK)
		return decode_failed(err, status, known->offset);
	if (!lost)
		return STATUS_OK;
	for (uint32_t i = 0; i < spans->dictionary_count; i++)
		if (spans->dictionary[i] >= trace->name_count)
			spans->dictionary[i] = trace->lost_name;
	for (uint32_t i = 0; i < spans->count; i++)
		if (spans->name[i] >= trace->name_count)
			spans->name[i] = trace->lost_name;
	return STATUS_OK;
}

int trace_cursor_spans(struct trace_cursor *cursor, size_t block, bool with_args, struct error *err)
{
	int status;

	if (block >= cursor->trace->block_count ||
		cursor->trace->blocks[block].table != TABLE_SPANS)
		return error_set(err, STATUS_USAGE, "block %zu is not one of spans", block);
	status = trace_read_block(
		cursor->trace, block, cursor->codec, &cursor->stored, &cursor->raw, err);
	if (status != STATUS_OK)
		return status;
	return decode_spans(cursor, block, with_args, err);
}

int trace_cursor_args(struct trace_cursor *cursor, size_t block, struct error *err)
{
	return decode_spans(cursor, block, true, err);
}

/* Numbers that others use as an index; a lost dictionary entry is stood in for, any other number
 * out of range means that the block is wrong. */
static int check_numbers(uint64_t *cells, size_t count, uint32_t limit, uint32_t lost)
{
	for (size_t i = 0; i < count; i++) {
		if (cells[i] < limit)
			continue;
		if (lost == UINT32_MAX)
			return STATUS_FORMAT;
		cells[i] = lost;
	}
	return STATUS_OK;
}

static int check_rows(const struct trace *trace, unsigned table, struct table_rows *rows)
{
	int status = STATUS_OK;

	if (table_schema((enum block_table)table)->time_column >= 0)
		/* The track is the first column of every table with times. */
		status = check_numbers(
			rows->cells[0], rows->count, trace->track_count, trace->lost_track);
	if (status == STATUS_OK && table == TABLE_MARKS)
		status = check_numbers(
			rows->cells[MARKS_NAME], rows->count, trace->name_count, trace->lost_name);
	if (status == STATUS_OK && table == TABLE_LINKS)
		status = check_numbers(
			rows->cells[LINKS_NAME], rows->count, trace->name_count, trace->lost_name);
	return status;
}

int trace_cursor_rows(struct trace_cursor *cursor, size_t block, struct error *err)
{
	const struct trace *trace = cursor->trace;
	const struct trace_block *known = &trace->blocks[block];
	const struct table_schema *schema;
	struct reader in;
	int status;

	cursor->rows.count = 0;
	schema = block < trace->block_count ? table_schema((enum block_table)known->table) : NULL;
	if (!schema)
		return error_set(err, STATUS_USAGE, "block %zu is not one of plain rows", block);
	status = trace_read_block(trace, block, cursor->codec, &cursor->stored, &cursor->raw, err);
	if (status != STATUS_OK)
		return status;
	reader_init(&in, cursor->raw.data, cursor->raw.length);
	status = table_rows_decode(&cursor->rows, schema, known->rows, &in);
	if (status == STATUS_OK)
		status = check_rows(trace, known->table, &cursor->rows);
	if (status != STATUS_OK) {
		cursor->rows.count = 0;
		return error_set_at(err, status, known->offset, "%s block: %s",
			block_table_name(known->table), status_text(status));
	}
	return STATUS_OK;
}
