// SPDX-License-Identifier: MIT OR Apache-2.0
/* Open addressing with backward-shift deletion. */
#include "base/id_map.h"

#include <stdlib.h>
#include <string.h>

struct id_map_slot {
	uint64_t key, value;
	bool used;
};

static size_t home(const struct id_map *map, uint64_t key)
{
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdu;
	key ^= key >> 33;
	return (size_t)key & map->mask;
}

void id_map_init(struct id_map *map)
{
	memset(map, 0, sizeof *map);
}

void id_map_release(struct id_map *map)
{
	free(map->slots);
	id_map_init(map);
}

static size_t find(const struct id_map *map, uint64_t key)
{
	size_t slot = home(map, key);

	while (map->slots[slot].used && map->slots[slot].key != key)
		slot = (slot + 1) & map->mask;
	return slot;
}

static int grow(struct id_map *map)
{
	struct id_map bigger = { .mask = map->slots ? map->mask * 2 + 1 : 63, .count = map->count };

	bigger.slots = calloc(bigger.mask + 1, sizeof *bigger.slots);
	if (!bigger.slots)
		return STATUS_NOMEM;
	for (size_t i = 0; map->slots && i <= map->mask; i++)
		if (map->slots[i].used)
			bigger.slots[find(&bigger, map->slots[i].key)] = map->slots[i];
	free(map->slots);
	*map = bigger;
	return STATUS_OK;
}

int id_map_put(struct id_map *map, uint64_t key, uint64_t value)
{
	size_t slot;

	if ((!map->slots || map->count * 2 > map->mask) && grow(map) != STATUS_OK)
		return STATUS_NOMEM;
	slot = find(map, key);
	if (!map->slots[slot].used)
		map->count++;
	map->slots[slot] = (struct id_map_slot){ .key = key, .value = value, .used = true };
	return STATUS_OK;
}

bool id_map_get(const struct id_map *map, uint64_t key, uint64_t *ret_value)
{
	size_t slot;

	if (!map->slots)
		return false;
	slot = find(map, key);
	if (!map->slots[slot].used)
		return false;
	*ret_value = map->slots[slot].value;
	return true;
}

bool id_map_take(struct id_map *map, uint64_t key, uint64_t *ret_value)
{
	size_t hole, next;

	if (!id_map_get(map, key, ret_value))
		return false;
	hole = find(map, key);
	for (next = (hole + 1) & map->mask; map->slots[next].used; next = (next + 1) & map->mask) {
		size_t wanted = home(map, map->slots[next].key);

		/* Move back whoever would no longer be found across the hole. */
		if (((next - wanted) & map->mask) < ((next - hole) & map->mask))
			continue;
		map->slots[hole] = map->slots[next];
		hole = next;
	}
	map->slots[hole].used = false;
	map->count--;
	return true;
}
