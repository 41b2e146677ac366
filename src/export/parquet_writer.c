// SPDX-License-Identifier: MIT OR Apache-2.0
/* Parquet files: row groups and the footer. Field numbers are those of parquet.thrift. */
#include "export/parquet_writer.h"

#include "base/array.h"
#include "base/wire.h"
#include "export/parquet_column.h"
#include "export/thrift.h"

#include <stdlib.h>
#include <string.h>
#include <tacho/version.h>
#include <zstd.h>

#define PAGE_ROWS   (64u << 10)
#define GROUP_ROWS  (1u << 20)
#define CODEC_ZSTD  6
#define LIMIT_BYTES ((size_t)INT32_MAX) /* of a page: its size is an i32 */

/* What the footer says of a column chunk. */
struct chunk_facts {
	uint64_t offset, dictionary_offset, values, packed_bytes, raw_bytes;
	uint64_t null_count, low, high;
	char *low_text, *high_text;
	size_t low_length, high_length;
	bool has_stats;
};

struct parquet_writer {
	struct export_sink *sink;
	const struct parquet_column *columns;
	size_t column_count, at; /* at: the column of the next cell */
	struct parquet_chunk *chunks;
	struct ZSTD_CCtx_s *zstd;
	uint64_t offset;
	uint64_t page_rows, group_rows, rows;
	struct chunk_facts *facts; /* column_count per row group */
	size_t fact_count, fact_capacity;
	uint64_t *group_sizes; /* rows */
	size_t group_count, group_capacity;
	struct buffer pairs; /* key NUL value NUL ... */
	size_t pair_count;
};

struct parquet_writer *parquet_writer_new(
	struct export_sink *sink, const struct parquet_column *columns, size_t count)
{
	struct parquet_writer *writer = calloc(1, sizeof *writer);
	int status = STATUS_OK;

	if (!writer)
		return NULL;
	writer->sink = sink;
	writer->columns = columns;
	writer->zstd = ZSTD_createCCtx();
	writer->chunks = calloc(count, sizeof *writer->chunks);
	if (!writer->zstd || !writer->chunks) {
		parquet_writer_free(writer);
		return NULL;
	}
	for (; writer->column_count < count && status == STATUS_OK; writer->column_count++)
		status = parquet_chunk_init(
			&writer->chunks[writer->column_count], &columns[writer->column_count]);
	if (status != STATUS_OK) {
		parquet_writer_free(writer);
		return NULL;
	}
	buffer_text(&sink->out, "PAR1");
	writer->offset = 4;
	return writer;
}

void parquet_writer_free(struct parquet_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->column_count; i++)
		parquet_chunk_release(&writer->chunks[i]);
	for (size_t i = 0; i < writer->fact_count; i++) {
		free(writer->facts[i].low_text);
		free(writer->facts[i].high_text);
	}
	ZSTD_freeCCtx(writer->zstd);
	buffer_release(&writer->pairs);
	free(writer->facts);
	free(writer->group_sizes);
	free(writer->chunks);
	free(writer);
}

static struct parquet_chunk *next_cell(struct parquet_writer *writer)
{
	return &writer->chunks[writer->at++ % writer->column_count];
}

void parquet_writer_int(struct parquet_writer *writer, uint64_t value)
{
	parquet_chunk_bits(next_cell(writer), value);
}

void parquet_writer_double(struct parquet_writer *writer, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	parquet_chunk_bits(next_cell(writer), bits);
}

void parquet_writer_word(struct parquet_writer *writer, uint64_t key, const char *text)
{
	parquet_chunk_word(next_cell(writer), key, text);
}

void parquet_writer_text(struct parquet_writer *writer, const char *text, size_t length)
{
	parquet_chunk_text(next_cell(writer), text, length);
}

void parquet_writer_null(struct parquet_writer *writer)
{
	parquet_chunk_null(next_cell(writer));
}

void parquet_writer_fact(struct parquet_writer *writer, const char *key, const char *value)
{
	buffer_append(&writer->pairs, key, strlen(key) + 1);
	buffer_append(&writer->pairs, value, strlen(value) + 1);
	writer->pair_count++;
}

