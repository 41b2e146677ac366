// SPDX-License-Identifier: MIT OR Apache-2.0
/* The list of blocks: from the index where it can be trusted, else from the blocks themselves. */
#include "base/array.h"
#include "base/reader.h"
#include "trace/trace_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH_BYTES (1u << 20) /* read at a time when looking for the next whole block */

int trace_blocks_add(
	struct trace *trace, size_t *capacity, uint64_t offset, const struct block_header *header)
{
	if (array_grow((void **)&trace->blocks, capacity, trace->block_count + 1,
		    sizeof *trace->blocks) != STATUS_OK)
		return STATUS_NOMEM;
	trace->blocks[trace->block_count++] = (struct trace_block){ .offset = offset,
		.table = header->table,
		.track = header->track,
		.rows = header->rows,
		.time_min_ns = header->time_min_ns,
		.time_max_ns = header->time_max_ns,
		.stored_bytes = header->stored_bytes,
		.busy_ns = header->busy_ns };
	return STATUS_OK;
}

/* Adds the rows of one index block. Blocks lie one behind the other without holes, so each entry's
 * place follows from those before it; an index that says otherwise is wrong. */
static int index_rows_add(struct trace *trace, const struct table_rows *rows, size_t *capacity,
	uint64_t *expected, uint64_t index_at)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct block_header header = {
			.table = (uint8_t)rows->cells[INDEX_TABLE][i],
			.track = (uint32_t)rows->cells[INDEX_TRACK][i],
			.rows = (uint32_t)rows->cells[INDEX_ROWS][i],
			.time_min_ns = rows->cells[INDEX_TIME_MIN][i],
			.time_max_ns = rows->cells[INDEX_TIME_MAX][i],
			.stored_bytes = (uint32_t)rows->cells[INDEX_STORED][i],
			.busy_ns = rows->cells[INDEX_BUSY][i],
		};

		if (rows->cells[INDEX_OFFSET][i] != *expected ||
			rows->cells[INDEX_TABLE][i] > UINT8_MAX ||
			rows->cells[INDEX_TRACK][i] > UINT32_MAX ||
			rows->cells[INDEX_ROWS][i] > BLOCK_ROWS_MAX ||
			rows->cells[INDEX_STORED][i] > index_at ||
			rows->cells[INDEX_STORED][i] > UINT32_MAX)
			return STATUS_FORMAT;
		if (trace_blocks_add(trace, capacity, *expected, &header) != STATUS_OK)
			return STATUS_NOMEM;
		*expected += BLOCK_HEADER_BYTES + header.stored_bytes;
		if (*expected > index_at)
			return STATUS_FORMAT;
	}
	return STATUS_OK;
}

struct index_reader {
	struct block_codec *codec;
	struct buffer stored, raw;
	struct table_rows rows;
	size_t capacity;
	uint64_t expected; /* offset at which the next listed block must lie */
	uint64_t index_at;
};

/* Reads one index block at *at and steps over it. */
static int index_block_load(struct trace *trace, struct index_reader *index, uint64_t *at,
	uint64_t end, struct error *err)
{
	uint8_t bytes[BLOCK_HEADER_BYTES];
	struct block_header header;
	struct reader in;
	uint8_t *room;
	int status;

	if (*at > end || end - *at < BLOCK_HEADER_BYTES)
		return STATUS_FORMAT;
	status = trace_read_at(trace, bytes, sizeof bytes, *at, err);
	if (status != STATUS_OK)
		return status;
	if (block_header_get(bytes, &header) != STATUS_OK || header.table != TABLE_INDEX ||
		header.stored_bytes > end - *at - BLOCK_HEADER_BYTES ||
		header.track != trace->block_count)
		return STATUS_FORMAT;
	buffer_reset(&index->stored);
	room = buffer_extend(&index->stored, header.stored_bytes);
	if (!room)
		return error_set(err, STATUS_NOMEM, "out of memory for the index");
	status = trace_read_at(trace, room, header.stored_bytes, *at + BLOCK_HEADER_BYTES, err);
	if (status == STATUS_OK)
		status = block_decode(index->codec, &header, room, *at, &index->raw, err);
	if (status != STATUS_OK)
		return status;
	reader_init(&in, index->raw.data, index->raw.length);
	status = table_rows_decode(&index->rows, table_schema(TABLE_INDEX), header.rows, &in);
	if (status == STATUS_OK)
		status = index_rows_add(
			trace, &index->rows, &index->capacity, &index->expected, index->index_at);
	*at += BLOCK_HEADER_BYTES + header.stored_bytes;
	return status;
}

int trace_index_load(struct trace *trace, struct error *err)
{
	struct index_reader index = { .expected = FILE_HEADER_BYTES };
	uint8_t trailer[FILE_TRAILER_BYTES];
	uint64_t at, end;
	int status;

	if (trace->file_bytes < FILE_HEADER_BYTES + BLOCK_HEADER_BYTES + FILE_TRAILER_BYTES)
		return STATUS_FORMAT;
	end = trace->file_bytes - FILE_TRAILER_BYTES;
	status = trace_read_at(trace, trailer, sizeof trailer, end, err);
	if (status == STATUS_OK)
		status = file_trailer_get(trailer, &at);
	if (status != STATUS_OK)
		return status;
	index.codec = block_codec_new();
	if (!index.codec)
		return error_set(err, STATUS_NOMEM, "out of memory");
	index.index_at = at;
	do
		status = index_block_load(trace, &index, &at, end, err);
	while (status == STATUS_OK && at < end);
	if (status == STATUS_OK && index.expected != index.index_at)
		status = STATUS_FORMAT;
	block_codec_free(index.codec);
	buffer_release(&index.stored);
	buffer_release(&index.raw);
	table_rows_release(&index.rows);
	if (status == STATUS_NOMEM)
		error_set(err, STATUS_NOMEM, "out of memory for the index");
	return status;
}

