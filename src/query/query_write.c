// SPDX-License-Identifier: MIT OR Apache-2.0
/* Cells of an answer as CSV, JSON and plain text. */
#include "query/query.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_hex(struct buffer *out, const char *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		buffer_byte(out, (uint8_t)digits[(unsigned char)bytes[i] >> 4]);
		buffer_byte(out, (uint8_t)digits[bytes[i] & 15]);
	}
}

/* The shorter form that is read back as the same number, and never mistaken for an integer. */
static void put_double(struct buffer *out, double real)
{
	char text[40];

	snprintf(text, sizeof text, "%.15g", real);
	if (strtod(text, NULL) != real)
		snprintf(text, sizeof text, "%.17g", real);
	buffer_text(out, text);
	if (isfinite(real) && !strpbrk(text, ".e"))
		buffer_text(out, ".0");
}

void query_text_value(struct buffer *out, const struct query_value *value)
{
	switch (value->type) {
	case QUERY_NULL:
		break;
	case QUERY_INTEGER:
		buffer_printf(out, "%" PRId64, value->integer);
		break;
	case QUERY_DOUBLE:
		put_double(out, value->real);
		break;
	case QUERY_TEXT:
		buffer_append(out, value->text, value->length);
		break;
	case QUERY_BLOB:
		put_hex(out, value->text, value->length);
		break;
	}
}

void query_json_value(struct json_writer *json, const struct query_value *value)
{
	struct buffer hex;

	switch (value->type) {
	case QUERY_NULL:
		json_null(json);
		break;
	case QUERY_INTEGER:
		json_i64(json, value->integer);
		break;
	case QUERY_DOUBLE:
		json_double(json, value->real);
		break;
	case QUERY_TEXT:
		json_string_n(json, value->text, value->length);
		break;
	case QUERY_BLOB:
		buffer_init(&hex);
		put_hex(&hex, value->text, value->length);
		json_string_n(json, (const char *)hex.data, hex.length);
		buffer_release(&hex);
		break;
	}
}

static void put_csv_text(struct buffer *out, const char *text, size_t length)
{
	bool quote = length == 0; /* an empty text is not NULL */

	for (size_t i = 0; i < length && !quote; i++)
		quote = text[i] == '"' || text[i] == ',' || text[i] == '\r' || text[i] == '\n';
	if (quote)
		buffer_byte(out, '"');
	for (size_t i = 0, step; i < length; i += step) {
		step = utf8_decode(text + i, length - i, NULL);
		if (text[i] == '"')
			buffer_byte(out, '"');
		if (step)
			buffer_append(out, text + i, step);
		else
			buffer_text(out, UTF8_REPLACEMENT);
		step = step ? step : 1;
	}
	if (quote)
		buffer_byte(out, '"');
}

void query_csv_columns(struct buffer *out, const char *const *columns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			buffer_byte(out, ',');
		put_csv_text(out, columns[i], strlen(columns[i]));
	}
	buffer_byte(out, '\n');
}

void query_csv_row(struct buffer *out, const struct query_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			buffer_byte(out, ',');
		if (values[i].type == QUERY_TEXT)
			put_csv_text(out, values[i].text, values[i].length);
		else
			query_text_value(out, &values[i]);
	}
	buffer_byte(out, '\n');
}
