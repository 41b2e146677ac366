/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A reader of Parquet for tests: flat tables, zstd, plain values and dictionaries. It reads every
 * value of a column as text. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mini_column {
	char name[32];
	int type, optional, has_text; /* physical type; text by logical type */
	char **values;                /* NULL: no value */
	size_t count, null_count;     /* null_count as the statistics say */
	char low[64], high[64];       /* of the first row group, "" when there are none */
	size_t pages, groups;
};

struct mini_parquet {
	struct mini_column columns[16];
	size_t column_count, row_count, group_count;
	char facts[2][64]; /* keys of the footer's pairs */
	size_t fact_count;
};

/* Fails checks on anything that is not as it should be. */
struct mini_parquet *mini_parquet_read(const uint8_t *bytes, size_t count);
void mini_parquet_free(struct mini_parquet *file);
const struct mini_column *mini_parquet_column(const struct mini_parquet *file, const char *name);
