// SPDX-License-Identifier: MIT OR Apache-2.0
/* Protobuf's wire format. */
#include "base/wire.h"

#include "base/utf8.h"

#include <string.h>

#define GROUP_DEPTH_MAX 64

void wire_varint(struct buffer *out, uint64_t value)
{
	uint8_t bytes[WIRE_VARINT_MAX];

	buffer_append(out, bytes, (size_t)(wire_at_varint(bytes, value) - bytes));
}

static void put_key(struct buffer *out, uint32_t field, enum wire_type type)
{
	wire_varint(out, (uint64_t)field << 3 | type);
}

void wire_u64(struct buffer *out, uint32_t field, uint64_t value)
{
	uint8_t bytes[2 * WIRE_VARINT_MAX];

	buffer_append(out, bytes, (size_t)(wire_at_u64(bytes, field, value) - bytes));
}

void wire_i64(struct buffer *out, uint32_t field, int64_t value)
{
	wire_u64(out, field, (uint64_t)value);
}

void wire_s64(struct buffer *out, uint32_t field, int64_t value)
{
	wire_u64(out, field, wire_zigzag(value));
}

void wire_fixed64(struct buffer *out, uint32_t field, uint64_t value)
{
	put_key(out, field, WIRE_FIXED64);
	buffer_u64(out, value);
}

void wire_fixed32(struct buffer *out, uint32_t field, uint32_t value)
{
	put_key(out, field, WIRE_FIXED32);
	buffer_u32(out, value);
}

void wire_double(struct buffer *out, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	wire_fixed64(out, field, bits);
}

void wire_bytes(struct buffer *out, uint32_t field, const void *bytes, size_t count)
{
	put_key(out, field, WIRE_BYTES);
	wire_varint(out, count);
	buffer_append(out, bytes, count);
}

void wire_text(struct buffer *out, uint32_t field, const char *text)
{
	size_t length = strlen(text), clean = 0, opened;

	for (size_t step; clean < length; clean += step) {
		step = utf8_decode(text + clean, length - clean, NULL);
		if (!step)
			break;
	}
	if (clean == length) {
		wire_bytes(out, field, text, length);
		return;
	}
	opened = wire_open(out, field);
	for (size_t i = 0, step; i < length; i += step) {
		step = utf8_decode(text + i, length - i, NULL);
		if (step)
			buffer_append(out, text + i, step);
		else
			buffer_text(out, UTF8_REPLACEMENT);
		step = step ? step : 1;
	}
	wire_close(out, opened);
}

/* Most messages are shorter than 128 bytes: one byte is set aside for the length, and a longer
 * message is moved when it is known. */
size_t wire_open(struct buffer *out, uint32_t field)
{
	put_key(out, field, WIRE_BYTES);
	buffer_byte(out, 0);
	return out->length;
}

void wire_close(struct buffer *out, size_t opened)
{
	uint8_t bytes[WIRE_VARINT_MAX];
	size_t length, more;

	if (!buffer_ok(out))
		return;
	length = out->length - opened;
	more = (size_t)(wire_at_varint(bytes, length) - bytes) - 1;
	if (more && !buffer_extend(out, more))
		return;
	if (more)
		memmove(out->data + opened + more, out->data + opened, length);
	memcpy(out->data + opened - 1, bytes, more + 1);
}

uint64_t wire_read_varint(struct reader *in)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte = reader_byte(in);

		if (in->failed || (shift == 63 && byte > 1))
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	in->failed = true;
	return 0;
}

/* Reads key and value, whatever they are. */
static int read_field(struct reader *in, struct wire_field *field)
{
	uint64_t key = wire_read_varint(in);

	field->field = (uint32_t)(key >> 3);
	field->type = (enum wire_type)(key & 7);
	field->number = 0;
	if (in->failed || key > UINT32_MAX || field->field == 0)
		return STATUS_FORMAT;
	switch (field->type) {
	case WIRE_VARINT:
		field->number = wire_read_varint(in);
		break;
	case WIRE_FIXED64:
		field->number = reader_u64(in);
		break;
	case WIRE_FIXED32:
		field->number = reader_u32(in);
		break;
	case WIRE_BYTES: {
		uint64_t length = wire_read_varint(in);
		const uint8_t *at = in->failed || length > reader_left(in)
					    ? NULL
					    : reader_bytes(in, (size_t)length);

		if (!at)
			return STATUS_FORMAT;
		reader_init(&field->bytes, at, (size_t)length);
		break;
	}
	case WIRE_GROUP:
	case WIRE_GROUP_END:
		break;
	default:
		return STATUS_FORMAT;
	}
	return in->failed ? STATUS_FORMAT : STATUS_OK;
}

int wire_next(struct reader *in, struct wire_field *ret_field)
{
	unsigned depth = 0;

	reader_init(&ret_field->bytes, NULL, 0);
	while (reader_left(in)) {
		int status = read_field(in, ret_field);

		if (status != STATUS_OK)
			return status;
		if (ret_field->type == WIRE_GROUP) {
			if (++depth > GROUP_DEPTH_MAX)
				return STATUS_FORMAT;
		} else if (ret_field->type == WIRE_GROUP_END) {
			if (depth-- == 0)
				return STATUS_FORMAT;
		} else if (depth == 0) {
			return 1;
		}
	}
	return depth || in->failed ? STATUS_FORMAT : 0;
}
