// SPDX-License-Identifier: MIT OR Apache-2.0
/* Tables: alignment, squeezing, left-out columns, harmless text. */
#include "report/text_table.h"

#include "tests/unit/unit.h"

#include <string.h>

static const struct text_column columns[] = {
	{ .title = "name", .squeeze = true },
	{ .title = "count", .align = TEXT_RIGHT },
	{ .title = "extra", .align = TEXT_RIGHT, .drop = 1 },
	{ .title = "more", .align = TEXT_RIGHT, .drop = 2 },
};

static char result[4096];

static const char *text_of(struct buffer *out)
{
	buffer_byte(out, 0);
	CHECK(buffer_ok(out) && out->length < sizeof result);
	memcpy(result, out->data, out->length);
	buffer_release(out);
	return result;
}

static const char *render(const char *name, unsigned width, bool markdown)
{
	struct text_table table;
	struct buffer out;

	text_table_init(&table, columns, sizeof columns / sizeof columns[0]);
	text_table_cell(&table, name);
	text_table_count(&table, 12);
	text_table_duration(&table, 1500000);
	text_table_percent(&table, 0.5);
	CHECK(text_table_ok(&table));
	buffer_init(&out);
	if (markdown)
		text_table_markdown(&table, &out);
	else
		text_table_render(&table, width, false, &out);
	text_table_release(&table);
	return text_of(&out);
}

static void fits(void)
{
	CHECK_STR(render("matmul", 80, false), "name    count    extra    more\n"
					       "matmul     12  1.50 ms  50.0 %\n");
}

static void least_important_column_goes_first(void)
{
	CHECK_STR(render("matmul", 26, false), "name    count    extra\n"
					       "matmul     12  1.50 ms\n");
	CHECK_STR(render("matmul", 16, false), "name    count\n"
					       "matmul     12\n");
}

static void long_name_is_cut_in_the_middle(void)
{
	CHECK_STR(render("a_very_long_name_of_an_operation_with_a_tail", 48, false),
		"name                      count    extra    more\n"
		"a_very_long_\xe2\x80\xa6"
		"with_a_tail     12  1.50 ms  50.0 %\n");
}

/* A wide character takes two columns, whatever the locale. */
static void wide_characters(void)
{
	CHECK_EQ(text_width("abc"), 3);
	CHECK_EQ(text_width("gr\xc3\xb6\xc3\x9f"
			    "e"),
		5);
	CHECK_EQ(text_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);
	CHECK_EQ(text_width("e\xcc\x81"), 1);
}

static void harmful_text_is_escaped(void)
{
	struct buffer out;

	buffer_init(&out);
	text_plain(&out, "a\033[31mb\n\xff\xc2\x9b\xe2\x80\xae");
	CHECK_STR(text_of(&out), "a\\x1b[31mb\\x0a\\xff\\xc2\\x9b\\xe2\\x80\\xae");
}

static void markdown(void)
{
	CHECK_STR(render("a|b_c", 0, true), "| name | count | extra | more |\n"
					    "|---|---:|---:|---:|\n"
					    "| a\\|b\\_c | 12 | 1.50 ms | 50.0 % |\n");
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(fits),
		UNIT(least_important_column_goes_first),
		UNIT(long_name_is_cut_in_the_middle),
		UNIT(wide_characters),
		UNIT(harmful_text_is_escaped),
		UNIT(markdown),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