/* Offset of the next whole block header from `offset` on, or the file's end. */
static int search_block(
	const struct trace *trace, uint64_t offset, uint64_t *ret_found, struct error *err)
{
	static const uint8_t magic[4] = { 'T', 'B', 'L', 'K' };
	uint8_t *window = malloc(SEARCH_BYTES);
	struct block_header header;
	int status = STATUS_OK;

	if (!window)
		return error_set(err, STATUS_NOMEM, "out of memory");
	*ret_found = trace->file_bytes;
	while (trace->file_bytes - offset >= BLOCK_HEADER_BYTES) {
		uint64_t left = trace->file_bytes - offset;
		size_t have = left < SEARCH_BYTES ? (size_t)left : SEARCH_BYTES;
		const uint8_t *at = window;

		status = trace_read_at(trace, window, have, offset, err);
		if (status != STATUS_OK)
			break;
		while ((at = memmem(at, have - (size_t)(at - window), magic, sizeof magic)) &&
			(size_t)(at - window) + BLOCK_HEADER_BYTES <= have) {
			if (block_header_get(at, &header) == STATUS_OK) {
				*ret_found = offset + (uint64_t)(at - window);
				goto out;
			}
			at++;
		}
		/* The last bytes may hold the beginning of a header: they are read again. */
		offset += have - (BLOCK_HEADER_BYTES - 1);
	}
out:
	free(window);
	return status;
}

struct scan {
	struct trace *trace;
	size_t capacity;
	uint64_t offset;
	uint64_t index_at; /* where a whole trailer says the index is, or UINT64_MAX */
	bool index_seen;   /* the block before was one of the index */
};

static void note_index(struct trace *trace)
{
	trace_note_repaired(trace, 1, "the index or the trailer is damaged", "end of file",
		"nothing is lost: the blocks were found one by one");
}

/* What is behind the last whole block. */
static void note_tail(const struct scan *scan, uint32_t rows_lost)
{
	struct trace *trace = scan->trace;
	uint64_t left = trace->file_bytes - scan->offset;
	char effect[160];

	if (scan->index_seen && left == FILE_TRAILER_BYTES && rows_lost == 0) {
		note_index(trace);
		return;
	}
	if (left == 0) {
		trace_note_repaired(trace, 1, "the file was not finished", "end of file",
			"its blocks were found one by one; what was not yet written is missing");
		return;
	}
	snprintf(effect, sizeof effect, "the last %" PRIu64 " bytes are lost, %u rows with them",
		left, rows_lost);
	trace_note_skipped(trace, 1, "the file ends early", scan->offset, effect);
}

/* Steps over damage, up to the next whole block. */
static int scan_damage(struct scan *scan, struct error *err)
{
	uint64_t found = 0;
	char effect[160];
	int status = search_block(scan->trace, scan->offset + 1, &found, err);

	if (status != STATUS_OK)
		return status;
	snprintf(effect, sizeof effect, "%" PRIu64 " bytes skipped, %s", found - scan->offset,
		found < scan->trace->file_bytes ? "up to the next whole block"
						: "the rest of the file");
	trace_note_skipped(scan->trace, 1, "a damaged block", scan->offset, effect);
	scan->offset = found;
	scan->index_seen = false;
	return STATUS_OK;
}

/* One step: a block, or damage. Returns 1 at the end. */
static int scan_step(struct scan *scan, struct error *err)
{
	uint8_t bytes[BLOCK_HEADER_BYTES];
	struct block_header header;
	uint64_t left = scan->trace->file_bytes - scan->offset;
	int status;

	if (left < BLOCK_HEADER_BYTES) {
		note_tail(scan, 0);
		return 1;
	}
	status = trace_read_at(scan->trace, bytes, sizeof bytes, scan->offset, err);
	if (status != STATUS_OK)
		return status;
	if (block_header_get(bytes, &header) != STATUS_OK) {
		if (scan->offset != scan->index_at)
			return scan_damage(scan, err);
		note_index(scan->trace);
		return 1;
	}
	if (header.stored_bytes > left - BLOCK_HEADER_BYTES) {
		note_tail(scan, header.rows);
		return 1;
	}
	scan->index_seen = header.table == TABLE_INDEX;
	if (!scan->index_seen &&
		trace_blocks_add(scan->trace, &scan->capacity, scan->offset, &header) != STATUS_OK)
		return error_set(err, STATUS_NOMEM, "out of memory for the list of blocks");
	scan->offset += BLOCK_HEADER_BYTES + header.stored_bytes;
	return STATUS_OK;
}

int trace_scan(struct trace *trace, struct error *err)
{
	struct scan scan = { .trace = trace, .offset = FILE_HEADER_BYTES, .index_at = UINT64_MAX };
	uint8_t trailer[FILE_TRAILER_BYTES];
	uint64_t at;
	int status = STATUS_OK;

	/* What a half-good index had listed is found again. */
	free(trace->blocks);
	trace->blocks = NULL;
	trace->block_count = 0;
	if (trace->file_bytes >= FILE_HEADER_BYTES + FILE_TRAILER_BYTES) {
		status = trace_read_at(
			trace, trailer, sizeof trailer, trace->file_bytes - sizeof trailer, err);
		if (status == STATUS_OK && file_trailer_get(trailer, &at) == STATUS_OK)
			scan.index_at = at;
	}
	while (status == STATUS_OK)
		status = scan_step(&scan, err);
	return status < 0 ? status : STATUS_OK;
}
