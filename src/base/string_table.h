/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Strings by number: each distinct text once, numbers from 0 in the order of arrival. Text may hold
 * any byte. Number 0 is always the empty string. Not thread safe. */
#pragma once

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

struct string_entry {
	const char *text; /* NUL-terminated for convenience */
	uint32_t length;
	uint32_t hash;
};

struct string_table {
	struct arena arena;
	struct string_entry *entries;
	size_t count, capacity;
	uint32_t *slots;
	uint32_t slot_mask;
};

/* `limit_bytes` bounds the memory of the texts. */
int string_table_init(struct string_table *table, size_t limit_bytes) MUST_USE;
void string_table_release(struct string_table *table);

/* The number of a text, added when new. */
int string_table_add(
	struct string_table *table, const char *text, size_t length, uint32_t *ret_id) MUST_USE;
/* Appends a text under the next number even if it is there already (reading a file's table). */
int string_table_append(struct string_table *table, const char *text, size_t length) MUST_USE;
/* The number of a text, or UINT32_MAX. */
uint32_t string_table_find(const struct string_table *table, const char *text, size_t length);
/* The text; "" for a number that is not there. Valid as long as the table. */
const char *string_table_borrow(const struct string_table *table, uint32_t id);
