/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The dictionaries of a trace being written: strings, names (a name with its category), tracks and
 * stacks, each by number. Entries are only added, so a writer remembers how far it has come. */
#pragma once

#include "base/id_map.h"
#include "base/string_table.h"
#include "format/table.h"

struct trace_dict {
	struct string_table strings;
	struct table_rows names, tracks;
	struct id_map name_ids; /* name string << 32 | category string -> name number */
	uint32_t *frames;       /* string numbers of all stacks, one after the other */
	size_t frame_count, frame_capacity;
	size_t *stack_ends;
	size_t stack_count, stack_capacity;
	struct id_map stack_ids; /* hash of the frames -> stack number */
};

int trace_dict_init(struct trace_dict *dict) MUST_USE;
void trace_dict_release(struct trace_dict *dict);

int trace_dict_string(
	struct trace_dict *dict, const char *text, size_t length, uint32_t *ret_id) MUST_USE;
int trace_dict_name(
	struct trace_dict *dict, uint32_t name, uint32_t category, uint32_t *ret_id) MUST_USE;
/* Always adds; numbers count from 0. `unit` and `name` are strings. */
int trace_dict_track(struct trace_dict *dict, uint32_t parent, enum track_kind kind, uint64_t os_id,
	uint32_t name, uint32_t unit, uint32_t *ret_id) MUST_USE;
int trace_dict_stack(
	struct trace_dict *dict, const uint32_t *frames, size_t count, uint32_t *ret_id) MUST_USE;

/* How much of a dictionary has been written somewhere. */
struct trace_dict_mark {
	size_t strings, names, tracks, stacks;
};
