/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tables for people: cells are gathered as text, then laid out for a terminal of some width or
 * written as Markdown. A table too wide first loses its least important columns, then the one
 * column that may be squeezed is cut in the middle. Text from a trace is made harmless: control
 * characters and bytes that are not UTF-8 are shown as \xNN. */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum text_align { TEXT_LEFT, TEXT_RIGHT };

struct text_column {
	const char *title;
	enum text_align align;
	unsigned drop;  /* 0: always shown; the largest number goes first */
	bool squeeze;   /* one column of a table at most: names */
	bool highlight; /* title in bold: what the rows are sorted by */
};

#define TEXT_COLUMNS_MAX 16

struct text_table {
	struct text_column columns[TEXT_COLUMNS_MAX];
	size_t column_count;
	struct buffer text; /* all cells, each with a NUL behind it */
	size_t *cells;      /* where each begins */
	size_t cell_count, cell_capacity;
	bool failed; /* out of memory; text_table_ok() */
};

void text_table_init(struct text_table *table, const struct text_column *columns, size_t count);
void text_table_release(struct text_table *table);
bool text_table_ok(const struct text_table *table);

/* The next cell, row by row from the left. */
void text_table_cell(struct text_table *table, const char *text);
void text_table_cellf(struct text_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void text_table_duration(struct text_table *table, double ns);
void text_table_count(struct text_table *table, double count);
void text_table_percent(struct text_table *table, double share);

void text_table_render(
	const struct text_table *table, unsigned width, bool colour, struct buffer *out);
void text_table_markdown(const struct text_table *table, struct buffer *out);

/* Appends `text` with everything that could harm a terminal escaped. */
void text_plain(struct buffer *out, const char *text);
/* Terminal columns that plain text takes. */
size_t text_width(const char *text);
