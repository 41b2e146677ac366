// SPDX-License-Identifier: MIT OR Apache-2.0
/* Streaming JSON writer. Mistakes of the caller (a key in an array, unbalanced ends) are asserts;
 * what comes from outside (text, numbers, a full disk) is handled. */
#include "base/json_writer.h"

#include "base/status.h"
#include "base/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_BYTES (256u << 10)

void json_writer_init(struct json_writer *json,
	int (*flush)(void *context, const void *bytes, size_t count), void *context)
{
	memset(json, 0, sizeof *json);
	buffer_init(&json->out);
	json->flush = flush;
	json->context = context;
	json->first[0] = true;
}

void json_writer_release(struct json_writer *json)
{
	buffer_release(&json->out);
}

static void flush_out(struct json_writer *json)
{
	if (!buffer_ok(&json->out))
		json->failed = true;
	if (!json->flush)
		return;
	if (!json->failed && json->flush(json->context, json->out.data, json->out.length) != 0)
		json->failed = true;
	buffer_reset(&json->out);
}

int json_writer_finish(struct json_writer *json)
{
	assert(json->depth == 0 && !json->after_key);
	if (json->pretty)
		buffer_byte(&json->out, '\n');
	flush_out(json);
	return json->failed ? STATUS_IO : STATUS_OK;
}

static void new_line(struct json_writer *json)
{
	buffer_byte(&json->out, '\n');
	for (unsigned i = 0; i < json->depth; i++)
		buffer_append(&json->out, "  ", 2);
}

/* What stands between the value before and the one that follows. */
static void separate(struct json_writer *json)
{
	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (!json->first[json->depth])
		buffer_byte(&json->out, ',');
	json->first[json->depth] = false;
	if (json->pretty && json->depth)
		new_line(json);
	/* Here and not after each value, so that a flush never sees half a key. */
	if (json->out.length >= FLUSH_BYTES && json->flush)
		flush_out(json);
}

static void open_level(struct json_writer *json, char bracket)
{
	separate(json);
	buffer_byte(&json->out, (uint8_t)bracket);
	assert(json->depth + 1 < JSON_DEPTH_MAX);
	if (json->depth + 1 < JSON_DEPTH_MAX)
		json->first[++json->depth] = true;
	else
		json->failed = true;
}

static void close_level(struct json_writer *json, char bracket)
{
	bool empty = json->first[json->depth];

	assert(json->depth > 0 && !json->after_key);
	if (json->depth == 0)
		return;
	json->depth--;
	if (json->pretty && !empty)
		new_line(json);
	buffer_byte(&json->out, (uint8_t)bracket);
}

void json_object(struct json_writer *json)
{
	open_level(json, '{');
}

void json_object_end(struct json_writer *json)
{
	close_level(json, '}');
}

void json_array(struct json_writer *json)
{
	open_level(json, '[');
}

void json_array_end(struct json_writer *json)
{
	close_level(json, ']');
}

static void put_escape(struct buffer *out, unsigned char byte)
{
	static const char letters[] = { ['"'] = '"',
		['\\'] = '\\',
		['\b'] = 'b',
		['\f'] = 'f',
		['\n'] = 'n',
		['\r'] = 'r',
		['\t'] = 't' };

	if (byte < sizeof letters && letters[byte]) {
		buffer_byte(out, '\\');
		buffer_byte(out, (uint8_t)letters[byte]);
	} else {
		buffer_printf(out, "\\u%04x", byte);
	}
}

/* Nearly all text is plain and is copied in one piece. */
static bool put_plain(struct buffer *out, const char *text, size_t length)
{
	uint8_t *room;

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\')
			return false;
	}
	room = buffer_extend(out, length + 2);
	if (room) {
		room[0] = room[length + 1] = '"';
		if (length)
			memcpy(room + 1, text, length);
	}
	return true;
}

static void put_text(struct buffer *out, const char *text, size_t length)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + length, *plain = at;

	if (put_plain(out, text, length))
		return;
	buffer_byte(out, '"');
	while (at < end) {
		if (*at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\') {
			at++;
			continue;
		}
		size_t step =
			*at < 0x80 ? 0 : utf8_decode((const char *)at, (size_t)(end - at), NULL);

		if (step) {
			at += step;
			continue;
		}
		buffer_append(out, plain, (size_t)(at - plain));
		if (*at < 0x80)
			put_escape(out, *at);
		else
			buffer_text(out, UTF8_REPLACEMENT);
		plain = ++at;
	}
	buffer_append(out, plain, (size_t)(at - plain));
	buffer_byte(out, '"');
}

void json_key(struct json_writer *json, const char *key)
{
	assert(!json->after_key && json->depth > 0);
	separate(json);
	put_text(&json->out, key, strlen(key));
	buffer_byte(&json->out, ':');
	if (json->pretty)
		buffer_byte(&json->out, ' ');
	json->after_key = true;
}

void json_string_n(struct json_writer *json, const char *text, size_t length)
{
	separate(json);
	put_text(&json->out, text, length);
}

void json_string(struct json_writer *json, const char *text)
{
	json_string_n(json, text, strlen(text));
}

void json_u64(struct json_writer *json, uint64_t value)
{
	char digits[20];
	size_t at = sizeof digits;

	separate(json);
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	buffer_append(&json->out, digits + at, sizeof digits - at);
}

void json_i64(struct json_writer *json, int64_t value)
{
	if (value >= 0) {
		json_u64(json, (uint64_t)value);
		return;
	}
	separate(json);
	buffer_printf(&json->out, "%lld", (long long)value);
}

void json_double(struct json_writer *json, double value)
{
	char text[40];

	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	/* A whole number that is exact in 15 digits needs no search for its form. */
	if (fabs(value) < 1e15 && value == (double)(int64_t)value &&
		(value != 0 || !signbit(value))) {
		json_i64(json, (int64_t)value);
		return;
	}
	/* The shortest of the two forms that is read back as the same number. The tool never calls
	 * setlocale(), so the decimal point is a point. */
	snprintf(text, sizeof text, "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof text, "%.17g", value);
	json_raw(json, text);
}

void json_bool(struct json_writer *json, bool value)
{
	json_raw(json, value ? "true" : "false");
}

void json_null(struct json_writer *json)
{
	json_raw(json, "null");
}

void json_raw(struct json_writer *json, const char *text)
{
	separate(json);
	buffer_text(&json->out, text);
}

void json_key_string(struct json_writer *json, const char *key, const char *text)
{
	json_key(json, key);
	json_string(json, text);
}

void json_key_u64(struct json_writer *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

void json_key_i64(struct json_writer *json, const char *key, int64_t value)
{
	json_key(json, key);
	json_i64(json, value);
}

void json_key_double(struct json_writer *json, const char *key, double value)
{
	json_key(json, key);
	json_double(json, value);
}

void json_key_bool(struct json_writer *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}
