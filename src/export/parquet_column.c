// SPDX-License-Identifier: MIT OR Apache-2.0
/* Columns of a row group: gathering, dictionaries, encodings, pages. */
#include "export/parquet_column.h"

#include "base/array.h"
#include "base/utf8.h"
#include "base/wire.h"
#include "export/thrift.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define DICTIONARY_BYTES_MAX ((size_t)1 << 30)
#define STATS_TEXT_MAX       64u
#define ZSTD_LEVEL           3

enum page_type { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum encoding { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_RLE_DICTIONARY = 8 };

int parquet_chunk_init(struct parquet_chunk *chunk, const struct parquet_column *column)
{
	memset(chunk, 0, sizeof *chunk);
	chunk->column = column;
	id_map_init(&chunk->known);
	return string_table_init(&chunk->dictionary, DICTIONARY_BYTES_MAX);
}

void parquet_chunk_release(struct parquet_chunk *chunk)
{
	buffer_release(&chunk->plain);
	buffer_release(&chunk->pages);
	buffer_release(&chunk->stats.low_text);
	buffer_release(&chunk->stats.high_text);
	string_table_release(&chunk->dictionary);
	id_map_release(&chunk->known);
	free(chunk->words);
	free(chunk->defined);
	memset(chunk, 0, sizeof *chunk);
}

int parquet_chunk_reset(struct parquet_chunk *chunk)
{
	string_table_release(&chunk->dictionary);
	id_map_release(&chunk->known);
	id_map_init(&chunk->known);
	chunk->empty_used = false;
	buffer_reset(&chunk->pages);
	chunk->page_bytes = 0;
	chunk->stats.known = chunk->stats.unusable = false;
	chunk->stats.null_count = 0;
	return string_table_init(&chunk->dictionary, DICTIONARY_BYTES_MAX);
}

/* A row of an optional column has a mark whether it has a value. */
static void define(struct parquet_chunk *chunk, bool defined)
{
	if (chunk->column->optional) {
		if (array_grow((void **)&chunk->defined, &chunk->defined_capacity,
			    chunk->row_count + 1, 1) != STATUS_OK) {
			chunk->failed = true;
			return;
		}
		chunk->defined[chunk->row_count] = defined;
	}
	chunk->row_count++;
	chunk->value_count += defined;
}

static bool below(enum parquet_type type, uint64_t a, uint64_t b)
{
	if (type == PARQUET_DOUBLE)
		return wire_as_double(a) < wire_as_double(b);
	if (type == PARQUET_U64)
		return a < b;
	return (int64_t)a < (int64_t)b;
}

static void note_bits(struct parquet_chunk *chunk, uint64_t bits)
{
	struct parquet_stats *stats = &chunk->stats;
	enum parquet_type type = chunk->column->type;

	if (type == PARQUET_DOUBLE && wire_as_double(bits) != wire_as_double(bits))
		stats->unusable = true;
	if (!stats->known || below(type, bits, stats->low))
		stats->low = bits;
	if (!stats->known || below(type, stats->high, bits))
		stats->high = bits;
	stats->known = true;
}

void parquet_chunk_bits(struct parquet_chunk *chunk, uint64_t bits)
{
	if (chunk->column->type == PARQUET_I32)
		buffer_u32(&chunk->plain, (uint32_t)bits);
	else
		buffer_u64(&chunk->plain, bits);
	note_bits(chunk, bits);
	define(chunk, true);
}

/* Text with a length in front; bytes that are no UTF-8 become U+FFFD, as readers demand. */
static void put_text(struct buffer *out, const char *text, size_t length)
{
	size_t at = out->length;

	buffer_u32(out, 0);
	for (size_t i = 0, step, from; i < length; i += step) {
		from = i;
		while (i < length && (step = utf8_decode(text + i, length - i, NULL)) != 0)
			i += step;
		buffer_append(out, text + from, i - from);
		step = 1;
		if (i < length)
			buffer_text(out, UTF8_REPLACEMENT);
	}
	if (!buffer_ok(out))
		return;
	for (int i = 0; i < 4; i++)
		out->data[at + (size_t)i] = (uint8_t)((out->length - at - 4) >> (8 * i));
}

void parquet_chunk_text(struct parquet_chunk *chunk, const char *text, size_t length)
{
	put_text(&chunk->plain, text, length);
	define(chunk, true);
}

void parquet_chunk_word(struct parquet_chunk *chunk, uint64_t key, const char *text)
{
	uint64_t number;
	uint32_t added;

	if (!id_map_get(&chunk->known, key, &number)) {
		if (string_table_add(&chunk->dictionary, text, strlen(text), &added) ||
			id_map_put(&chunk->known, key, added)) {
			chunk->failed = true;
			return;
		}
		number = added;
	}
	chunk->empty_used |= number == 0;
	if (array_grow((void **)&chunk->words, &chunk->word_capacity, chunk->value_count + 1,
		    sizeof *chunk->words) != STATUS_OK) {
		chunk->failed = true;
		return;
	}
	chunk->words[chunk->value_count] = (uint32_t)number;
	define(chunk, true);
}

void parquet_chunk_null(struct parquet_chunk *chunk)
{
	chunk->stats.null_count++;
	define(chunk, false);
}

static void put_packed(struct buffer *out, const uint32_t *values, size_t count, unsigned width)
{
	size_t groups = (count + 7) / 8;
	uint64_t bits = 0;
	unsigned held = 0;

	if (!count)
		return;
	wire_varint(out, groups << 1 | 1);
	for (size_t i = 0; i < groups * 8; i++) {
		bits |= (uint64_t)(i < count ? values[i] : 0) << held;
		for (held += width; held >= 8; held -= 8, bits >>= 8)
			buffer_byte(out, (uint8_t)bits);
	}
}

static void put_run(struct buffer *out, uint32_t value, size_t count, unsigned width)
{
	wire_varint(out, (uint64_t)count << 1);
	for (unsigned i = 0; i < (width + 7) / 8; i++)
		buffer_byte(out, (uint8_t)(value >> (8 * i)));
}

static size_t run_length(const uint32_t *values, size_t left)
{
	size_t length = 1;

	while (length < left && values[length] == values[0])
		length++;
	return length;
}

/* A run of at least eight, beginning where a group could: anything else is packed. */
void parquet_hybrid(struct buffer *out, const uint32_t *values, size_t count, unsigned width)
{
	size_t packed = 0; /* first value that is not written */

	for (size_t i = 0; i < count;) {
		size_t run = run_length(values + i, count - i);

		if (run < 8) {
			i += 8 < count - i ? 8 : count - i;
			continue;
		}
		put_packed(out, values + packed, i - packed, width);
		put_run(out, values[i], run, width);
		i += run;
		packed = i;
	}
	put_packed(out, values + packed, count - packed, width);
}

static void put_levels(const struct parquet_chunk *chunk, struct buffer *out, uint32_t *scratch)
{
	size_t at = out->length;

	for (size_t i = 0; i < chunk->row_count; i++)
		scratch[i] = chunk->defined[i];
	buffer_u32(out, 0);
	parquet_hybrid(out, scratch, chunk->row_count, 1);
	if (!buffer_ok(out))
		return;
	for (int i = 0; i < 4; i++)
		out->data[at + (size_t)i] = (uint8_t)((out->length - at - 4) >> (8 * i));
}

static unsigned width_of(size_t count)
{
	return count > 2 ? 64u - (unsigned)__builtin_clzll(count - 1) : 1;
}

/* Header and packed bytes of a page. */
static int put_page(struct parquet_chunk *chunk, struct ZSTD_CCtx_s *zstd, const struct buffer *raw,
	enum page_type type, size_t values, enum encoding encoding, struct buffer *out)
{
	size_t bound = ZSTD_compressBound(raw->length), packed, head = out->length;
	uint8_t *room = malloc(bound + 1);
	struct thrift_writer thrift;

