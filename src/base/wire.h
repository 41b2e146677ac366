/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Protobuf's wire format, without schemas: a field is a key (number << 3 | type) and a value.
 *
 *   type 0  varint: 7 bits a byte, lowest first, the top bit set in all but the last
 *   type 1  8 bytes, little-endian        type 5  4 bytes
 *   type 2  varint length, then that many bytes: text, a message, packed numbers
 *   type 3  begin and 4 end of a group: read past, never written
 *
 * Writing goes to a struct buffer, which remembers a failed growth. Reading takes a struct reader
 * and never leaves its range. */
#pragma once

#include "base/buffer.h"
#include "base/reader.h"
#include "base/status.h"

#include <stdint.h>

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_GROUP = 3,
	WIRE_GROUP_END = 4,
	WIRE_FIXED32 = 5,
};

#define WIRE_VARINT_MAX 10 /* bytes */

static inline uint64_t wire_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t wire_unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* For hot loops that have made room themselves: writes at `at` and returns what follows. */
static inline uint8_t *wire_at_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static inline uint8_t *wire_at_u64(uint8_t *at, uint32_t field, uint64_t value)
{
	at = wire_at_varint(at, (uint64_t)field << 3 | WIRE_VARINT);
	return wire_at_varint(at, value);
}

static inline uint8_t *wire_at_fixed64(uint8_t *at, uint32_t field, uint64_t value)
{
	at = wire_at_varint(at, (uint64_t)field << 3 | WIRE_FIXED64);
	for (int i = 0; i < 8; i++)
		*at++ = (uint8_t)(value >> (8 * i));
	return at;
}

void wire_varint(struct buffer *out, uint64_t value);
/* uint32, uint64, bool, enum; and int32, int64, which are ten bytes when negative. */
void wire_u64(struct buffer *out, uint32_t field, uint64_t value);
void wire_i64(struct buffer *out, uint32_t field, int64_t value);
/* sint32, sint64. */
void wire_s64(struct buffer *out, uint32_t field, int64_t value);
void wire_fixed64(struct buffer *out, uint32_t field, uint64_t value);
void wire_fixed32(struct buffer *out, uint32_t field, uint32_t value);
void wire_double(struct buffer *out, uint32_t field, double value);
void wire_bytes(struct buffer *out, uint32_t field, const void *bytes, size_t count);
/* `text` up to its NUL; bytes that are no UTF-8 become U+FFFD, since readers refuse them. */
void wire_text(struct buffer *out, uint32_t field, const char *text);

/* A message inside the one being written: everything between is its content.
 *
 *   size_t inner = wire_open(&out, 3);  wire_u64(&out, 1, 7);  wire_close(&out, inner); */
size_t wire_open(struct buffer *out, uint32_t field);
void wire_close(struct buffer *out, size_t opened);

/* A field that was read. `number` of FIXED and VARINT fields, `bytes` of BYTES fields, which borrow
 * from what is being read. */
struct wire_field {
	uint32_t field;
	enum wire_type type;
	uint64_t number;
	struct reader bytes;
};

/* 0 and `failed` when the varint does not end in time or has more than 64 bits. */
uint64_t wire_read_varint(struct reader *in);
/* The next field of a message: 1, 0 at its end, STATUS_FORMAT when it is damaged. Groups, which
 * nobody writes any more, are passed over. */
int wire_next(struct reader *in, struct wire_field *ret_field) MUST_USE;

static inline double wire_as_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}
