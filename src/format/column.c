// SPDX-License-Identifier: MIT OR Apache-2.0
/* Byte planes. The inner loops touch one plane at a time so that the compiler can vectorise. */
#include "format/column.h"

#include <string.h>

#define COLUMN_CHUNK 1024 /* transformed values at a time; stays in the first-level cache */

static uint64_t transform_value(enum column_transform transform, uint64_t value, uint64_t before)
{
	switch (transform) {
	case COLUMN_DELTA:
		return zigzag_encode((int64_t)(value - before));
	case COLUMN_XOR:
		return value ^ before;
	case COLUMN_ZIGZAG:
		return zigzag_encode((int64_t)value);
	case COLUMN_PLAIN:
		break;
	}
	return value;
}

static unsigned planes_of(uint64_t all_bits)
{
	return all_bits ? (unsigned)(8 - __builtin_clzll(all_bits) / 8) : 0;
}

void column_put(
	struct buffer *out, const uint64_t *values, size_t count, enum column_transform transform)
{
	uint64_t all = 0, before = 0;
	uint64_t chunk[COLUMN_CHUNK];
	unsigned planes;
	uint8_t *room;

	for (size_t i = 0; i < count; i++) {
		all |= transform_value(transform, values[i], before);
		before = values[i];
	}
	planes = planes_of(all);
	buffer_byte(out, (uint8_t)transform);
	buffer_byte(out, (uint8_t)planes);
	room = buffer_extend(out, planes * count);
	if (!room || planes == 0)
		return;
	before = 0;
	for (size_t start = 0; start < count; start += COLUMN_CHUNK) {
		size_t n = count - start < COLUMN_CHUNK ? count - start : COLUMN_CHUNK;

		for (size_t i = 0; i < n; i++) {
			chunk[i] = transform_value(transform, values[start + i], before);
			before = values[start + i];
		}
		for (unsigned p = 0; p < planes; p++) {
			uint8_t *plane = room + p * count + start;

			for (size_t i = 0; i < n; i++)
				plane[i] = (uint8_t)(chunk[i] >> (8 * p));
		}
	}
}

void column_put_u32(struct buffer *out, const uint32_t *values, size_t count)
{
	uint32_t all = 0;
	unsigned planes;
	uint8_t *room;

	for (size_t i = 0; i < count; i++)
		all |= values[i];
	planes = planes_of(all);
	buffer_byte(out, COLUMN_PLAIN);
	buffer_byte(out, (uint8_t)planes);
	room = buffer_extend(out, planes * count);
	for (unsigned p = 0; room && p < planes; p++)
		for (size_t i = 0; i < count; i++)
			room[p * count + i] = (uint8_t)(values[i] >> (8 * p));
}

static void untransform(enum column_transform transform, uint64_t *values, size_t count)
{
	uint64_t before = 0;

	switch (transform) {
	case COLUMN_DELTA:
		for (size_t i = 0; i < count; i++) {
			before += (uint64_t)zigzag_decode(values[i]);
			values[i] = before;
		}
		break;
	case COLUMN_XOR:
		for (size_t i = 0; i < count; i++) {
			before ^= values[i];
			values[i] = before;
		}
		break;
	case COLUMN_ZIGZAG:
		for (size_t i = 0; i < count; i++)
			values[i] = (uint64_t)zigzag_decode(values[i]);
		break;
	case COLUMN_PLAIN:
		break;
	}
}

/* Fetches the two leading bytes and all planes, or returns NULL. */
static const uint8_t *column_open(struct reader *in, size_t count, unsigned max_planes,
	uint8_t *ret_transform, unsigned *ret_planes)
{
	size_t bytes;

	*ret_transform = reader_byte(in);
	*ret_planes = reader_byte(in);
	if (in->failed || *ret_transform > COLUMN_ZIGZAG || *ret_planes > max_planes ||
		__builtin_mul_overflow(count, (size_t)*ret_planes, &bytes))
		return NULL;
	return reader_bytes(in, bytes);
}

int column_get(struct reader *in, uint64_t *values, size_t count)
{
	uint8_t transform;
	unsigned planes;
	const uint8_t *at = column_open(in, count, 8, &transform, &planes);

	if (!at)
		return STATUS_FORMAT;
	/* The common widths in one pass each; wider columns add the rest plane by plane. */
	if (planes >= 2)
		for (size_t i = 0; i < count; i++)
			values[i] = (uint64_t)at[i] | (uint64_t)at[count + i] << 8;
	else if (planes == 1)
		for (size_t i = 0; i < count; i++)
			values[i] = at[i];
	else if (count)
		memset(values, 0, count * sizeof *values);
	for (unsigned p = 2; p < planes; p++)
		for (size_t i = 0; i < count; i++)
			values[i] |= (uint64_t)at[p * count + i] << (8 * p);
	untransform((enum column_transform)transform, values, count);
	return STATUS_OK;
}

int column_get_u32(struct reader *in, uint32_t *values, size_t count)
{
	uint8_t transform;
	unsigned planes;
	const uint8_t *at = column_open(in, count, 4, &transform, &planes);

	if (!at || transform != COLUMN_PLAIN)
		return STATUS_FORMAT;
	if (count)
		memset(values, 0, count * sizeof *values);
	for (unsigned p = 0; p < planes; p++)
		for (size_t i = 0; i < count; i++)
			values[i] |= (uint32_t)at[p * count + i] << (8 * p);
	return STATUS_OK;
}