	if (!room)
		return STATUS_NOMEM;
	packed = ZSTD_compressCCtx(zstd, room, bound, raw->data, raw->length, ZSTD_LEVEL);
	if (ZSTD_isError(packed)) {
		free(room);
		return STATUS_NOMEM;
	}
	thrift_begin(&thrift, out);
	thrift_int(&thrift, 1, THRIFT_I32, type);
	thrift_int(&thrift, 2, THRIFT_I32, (int64_t)raw->length);
	thrift_int(&thrift, 3, THRIFT_I32, (int64_t)packed);
	thrift_struct(&thrift, type == PAGE_DATA ? 5 : 7);
	thrift_int(&thrift, 1, THRIFT_I32, (int64_t)values);
	thrift_int(&thrift, 2, THRIFT_I32, encoding);
	if (type == PAGE_DATA) {
		thrift_int(&thrift, 3, THRIFT_I32, ENCODING_RLE);
		thrift_int(&thrift, 4, THRIFT_I32, ENCODING_RLE);
	}
	thrift_end(&thrift);
	thrift_end(&thrift);
	chunk->page_bytes += out->length - head + raw->length;
	buffer_append(out, room, packed);
	free(room);
	return buffer_ok(out) ? STATUS_OK : STATUS_NOMEM;
}

int parquet_chunk_page(struct parquet_chunk *chunk, struct ZSTD_CCtx_s *zstd)
{
	bool word = chunk->column->type == PARQUET_WORD;
	uint32_t *scratch = malloc((chunk->row_count + 1) * sizeof *scratch);
	struct buffer raw = { 0 };
	int status = STATUS_NOMEM;

	if (!scratch || chunk->failed)
		goto out;
	if (chunk->column->optional)
		put_levels(chunk, &raw, scratch);
	if (word) {
		unsigned width = width_of(chunk->dictionary.count);

		buffer_byte(&raw, (uint8_t)width);
		parquet_hybrid(&raw, chunk->words, chunk->value_count, width);
	} else {
		buffer_append(&raw, chunk->plain.data, chunk->plain.length);
	}
	if (buffer_ok(&raw) && buffer_ok(&chunk->plain))
		status = put_page(chunk, zstd, &raw, PAGE_DATA, chunk->row_count,
			word ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN, &chunk->pages);
	buffer_reset(&chunk->plain);
	chunk->row_count = chunk->value_count = 0;
out:
	free(scratch);
	buffer_release(&raw);
	return status;
}

static void note_text(
	struct parquet_stats *stats, const struct buffer *all, size_t at, size_t length)
{
	const uint8_t *text = all->data + at;
	struct buffer *sides[2] = { &stats->low_text, &stats->high_text };

