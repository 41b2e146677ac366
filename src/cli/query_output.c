// SPDX-License-Identifier: MIT OR Apache-2.0
/* Layout of answers. */
#include "cli/query_output.h"

#include "base/array.h"
#include "report/report.h"
#include "report/text_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GAP         2
#define LOOK_ROWS   2000u
#define LOOK_BYTES  (4u << 20)
#define FLUSH_BYTES (64u << 10)
#define WIDTH_MIN   6
#define ELLIPSIS    "\xe2\x80\xa6"

enum query_format query_format_of(const char *word)
{
	return strcmp(word, "csv") == 0    ? QUERY_FORMAT_CSV
	       : strcmp(word, "json") == 0 ? QUERY_FORMAT_JSON
					   : QUERY_FORMAT_TABLE;
}

static int flush(struct query_output *output, size_t limit)
{
	struct buffer *text = &output->output.text;
	int status = STATUS_OK;

	if (!buffer_ok(text))
		return STATUS_NOMEM;
	if (text->length > limit) {
		status = output_file_write(&output->output.file, text->data, text->length);
		buffer_reset(text);
	}
	return status;
}

static const char *cell_text(const struct query_output *output, size_t cell)
{
	return (const char *)output->cells.data + output->starts[cell];
}

/* A value as it is shown: harmless, on one line. A NUL byte ends no cell. */
static void plain_value(struct buffer *out, const struct query_value *value)
{
	struct buffer text;

	if (value->type == QUERY_NULL) {
		buffer_text(out, "NULL");
		return;
	}
	if (value->type == QUERY_DOUBLE) {
		buffer_printf(out, "%.10g", value->real);
		return;
	}
	buffer_init(&text);
	query_text_value(&text, value);
	buffer_byte(&text, 0);
	for (size_t i = 0; buffer_ok(&text) && i < text.length;) {
		const char *piece = (const char *)text.data + i;

		text_plain(out, piece);
		i += strlen(piece) + 1;
		if (i < text.length)
			buffer_text(out, "\\x00");
	}
	buffer_release(&text);
}

static int add_cell(struct query_output *output)
{
	if (array_grow((void **)&output->starts, &output->start_capacity, output->start_count + 1,
		    sizeof *output->starts) != STATUS_OK)
		return STATUS_NOMEM;
	output->starts[output->start_count++] = output->cells.length;
	return STATUS_OK;
}

/* As many bytes of `text` as fit in `columns`. */
static size_t fitting(const char *text, size_t columns)
{
	char piece[8];
	size_t at = 0, used = 0;

	while (text[at]) {
		size_t length = 1;

		while (((unsigned char)text[at + length] & 0xc0) == 0x80 && length < 4)
			length++;
		memcpy(piece, text + at, length);
		piece[length] = 0;
		used += text_width(piece);
		if (used > columns)
			break;
		at += length;
	}
	return at;
}

/* Ends a line without the blanks that an empty last cell leaves. */
static void end_line(struct buffer *out)
{
	while (out->length && out->data[out->length - 1] == ' ')
		out->length--;
	buffer_byte(out, '\n');
}

static void put_cell(struct query_output *output, const char *text, size_t column)
{
	struct buffer *out = &output->output.text;
	const struct query_output_column *layout = &output->columns[column];
	bool last = column + 1 == output->column_count;
	size_t width = text_width(text), room = width < layout->width ? layout->width - width : 0;

	if (column)
		buffer_append(out, "  ", GAP);
	for (size_t i = 0; !layout->text && i < room; i++)
		buffer_byte(out, ' ');
	if (output->width && width > layout->width) {
		buffer_append(out, text, fitting(text, layout->width - 1));
		buffer_text(out, ELLIPSIS);
	} else {
		buffer_text(out, text);
	}
	for (size_t i = 0; layout->text && !last && i < room; i++)
		buffer_byte(out, ' ');
}

/* Cuts the widest column until the table fits. */
static void fit(struct query_output *output)
{
	for (;;) {
		size_t total = 0, widest = 0, second = WIDTH_MIN, over, cut;

		for (size_t i = 0; i < output->column_count; i++) {
			total += output->columns[i].width + (i ? GAP : 0);
			if (output->columns[i].width > output->columns[widest].width)
				widest = i;
		}
		if (total <= output->width || output->columns[widest].width <= WIDTH_MIN)
			return;
		for (size_t i = 0; i < output->column_count; i++)
			if (i != widest && output->columns[i].width > second)
				second = output->columns[i].width;
		over = total - output->width;
		cut = output->columns[widest].width - second;
		cut = cut < 1 ? 1 : cut;
		output->columns[widest].width -= over < cut ? over : cut;
	}
}

/* The rows looked at so far go out; from now on widths stay. */
static int lay_out(struct query_output *output)
{
	size_t count = output->column_count;
	struct buffer *out = &output->output.text;

	if (!buffer_ok(&output->cells))
		return STATUS_NOMEM;
	for (size_t i = 0; i < output->start_count; i++) {
		size_t width = text_width(cell_text(output, i));

		if (width > output->columns[i % count].width)
			output->columns[i % count].width = width;
	}
	if (output->width)
		fit(output);
	for (size_t i = 0; i < output->start_count; i++) {
		if (i == 0 && output->bold)
			buffer_text(out, "\033[1m");
		put_cell(output, cell_text(output, i), i % count);
		if (i + 1 == count && output->bold)
			buffer_text(out, "\033[0m");
		if ((i + 1) % count == 0)
			end_line(out);
	}
	output->laid_out = true;
	output->start_count = 0;
	buffer_reset(&output->cells);
	return flush(output, FLUSH_BYTES);
}

