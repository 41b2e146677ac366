/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reading foreign bytes: a cursor that never leaves its range. A read past the end gives zero and
 * sets `failed`; ask once at the end, as with struct buffer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static inline void reader_init(struct reader *reader, const void *bytes, size_t count)
{
	reader->at = bytes;
	reader->end = count ? reader->at + count : reader->at; /* an empty range may be NULL */
	reader->failed = false;
}

static inline size_t reader_left(const struct reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

/* `count` bytes to be read in place, or NULL. */
static inline const uint8_t *reader_bytes(struct reader *reader, size_t count)
{
	const uint8_t *at = reader->at;

	if (count > reader_left(reader)) {
		reader->failed = true;
		reader->at = reader->end;
		return NULL;
	}
	reader->at += count;
	return at;
}

static inline uint64_t reader_fixed(struct reader *reader, size_t bytes)
{
	const uint8_t *at = reader_bytes(reader, bytes);
	uint64_t value = 0;

	if (at)
		for (size_t i = 0; i < bytes; i++)
			value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static inline uint8_t reader_byte(struct reader *reader)
{
	return (uint8_t)reader_fixed(reader, 1);
}

static inline uint32_t reader_u32(struct reader *reader)
{
	return (uint32_t)reader_fixed(reader, 4);
}

static inline uint64_t reader_u64(struct reader *reader)
{
	return reader_fixed(reader, 8);
}
