// SPDX-License-Identifier: MIT OR Apache-2.0
/* Chunks of growing size in a list; small requests are cut from the newest. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_FIRST_CHUNK   (16u << 10)
#define ARENA_LARGEST_CHUNK (4u << 20)

struct arena_chunk {
	struct arena_chunk *older;
	size_t bytes;
};

void arena_init(struct arena *arena, size_t limit_bytes)
{
	memset(arena, 0, sizeof *arena);
	arena->limit_bytes = limit_bytes;
}

void arena_release(struct arena *arena)
{
	struct arena_chunk *chunk = arena->chunks;

	while (chunk) {
		struct arena_chunk *older = chunk->older;

		free(chunk);
		chunk = older;
	}
	arena_init(arena, arena->limit_bytes);
}

static int arena_add_chunk(struct arena *arena, size_t need)
{
	size_t bytes = arena->chunks ? arena->chunks->bytes * 2 : ARENA_FIRST_CHUNK;
	struct arena_chunk *chunk;

	if (bytes > ARENA_LARGEST_CHUNK)
		bytes = ARENA_LARGEST_CHUNK;
	if (bytes < need)
		bytes = need;
	if (arena->used_bytes > arena->limit_bytes ||
		bytes > arena->limit_bytes - arena->used_bytes) {
		bytes = need;
		if (arena->used_bytes > arena->limit_bytes ||
			bytes > arena->limit_bytes - arena->used_bytes)
			return 0;
	}
	chunk = calloc(1, 16 + bytes);
	if (!chunk)
		return 0;
	chunk->older = arena->chunks;
	chunk->bytes = bytes;
	arena->chunks = chunk;
	arena->next = (uint8_t *)chunk + 16;
	arena->left = bytes;
	arena->used_bytes += bytes;
	return 1;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	void *memory;

	if (bytes > SIZE_MAX - 16)
		return NULL;
	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > arena->left && !arena_add_chunk(arena, bytes))
		return NULL;
	memory = arena->next;
	arena->next += bytes;
	arena->left -= bytes;
	return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return arena_alloc(arena, bytes);
}

char *arena_copy(struct arena *arena, const char *text, size_t length)
{
	char *copy = length < SIZE_MAX ? arena_alloc(arena, length + 1) : NULL;

	if (copy)
		memcpy(copy, text, length);
	return copy;
}
