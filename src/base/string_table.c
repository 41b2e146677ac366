// SPDX-License-Identifier: MIT OR Apache-2.0
/* Open addressing over entries in an arena. */
#include "base/string_table.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 256u

static uint32_t hash_text(const char *text, size_t length)
{
	uint64_t hash = 0x9e3779b97f4a7c15u ^ length;

	while (length >= 8) {
		uint64_t word;

		memcpy(&word, text, 8);
		hash = (hash ^ word) * 0xff51afd7ed558ccdu;
		hash ^= hash >> 32;
		text += 8;
		length -= 8;
	}
	for (; length; length--, text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
	hash ^= hash >> 29;
	hash *= 0xff51afd7ed558ccdu;
	return (uint32_t)(hash >> 32);
}

int string_table_init(struct string_table *table, size_t limit_bytes)
{
	memset(table, 0, sizeof *table);
	arena_init(&table->arena, limit_bytes);
	table->slots = calloc(FIRST_SLOTS, sizeof *table->slots);
	if (!table->slots)
		return STATUS_NOMEM;
	table->slot_mask = FIRST_SLOTS - 1;
	return string_table_append(table, "", 0);
}

void string_table_release(struct string_table *table)
{
	arena_release(&table->arena);
	free(table->entries);
	free(table->slots);
	memset(table, 0, sizeof *table);
}

/* The slot of a text: it holds the entry's number + 1, or 0 where the text would go. */
static uint32_t find_slot(
	const struct string_table *table, const char *text, size_t length, uint32_t hash)
{
	uint32_t slot = hash & table->slot_mask;

	for (; table->slots[slot]; slot = (slot + 1) & table->slot_mask) {
		const struct string_entry *entry = &table->entries[table->slots[slot] - 1];

		if (entry->hash == hash && entry->length == length &&
			memcmp(entry->text, text, length) == 0)
			break;
	}
	return slot;
}

static int grow_slots(struct string_table *table)
{
	uint32_t mask = table->slot_mask * 2 + 1;
	uint32_t *slots = calloc((size_t)mask + 1, sizeof *slots);

	if (!slots)
		return STATUS_NOMEM;
	for (uint32_t old = 0; old <= table->slot_mask; old++) {
		uint32_t slot;

		if (!table->slots[old])
			continue;
		slot = table->entries[table->slots[old] - 1].hash & mask;
		while (slots[slot])
			slot = (slot + 1) & mask;
		slots[slot] = table->slots[old];
	}
	free(table->slots);
	table->slots = slots;
	table->slot_mask = mask;
	return STATUS_OK;
}

static int append_hashed(struct string_table *table, const char *text, size_t length, uint32_t hash)
{
	uint32_t slot;
	char *copy;

	if (length > UINT32_MAX || table->count >= UINT32_MAX / 2)
		return STATUS_LIMIT;
	if (table->count * 2 > table->slot_mask && grow_slots(table) != STATUS_OK)
		return STATUS_NOMEM;
	if (array_grow((void **)&table->entries, &table->capacity, table->count + 1,
		    sizeof *table->entries) != STATUS_OK)
		return STATUS_NOMEM;
	copy = arena_copy(&table->arena, text, length);
	if (!copy)
		return STATUS_LIMIT;
	slot = find_slot(table, text, length, hash);
	table->entries[table->count] =
		(struct string_entry){ .text = copy, .length = (uint32_t)length, .hash = hash };
	table->count++;
	if (!table->slots[slot])
		table->slots[slot] = (uint32_t)table->count;
	return STATUS_OK;
}

int string_table_append(struct string_table *table, const char *text, size_t length)
{
	return append_hashed(table, text, length, hash_text(text, length));
}

int string_table_add(struct string_table *table, const char *text, size_t length, uint32_t *ret_id)
{
	uint32_t hash = hash_text(text, length);
	uint32_t slot = find_slot(table, text, length, hash);
	int status;

	if (table->slots[slot]) {
		*ret_id = table->slots[slot] - 1;
		return STATUS_OK;
	}
	status = append_hashed(table, text, length, hash);
	if (status == STATUS_OK)
		*ret_id = (uint32_t)table->count - 1;
	return status;
}

uint32_t string_table_find(const struct string_table *table, const char *text, size_t length)
{
	uint32_t slot = find_slot(table, text, length, hash_text(text, length));

	return table->slots[slot] ? table->slots[slot] - 1 : UINT32_MAX;
}

const char *string_table_borrow(const struct string_table *table, uint32_t id)
{
	return id < table->count ? table->entries[id].text : "";
}
