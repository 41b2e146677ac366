/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A JSON reader for tests, strict and slow: it shares nothing with the writer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum mini_kind {
	MINI_NULL,
	MINI_FALSE,
	MINI_TRUE,
	MINI_NUMBER,
	MINI_STRING,
	MINI_ARRAY,
	MINI_OBJECT
};

struct mini_json {
	enum mini_kind kind;
	char *key;  /* of a member of an object */
	char *text; /* of a string; of a number as it was written */
	double number;
	struct mini_json *items;
	size_t count;
};

/* NULL when the text is not exactly one JSON value; ret_used, when given, lets more follow. */
struct mini_json *mini_json_parse(const char *text, const char **ret_rest);
void mini_json_free(struct mini_json *json);
/* A member, or an element; a null that stands for nothing when it is not there. */
const struct mini_json *mini_json_get(const struct mini_json *json, const char *key);
const struct mini_json *mini_json_at(const struct mini_json *json, size_t index);
/* Nanoseconds of a number in units of 10^digits nanoseconds with that many decimals. */
uint64_t mini_json_ns(const struct mini_json *json, unsigned digits);
