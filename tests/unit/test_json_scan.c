// SPDX-License-Identifier: MIT OR Apache-2.0
/* The JSON scanner: values, pieces, mistakes, escapes, scaled numbers. */
#include "base/json_scan.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static enum json_result scan(const char *text, struct json_slice *ret_slice, size_t *ret_used)
{
	const char *at = text;
	enum json_result result = json_scan_value(&at, text + strlen(text), true, ret_slice);

	*ret_used = (size_t)(at - text);
	return result;
}

static void check_value(const char *text, enum json_kind kind)
{
	struct json_slice slice;
	size_t used;

	CHECK_EQ(scan(text, &slice, &used), JSON_OK);
	CHECK_EQ(slice.kind, kind);
	CHECK_EQ(used, strlen(text));
}

static void test_values(void)
{
	struct json_slice slice;
	size_t used;

	check_value("null", JSON_NULL);
	check_value("true", JSON_TRUE);
	check_value("false", JSON_FALSE);
	check_value("-12", JSON_INTEGER);
	check_value("123456789012345678", JSON_INTEGER);
	check_value("1234567890123456789", JSON_NUMBER);
	check_value("1.5e-7", JSON_NUMBER);
	check_value("1E308", JSON_NUMBER);
	check_value("NaN", JSON_NUMBER);
	check_value("-Infinity", JSON_NUMBER);
	check_value("\"a \\\" b\"", JSON_STRING);
	check_value("[1, [2, {\"a\": []}], {}]", JSON_ARRAY);
	check_value("{\"a\": {\"b\": [1.0, null]}, \"c\": \"]}\"}", JSON_OBJECT);
	CHECK_EQ(scan("-9007", &slice, &used), JSON_OK);
	CHECK_EQ(slice.integer, -9007);
}

static void test_mistakes(void)
{
	static const char *const wrong[] = { "nul!", "+1", "-", "1.", "1e", ".5", "[1 2]", "[1,]",
		"[,1]", "{\"a\" 1}", "{a: 1}", "{\"a\": 1,}", "{\"a\"}", "[}", "{]", "1.5.2" };

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct json_slice slice;
		size_t used;
		enum json_result result = scan(wrong[i], &slice, &used);

		/* A number ends where it stops being one; the caller sees the rest. */
		CHECK(result == JSON_BAD || (result == JSON_OK && used < strlen(wrong[i])) ||
			result == JSON_MORE);
		CHECK(!(result == JSON_OK && used == strlen(wrong[i])));
	}
}

/* Cut anywhere, a value asks for more and never reads behind its end. */
static void test_pieces(void)
{
	static const char text[] =
		"{\"key\": [1, -2.5e3, \"te\\u00e9xt\", true, null], \"k\": {\"x\": \"y\"}}";

	for (size_t length = 0; length < sizeof text - 1; length++) {
		char *copy = malloc(length + 1);
		const char *at = copy;
		struct json_slice slice;

		memcpy(copy, text, length);
		CHECK_EQ(json_scan_value(&at, copy + length, false, &slice), JSON_MORE);
		free(copy);
	}
}

static void test_nesting(void)
{
	static char deep[2 * JSON_NESTING_MAX + 4];
	struct json_slice slice;
	size_t used;

	memset(deep, '[', JSON_NESTING_MAX);
	memset(deep + JSON_NESTING_MAX, ']', JSON_NESTING_MAX);
	CHECK_EQ(scan(deep, &slice, &used), JSON_OK);
	memset(deep, '[', JSON_NESTING_MAX + 1);
	memset(deep + JSON_NESTING_MAX + 1, ']', JSON_NESTING_MAX + 1);
	CHECK_EQ(scan(deep, &slice, &used), JSON_BAD);
}

static void check_text(const char *escaped, const char *wanted)
{
	struct json_slice slice;
	struct buffer out;
	size_t used;

	buffer_init(&out);
	CHECK_EQ(scan(escaped, &slice, &used), JSON_OK);
	json_unescape(&slice, &out);
	buffer_byte(&out, 0);
	CHECK_STR((char *)out.data, wanted);
	buffer_release(&out);
}

static void test_escapes(void)
{
	struct json_slice slice;
	size_t used;

	check_text("\"plain\"", "plain");
	check_text("\"a\\n\\t\\\"\\\\\\/\"", "a\n\t\"\\/");
	check_text("\"\\u00e9\\u20ac\"", "\xc3\xa9\xe2\x82\xac");
	check_text("\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80");
	check_text("\"\\ud83d!\"", "\xef\xbf\xbd!");
	check_text("\"\\x\\u12g4\"", "\\x\\u12g4");
	CHECK_EQ(scan("\"raw\ncontrol\"", &slice, &used), JSON_OK);
	CHECK(slice.sloppy);
	CHECK_EQ(scan("\"0123456789abcdef\\\\\"", &slice, &used), JSON_OK);
	CHECK(slice.escaped && !slice.sloppy);
	CHECK_EQ(slice.length, 18);
}

static void check_scaled(const char *text, bool wanted, int64_t value)
{
	struct json_slice slice;
	int64_t found = 0;
	size_t used;

	CHECK_EQ(scan(text, &slice, &used), JSON_OK);
	CHECK_EQ(json_scaled(&slice, 3, &found), wanted);
	if (wanted)
		CHECK_EQ(found, value);
}

static void test_scaled(void)
{
	check_scaled("0", true, 0);
	check_scaled("12", true, 12000);
	check_scaled("12.5", true, 12500);
	check_scaled("12.3456", true, 12346);
	check_scaled("12.3454999", true, 12345);
	check_scaled("-0.001", true, -1);
	check_scaled("-12.3456", true, -12346);
	check_scaled("1716800735123456.789", true, INT64_C(1716800735123456789));
	check_scaled("1.5e3", true, 1500000);
	check_scaled("1e308", false, 0);
	check_scaled("\"12\"", false, 0);
	check_scaled("9300000000000000", false, 0);
}

static const struct unit_test tests[] = {
	UNIT(test_values),
	UNIT(test_mistakes),
	UNIT(test_pieces),
	UNIT(test_nesting),
	UNIT(test_escapes),
	UNIT(test_scaled),
};

int main(int argc, char **argv)
{
	return unit_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
