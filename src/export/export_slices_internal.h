/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the parts of export_slices share. */
#pragma once

#include "export/export_slices.h"

/* Spans of one block that passed window and filter, with arguments of their own. */
struct slice_list {
	struct export_span *items;
	size_t count, capacity;
	struct span_arg *args;
	size_t arg_count, arg_capacity;
};

/* A scope that began before it was read: it ends in a later block. */
struct late_scope {
	struct export_span span;
	struct span_arg *args; /* its own copy, until it has begun */
	size_t block;          /* of the track, in which it ends */
	size_t from_end;       /* its place in that block's list, counted from the end */
};

struct late_list {
	struct late_scope *items; /* innermost first */
	size_t count, capacity;
};

struct slices {
	struct export_walk *walk;
	const struct export_slice_calls *calls;
	void *context;
	struct error *err;
	uint32_t track;
	size_t first, count;      /* the track's blocks in walk->order */
	struct late_list *late;   /* per block: scopes that begin in it and end later */
	enum spans_layout *kinds; /* per block */
	bool *empty;              /* per block: nothing wanted in it */
	bool nested, explicit_spans;
};

/* The reading loop over one block of the track. */
int slices_walk(struct slices *slices, size_t block, bool backwards,
	int (*each)(void *context, const struct export_span *span), void *context) MUST_USE;
/* Reads the wanted spans of one block, in the order of the file. With `copy` their arguments are
 * copied, else they are valid until the next block is read. */
int slices_read(struct slices *slices, size_t block, bool copy, struct slice_list *list) MUST_USE;
void slice_list_release(struct slice_list *list);

/* Scopes: slices_nested.c. The first finds the late ones, from the last block to the first. */
int slices_find_late(struct slices *slices) MUST_USE;
int slices_nested(struct slices *slices) MUST_USE;
/* Spans with times of their own, on lanes from `first_lane` on: slices_explicit.c. */
int slices_explicit(struct slices *slices, uint32_t first_lane) MUST_USE;