static int end_page(struct parquet_writer *writer)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < writer->column_count && status == STATUS_OK; i++)
		status = parquet_chunk_page(&writer->chunks[i], writer->zstd);
	writer->page_rows = 0;
	return status;
}

static int keep_text(const struct buffer *text, char **ret_text, size_t *ret_length)
{
	*ret_text = malloc(text->length + 1);
	if (!*ret_text)
		return STATUS_NOMEM;
	if (text->length)
		memcpy(*ret_text, text->data, text->length);
	*ret_length = text->length;
	return STATUS_OK;
}

static int keep_stats(const struct parquet_chunk *chunk, struct chunk_facts *facts)
{
	const struct parquet_stats *stats = &chunk->stats;
	int status = STATUS_OK;

	facts->null_count = stats->null_count;
	facts->has_stats = stats->known && !stats->unusable;
	facts->low = stats->low;
	facts->high = stats->high;
	if (!facts->has_stats || chunk->column->type != PARQUET_WORD)
		return STATUS_OK;
	status = keep_text(&stats->low_text, &facts->low_text, &facts->low_length);
	return status == STATUS_OK
		       ? keep_text(&stats->high_text, &facts->high_text, &facts->high_length)
		       : status;
}

static int end_chunk(struct parquet_writer *writer, struct parquet_chunk *chunk)
{
	struct chunk_facts *facts;
	struct buffer *out = &writer->sink->out;
	size_t before = out->length;
	int status;

	if (array_grow((void **)&writer->facts, &writer->fact_capacity, writer->fact_count + 1,
		    sizeof *writer->facts) != STATUS_OK)
		return STATUS_NOMEM;
	facts = &writer->facts[writer->fact_count++];
	memset(facts, 0, sizeof *facts);
	status = parquet_chunk_dictionary(chunk, writer->zstd, out);
	if (status == STATUS_OK)
		status = keep_stats(chunk, facts);
	if (status != STATUS_OK)
		return status;
	facts->dictionary_offset = out->length > before ? writer->offset : 0;
	facts->offset = writer->offset + (out->length - before);
	facts->packed_bytes = out->length - before + chunk->pages.length;
	facts->raw_bytes = chunk->page_bytes;
	facts->values = writer->group_rows;
	writer->offset += facts->packed_bytes;
	status = export_sink_write(writer->sink, chunk->pages.data, chunk->pages.length);
	return status == STATUS_OK ? parquet_chunk_reset(chunk) : status;
}

static int end_group(struct parquet_writer *writer)
{
	int status = writer->page_rows ? end_page(writer) : STATUS_OK;

	if (writer->group_rows == 0 || status != STATUS_OK)
		return status;
	if (array_grow((void **)&writer->group_sizes, &writer->group_capacity,
		    writer->group_count + 1, sizeof *writer->group_sizes) != STATUS_OK)
		return STATUS_NOMEM;
	writer->group_sizes[writer->group_count++] = writer->group_rows;
	for (size_t i = 0; i < writer->column_count && status == STATUS_OK; i++)
		status = end_chunk(writer, &writer->chunks[i]);
	writer->rows += writer->group_rows;
	writer->group_rows = 0;
	return status;
}

/* Text can be of any length: a page ends early before its size leaves an i32. */
static bool page_full(const struct parquet_writer *writer)
{
	if (writer->page_rows >= PAGE_ROWS)
		return true;
	for (size_t i = 0; i < writer->column_count; i++)
		if (writer->chunks[i].plain.length > LIMIT_BYTES / 64)
			return true;
	return false;
}

int parquet_writer_row(struct parquet_writer *writer)
{
	int status = STATUS_OK;

	writer->at = 0;
	writer->page_rows++;
	writer->group_rows++;
	if (page_full(writer))
		status = end_page(writer);
	if (status == STATUS_OK && writer->group_rows >= GROUP_ROWS)
		status = end_group(writer);
	return status;
}

