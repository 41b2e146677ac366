// SPDX-License-Identifier: MIT OR Apache-2.0
/* Layout of tables. Widths are counted in terminal columns, from a short list of wide ranges and
 * not from the locale, so that output does not depend on it. */
#include "report/text_table.h"

#include "base/array.h"
#include "base/units.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP         2
#define SQUEEZE_MIN 24
#define ELLIPSIS    "\xe2\x80\xa6"

/* Code point of the sequence at `text`, with its length; length 0 when it is not UTF-8. The NUL
 * behind the text ends any sequence. */
static uint32_t decode(const char *text, size_t *ret_length)
{
	uint32_t code = 0;

	*ret_length = utf8_decode(text, 4, &code);
	return code;
}

static unsigned code_width(uint32_t code)
{
	static const struct {
		uint32_t first, last;
		unsigned width;
	} ranges[] = {
		{ 0x300, 0x36f, 0 },
		{ 0x1100, 0x115f, 2 },
		{ 0x200b, 0x200f, 0 },
		{ 0x2e80, 0xa4cf, 2 },
		{ 0xac00, 0xd7a3, 2 },
		{ 0xf900, 0xfaff, 2 },
		{ 0xfe00, 0xfe0f, 0 },
		{ 0xfe30, 0xfe6f, 2 },
		{ 0xff00, 0xff60, 2 },
		{ 0xffe0, 0xffe6, 2 },
		{ 0x1f300, 0x1f64f, 2 },
		{ 0x1f900, 0x1f9ff, 2 },
		{ 0x20000, 0x3fffd, 2 },
	};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return ranges[i].width;
	return 1;
}

void text_plain(struct buffer *out, const char *text)
{
	while (*text) {
		size_t length;
		uint32_t code = decode(text, &length);

		/* C1 controls and the marks that turn the direction of text are no better than ESC.
		 */
		if (length == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0) ||
			(code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) {
			length = length ? length : 1;
			for (size_t i = 0; i < length; i++)
				buffer_printf(out, "\\x%02x", (unsigned char)text[i]);
		} else {
			buffer_append(out, text, length);
		}
		text += length;
	}
}

size_t text_width(const char *text)
{
	size_t width = 0;

	while (*text) {
		size_t length;
		uint32_t code = decode(text, &length);

		width += length ? code_width(code) : 1;
		text += length ? length : 1;
	}
	return width;
}

void text_table_init(struct text_table *table, const struct text_column *columns, size_t count)
{
	memset(table, 0, sizeof *table);
	table->column_count = count < TEXT_COLUMNS_MAX ? count : TEXT_COLUMNS_MAX;
	memcpy(table->columns, columns, table->column_count * sizeof *columns);
	buffer_init(&table->text);
}

void text_table_release(struct text_table *table)
{
	buffer_release(&table->text);
	free(table->cells);
	memset(table, 0, sizeof *table);
}

bool text_table_ok(const struct text_table *table)
{
	return !table->failed && buffer_ok(&table->text);
}

void text_table_cell(struct text_table *table, const char *text)
{
	if (table->failed || array_grow((void **)&table->cells, &table->cell_capacity,
				     table->cell_count + 1, sizeof *table->cells)) {
		table->failed = true;
		return;
	}
	table->cells[table->cell_count++] = table->text.length;
	text_plain(&table->text, text);
	buffer_byte(&table->text, 0);
}

void text_table_cellf(struct text_table *table, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	text_table_cell(table, text);
}

void text_table_duration(struct text_table *table, double ns)
{
	char text[UNITS_TEXT];

	text_table_cell(table, units_duration(text, ns));
}

void text_table_count(struct text_table *table, double count)
{
	char text[UNITS_TEXT];

	text_table_cell(table, units_count(text, count));
}

void text_table_percent(struct text_table *table, double share)
{
	text_table_cellf(table, "%.1f %%", share * 100);
}

static const char *cell_text(const struct text_table *table, size_t cell)
{
	return (const char *)table->text.data + table->cells[cell];
}

static size_t row_count(const struct text_table *table)
{
	return text_table_ok(table) && table->column_count ? table->cell_count / table->column_count
							   : 0;
}

/* Leaves out columns until the table fits, then narrows the one that may be. Left-out columns get
 * width 0. */
static void fit(const struct text_table *table, size_t *widths, size_t limit)
{
	for (;;) {
		size_t total = 0, squeeze = SIZE_MAX, drop = SIZE_MAX;

		for (size_t c = 0; c < table->column_count; c++) {
			const struct text_column *column = &table->columns[c];

			if (!widths[c])
				continue;
			total += widths[c] + (total ? GAP : 0);
			if (column->squeeze && widths[c] > SQUEEZE_MIN)
				squeeze = c;
			if (column->drop && !column->highlight &&
				(drop == SIZE_MAX || column->drop > table->columns[drop].drop))
				drop = c;
		}
		if (total <= limit)
			return;
		if (squeeze != SIZE_MAX && widths[squeeze] - SQUEEZE_MIN >= total - limit) {
			widths[squeeze] -= total - limit;
			return;
		}
		if (drop == SIZE_MAX) {
			if (squeeze != SIZE_MAX)
				widths[squeeze] = SQUEEZE_MIN;
			return;
		}
		widths[drop] = 0;
	}
}