static int begin_table(
	struct query_output *output, size_t index, const char *const *columns, size_t count)
{
	free(output->columns);
	output->columns = calloc(count, sizeof *output->columns);
	if (!output->columns)
		return STATUS_NOMEM;
	output->column_count = count;
	output->start_count = 0;
	output->laid_out = false;
	buffer_reset(&output->cells);
	if (index)
		buffer_byte(&output->output.text, '\n');
	for (size_t i = 0; i < count; i++) {
		if (add_cell(output) != STATUS_OK)
			return STATUS_NOMEM;
		text_plain(&output->cells, columns[i]);
		buffer_byte(&output->cells, 0);
	}
	return STATUS_OK;
}

static int row_table(struct query_output *output, const struct query_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t start = output->cells.length;

		if (!output->laid_out && add_cell(output) != STATUS_OK)
			return STATUS_NOMEM;
		plain_value(&output->cells, &values[i]);
		buffer_byte(&output->cells, 0);
		if (!buffer_ok(&output->cells))
			return STATUS_NOMEM;
		if (output->laid_out) {
			put_cell(output, (const char *)output->cells.data + start, i);
			buffer_reset(&output->cells);
		} else if (values[i].type == QUERY_TEXT || values[i].type == QUERY_BLOB) {
			output->columns[i].text = true;
		}
	}
	if (output->laid_out) {
		end_line(&output->output.text);
		return flush(output, FLUSH_BYTES);
	}
	if (output->start_count >= LOOK_ROWS * count || output->cells.length >= LOOK_BYTES)
		return lay_out(output);
	return STATUS_OK;
}

static void begin_json(struct query_output *output, size_t index, size_t statements,
	const char *const *columns, size_t count)
{
	struct json_writer *json = &output->output.json;

	output->several = statements > 1;
	if (output->several && index == 0) {
		json_key(json, "results");
		json_array(json);
	}
	if (output->several)
		json_object(json);
	json_key(json, "columns");
	json_array(json);
	json->pretty = false;
	for (size_t i = 0; i < count; i++)
		json_string(json, columns[i]);
	json_array_end(json);
	json->pretty = true;
	json_key(json, "rows");
	json_array(json);
}

/* A row stands on a line of its own. */
static int row_json(struct query_output *output, const struct query_value *values, size_t count)
{
	struct json_writer *json = &output->output.json;

	json_array(json);
	json->pretty = false;
	for (size_t i = 0; i < count; i++)
		query_json_value(json, &values[i]);
	json_array_end(json);
	json->pretty = true;
	return json->failed ? STATUS_IO : STATUS_OK;
}

static int sink_begin(
	void *context, size_t index, size_t statements, const char *const *columns, size_t count)
{
	struct query_output *output = context;

	switch (output->format) {
	case QUERY_FORMAT_JSON:
		begin_json(output, index, statements, columns, count);
		return STATUS_OK;
	case QUERY_FORMAT_CSV:
		if (index)
			buffer_byte(&output->output.text, '\n');
		query_csv_columns(&output->output.text, columns, count);
		return STATUS_OK;
	default:
		return begin_table(output, index, columns, count);
	}
}

static int sink_row(void *context, const struct query_value *values, size_t count)
{
	struct query_output *output = context;

	switch (output->format) {
	case QUERY_FORMAT_JSON:
		return row_json(output, values, count);
	case QUERY_FORMAT_CSV:
		query_csv_row(&output->output.text, values, count);
		return flush(output, FLUSH_BYTES);
	default:
		return row_table(output, values, count);
	}
}

static int sink_end(void *context)
{
	struct query_output *output = context;

	if (output->format == QUERY_FORMAT_TABLE && !output->laid_out)
		return lay_out(output);
	if (output->format == QUERY_FORMAT_JSON) {
		json_array_end(&output->output.json);
		if (output->several)
			json_object_end(&output->output.json);
	}
	return STATUS_OK;
}

int query_output_open(struct query_output *output, const struct cli *cli, enum query_format format,
	const char *path, struct error *err)
{
	int status;

	memset(output, 0, sizeof *output);
	status = cli_output_open(&output->output, path, err);
	if (status != STATUS_OK)
		return status;
	output->sink = (struct query_sink){ output, sink_begin, sink_row, sink_end };
	output->format = format;
	output->whole = path != NULL;
	/* What goes to a file or a pipe is not cut: somebody may want the rest of it. */
	output->width = !path && isatty(STDOUT_FILENO) ? cli->width : 0;
	output->bold = !path && cli->colour;
	buffer_init(&output->cells);
	if (format == QUERY_FORMAT_JSON) {
		json_object(&output->output.json);
		report_json_head(&output->output.json, "query");
	}
	return STATUS_OK;
}

/* Closes what is open, however deep, and says what went wrong. */
static void finish_json(struct query_output *output, const struct error *failed)
{
	struct json_writer *json = &output->output.json;

	while (failed && json->depth > 1) {
		/* rows, then results: arrays; what holds rows of one statement is an object. */
		if (output->several && json->depth == 3)
			json_object_end(json);
		else
			json_array_end(json);
	}
	if (!failed && output->several)
		json_array_end(json);
	if (failed)
		json_key_string(json, "error", failed->message);
	json_object_end(json);
}

void query_output_finish(struct query_output *output, const struct error *failed, struct error *err)
{
	if (failed && output->whole) {
		output_file_release(&output->output.file);
		buffer_release(&output->output.text);
		json_writer_release(&output->output.json);
	} else {
		if (output->format == QUERY_FORMAT_JSON)
			finish_json(output, failed);
		else if (failed && !output->laid_out && output->start_count > output->column_count)
			(void)!lay_out(output);
		cli_output_finish(&output->output, output->format == QUERY_FORMAT_JSON, err);
	}
	buffer_release(&output->cells);
	free(output->columns);
	free(output->starts);
}
