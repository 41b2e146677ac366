/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One column of a row group: values of the page being filled, the dictionary, pages that are ready,
 * and statistics. */
#pragma once

#include "base/id_map.h"
#include "base/string_table.h"
#include "export/parquet_writer.h"

struct ZSTD_CCtx_s;

struct parquet_stats {
	bool known, unusable; /* unusable: a NaN, or text too long to be kept */
	uint64_t low, high;   /* bits of the value */
	struct buffer low_text, high_text;
	uint64_t null_count;
};

struct parquet_chunk {
	const struct parquet_column *column;
	/* The page being filled. */
	struct buffer plain; /* values one after the other */
	uint32_t *words;     /* or their numbers in the dictionary */
	uint8_t *defined;    /* 1 or 0 for each row, of optional columns */
	size_t value_count, word_capacity;
	size_t row_count, defined_capacity;
	/* The row group. */
	struct string_table dictionary;
	struct id_map known; /* key -> number in the dictionary */
	bool empty_used;     /* number 0, the empty text, is in use */
	struct buffer pages; /* headers and packed bytes */
	uint64_t page_bytes; /* of `pages` before packing */
	struct parquet_stats stats;
	bool failed;
};

int parquet_chunk_init(struct parquet_chunk *chunk, const struct parquet_column *column) MUST_USE;
void parquet_chunk_release(struct parquet_chunk *chunk);

void parquet_chunk_bits(struct parquet_chunk *chunk, uint64_t bits);
void parquet_chunk_word(struct parquet_chunk *chunk, uint64_t key, const char *text);
void parquet_chunk_text(struct parquet_chunk *chunk, const char *text, size_t length);
void parquet_chunk_null(struct parquet_chunk *chunk);

/* Moves the values to `pages`. */
int parquet_chunk_page(struct parquet_chunk *chunk, struct ZSTD_CCtx_s *zstd) MUST_USE;
/* The page of the dictionary, which stands before the others; nothing when there is none. */
int parquet_chunk_dictionary(
	struct parquet_chunk *chunk, struct ZSTD_CCtx_s *zstd, struct buffer *out) MUST_USE;
/* Begins the next row group. */
int parquet_chunk_reset(struct parquet_chunk *chunk) MUST_USE;

/* Numbers below 1 << width as runs and packed groups of eight: Parquet's hybrid encoding. */
void parquet_hybrid(struct buffer *out, const uint32_t *values, size_t count, unsigned width);
