/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Columns of 64-bit numbers as bytes: a transform that makes the numbers small, then byte planes
 * (all lowest bytes, all second bytes, ...), planes that are all zero left out. zstd does the rest.
 *
 *   u8 transform   u8 planes   then `planes` runs of `count` bytes, lowest byte first */
#pragma once

#include "base/buffer.h"
#include "base/reader.h"
#include "base/status.h"

enum column_transform {
	COLUMN_PLAIN = 0,  /* as it is */
	COLUMN_DELTA = 1,  /* difference to the value before, zigzag */
	COLUMN_XOR = 2,    /* exclusive or with the value before: doubles */
	COLUMN_ZIGZAG = 3, /* small values of either sign */
};

void column_put(
	struct buffer *out, const uint64_t *values, size_t count, enum column_transform transform);
/* COLUMN_PLAIN of 32-bit values. */
void column_put_u32(struct buffer *out, const uint32_t *values, size_t count);

/* Reads `count` values written by column_put(). STATUS_FORMAT when the bytes cannot be that. */
int column_get(struct reader *in, uint64_t *values, size_t count) MUST_USE;
/* STATUS_FORMAT also when the column is not COLUMN_PLAIN or a value needs more than 32 bits. */
int column_get_u32(struct reader *in, uint32_t *values, size_t count) MUST_USE;

static inline uint64_t zigzag_encode(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}
static inline int64_t zigzag_decode(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}
