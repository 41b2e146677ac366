// SPDX-License-Identifier: MIT OR Apache-2.0
/* The map against a plain array that knows the same. */
#include "base/id_map.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void empty_map_has_nothing(void)
{
	struct id_map map;
	uint64_t value = 7;

	id_map_init(&map);
	CHECK(!id_map_get(&map, 0, &value));
	CHECK(!id_map_take(&map, 0, &value));
	CHECK_EQ(value, 7);
	id_map_release(&map);
}

static void zero_and_all_ones_are_keys(void)
{
	struct id_map map;
	uint64_t value;

	id_map_init(&map);
	CHECK_EQ(id_map_put(&map, 0, UINT64_MAX), STATUS_OK);
	CHECK_EQ(id_map_put(&map, UINT64_MAX, 0), STATUS_OK);
	CHECK(id_map_get(&map, 0, &value));
	CHECK_EQ(value, UINT64_MAX);
	CHECK(id_map_get(&map, UINT64_MAX, &value));
	CHECK_EQ(value, 0);
	CHECK_EQ(id_map_put(&map, 0, 5), STATUS_OK);
	CHECK(id_map_get(&map, 0, &value));
	CHECK_EQ(value, 5);
	CHECK_EQ(map.count, 2);
	id_map_release(&map);
}

/* Keys from a small range collide and are removed in the middle of chains all the time. */
static void agrees_with_an_array(void)
{
	enum { KEYS = 3000, ROUNDS = 300000 };
	uint64_t *values = calloc(KEYS, sizeof *values);
	bool *there = calloc(KEYS, sizeof *there);
	struct id_map map;
	size_t count = 0;

	id_map_init(&map);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t dice = random_next(), value = 0;
		size_t number = (dice >> 8) % KEYS;
		uint64_t key = number * 0x100000001u;

		if ((dice & 3) == 0) {
			bool took = id_map_take(&map, key, &value);

			if (!CHECK_EQ(took, there[number]) ||
				(took && !CHECK_EQ(value, values[number])))
				break;
			count -= took;
			there[number] = false;
		} else if ((dice & 3) == 1) {
			count += !there[number];
			there[number] = true;
			values[number] = dice;
			if (!CHECK_EQ(id_map_put(&map, key, dice), STATUS_OK))
				break;
		} else {
			bool got = id_map_get(&map, key, &value);

			if (!CHECK_EQ(got, there[number]) ||
				(got && !CHECK_EQ(value, values[number])))
				break;
		}
	}
	CHECK_EQ(map.count, count);
	id_map_release(&map);
	free(values);
	free(there);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(empty_map_has_nothing),
		UNIT(zero_and_all_ones_are_keys),
		UNIT(agrees_with_an_array),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
