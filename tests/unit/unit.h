/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The unit tests' frame: a table of functions, checks that print both sides, a count at the end.
 * A failed check marks its test as failed and goes on, so that one run shows all that is wrong. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unit_test {
	const char *name;
	void (*run)(void);
};

#define UNIT(function)                             \
	{                                          \
		.name = #function, .run = function \
	}

/* Runs the tests whose name contains argv[1], or all. Returns the exit status: 1 if one failed.
 * The last line is "N passed, N failed", with ", N skipped" behind it when there are any. */
int unit_main(const struct unit_test *tests, size_t count, int argc, char **argv);

#define CHECK(condition) unit_check(__FILE__, __LINE__, #condition, (condition) ? true : false)

/* Integers of any type and sign: __int128 holds them all, so -1 never equals UINT64_MAX. */
#define CHECK_EQ(a, b) unit_check_eq(__FILE__, __LINE__, #a, #b, (__int128)(a), (__int128)(b))

/* NULL equals only NULL. */
#define CHECK_STR(a, b) unit_check_str(__FILE__, __LINE__, #a, #b, (a), (b))

#define CHECK_NEAR(a, b, tolerance) \
	unit_check_near(__FILE__, __LINE__, #a, #b, (double)(a), (double)(b), (double)(tolerance))

/* Ends the test here as skipped, unless a check has failed before. */
#define UNIT_SKIP(reason)          \
	do {                       \
		unit_skip(reason); \
		return;            \
	} while (0)

/* Each returns whether the check held. */
bool unit_check(const char *file, int line, const char *text, bool holds);
bool unit_check_eq(
	const char *file, int line, const char *text_a, const char *text_b, __int128 a, __int128 b);
bool unit_check_str(const char *file, int line, const char *text_a, const char *text_b,
	const char *a, const char *b);
bool unit_check_near(const char *file, int line, const char *text_a, const char *text_b, double a,
	double b, double tolerance);
void unit_skip(const char *reason);
