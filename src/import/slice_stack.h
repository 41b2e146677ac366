/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Slices that come as two events, a begin and an end, which nest on their track. As long as all
 * events of a track come from one writer they are paired as they come. Once a second writer appears
 * on a track its order in the file means nothing: events are kept, and paired by time at the end.
 */
#pragma once

#include "base/id_map.h"
#include "import/event_args.h"

struct slice_event {
	int64_t time_ns;
	uint32_t track, name;
	uint64_t order; /* of arrival */
	size_t below;   /* begins: the one under it, + 1 */
	uint32_t argument_count;
	bool begin;
	uint8_t *arguments; /* values, keys, types in one piece */
};

struct slice_stack {
	struct event_args *args;   /* those of the event at hand */
	struct event_args *joined; /* those of begin and end */
	struct slice_event *open;
	size_t open_count, open_capacity;
	struct slice_event *late;
	size_t late_count, late_capacity;
	struct id_map tops;    /* track -> newest begin, + 1 */
	struct id_map writers; /* track -> writer + 1; 0: several */
	uint64_t order, unmatched, unended;
};

int slice_stack_init(struct slice_stack *stack, struct event_args *args) MUST_USE;
void slice_stack_release(struct slice_stack *stack);

/* Arguments are those in `args`. The name of an end is not looked at. */
int slice_stack_begin(struct slice_stack *stack, uint32_t track, uint64_t writer, uint32_t name,
	int64_t time_ns) MUST_USE;
int slice_stack_end(
	struct slice_stack *stack, uint32_t track, uint64_t writer, int64_t time_ns) MUST_USE;
/* Slices that are still open last until `end_ns`, or until they begin. Ledger entries. */
int slice_stack_finish(struct slice_stack *stack, int64_t end_ns) MUST_USE;
