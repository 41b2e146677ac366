/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bytes that grow. A failed growth is remembered, not reported at each call: write on, and ask
 * buffer_ok() once at the end. All numbers are little-endian. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	uint8_t *data;
	size_t length;
	size_t capacity;
	bool failed;
};

void buffer_init(struct buffer *buffer);
void buffer_release(struct buffer *buffer);
/* Empties the buffer and keeps its memory. */
void buffer_reset(struct buffer *buffer);
static inline bool buffer_ok(const struct buffer *buffer)
{
	return !buffer->failed;
}

/* Room for `bytes` more bytes at the end, already counted in length; NULL when out of memory. */
uint8_t *buffer_extend(struct buffer *buffer, size_t bytes);
void buffer_append(struct buffer *buffer, const void *bytes, size_t count);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_byte(struct buffer *buffer, uint8_t value);
void buffer_u32(struct buffer *buffer, uint32_t value);
void buffer_u64(struct buffer *buffer, uint64_t value);
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
