// SPDX-License-Identifier: MIT OR Apache-2.0
/* Running of a test table and printing of failed checks. */
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *current_name;
static unsigned int current_failures;
static bool current_skipped;

/* Long enough for the sign and the digits of any 64-bit value. */
#define INTEGER_TEXT 24

static const char *integer_text(char text[INTEGER_TEXT], __int128 value)
{
	if (value < 0)
		snprintf(text, INTEGER_TEXT, "%" PRId64, (int64_t)value);
	else
		snprintf(text, INTEGER_TEXT, "%" PRIu64, (uint64_t)value);
	return text;
}

bool unit_check(const char *file, int line, const char *text, bool holds)
{
	if (holds)
		return true;
	current_failures++;
	printf("%s:%d: %s: %s is false\n", file, line, current_name, text);
	return false;
}

bool unit_check_eq(
	const char *file, int line, const char *text_a, const char *text_b, __int128 a, __int128 b)
{
	char left[INTEGER_TEXT], right[INTEGER_TEXT];

	if (a == b)
		return true;
	current_failures++;
	printf("%s:%d: %s: %s == %s\n\tleft:  %s\n\tright: %s\n", file, line, current_name, text_a,
		text_b, integer_text(left, a), integer_text(right, b));
	return false;
}

bool unit_check_str(const char *file, int line, const char *text_a, const char *text_b,
	const char *a, const char *b)
{
	if (a == b || (a && b && strcmp(a, b) == 0))
		return true;
	current_failures++;
	printf("%s:%d: %s: %s == %s\n\tleft:  %s\n\tright: %s\n", file, line, current_name, text_a,
		text_b, a ? a : "(null)", b ? b : "(null)");
	return false;
}

bool unit_check_near(const char *file, int line, const char *text_a, const char *text_b, double a,
	double b, double tolerance)
{
	/* Written so that a NaN on either side fails. */
	if (fabs(a - b) <= tolerance)
		return true;
	current_failures++;
	printf("%s:%d: %s: %s == %s within %g\n\tleft:  %.17g\n\tright: %.17g\n", file, line,
		current_name, text_a, text_b, tolerance, a, b);
	return false;
}

void unit_skip(const char *reason)
{
	current_skipped = true;
	printf("%s: skipped: %s\n", current_name, reason);
}

int unit_main(const struct unit_test *tests, size_t count, int argc, char **argv)
{
	unsigned int passed = 0, failed = 0, skipped = 0;

	/* A test that crashes must not take the lines before it along. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < count; i++) {
		if (argc > 1 && !strstr(tests[i].name, argv[1]))
			continue;
		current_name = tests[i].name;
		current_failures = 0;
		current_skipped = false;
		tests[i].run();
		if (current_failures) {
			failed++;
			printf("%s: failed\n", current_name);
		} else if (current_skipped) {
			skipped++;
		} else {
			passed++;
		}
	}
	printf("%u passed, %u failed", passed, failed);
	if (skipped)
		printf(", %u skipped", skipped);
	printf("\n");
	return failed ? 1 : 0;
}
