/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory freed as one: per open trace, per analysis, per request. An arena has a byte limit from
 * the start, so that a hostile input ends in an error and not in swap. Not thread safe. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	uint8_t *next;
	size_t left;
	size_t used_bytes;
	size_t limit_bytes;
};

void arena_init(struct arena *arena, size_t limit_bytes);
void arena_release(struct arena *arena);

/* Memory of `bytes` bytes, zeroed and aligned to 16, or NULL when the limit or the machine's memory
 * is reached. Lives until arena_release(). */
void *arena_alloc(struct arena *arena, size_t bytes);

/* arena_alloc() of count * size with the multiplication checked. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* A copy of `length` bytes with a NUL behind them, or NULL. */
char *arena_copy(struct arena *arena, const char *text, size_t length);
