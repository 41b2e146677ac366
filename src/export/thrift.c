// SPDX-License-Identifier: MIT OR Apache-2.0
/* Thrift's compact protocol. */
#include "export/thrift.h"

#include "base/wire.h"

#include <assert.h>
#include <string.h>

void thrift_begin(struct thrift_writer *thrift, struct buffer *out)
{
	memset(thrift, 0, sizeof *thrift);
	thrift->out = out;
}

void thrift_end(struct thrift_writer *thrift)
{
	buffer_byte(thrift->out, 0);
	if (thrift->depth)
		thrift->depth--;
}

/* The number as the distance to the field before, in the same byte as the type if it fits. */
static void put_field(struct thrift_writer *thrift, int field, enum thrift_type type)
{
	int distance = field - thrift->last[thrift->depth];

	assert(distance > 0);
	if (distance <= 15) {
		buffer_byte(thrift->out, (uint8_t)(distance << 4 | (int)type));
	} else {
		buffer_byte(thrift->out, (uint8_t)type);
		wire_varint(thrift->out, wire_zigzag(field));
	}
	thrift->last[thrift->depth] = field;
}

static void open_struct(struct thrift_writer *thrift)
{
	assert(thrift->depth + 1 < THRIFT_DEPTH_MAX);
	thrift->last[++thrift->depth] = 0;
}

void thrift_int(struct thrift_writer *thrift, int field, enum thrift_type type, int64_t value)
{
	put_field(thrift, field, type);
	if (type == THRIFT_BYTE)
		buffer_byte(thrift->out, (uint8_t)value);
	else
		thrift_item_int(thrift, value);
}

void thrift_bool(struct thrift_writer *thrift, int field, bool value)
{
	put_field(thrift, field, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_binary(struct thrift_writer *thrift, int field, const void *bytes, size_t count)
{
	put_field(thrift, field, THRIFT_BINARY);
	wire_varint(thrift->out, count);
	buffer_append(thrift->out, bytes, count);
}

void thrift_text(struct thrift_writer *thrift, int field, const char *text)
{
	thrift_binary(thrift, field, text, strlen(text));
}

void thrift_struct(struct thrift_writer *thrift, int field)
{
	put_field(thrift, field, THRIFT_STRUCT);
	open_struct(thrift);
}

void thrift_list(struct thrift_writer *thrift, int field, enum thrift_type type, size_t count)
{
	put_field(thrift, field, THRIFT_LIST);
	if (count < 15) {
		buffer_byte(thrift->out, (uint8_t)(count << 4 | type));
	} else {
		buffer_byte(thrift->out, (uint8_t)(0xf0 | type));
		wire_varint(thrift->out, count);
	}
}

void thrift_item_int(struct thrift_writer *thrift, int64_t value)
{
	wire_varint(thrift->out, wire_zigzag(value));
}

void thrift_item_text(struct thrift_writer *thrift, const char *text)
{
	wire_varint(thrift->out, strlen(text));
	buffer_text(thrift->out, text);
}

void thrift_item_struct(struct thrift_writer *thrift)
{
	open_struct(thrift);
}
