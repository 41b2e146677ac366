/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The program's own allocator: one block of memory, handed out from the front, given back all at
 * once. Tacho cannot know of it unless it is told, so each allocation and free is recorded. */
#pragma once

#include <stddef.h>

#define SCRATCH_ENTRIES 64

struct scratch {
	const char *name; /* the pool's name in the trace */
	float *memory;
	size_t used, capacity; /* in floats */
	float *entries[SCRATCH_ENTRIES];
	int entry_count;
};

/* Returns 0, or -1 when there is no memory. */
int scratch_init(struct scratch *scratch, const char *name, size_t capacity);
void scratch_release(struct scratch *scratch);
/* Room for `count` floats, all zero; NULL when the block is used up. */
float *scratch_take(struct scratch *scratch, size_t count);
/* Gives everything back. */
void scratch_reset(struct scratch *scratch);
