// SPDX-License-Identifier: MIT OR Apache-2.0
/* The scanner. Strings are searched 16 bytes at a time where the compiler has vectors. */
#include "base/json_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* The first quote, backslash or control character from `at` on. */
static const char *find_special(const char *at, const char *end)
{
#if defined(__SSE2__)
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
	const __m128i control = _mm_set1_epi8(0x1f);

	for (; end - at >= 16; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i hit =
			_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash));
		int mask;

		/* unsigned <= 0x1f: the minimum is the byte itself */
		hit = _mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
		mask = _mm_movemask_epi8(hit);
		if (mask)
			return at + __builtin_ctz((unsigned)mask);
	}
#endif
	while (at < end && *at != '"' && *at != '\\' && (uint8_t)*at > 0x1f)
		at++;
	return at;
}

enum json_result json_scan_string(const char **at, const char *end, struct json_slice *ret_slice)
{
	const char *start = *at + 1, *now = start;

	ret_slice->kind = JSON_STRING;
	ret_slice->escaped = ret_slice->sloppy = false;
	for (;;) {
		now = find_special(now, end);
		if (now >= end)
			return JSON_MORE;
		if (*now == '"')
			break;
		if (*now == '\\') {
			if (end - now < 2)
				return JSON_MORE;
			ret_slice->escaped = true;
			now += 2;
		} else {
			ret_slice->sloppy = true;
			now++;
		}
	}
	ret_slice->text = start;
	ret_slice->length = (size_t)(now - start);
	*at = now + 1;
	return JSON_OK;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* [-]digits[.digits][e[+-]digits]; small integers are taken on the way. */
static enum json_result scan_number(
	const char **at, const char *end, bool last, struct json_slice *ret_slice)
{
	const char *start = *at, *now = start;
	bool negative = *now == '-', whole = true;
	uint64_t value = 0;
	int digits = 0;

	now += negative;
	for (; now < end && is_digit(*now); now++, digits++)
		value = value * 10 + (uint64_t)(*now - '0');
	if (now < end && digits && *now == '.') {
		whole = false;
		for (now++; now < end && is_digit(*now);)
			now++;
	}
	if (now < end && digits && (*now == 'e' || *now == 'E')) {
		whole = false;
		now++;
		if (now < end && (*now == '+' || *now == '-'))
			now++;
		if (now < end && !is_digit(*now)) {
			*at = now;
			return JSON_BAD;
		}
		while (now < end && is_digit(*now))
			now++;
	}
	if (now >= end && !last)
		return JSON_MORE;
	if (!digits || !is_digit(now[-1])) {
		*at = now;
		return JSON_BAD;
	}
	ret_slice->text = start;
	ret_slice->length = (size_t)(now - start);
	ret_slice->kind = whole && digits <= 18 ? JSON_INTEGER : JSON_NUMBER;
	ret_slice->integer = (int64_t)(negative ? 0 - (uint64_t)value : (uint64_t)value);
	*at = now;
	return JSON_OK;
}

static enum json_result scan_word(const char **at, const char *end, const char *word,
	enum json_kind kind, struct json_slice *ret_slice)
{
	size_t length = strlen(word), have = (size_t)(end - *at);

