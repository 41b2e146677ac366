// SPDX-License-Identifier: MIT OR Apache-2.0
/* An allocator that tells Tacho what it does. */
#include "scratch.h"

#include <tacho/tacho.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int scratch_init(struct scratch *scratch, const char *name, size_t capacity)
{
	memset(scratch, 0, sizeof *scratch);
	scratch->name = name;
	scratch->memory = malloc(capacity * sizeof(float));
	scratch->capacity = capacity;
	return scratch->memory ? 0 : -1;
}

void scratch_release(struct scratch *scratch)
{
	scratch_reset(scratch);
	free(scratch->memory);
	memset(scratch, 0, sizeof *scratch);
}

float *scratch_take(struct scratch *scratch, size_t count)
{
	float *floats = scratch->memory + scratch->used;

	if (count > scratch->capacity - scratch->used || scratch->entry_count == SCRATCH_ENTRIES)
		return NULL;
	scratch->used += count;
	scratch->entries[scratch->entry_count++] = floats;
	memset(floats, 0, count * sizeof *floats);
	tacho_memory_alloc(
		scratch->name, TACHO_MEMORY_HOST, (uintptr_t)floats, count * sizeof *floats);
	return floats;
}

void scratch_reset(struct scratch *scratch)
{
	while (scratch->entry_count) {
		float *floats = scratch->entries[--scratch->entry_count];

		tacho_memory_free(scratch->name, TACHO_MEMORY_HOST, (uintptr_t)floats);
	}
	scratch->used = 0;
}
