// SPDX-License-Identifier: MIT OR Apache-2.0
/* Parsing and printing of numbers with units. The parsers allocate nothing and accept no
 * surrounding text, so that a typing error is found and not guessed at. */
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	double factor;
};

static const struct unit duration_units[] = {
	{ "", 1e9 },
	{ "s", 1e9 },
	{ "ms", 1e6 },
	{ "us", 1e3 },
	{ "µs", 1e3 },
	{ "ns", 1 },
	{ "m", 60e9 },
	{ "min", 60e9 },
	{ "h", 3600e9 },
	{ "d", 86400e9 },
};

static const struct unit byte_units[] = {
	{ "", 1 },
	{ "b", 1 },
	{ "k", 1024.0 },
	{ "kb", 1024.0 },
	{ "kib", 1024.0 },
	{ "m", 1048576.0 },
	{ "mb", 1048576.0 },
	{ "mib", 1048576.0 },
	{ "g", 1073741824.0 },
	{ "gb", 1073741824.0 },
	{ "gib", 1073741824.0 },
	{ "t", 1099511627776.0 },
	{ "tb", 1099511627776.0 },
	{ "tib", 1099511627776.0 },
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Reads digits with an optional fraction; returns where it stopped, or NULL without a digit. Own
 * code because strtod depends on the program's locale. */
static const char *parse_decimal(const char *text, double *ret_value)
{
	double value = 0, scale = 1;
	const char *at = text;
	int digits = 0;

	for (; *at >= '0' && *at <= '9'; at++, digits++)
		value = value * 10 + (*at - '0');
	if (*at == '.') {
		for (at++; *at >= '0' && *at <= '9'; at++, digits++) {
			scale /= 10;
			value += (*at - '0') * scale;
		}
	}
	*ret_value = value;
	return digits ? at : NULL;
}

static int parse_with_units(
	const char *text, const struct unit *units, size_t count, uint64_t *ret_value)
{
	char suffix[8] = "";
	size_t length;
	double value;
	const char *at = parse_decimal(text, &value);

	if (!at)
		return STATUS_USAGE;
	while (*at == ' ')
		at++;
	length = strlen(at);
	if (length >= sizeof suffix)
		return STATUS_USAGE;
	for (size_t i = 0; i < length; i++)
		suffix[i] = (char)(at[i] >= 'A' && at[i] <= 'Z' ? at[i] + 32 : at[i]);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(units[i].name, suffix) != 0)
			continue;
		value *= units[i].factor;
		if (value >= 9e18)
			return STATUS_USAGE;
		*ret_value = (uint64_t)(value + 0.5);
		return STATUS_OK;
	}
	return STATUS_USAGE;
}

int units_parse_duration(const char *text, uint64_t *ret_ns)
{
	return parse_with_units(text, duration_units, COUNT_OF(duration_units), ret_ns);
}

int units_parse_bytes(const char *text, uint64_t *ret_bytes)
{
	return parse_with_units(text, byte_units, COUNT_OF(byte_units), ret_bytes);
}

int units_parse_u64(const char *text, uint64_t *ret_value)
{
	uint64_t value = 0;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return STATUS_USAGE;
	if (at == text || *at)
		return STATUS_USAGE;
	*ret_value = value;
	return STATUS_OK;
}

int units_parse_double(const char *text, double *ret_value)
{
	double value;
	const char *at = parse_decimal(text, &value);

	if (!at || *at)
		return STATUS_USAGE;
	*ret_value = value;
	return STATUS_OK;
}

int units_parse_bool(const char *text, int *ret_value)
{
	static const char *const words[] = { "off", "on", "false", "true", "no", "yes", "0", "1" };

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strcmp(words[i], text) == 0) {
			*ret_value = (int)(i & 1);
			return STATUS_OK;
		}
	return STATUS_USAGE;
}

/* Three significant digits or more, no exponent. */
static void put_scaled(char *text, double value, const char *unit)
{
	double size = fabs(value);

	if (size >= 100 || value == 0)
		snprintf(text, UNITS_TEXT, "%.0f %s", value, unit);
	else
		snprintf(text, UNITS_TEXT, "%.*f %s", size >= 10 ? 1 : 2, value, unit);
}

char *units_duration(char text[UNITS_TEXT], double ns)
{
	double size = fabs(ns);

	if (size < 999.5)
		put_scaled(text, ns, "ns");
	else if (size < 999.5e3)
		put_scaled(text, ns / 1e3, "us");
	else if (size < 999.5e6)
		put_scaled(text, ns / 1e6, "ms");
	else
		put_scaled(text, ns / 1e9, "s");
	return text;
}

char *units_bytes(char text[UNITS_TEXT], double bytes)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	while (fabs(bytes) >= 1000 && i + 1 < COUNT_OF(names)) {
		bytes /= 1024;
		i++;
	}
	put_scaled(text, bytes, names[i]);
	return text;
}

char *units_count(char text[UNITS_TEXT], double count)
{
	double size = fabs(count);

	if (size < 99999.5)
		snprintf(text, UNITS_TEXT, "%.0f", count);
	else if (size < 999.5e6)
		put_scaled(text, count / 1e6, "M");
	else
		put_scaled(text, count / 1e9, "G");
	return text;
}