	if (strncmp(*at, word, have < length ? have : length) != 0)
		return JSON_BAD;
	if (have < length)
		return JSON_MORE;
	ret_slice->text = *at;
	ret_slice->length = length;
	ret_slice->kind = kind;
	*at += length;
	return JSON_OK;
}

static enum json_result scan_scalar(
	const char **at, const char *end, bool last, struct json_slice *ret_slice)
{
	switch (**at) {
	case '"':
		return json_scan_string(at, end, ret_slice);
	case 't':
		return scan_word(at, end, "true", JSON_TRUE, ret_slice);
	case 'f':
		return scan_word(at, end, "false", JSON_FALSE, ret_slice);
	case 'n':
		return scan_word(at, end, "null", JSON_NULL, ret_slice);
	case 'N':
		return scan_word(at, end, "NaN", JSON_NUMBER, ret_slice);
	case 'I':
		return scan_word(at, end, "Infinity", JSON_NUMBER, ret_slice);
	case '-':
		if (end - *at < 2)
			return JSON_MORE;
		if ((*at)[1] == 'I')
			return scan_word(at, end, "-Infinity", JSON_NUMBER, ret_slice);
		return scan_number(at, end, last, ret_slice);
	default:
		return is_digit(**at) ? scan_number(at, end, last, ret_slice) : JSON_BAD;
	}
}

/* What may stand next inside an array or object. */
enum expect { EXPECT_VALUE, EXPECT_FIRST, EXPECT_KEY, EXPECT_FIRST_KEY, EXPECT_SEPARATOR };

struct nest {
	uint8_t object[JSON_NESTING_MAX]; /* of each open level: is it an object */
	unsigned depth;
};

static bool in_object(const struct nest *nest)
{
	return nest->depth && nest->object[nest->depth - 1];
}

static bool push(struct nest *nest, bool object)
{
	if (nest->depth >= JSON_NESTING_MAX)
		return false;
	nest->object[nest->depth++] = object;
	return true;
}

/* One token inside a container; false ends the scan with *ret_result. */
static bool nest_step(struct nest *nest, const char **at, const char *end, enum expect *expect,
	enum json_result *ret_result)
{
	struct json_slice slice;
	bool first = *expect == EXPECT_FIRST || *expect == EXPECT_FIRST_KEY;
	char c = **at;