	for (int i = 0; i < 2; i++) {
		size_t common = sides[i]->length < length ? sides[i]->length : length;
		int order = common ? memcmp(text, sides[i]->data, common) : 0;

		if (order == 0)
			order = length < sides[i]->length ? -1 : length > sides[i]->length;
		if (!stats->known || (i == 0 ? order < 0 : order > 0)) {
			buffer_reset(sides[i]);
			buffer_append(sides[i], text, length);
		}
	}
	stats->known = true;
}

int parquet_chunk_dictionary(
	struct parquet_chunk *chunk, struct ZSTD_CCtx_s *zstd, struct buffer *out)
{
	const struct string_table *words = &chunk->dictionary;
	struct parquet_stats *stats = &chunk->stats;
	struct buffer raw = { 0 };
	int status;

	if (chunk->column->type != PARQUET_WORD)
		return STATUS_OK;
	for (size_t i = 0; i < words->count; i++) {
		size_t at = raw.length + 4;

		put_text(&raw, words->entries[i].text, words->entries[i].length);
		if (buffer_ok(&raw) && (i > 0 || chunk->empty_used))
			note_text(stats, &raw, at, raw.length - at);
	}
	stats->unusable =
		stats->low_text.length > STATS_TEXT_MAX || stats->high_text.length > STATS_TEXT_MAX;
	status = buffer_ok(&raw) ? put_page(chunk, zstd, &raw, PAGE_DICTIONARY, words->count,
					   ENCODING_PLAIN, out)
				 : STATUS_NOMEM;
	buffer_release(&raw);
	return status;
}
