// SPDX-License-Identifier: MIT OR Apache-2.0
/* Arenas: alignment, zeroing, the limit, overflow. */
#include "base/arena.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

static void memory_is_zeroed_and_aligned(void)
{
	struct arena arena;
	uint8_t *before = NULL;

	arena_init(&arena, 64u << 20);
	for (size_t bytes = 1; bytes < 5000; bytes += 7) {
		uint8_t *memory = arena_alloc(&arena, bytes);
		uint8_t all = 0;

		if (!CHECK(memory != NULL))
			break;
		CHECK_EQ((uintptr_t)memory % 16, 0);
		for (size_t i = 0; i < bytes; i++)
			all |= memory[i];
		CHECK_EQ(all, 0);
		memset(memory, 0xff, bytes);
		/* What was handed out before is not touched by what comes after. */
		if (before)
			CHECK_EQ(*before, 0xff);
		before = memory;
	}
	arena_release(&arena);
	CHECK_EQ(arena.used_bytes, 0);
}

static void limit_holds(void)
{
	struct arena arena;
	size_t got = 0;

	arena_init(&arena, 100000);
	while (got < 1000000 && arena_alloc(&arena, 1000))
		got += 1000;
	CHECK(got >= 90000);
	CHECK(got <= 100000);
	CHECK(arena.used_bytes <= 100000);
	CHECK(!arena_alloc(&arena, 1u << 20));
	arena_release(&arena);
	CHECK(arena_alloc(&arena, 1000) != NULL);
	arena_release(&arena);
}

static void large_requests_get_their_own_chunk(void)
{
	struct arena arena;
	char *large;

	arena_init(&arena, 64u << 20);
	CHECK(arena_alloc(&arena, 10) != NULL);
	large = arena_alloc(&arena, 20u << 20);
	if (CHECK(large != NULL))
		large[(20u << 20) - 1] = 1;
	arena_release(&arena);
}

static void sizes_that_overflow_are_refused(void)
{
	struct arena arena;

	arena_init(&arena, SIZE_MAX);
	CHECK(!arena_alloc(&arena, SIZE_MAX));
	CHECK(!arena_alloc(&arena, SIZE_MAX - 15));
	CHECK(!arena_array(&arena, SIZE_MAX / 2, 3));
	CHECK(!arena_copy(&arena, "x", SIZE_MAX));
	CHECK(arena_array(&arena, 10, 3) != NULL);
	arena_release(&arena);
}

static void copies_end_in_nul(void)
{
	struct arena arena;
	char *copy;

	arena_init(&arena, 1u << 20);
	copy = arena_copy(&arena, "forward pass", 7);
	CHECK_STR(copy, "forward");
	CHECK_STR(arena_copy(&arena, "", 0), "");
	arena_release(&arena);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(memory_is_zeroed_and_aligned),
		UNIT(limit_holds),
		UNIT(large_requests_get_their_own_chunk),
		UNIT(sizes_that_overflow_are_refused),
		UNIT(copies_end_in_nul),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
