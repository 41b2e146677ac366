// SPDX-License-Identifier: MIT OR Apache-2.0
/* Strings by number. */
#include "base/string_table.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

static void zero_is_the_empty_string(void)
{
	struct string_table table;
	uint32_t id = 7;

	CHECK_EQ(string_table_init(&table, 1u << 20), STATUS_OK);
	CHECK_EQ(table.count, 1);
	CHECK_STR(string_table_borrow(&table, 0), "");
	CHECK_EQ(string_table_add(&table, "", 0, &id), STATUS_OK);
	CHECK_EQ(id, 0);
	CHECK_STR(string_table_borrow(&table, 12345), "");
	string_table_release(&table);
}

static void equal_texts_share_a_number(void)
{
	struct string_table table;
	uint32_t first, second, third;

	CHECK_EQ(string_table_init(&table, 1u << 20), STATUS_OK);
	CHECK_EQ(string_table_add(&table, "forward", 7, &first), STATUS_OK);
	CHECK_EQ(string_table_add(&table, "forwards", 8, &second), STATUS_OK);
	CHECK_EQ(string_table_add(&table, "forwardXX", 7, &third), STATUS_OK);
	CHECK_EQ(first, 1);
	CHECK_EQ(second, 2);
	CHECK_EQ(third, first);
	CHECK_EQ(string_table_find(&table, "forwards", 8), second);
	CHECK_EQ(string_table_find(&table, "backward", 8), UINT32_MAX);
	string_table_release(&table);
}

static void any_byte_is_text(void)
{
	struct string_table table;
	uint32_t first, second;

	CHECK_EQ(string_table_init(&table, 1u << 20), STATUS_OK);
	CHECK_EQ(string_table_add(&table, "a\0b", 3, &first), STATUS_OK);
	CHECK_EQ(string_table_add(&table, "a\0c", 3, &second), STATUS_OK);
	CHECK(first != second);
	CHECK_EQ(table.entries[first].length, 3);
	CHECK(memcmp(table.entries[first].text, "a\0b", 4) == 0);
	CHECK_EQ(string_table_add(&table, "\xff\xfe\x80", 3, &first), STATUS_OK);
	CHECK_STR(string_table_borrow(&table, first), "\xff\xfe\x80");
	string_table_release(&table);
}

static void many_strings_are_found_again(void)
{
	enum { COUNT = 100000 };
	struct string_table table;
	char text[32];
	uint32_t id;
	int wrong = 0;

	CHECK_EQ(string_table_init(&table, 64u << 20), STATUS_OK);
	for (int i = 0; i < COUNT; i++) {
		int length = snprintf(text, sizeof text, "name %d of many", i);

		wrong += string_table_add(&table, text, (size_t)length, &id) != STATUS_OK;
		wrong += id != (uint32_t)i + 1;
	}
	for (int i = 0; i < COUNT; i++) {
		int length = snprintf(text, sizeof text, "name %d of many", i);

		wrong += string_table_find(&table, text, (size_t)length) != (uint32_t)i + 1;
		wrong += strcmp(string_table_borrow(&table, (uint32_t)i + 1), text) != 0;
	}
	CHECK_EQ(wrong, 0);
	string_table_release(&table);
}

static void append_keeps_numbers(void)
{
	struct string_table table;

	CHECK_EQ(string_table_init(&table, 1u << 20), STATUS_OK);
	CHECK_EQ(string_table_append(&table, "?", 1), STATUS_OK);
	CHECK_EQ(string_table_append(&table, "?", 1), STATUS_OK);
	CHECK_EQ(string_table_append(&table, "x", 1), STATUS_OK);
	CHECK_EQ(table.count, 4);
	CHECK_EQ(string_table_find(&table, "?", 1), 1);
	CHECK_EQ(string_table_find(&table, "x", 1), 3);
	string_table_release(&table);
}

static void the_limit_is_an_error(void)
{
	struct string_table table;
	char text[100] = { 0 };
	int status = STATUS_OK;
	uint32_t id, added = 0;

	CHECK_EQ(string_table_init(&table, 50000), STATUS_OK);
	for (int i = 0; status == STATUS_OK && i < 10000; i++, added++) {
		memcpy(text, &i, sizeof i);
		status = string_table_add(&table, text, sizeof text, &id);
	}
	CHECK_EQ(status, STATUS_LIMIT);
	CHECK(added > 100);
	CHECK_EQ(table.count, added);
	string_table_release(&table);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(zero_is_the_empty_string),
		UNIT(equal_texts_share_a_number),
		UNIT(any_byte_is_text),
		UNIT(many_strings_are_found_again),
		UNIT(append_keeps_numbers),
		UNIT(the_limit_is_an_error),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
