// SPDX-License-Identifier: MIT OR Apache-2.0
/* Dictionaries that only grow. */
#include "format/trace_dict.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define DICT_STRINGS_LIMIT ((size_t)4 << 30)

int trace_dict_init(struct trace_dict *dict)
{
	memset(dict, 0, sizeof *dict);
	return string_table_init(&dict->strings, DICT_STRINGS_LIMIT);
}

void trace_dict_release(struct trace_dict *dict)
{
	string_table_release(&dict->strings);
	table_rows_release(&dict->names);
	table_rows_release(&dict->tracks);
	id_map_release(&dict->name_ids);
	id_map_release(&dict->stack_ids);
	free(dict->frames);
	free(dict->stack_ends);
	memset(dict, 0, sizeof *dict);
}

int trace_dict_string(struct trace_dict *dict, const char *text, size_t length, uint32_t *ret_id)
{
	return string_table_add(&dict->strings, text, length, ret_id);
}

int trace_dict_name(struct trace_dict *dict, uint32_t name, uint32_t category, uint32_t *ret_id)
{
	uint64_t key = (uint64_t)name << 32 | category, id;
	uint64_t row[] = { [NAMES_NAME] = name, [NAMES_CATEGORY] = category };

	if (!id_map_get(&dict->name_ids, key, &id)) {
		id = dict->names.count;
		if (table_rows_add(&dict->names, table_schema(TABLE_NAMES), row) != STATUS_OK ||
			id_map_put(&dict->name_ids, key, id) != STATUS_OK)
			return STATUS_NOMEM;
	}
	*ret_id = (uint32_t)id;
	return STATUS_OK;
}

int trace_dict_track(struct trace_dict *dict, uint32_t parent, enum track_kind kind, uint64_t os_id,
	uint32_t name, uint32_t unit, uint32_t *ret_id)
{
	uint64_t row[] = { [TRACKS_PARENT] = parent,
		[TRACKS_KIND] = kind,
		[TRACKS_OS_ID] = os_id,
		[TRACKS_NAME] = name,
		[TRACKS_UNIT] = unit };

	if (table_rows_add(&dict->tracks, table_schema(TABLE_TRACKS), row) != STATUS_OK)
		return STATUS_NOMEM;
	*ret_id = (uint32_t)dict->tracks.count - 1;
	return STATUS_OK;
}

int trace_dict_stack(
	struct trace_dict *dict, const uint32_t *frames, size_t count, uint32_t *ret_id)
{
	uint64_t key = XXH3_64bits(frames, count * sizeof *frames), id;

	if (id_map_get(&dict->stack_ids, key, &id)) {
		*ret_id = (uint32_t)id;
		return STATUS_OK;
	}
	if (array_grow((void **)&dict->frames, &dict->frame_capacity, dict->frame_count + count,
		    sizeof *dict->frames) ||
		array_grow((void **)&dict->stack_ends, &dict->stack_capacity, dict->stack_count + 1,
			sizeof *dict->stack_ends) ||
		id_map_put(&dict->stack_ids, key, dict->stack_count))
		return STATUS_NOMEM;
	if (count)
		memcpy(dict->frames + dict->frame_count, frames, count * sizeof *frames);
	dict->frame_count += count;
	dict->stack_ends[dict->stack_count] = dict->frame_count;
	*ret_id = (uint32_t)dict->stack_count++;
	return STATUS_OK;
}