/* As many bytes of `text` as fit in `columns`, and how many columns they take. */
static size_t prefix_bytes(const char *text, size_t columns, size_t *ret_used)
{
	size_t bytes = 0, used = 0;

	while (text[bytes]) {
		size_t length;
		uint32_t code = decode(text + bytes, &length);
		unsigned width = length ? code_width(code) : 1;

		if (used + width > columns)
			break;
		used += width;
		bytes += length ? length : 1;
	}
	*ret_used = used;
	return bytes;
}

/* The end of a name tells as much as its beginning, so the middle goes. Returns the columns used.
 */
static size_t put_squeezed(struct buffer *out, const char *text, size_t columns)
{
	size_t width = text_width(text), tail_columns = (columns - 1) / 2, head, skipped;
	size_t head_bytes = prefix_bytes(text, columns - 1 - tail_columns, &head);
	size_t tail_bytes = prefix_bytes(text, width - tail_columns, &skipped), one;

	/* A wide character may stand across the cut. */
	if (width - skipped > tail_columns) {
		decode(text + tail_bytes, &one);
		tail_bytes += one ? one : 1;
	}
	buffer_append(out, text, head_bytes);
	buffer_text(out, ELLIPSIS);
	buffer_text(out, text + tail_bytes);
	return head + 1 + text_width(text + tail_bytes);
}

static void put_spaces(struct buffer *out, size_t count)
{
	while (count--)
		buffer_byte(out, ' ');
}

static void put_cell(struct buffer *out, const struct text_column *column, const char *text,
	size_t columns, bool last)
{
	size_t width = text_width(text);
	size_t room = width < columns ? columns - width : 0;

	if (column->align == TEXT_RIGHT)
		put_spaces(out, room);
	if (width > columns) {
		size_t used = put_squeezed(out, text, columns);

		room = used < columns ? columns - used : 0;
	} else {
		buffer_text(out, text);
	}
	if (column->align == TEXT_LEFT && !last)
		put_spaces(out, room);
}

static void put_titles(const struct text_table *table, const size_t *widths, size_t last,
	bool colour, struct buffer *out)
{
	bool any = false;

	for (size_t c = 0; c < table->column_count; c++) {
		if (!widths[c])
			continue;
		put_spaces(out, any ? GAP : 0);
		any = true;
		if (colour)
			buffer_text(out, table->columns[c].highlight ? "\033[1;4m" : "\033[1m");
		put_cell(out, &table->columns[c], table->columns[c].title, widths[c], c == last);
		if (colour)
			buffer_text(out, "\033[0m");
	}
	buffer_byte(out, '\n');
}

void text_table_render(
	const struct text_table *table, unsigned width, bool colour, struct buffer *out)
{
	size_t widths[TEXT_COLUMNS_MAX] = { 0 }, last = 0, rows = row_count(table);

	for (size_t c = 0; c < table->column_count; c++) {
		widths[c] = text_width(table->columns[c].title);
		for (size_t r = 0; r < rows; r++) {
			size_t cell = text_width(cell_text(table, r * table->column_count + c));

			widths[c] = cell > widths[c] ? cell : widths[c];
		}
	}
	fit(table, widths, width);
	for (size_t c = 0; c < table->column_count; c++)
		last = widths[c] ? c : last;
	put_titles(table, widths, last, colour, out);
	for (size_t r = 0; r < rows; r++) {
		bool any = false;

		for (size_t c = 0; c < table->column_count; c++) {
			if (!widths[c])
				continue;
			put_spaces(out, any ? GAP : 0);
			any = true;
			put_cell(out, &table->columns[c],
				cell_text(table, r * table->column_count + c), widths[c],
				c == last);
		}
		buffer_byte(out, '\n');
	}
}

/* What Markdown would take for markup. */
static void put_markdown(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("|\\`*_<>[]&", *text))
			buffer_byte(out, '\\');
		buffer_byte(out, (uint8_t)*text);
	}
}

void text_table_markdown(const struct text_table *table, struct buffer *out)
{
	size_t rows = row_count(table);

	for (size_t c = 0; c < table->column_count; c++) {
		buffer_text(out, c ? " | " : "| ");
		put_markdown(out, table->columns[c].title);
	}
	buffer_text(out, " |\n");
	for (size_t c = 0; c < table->column_count; c++)
		buffer_text(out, table->columns[c].align == TEXT_RIGHT ? "|---:" : "|---");
	buffer_text(out, "|\n");
	for (size_t r = 0; r < rows; r++) {
		for (size_t c = 0; c < table->column_count; c++) {
			buffer_text(out, c ? " | " : "| ");
			put_markdown(out, cell_text(table, r * table->column_count + c));
		}
		buffer_text(out, " |\n");
	}
}
