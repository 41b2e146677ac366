/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* JSON as it is written: commas and nesting are looked after; strings are escaped, bytes that are
 * not UTF-8 become U+FFFD; numbers that are not finite become null. Output goes to a struct buffer
 * that is handed to `flush` whenever it is large, so a document may be of any size. */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 64

struct json_writer {
	struct buffer out;
	int (*flush)(
		void *context, const void *bytes, size_t count); /* 0, or negative on failure */
	void *context;
	bool failed;
	unsigned depth;
	bool first[JSON_DEPTH_MAX];
	bool after_key;
	bool pretty; /* two spaces of indentation */
};

/* Writes to a FILE-like sink by `flush`; NULL keeps all in `out`. */
void json_writer_init(struct json_writer *json,
	int (*flush)(void *context, const void *bytes, size_t count), void *context);
void json_writer_release(struct json_writer *json);
/* Flushes what is left; 0, or negative when anything failed. */
int json_writer_finish(struct json_writer *json);

void json_object(struct json_writer *json);
void json_object_end(struct json_writer *json);
void json_array(struct json_writer *json);
void json_array_end(struct json_writer *json);
void json_key(struct json_writer *json, const char *key);
void json_string(struct json_writer *json, const char *text);
void json_string_n(struct json_writer *json, const char *text, size_t length);
void json_u64(struct json_writer *json, uint64_t value);
void json_i64(struct json_writer *json, int64_t value);
void json_double(struct json_writer *json, double value);
void json_bool(struct json_writer *json, bool value);
void json_null(struct json_writer *json);
/* A value that is JSON already: a number in a form of the caller's. */
void json_raw(struct json_writer *json, const char *text);

/* key and value in one line */
void json_key_string(struct json_writer *json, const char *key, const char *text);
void json_key_u64(struct json_writer *json, const char *key, uint64_t value);
void json_key_i64(struct json_writer *json, const char *key, int64_t value);
void json_key_double(struct json_writer *json, const char *key, double value);
void json_key_bool(struct json_writer *json, const char *key, bool value);