/* Type of storage, the older annotation, and the newer one. */
static void put_schema_column(struct thrift_writer *thrift, const struct parquet_column *column)
{
	static const struct {
		int physical, converted;
	} types[] = {
		[PARQUET_I32] = { 1, -1 },
		[PARQUET_I64] = { 2, -1 },
		[PARQUET_U64] = { 2, 14 },
		[PARQUET_DOUBLE] = { 5, -1 },
		[PARQUET_WORD] = { 6, 0 },
		[PARQUET_TEXT] = { 6, 0 },
	};
	bool text = column->type == PARQUET_WORD || column->type == PARQUET_TEXT;

	thrift_item_struct(thrift);
	thrift_int(thrift, 1, THRIFT_I32, types[column->type].physical);
	thrift_int(thrift, 3, THRIFT_I32, column->optional ? 1 : 0);
	thrift_text(thrift, 4, column->name);
	if (types[column->type].converted >= 0)
		thrift_int(thrift, 6, THRIFT_I32, types[column->type].converted);
	if (text || column->type == PARQUET_U64) {
		thrift_struct(thrift, 10);
		thrift_struct(thrift, text ? 1 : 10);
		if (!text) {
			thrift_int(thrift, 1, THRIFT_BYTE, 64);
			thrift_bool(thrift, 2, false);
		}
		thrift_end(thrift);
		thrift_end(thrift);
	}
	thrift_end(thrift);
}

static void put_schema(struct parquet_writer *writer, struct thrift_writer *thrift)
{
	thrift_list(thrift, 2, THRIFT_STRUCT, writer->column_count + 1);
	thrift_item_struct(thrift);
	thrift_text(thrift, 4, "schema");
	thrift_int(thrift, 5, THRIFT_I32, (int64_t)writer->column_count);
	thrift_end(thrift);
	for (size_t i = 0; i < writer->column_count; i++)
		put_schema_column(thrift, &writer->columns[i]);
}

/* Both zeros are equal but not the same bits: the bounds take in either. */
static uint64_t zero_bound(uint64_t bits, bool low)
{
	if (wire_as_double(bits) != 0)
		return bits;
	return low ? (uint64_t)1 << 63 : 0;
}

static void put_stats(struct thrift_writer *thrift, const struct parquet_column *column,
	const struct chunk_facts *facts)
{
	uint64_t low = facts->low, high = facts->high;
	size_t bytes = column->type == PARQUET_I32 ? 4 : 8;

	if (column->type == PARQUET_DOUBLE) {
		low = zero_bound(low, true);
		high = zero_bound(high, false);
	}
	thrift_struct(thrift, 12);
	thrift_int(thrift, 3, THRIFT_I64, (int64_t)facts->null_count);
	if (facts->has_stats && column->type == PARQUET_WORD) {
		thrift_binary(thrift, 5, facts->high_text, facts->high_length);
		thrift_binary(thrift, 6, facts->low_text, facts->low_length);
	} else if (facts->has_stats) {
		uint8_t sides[2][8];

		for (int i = 0; i < 8; i++) {
			sides[0][i] = (uint8_t)(high >> (8 * i));
			sides[1][i] = (uint8_t)(low >> (8 * i));
		}
		thrift_binary(thrift, 5, sides[0], bytes);
		thrift_binary(thrift, 6, sides[1], bytes);
	}
	thrift_end(thrift);
}

static void put_chunk(struct thrift_writer *thrift, const struct parquet_column *column,
	const struct chunk_facts *facts)
{
	static const int physical[] = { [PARQUET_I32] = 1,
		[PARQUET_I64] = 2,
		[PARQUET_U64] = 2,
		[PARQUET_DOUBLE] = 5,
		[PARQUET_WORD] = 6,
		[PARQUET_TEXT] = 6 };
	bool word = column->type == PARQUET_WORD;

	thrift_item_struct(thrift);
	thrift_int(thrift, 2, THRIFT_I64, (int64_t)facts->offset);
	thrift_struct(thrift, 3);
	thrift_int(thrift, 1, THRIFT_I32, physical[column->type]);
	thrift_list(thrift, 2, THRIFT_I32, word ? 3 : 2);
	thrift_item_int(thrift, 0); /* plain */
	thrift_item_int(thrift, 3); /* runs: levels */
	if (word)
		thrift_item_int(thrift, 8); /* numbers of a dictionary */
	thrift_list(thrift, 3, THRIFT_BINARY, 1);
	thrift_item_text(thrift, column->name);
	thrift_int(thrift, 4, THRIFT_I32, CODEC_ZSTD);
	thrift_int(thrift, 5, THRIFT_I64, (int64_t)facts->values);
	thrift_int(thrift, 6, THRIFT_I64, (int64_t)facts->raw_bytes);
	thrift_int(thrift, 7, THRIFT_I64, (int64_t)facts->packed_bytes);
	thrift_int(thrift, 9, THRIFT_I64, (int64_t)facts->offset);
	if (facts->dictionary_offset)
		thrift_int(thrift, 11, THRIFT_I64, (int64_t)facts->dictionary_offset);
	put_stats(thrift, column, facts);
	thrift_end(thrift);
	thrift_end(thrift);
}

