/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scanning JSON text in memory without building anything: the caller keeps slices. Made for input
 * that arrives in pieces: where the text ends too early the answer is JSON_MORE, and the caller
 * comes back with more of it. Lenient where writers are known to be sloppy (raw control characters
 * in strings, NaN and Infinity); strict about structure. */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

enum json_result {
	JSON_OK = 0,
	JSON_MORE = 1, /* the text ends inside the value */
	JSON_BAD = -1, /* not JSON; the cursor stands where it is wrong */
};

enum json_kind {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_INTEGER, /* fits into int64 */
	JSON_NUMBER,  /* any other number, NaN and Infinity included */
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

#define JSON_NESTING_MAX 10000

/* A value: for strings the text between the quotes, still escaped; else the whole token. */
struct json_slice {
	const char *text;
	size_t length;
	enum json_kind kind;
	bool escaped;    /* a string with backslashes */
	bool sloppy;     /* a string with raw control characters */
	int64_t integer; /* of JSON_INTEGER */
};

static inline const char *json_space(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
		at++;
	return at;
}

/* A string whose opening quote is at *at; moves behind the closing one. */
enum json_result json_scan_string(const char **at, const char *end, struct json_slice *ret_slice);
/* Any value, checked to the end; arrays and objects are skipped as one slice. `last`: no more text
 * will come, so a number may end at `end`. */
enum json_result json_scan_value(
	const char **at, const char *end, bool last, struct json_slice *ret_slice);

/* Appends the text of a string slice with escapes resolved; lone surrogates and unknown escapes are
 * kept as U+FFFD and as written. */
void json_unescape(const struct json_slice *slice, struct buffer *out);

/* A decimal number with fraction and exponent times 10^`shift`, rounded to an integer. False when
 * it is no number or does not fit into int64. */
bool json_scaled(const struct json_slice *slice, int shift, int64_t *ret_value);
