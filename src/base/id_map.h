/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A map from 64-bit keys to 64-bit values. Not thread safe. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_map {
	struct id_map_slot *slots;
	size_t mask, count;
};

void id_map_init(struct id_map *map);
void id_map_release(struct id_map *map);
/* Sets the value of a key, new or not. */
int id_map_put(struct id_map *map, uint64_t key, uint64_t value) MUST_USE;
bool id_map_get(const struct id_map *map, uint64_t key, uint64_t *ret_value);
/* Removes a key and gives its value; false when it is not there. */
bool id_map_take(struct id_map *map, uint64_t key, uint64_t *ret_value);
