// SPDX-License-Identifier: MIT OR Apache-2.0
/* Columns there and back, sizes, and bytes that are none. */
#include "format/column.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void check_round_trip(const uint64_t *values, size_t count, enum column_transform transform)
{
	uint64_t *back = malloc((count + 1) * sizeof *back);
	struct buffer bytes;
	struct reader in;

	buffer_init(&bytes);
	column_put(&bytes, values, count, transform);
	CHECK(buffer_ok(&bytes));
	reader_init(&in, bytes.data, bytes.length);
	CHECK_EQ(column_get(&in, back, count), STATUS_OK);
	CHECK(count == 0 || memcmp(values, back, count * sizeof *back) == 0);
	CHECK_EQ(reader_left(&in), 0);
	/* One byte less, and it must be noticed. */
	if (bytes.length > 0) {
		reader_init(&in, bytes.data, bytes.length - 1);
		CHECK_EQ(column_get(&in, back, count), STATUS_FORMAT);
	}
	buffer_release(&bytes);
	free(back);
}

static void every_width_and_transform(void)
{
	enum { COUNT = 2500 }; /* more than two chunks of the encoder */
	uint64_t *values = malloc(COUNT * sizeof *values);

	for (int transform = COLUMN_PLAIN; transform <= COLUMN_ZIGZAG; transform++)
		for (unsigned bits = 0; bits <= 64; bits++) {
			for (size_t i = 0; i < COUNT; i++)
				values[i] = bits ? random_next() >> (64 - bits) : 0;
			check_round_trip(values, COUNT, (enum column_transform)transform);
		}
	free(values);
}

static void edges(void)
{
	static const uint64_t values[] = { 0, UINT64_MAX, 0, INT64_MAX, (uint64_t)INT64_MIN, 1,
		UINT64_MAX - 1 };

	for (int transform = COLUMN_PLAIN; transform <= COLUMN_ZIGZAG; transform++)
		for (size_t count = 0; count <= 7; count++)
			check_round_trip(values, count, (enum column_transform)transform);
}

static void small_columns_are_small(void)
{
	uint64_t rising[1000], same[1000], small[1000];
	struct buffer bytes;

	for (size_t i = 0; i < 1000; i++) {
		rising[i] = 1000000007 + i * 3;
		same[i] = 0;
		small[i] = i % 200;
	}
	buffer_init(&bytes);
	column_put(&bytes, same, 1000, COLUMN_PLAIN);
	CHECK_EQ(bytes.length, 2);
	buffer_reset(&bytes);
	column_put(&bytes, small, 1000, COLUMN_PLAIN);
	CHECK_EQ(bytes.length, 1002);
	buffer_reset(&bytes);
	column_put(&bytes, rising + 1, 999, COLUMN_DELTA);
	CHECK_EQ(bytes.length, 2 + 4 * 999);
	CHECK_EQ(bytes.data[0], COLUMN_DELTA);
	CHECK_EQ(bytes.data[1], 4);
	buffer_release(&bytes);
}

static void thirty_two_bits(void)
{
	enum { COUNT = 1500 };
	uint32_t values[COUNT], back[COUNT];
	uint64_t wide[COUNT];
	struct buffer bytes;
	struct reader in;

	buffer_init(&bytes);
	for (unsigned bits = 0; bits <= 32; bits++) {
		for (size_t i = 0; i < COUNT; i++)
			values[i] = bits ? (uint32_t)(random_next() >> (64 - bits)) : 0;
		buffer_reset(&bytes);
		column_put_u32(&bytes, values, COUNT);
		reader_init(&in, bytes.data, bytes.length);
		CHECK_EQ(column_get_u32(&in, back, COUNT), STATUS_OK);
		CHECK(memcmp(values, back, sizeof back) == 0);
		reader_init(&in, bytes.data, bytes.length);
		CHECK_EQ(column_get(&in, wide, COUNT), STATUS_OK);
		CHECK_EQ(wide[COUNT - 1], values[COUNT - 1]);
	}
	/* What does not fit, or is not plain, is refused. */
	for (size_t i = 0; i < COUNT; i++)
		wide[i] = UINT32_MAX + UINT64_C(1);
	buffer_reset(&bytes);
	column_put(&bytes, wide, COUNT, COLUMN_PLAIN);
	reader_init(&in, bytes.data, bytes.length);
	CHECK_EQ(column_get_u32(&in, back, COUNT), STATUS_FORMAT);
	buffer_reset(&bytes);
	wide[0] = wide[1] = 5;
	column_put(&bytes, wide, 2, COLUMN_DELTA);
	reader_init(&in, bytes.data, bytes.length);
	CHECK_EQ(column_get_u32(&in, back, 2), STATUS_FORMAT);
	buffer_release(&bytes);
}

static void bytes_that_are_no_column(void)
{
	static const uint8_t transform[] = { 4, 1, 0 }, planes[] = { 0, 9, 0 }, cut[] = { 0 };
	uint64_t values[2];
	struct reader in;

	reader_init(&in, transform, sizeof transform);
	CHECK_EQ(column_get(&in, values, 1), STATUS_FORMAT);
	reader_init(&in, planes, sizeof planes);
	CHECK_EQ(column_get(&in, values, 1), STATUS_FORMAT);
	reader_init(&in, cut, sizeof cut);
	CHECK_EQ(column_get(&in, values, 0), STATUS_FORMAT);
	/* A count whose bytes overflow. */
	reader_init(&in, (const uint8_t[]){ 0, 8 }, 2);
	CHECK_EQ(column_get(&in, values, SIZE_MAX / 4), STATUS_FORMAT);
}

static void zigzag_is_its_own_inverse(void)
{
	static const int64_t values[] = { 0, -1, 1, INT64_MIN, INT64_MAX, -123456789 };

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		CHECK_EQ(zigzag_decode(zigzag_encode(values[i])), values[i]);
	CHECK_EQ(zigzag_encode(-1), 1);
	CHECK_EQ(zigzag_encode(1), 2);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(every_width_and_transform),
		UNIT(edges),
		UNIT(small_columns_are_small),
		UNIT(thirty_two_bits),
		UNIT(bytes_that_are_no_column),
		UNIT(zigzag_is_its_own_inverse),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
