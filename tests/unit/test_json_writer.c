// SPDX-License-Identifier: MIT OR Apache-2.0
/* The JSON writer: commas and nesting, escapes, UTF-8, numbers, flushing. */
#include "base/json_writer.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char result[8192];

/* Ends a document kept in memory and gives its text. */
static const char *text_of(struct json_writer *json)
{
	int status = json_writer_finish(json);

	CHECK_EQ(status, 0);
	CHECK(json->out.length < sizeof result);
	memcpy(result, json->out.data, json->out.length);
	result[json->out.length] = '\0';
	json_writer_release(json);
	return result;
}

static void nesting(void)
{
	struct json_writer json;

	json_writer_init(&json, NULL, NULL);
	json_object(&json);
	json_key(&json, "a");
	json_array(&json);
	json_u64(&json, 1);
	json_array(&json);
	json_array_end(&json);
	json_object(&json);
	json_object_end(&json);
	json_array_end(&json);
	json_key_bool(&json, "b", true);
	json_key(&json, "c");
	json_null(&json);
	json_object_end(&json);
	CHECK_STR(text_of(&json), "{\"a\":[1,[],{}],\"b\":true,\"c\":null}");
}

static void pretty(void)
{
	struct json_writer json;

	json_writer_init(&json, NULL, NULL);
	json.pretty = true;
	json_object(&json);
	json_key(&json, "a");
	json_array(&json);
	json_u64(&json, 1);
	json_u64(&json, 2);
	json_array_end(&json);
	json_key(&json, "empty");
	json_array(&json);
	json_array_end(&json);
	json_object_end(&json);
	CHECK_STR(text_of(&json), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"empty\": []\n}\n");
}

static const char *one_string(const char *text, size_t length)
{
	struct json_writer json;

	json_writer_init(&json, NULL, NULL);
	json_string_n(&json, text, length);
	return text_of(&json);
}

static void escapes(void)
{
	CHECK_STR(one_string("a\"b\\c/d", 7), "\"a\\\"b\\\\c/d\"");
	CHECK_STR(one_string("\b\f\n\r\t", 5), "\"\\b\\f\\n\\r\\t\"");
	CHECK_STR(one_string("\x01\x1f\x7f", 3), "\"\\u0001\\u001f\\u007f\"");
	CHECK_STR(one_string("a\0b", 3), "\"a\\u0000b\"");
	CHECK_STR(one_string("", 0), "\"\"");
}

static void utf8_is_kept(void)
{
	const char *text = "gr\xc3\xb6\xc3\x9f"
			   "e \xe6\xbc\xa2 \xf0\x9f\x98\x80";
	char expected[64];

	snprintf(expected, sizeof expected, "\"%s\"", text);
	CHECK_STR(one_string(text, strlen(text)), expected);
}

/* Each byte that is not part of a sequence becomes one U+FFFD. */
static void not_utf8_is_replaced(void)
{
	static const struct {
		const char *bytes;
		unsigned replaced;
	} cases[] = {
		{ "\xff", 1 },             /* never valid */
		{ "\x80", 1 },             /* continuation alone */
		{ "\xc3", 1 },             /* cut off */
		{ "\xe6\xbc", 2 },         /* cut off */
		{ "\xc0\xaf", 2 },         /* overlong slash */
		{ "\xe0\x80\xaf", 3 },     /* overlong */
		{ "\xed\xa0\x80", 3 },     /* surrogate */
		{ "\xf4\x90\x80\x80", 4 }, /* above U+10FFFF */
		{ "\xf8\x88\x80\x80", 4 }, /* five bytes */
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char expected[64] = "\"a";

		for (unsigned n = 0; n < cases[i].replaced; n++)
			strncat(expected, "\xef\xbf\xbd", 4);
		strncat(expected, "\"", 2);
		char input[16];

		snprintf(input, sizeof input, "a%s", cases[i].bytes);
		CHECK_STR(one_string(input, strlen(input)), expected);
	}
}

