// SPDX-License-Identifier: MIT OR Apache-2.0
/* Growing byte buffer. */
#include "base/buffer.h"

#include "base/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_init(struct buffer *buffer)
{
	memset(buffer, 0, sizeof *buffer);
}

void buffer_release(struct buffer *buffer)
{
	free(buffer->data);
	buffer_init(buffer);
}

void buffer_reset(struct buffer *buffer)
{
	buffer->length = 0;
	buffer->failed = false;
}

uint8_t *buffer_extend(struct buffer *buffer, size_t bytes)
{
	uint8_t *room;

	/* Nearly every call finds room: no multiplication, no call. */
	if (bytes < buffer->capacity - buffer->length && !buffer->failed) {
		room = buffer->data + buffer->length;
		buffer->length += bytes;
		return room;
	}
	/* At least one byte, so that no room at all is still not NULL. */
	if (buffer->failed || bytes >= SIZE_MAX - buffer->length ||
		array_grow(
			(void **)&buffer->data, &buffer->capacity, buffer->length + bytes + 1, 1)) {
		buffer->failed = true;
		return NULL;
	}
	room = buffer->data + buffer->length;
	buffer->length += bytes;
	return room;
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t count)
{
	uint8_t *room = buffer_extend(buffer, count);

	if (room && count)
		memcpy(room, bytes, count);
}

void buffer_text(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

void buffer_byte(struct buffer *buffer, uint8_t value)
{
	uint8_t *room = buffer_extend(buffer, 1);

	if (room)
		*room = value;
}

void buffer_u32(struct buffer *buffer, uint32_t value)
{
	uint8_t bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	buffer_append(buffer, bytes, sizeof bytes);
}

void buffer_u64(struct buffer *buffer, uint64_t value)
{
	buffer_u32(buffer, (uint32_t)value);
	buffer_u32(buffer, (uint32_t)(value >> 32));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list ap;
	char small[256];
	int needed;

	va_start(ap, format);
	needed = vsnprintf(small, sizeof small, format, ap);
	va_end(ap);
	if (needed < 0) {
		buffer->failed = true;
		return;
	}
	if ((size_t)needed < sizeof small) {
		buffer_append(buffer, small, (size_t)needed);
		return;
	}
	uint8_t *room = buffer_extend(buffer, (size_t)needed + 1);

	if (!room)
		return;
	va_start(ap, format);
	vsnprintf((char *)room, (size_t)needed + 1, format, ap);
	va_end(ap);
	buffer->length--;
}