	*ret_result = JSON_BAD;
	if (c == '}' || c == ']') {
		if ((*expect != EXPECT_SEPARATOR && !first) || (c == '}') != in_object(nest))
			return false;
		(*at)++;
		nest->depth--;
		*expect = EXPECT_SEPARATOR;
		return true;
	}
	if (*expect == EXPECT_SEPARATOR) {
		if (c != ',')
			return false;
		(*at)++;
		*expect = in_object(nest) ? EXPECT_KEY : EXPECT_VALUE;
		return true;
	}
	if (*expect == EXPECT_KEY || *expect == EXPECT_FIRST_KEY) {
		if (c != '"')
			return false;
		*ret_result = json_scan_string(at, end, &slice);
		if (*ret_result != JSON_OK)
			return false;
		*at = json_space(*at, end);
		*ret_result = *at >= end ? JSON_MORE : JSON_BAD;
		if (*at >= end || **at != ':')
			return false;
		(*at)++;
		*expect = EXPECT_VALUE;
		return true;
	}
	if (c == '{' || c == '[') {
		(*at)++;
		*expect = c == '{' ? EXPECT_FIRST_KEY : EXPECT_FIRST;
		return push(nest, c == '{');
	}
	*ret_result = scan_scalar(at, end, false, &slice);
	*expect = EXPECT_SEPARATOR;
	return *ret_result == JSON_OK;
}

static enum json_result scan_container(
	const char **at, const char *end, struct json_slice *ret_slice)
{
	struct nest nest;
	const char *start = *at;
	enum expect expect = *start == '{' ? EXPECT_FIRST_KEY : EXPECT_FIRST;
	enum json_result result;

	nest.depth = 0;
	(void)push(&nest, *start == '{');
	ret_slice->kind = *start == '{' ? JSON_OBJECT : JSON_ARRAY;
	(*at)++;
	while (nest.depth) {
		*at = json_space(*at, end);
		if (*at >= end)
			return JSON_MORE;
		if (!nest_step(&nest, at, end, &expect, &result))
			return result;
	}
	ret_slice->text = start;
	ret_slice->length = (size_t)(*at - start);
	return JSON_OK;
}

enum json_result json_scan_value(
	const char **at, const char *end, bool last, struct json_slice *ret_slice)
{
	if (*at >= end)
		return JSON_MORE;
	if (**at == '{' || **at == '[')
		return scan_container(at, end, ret_slice);
	return scan_scalar(at, end, last, ret_slice);
}

static void put_utf8(struct buffer *out, uint32_t code)
{
	if (code < 0x80) {
		buffer_byte(out, (uint8_t)code);
	} else if (code < 0x800) {
		buffer_byte(out, (uint8_t)(0xc0 | code >> 6));
		buffer_byte(out, (uint8_t)(0x80 | (code & 0x3f)));
	} else if (code < 0x10000) {
		buffer_byte(out, (uint8_t)(0xe0 | code >> 12));
		buffer_byte(out, (uint8_t)(0x80 | (code >> 6 & 0x3f)));
		buffer_byte(out, (uint8_t)(0x80 | (code & 0x3f)));
	} else {
		buffer_byte(out, (uint8_t)(0xf0 | code >> 18));
		buffer_byte(out, (uint8_t)(0x80 | (code >> 12 & 0x3f)));
		buffer_byte(out, (uint8_t)(0x80 | (code >> 6 & 0x3f)));
		buffer_byte(out, (uint8_t)(0x80 | (code & 0x3f)));
	}
}

/* Four hexadecimal digits, or -1. */
static int32_t hex4(const char *at, const char *end)
{
	int32_t value = 0;

	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = at[i];
		int digit = is_digit(c)            ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

/* The escape behind "\u"; moves *at over it. */
static void put_unicode(struct buffer *out, const char **at, const char *end)
{
	int32_t code = hex4(*at, end), low;

	if (code < 0) {
		buffer_text(out, "\\u");
		return;
	}
	*at += 4;
	if (code >= 0xd800 && code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' &&
		(*at)[1] == 'u' && (low = hex4(*at + 2, end)) >= 0xdc00 && low < 0xe000) {
		*at += 6;
		put_utf8(out,
			0x10000u + ((uint32_t)(code - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
		return;
	}
	put_utf8(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : (uint32_t)code);
}

void json_unescape(const struct json_slice *slice, struct buffer *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = slice->text, *end = at + slice->length;

	while (at < end) {
		const char *slash = memchr(at, '\\', (size_t)(end - at)), *found;

		buffer_append(out, at, (size_t)((slash ? slash : end) - at));
		if (!slash)
			return;
		at = slash + 1;
		if (at >= end)
			return;
		if (*at == 'u') {
			at++;
			put_unicode(out, &at, end);
			continue;
		}
		found = *at ? strchr(from, *at) : NULL;
		if (found)
			buffer_byte(out, (uint8_t)to[found - from]);
		else
			buffer_append(out, slash, 2);
		at++;
	}
}

/* Numbers that the quick way below does not take: exponents, many digits. */
static bool scaled_slowly(const struct json_slice *slice, int shift, int64_t *ret_value)
{
	char text[512];
	long double value;

	if (slice->length >= sizeof text)
		return false;
	memcpy(text, slice->text, slice->length);
	text[slice->length] = 0;
	value = strtold(text, NULL);
	for (; shift > 0; shift--)
		value *= 10;
	if (!(value > -9.2e18L && value < 9.2e18L))
		return false;
	*ret_value = llroundl(value);
	return true;
}

bool json_scaled(const struct json_slice *slice, int shift, int64_t *ret_value)
{
	const char *at = slice->text, *end = at + slice->length;
	bool negative = at < end && *at == '-';
	uint64_t value = 0;
	int digits = 0, left = shift;

	if (slice->kind != JSON_INTEGER && slice->kind != JSON_NUMBER)
		return false;
	for (at += negative; at < end && is_digit(*at); at++, digits++)
		value = value * 10 + (uint64_t)(*at - '0');
	if (digits + shift > 18 || (at < end && *at != '.'))
		return scaled_slowly(slice, shift, ret_value);
	for (at += at<end; left> 0; left--) {
		value *= 10;
		if (at < end && is_digit(*at))
			value += (uint64_t)(*at++ - '0');
	}
	/* Rounded by the next digit; an exponent behind the fraction is for the slow way. */
	value += at < end && *at >= '5' && *at <= '9';
	while (at < end && is_digit(*at))
		at++;
	if (at < end)
		return scaled_slowly(slice, shift, ret_value);
	*ret_value = negative ? -(int64_t)value : (int64_t)value;
	return true;
}