static void integers(void)
{
	struct json_writer json;

	json_writer_init(&json, NULL, NULL);
	json_array(&json);
	json_u64(&json, 0);
	json_u64(&json, (uint64_t)1 << 63);
	json_u64(&json, UINT64_MAX);
	json_i64(&json, INT64_MIN);
	json_i64(&json, -1);
	json_i64(&json, INT64_MAX);
	json_array_end(&json);
	CHECK_STR(text_of(&json), "[0,9223372036854775808,18446744073709551615,"
				  "-9223372036854775808,-1,9223372036854775807]");
}

static void doubles(void)
{
	struct json_writer json;

	json_writer_init(&json, NULL, NULL);
	json_array(&json);
	json_double(&json, 0);
	json_double(&json, 0.1);
	json_double(&json, -2.5);
	json_double(&json, 9223372036854775808.0);
	json_double(&json, NAN);
	json_double(&json, INFINITY);
	json_double(&json, -INFINITY);
	json_double(&json, 1e300);
	json_array_end(&json);
	CHECK_STR(text_of(&json), "[0,0.1,-2.5,9.2233720368547758e+18,null,null,null,1e+300]");
}

/* What is written must be read back as the same number. */
static void doubles_round_trip(void)
{
	double value = 1.0 / 3;

	for (int i = 0; i < 200; i++, value = value * 1.7 + 1e-9) {
		struct json_writer json;

		json_writer_init(&json, NULL, NULL);
		json_double(&json, value);
		CHECK(strtod(text_of(&json), NULL) == value);
	}
}

static void depth(void)
{
	struct json_writer json;
	const char *text;

	json_writer_init(&json, NULL, NULL);
	for (unsigned i = 0; i < JSON_DEPTH_MAX - 1; i++)
		json_array(&json);
	for (unsigned i = 0; i < JSON_DEPTH_MAX - 1; i++)
		json_array_end(&json);
	text = text_of(&json);
	CHECK_EQ(strspn(text, "["), JSON_DEPTH_MAX - 1);
	CHECK_EQ(strlen(text), 2 * (JSON_DEPTH_MAX - 1));
}

struct sink {
	struct buffer all;
	unsigned calls;
	size_t largest;
	bool broken;
};

static int take(void *context, const void *bytes, size_t count)
{
	struct sink *sink = context;

	if (sink->broken)
		return -1;
	sink->calls++;
	sink->largest = count > sink->largest ? count : sink->largest;
	buffer_append(&sink->all, bytes, count);
	return 0;
}

/* A long document is handed on in pieces, and its memory stays small. */
static void flushing(void)
{
	struct sink sink = { 0 };
	struct json_writer json;
	size_t commas = 0;

	json_writer_init(&json, take, &sink);
	json_array(&json);
	for (uint64_t i = 0; i < 200000; i++)
		json_u64(&json, 1000000 + i);
	json_array_end(&json);
	CHECK_EQ(json_writer_finish(&json), 0);
	CHECK(sink.calls > 3);
	CHECK(sink.largest < 512u << 10);
	CHECK_EQ(sink.all.length, 200000 * 8 + 1);
	for (size_t i = 0; i < sink.all.length; i++)
		commas += sink.all.data[i] == ',';
	CHECK_EQ(commas, 199999);
	json_writer_release(&json);
	buffer_release(&sink.all);
}

static void failing_sink(void)
{
	struct sink sink = { .broken = true };
	struct json_writer json;

	json_writer_init(&json, take, &sink);
	json_array(&json);
	for (uint64_t i = 0; i < 200000; i++)
		json_u64(&json, i);
	json_array_end(&json);
	CHECK(json.failed);
	CHECK(json_writer_finish(&json) < 0);
	CHECK(json.out.capacity < 4u << 20);
	json_writer_release(&json);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(nesting),
		UNIT(pretty),
		UNIT(escapes),
		UNIT(utf8_is_kept),
		UNIT(not_utf8_is_replaced),
		UNIT(integers),
		UNIT(doubles),
		UNIT(doubles_round_trip),
		UNIT(depth),
		UNIT(flushing),
		UNIT(failing_sink),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
