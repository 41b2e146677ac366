/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A thread of a Firefox profile: tables of its own for strings, functions, frames and stacks, its
 * samples and its markers. All tables are stored column by column, so the spans of a track are read
 * once per column, and memory follows the number of distinct stacks, not of spans. */
#pragma once

#include "base/id_map.h"
#include "export/export_samples.h"
#include "export/export_slices.h"

struct firefox_stack {
	uint32_t prefix; /* stack + 1, or 0 */
	uint32_t frame;
};

struct firefox_frame {
	uint32_t string, category;
};

struct firefox_mark {
	uint64_t time_ns;
	uint32_t track, name;
};

struct firefox_thread {
	const struct trace *trace;
	struct json_writer *json;
	struct export_walk *walk;
	struct error *err;
	uint32_t track;
	const uint32_t *categories; /* by name: number in the profile's list of categories */
	struct id_map *keys;        /* string of an argument's key -> its type, for the schema */
	const struct firefox_mark *marks;
	size_t mark_count;
	/* Tables, filled while columns are written. */
	struct id_map string_ids, frame_ids, stack_ids;
	uint32_t *strings;
	struct firefox_frame *frames;
	struct firefox_stack *stacks;
	size_t string_count, frame_count, stack_count;
	size_t string_capacity, frame_capacity, stack_capacity;
	/* The walk over slices. */
	uint32_t *open; /* stacks of open scopes, outermost first */
	size_t open_count, open_capacity;
	uint64_t last_ns;
	int column;
	uint64_t count; /* of rows in the column being written */
};

/* Writes the members "samples" to "stringArray" of the thread's object. `samples` may be NULL: then
 * the stacks of scopes are taken, each with the time for which nothing changed. */
int firefox_thread_write(struct firefox_thread *thread, const struct export_sample *samples,
	size_t sample_count) MUST_USE;
void firefox_thread_release(struct firefox_thread *thread);

/* Milliseconds with all six decimals. */
void firefox_time(struct json_writer *json, uint64_t ns);
