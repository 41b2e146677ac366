/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Thrift's compact protocol, as far as Parquet's footers need it: structs are written field by
 * field with rising numbers. */
#pragma once

#include "base/buffer.h"

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_BYTE = 3,
	THRIFT_I16 = 4,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

#define THRIFT_DEPTH_MAX 16

struct thrift_writer {
	struct buffer *out;
	unsigned depth;
	int last[THRIFT_DEPTH_MAX]; /* number of the field written last, per open struct */
};

/* Begins the outermost struct, which ends with thrift_end(). */
void thrift_begin(struct thrift_writer *thrift, struct buffer *out);
void thrift_end(struct thrift_writer *thrift);
void thrift_int(struct thrift_writer *thrift, int field, enum thrift_type type, int64_t value);
void thrift_bool(struct thrift_writer *thrift, int field, bool value);
void thrift_binary(struct thrift_writer *thrift, int field, const void *bytes, size_t count);
void thrift_text(struct thrift_writer *thrift, int field, const char *text);
void thrift_struct(struct thrift_writer *thrift, int field);
/* `count` elements follow: thrift_item_int(), thrift_item_text(), or structs between
 * thrift_item_struct() and thrift_end(). */
void thrift_list(struct thrift_writer *thrift, int field, enum thrift_type type, size_t count);
void thrift_item_int(struct thrift_writer *thrift, int64_t value);
void thrift_item_text(struct thrift_writer *thrift, const char *text);
void thrift_item_struct(struct thrift_writer *thrift);