static void put_group(struct parquet_writer *writer, struct thrift_writer *thrift, size_t group)
{
	const struct chunk_facts *facts = &writer->facts[group * writer->column_count];
	uint64_t raw = 0, packed = 0;

	thrift_item_struct(thrift);
	thrift_list(thrift, 1, THRIFT_STRUCT, writer->column_count);
	for (size_t i = 0; i < writer->column_count; i++) {
		put_chunk(thrift, &writer->columns[i], &facts[i]);
		raw += facts[i].raw_bytes;
		packed += facts[i].packed_bytes;
	}
	thrift_int(thrift, 2, THRIFT_I64, (int64_t)raw);
	thrift_int(thrift, 3, THRIFT_I64, (int64_t)writer->group_sizes[group]);
	thrift_int(thrift, 5, THRIFT_I64,
		(int64_t)(facts[0].dictionary_offset ? facts[0].dictionary_offset
						     : facts[0].offset));
	thrift_int(thrift, 6, THRIFT_I64, (int64_t)packed);
	thrift_int(thrift, 7, THRIFT_I16, (int64_t)group);
	thrift_end(thrift);
}

static void put_pairs(struct parquet_writer *writer, struct thrift_writer *thrift)
{
	const char *at = (const char *)writer->pairs.data;

	if (!writer->pair_count || !buffer_ok(&writer->pairs))
		return;
	thrift_list(thrift, 5, THRIFT_STRUCT, writer->pair_count);
	for (size_t i = 0; i < writer->pair_count; i++) {
		const char *value = at + strlen(at) + 1;

		thrift_item_struct(thrift);
		thrift_text(thrift, 1, at);
		thrift_text(thrift, 2, value);
		thrift_end(thrift);
		at = value + strlen(value) + 1;
	}
}

int parquet_writer_finish(struct parquet_writer *writer)
{
	struct buffer *out = &writer->sink->out;
	struct thrift_writer thrift;
	int status = end_group(writer);
	size_t before;

	if (status == STATUS_OK) /* so that `out` holds nothing but the footer */
		status = export_sink_write(writer->sink, NULL, 0);
	if (status != STATUS_OK)
		return status;
	before = out->length;
	thrift_begin(&thrift, out);
	thrift_int(&thrift, 1, THRIFT_I32, 2);
	put_schema(writer, &thrift);
	thrift_int(&thrift, 3, THRIFT_I64, (int64_t)writer->rows);
	thrift_list(&thrift, 4, THRIFT_STRUCT, writer->group_count);
	for (size_t i = 0; i < writer->group_count; i++)
		put_group(writer, &thrift, i);
	put_pairs(writer, &thrift);
	/* Readers tell writers apart by "name version 1.2.3". */
	thrift_text(&thrift, 6, "tacho version " TACHO_VERSION);
	/* One entry per column: bounds are ordered as the type says. */
	thrift_list(&thrift, 7, THRIFT_STRUCT, writer->column_count);
	for (size_t i = 0; i < writer->column_count; i++) {
		thrift_item_struct(&thrift);
		thrift_struct(&thrift, 1);
		thrift_end(&thrift);
		thrift_end(&thrift);
	}
	thrift_end(&thrift);
	buffer_u32(out, (uint32_t)(out->length - before));
	buffer_text(out, "PAR1");
	return buffer_ok(out) ? STATUS_OK : STATUS_NOMEM;
}
