/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A Parquet file with one flat table, written row by row.
 *
 *   "PAR1"  row group  row group ...  footer  u32 length of the footer  "PAR1"
 *   row group:    a column chunk per column
 *   column chunk: [dictionary page]  data page  data page ...
 *   page:         header (thrift), then the page's bytes in one zstd frame
 *
 * A page holds 64 Ki rows and a row group a million. A row group is kept in memory, compressed,
 * until it is whole. Texts with few values go through a dictionary, numbers and free text are
 * written as they are. Every chunk carries its smallest and largest value where that is of use. */
#pragma once

#include "export/export_sink.h"

#include <stdint.h>

enum parquet_type {
	PARQUET_I32,
	PARQUET_I64,
	PARQUET_U64,
	PARQUET_DOUBLE,
	PARQUET_WORD, /* text that repeats */
	PARQUET_TEXT, /* text that does not */
};

struct parquet_column {
	const char *name;
	enum parquet_type type;
	bool optional;
};

struct parquet_writer;

/* `columns` must outlive the writer; the writer does not own the sink. NULL when out of memory. */
struct parquet_writer *parquet_writer_new(
	struct export_sink *sink, const struct parquet_column *columns, size_t count);
void parquet_writer_free(struct parquet_writer *writer);

/* The cells of a row, by column from left to right; then parquet_writer_row(). */
void parquet_writer_int(struct parquet_writer *writer, uint64_t value);
void parquet_writer_double(struct parquet_writer *writer, double value);
/* A repeating text; the same key always comes with the same text. */
void parquet_writer_word(struct parquet_writer *writer, uint64_t key, const char *text);
void parquet_writer_text(struct parquet_writer *writer, const char *text, size_t length);
void parquet_writer_null(struct parquet_writer *writer);
int parquet_writer_row(struct parquet_writer *writer) MUST_USE;

/* A pair for the footer; texts are copied. */
void parquet_writer_fact(struct parquet_writer *writer, const char *key, const char *value);
/* Writes what is left and the footer. */
int parquet_writer_finish(struct parquet_writer *writer) MUST_USE;
