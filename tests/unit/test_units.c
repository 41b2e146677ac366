// SPDX-License-Identifier: MIT OR Apache-2.0
/* Numbers with units, both ways. */
#include "base/units.h"

#include "tests/unit/unit.h"

#define REFUSED UINT64_MAX

static uint64_t duration(const char *text)
{
	uint64_t value = 1;

	return units_parse_duration(text, &value) == STATUS_OK ? value : REFUSED;
}

static uint64_t bytes(const char *text)
{
	uint64_t value = 1;

	return units_parse_bytes(text, &value) == STATUS_OK ? value : REFUSED;
}

static uint64_t number(const char *text)
{
	uint64_t value = 1;

	return units_parse_u64(text, &value) == STATUS_OK ? value : REFUSED;
}

static void durations_are_read(void)
{
	CHECK_EQ(duration("250ms"), 250000000);
	CHECK_EQ(duration("1.5s"), 1500000000);
	CHECK_EQ(duration("2m"), 120000000000);
	CHECK_EQ(duration("1h"), 3600000000000);
	CHECK_EQ(duration("10us"), 10000);
	CHECK_EQ(duration("10µs"), 10000);
	CHECK_EQ(duration("5ns"), 5);
	CHECK_EQ(duration("3"), 3000000000);
	CHECK_EQ(duration("0"), 0);
	CHECK_EQ(duration("1 ms"), 1000000);
	CHECK_EQ(duration(".5s"), 500000000);
}

static void wrong_durations_are_refused(void)
{
	CHECK_EQ(duration(""), REFUSED);
	CHECK_EQ(duration("ms"), REFUSED);
	CHECK_EQ(duration("-1s"), REFUSED);
	CHECK_EQ(duration("1x"), REFUSED);
	CHECK_EQ(duration("1s "), REFUSED);
	CHECK_EQ(duration(" 1s"), REFUSED);
	CHECK_EQ(duration("1e3"), REFUSED);
	CHECK_EQ(duration("99999999999999999999"), REFUSED);
	CHECK_EQ(duration("1 milliseconds"), REFUSED);
}

static void bytes_are_read(void)
{
	CHECK_EQ(bytes("64MiB"), 64u << 20);
	CHECK_EQ(bytes("10M"), 10u << 20);
	CHECK_EQ(bytes("4k"), 4096);
	CHECK_EQ(bytes("123"), 123);
	CHECK_EQ(bytes("123B"), 123);
	CHECK_EQ(bytes("1.5GB"), 3u << 29);
	CHECK_EQ(bytes("2TiB"), (uint64_t)2 << 40);
	CHECK_EQ(bytes("10X"), REFUSED);
	CHECK_EQ(bytes(""), REFUSED);
	CHECK_EQ(bytes("99999999T"), REFUSED);
}

static void whole_numbers_are_read(void)
{
	CHECK_EQ(number("0"), 0);
	CHECK_EQ(number("18446744073709551614"), UINT64_MAX - 1);
	CHECK_EQ(number("18446744073709551616"), REFUSED);
	CHECK_EQ(number("99999999999999999999"), REFUSED);
	CHECK_EQ(number("-1"), REFUSED);
	CHECK_EQ(number("+1"), REFUSED);
	CHECK_EQ(number("1 "), REFUSED);
	CHECK_EQ(number(""), REFUSED);
}

static void doubles_and_words_are_read(void)
{
	double real = 0;
	int flag = 7;

	CHECK_EQ(units_parse_double("12.25", &real), STATUS_OK);
	CHECK_NEAR(real, 12.25, 0);
	CHECK_EQ(units_parse_double("12.25x", &real), STATUS_USAGE);
	CHECK_EQ(units_parse_double(".", &real), STATUS_USAGE);
	CHECK_EQ(units_parse_bool("on", &flag), STATUS_OK);
	CHECK_EQ(flag, 1);
	CHECK_EQ(units_parse_bool("no", &flag), STATUS_OK);
	CHECK_EQ(flag, 0);
	CHECK_EQ(units_parse_bool("maybe", &flag), STATUS_USAGE);
	CHECK_EQ(flag, 0);
}

static void numbers_are_written(void)
{
	char text[UNITS_TEXT];

	CHECK_STR(units_duration(text, 0), "0 ns");
	CHECK_STR(units_duration(text, 12), "12.0 ns");
	CHECK_STR(units_duration(text, 1234), "1.23 us");
	CHECK_STR(units_duration(text, 999600), "1.00 ms");
	CHECK_STR(units_duration(text, 2.5e9), "2.50 s");
	CHECK_STR(units_duration(text, -2500), "-2.50 us");
	CHECK_STR(units_duration(text, 1e14), "100000 s");
	CHECK_STR(units_bytes(text, 512), "512 B");
	CHECK_STR(units_bytes(text, 64.0 * 1048576), "64.0 MiB");
	CHECK_STR(units_count(text, 99999), "99999");
	CHECK_STR(units_count(text, 12345678), "12.3 M");
	CHECK_STR(units_count(text, 5e9), "5.00 G");
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(durations_are_read),
		UNIT(wrong_durations_are_refused),
		UNIT(bytes_are_read),
		UNIT(whole_numbers_are_read),
		UNIT(doubles_and_words_are_read),
		UNIT(numbers_are_written),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
