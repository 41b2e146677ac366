// SPDX-License-Identifier: MIT OR Apache-2.0
/* Begins and ends in the order of time: which blocks, and who takes them. */
#include "export/export_slices_internal.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Where the blocks of a track stand in walk->order, which is sorted by track. */
static size_t lower_bound(const struct export_walk *walk, uint64_t track)
{
	size_t low = 0, high = walk->order_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (walk->trace->blocks[walk->order[middle]].track < track)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool export_slices_any(const struct export_walk *walk, uint32_t track)
{
	return lower_bound(walk, track) < lower_bound(walk, (uint64_t)track + 1);
}

/* The reading loop takes the blocks that walk->order lists: for a moment only these. */
static int walk_part(struct export_walk *walk, size_t first, size_t count, bool parents_first,
	int (*each)(void *context, const struct export_span *span), void *context,
	struct error *err)
{
	size_t *order = walk->order, order_count = walk->order_count;
	int status;

	walk->order += first;
	walk->order_count = count;
	status = export_walk_spans(walk, parents_first, each, context, err);
	walk->order = order;
	walk->order_count = order_count;
	return status;
}

int export_walk_track(struct export_walk *walk, uint32_t track, bool parents_first,
	int (*each)(void *context, const struct export_span *span), void *context,
	struct error *err)
{
	size_t first = lower_bound(walk, track), end = lower_bound(walk, (uint64_t)track + 1);

	return walk_part(walk, first, end - first, parents_first, each, context, err);
}

int slices_walk(struct slices *slices, size_t block, bool backwards,
	int (*each)(void *context, const struct export_span *span), void *context)
{
	return walk_part(
		slices->walk, slices->first + block, 1, backwards, each, context, slices->err);
}

void export_slices_prepare(struct export_walk *walk)
{
	for (size_t i = 0; i < walk->order_count; i++)
		walk->total += walk->trace->blocks[walk->order[i]].rows;
}

static int collect(void *context, const struct export_span *span)
{
	struct slice_list *list = context;

	if (array_grow((void **)&list->items, &list->capacity, list->count + 1,
		    sizeof *list->items) != STATUS_OK)
		return STATUS_NOMEM;
	list->items[list->count++] = *span;
	return STATUS_OK;
}

static int copy_args(struct slice_list *list)
{
	size_t total = 0;

	for (size_t i = 0; i < list->count; i++)
		total += list->items[i].arg_count;
	if (array_grow((void **)&list->args, &list->arg_capacity, total + 1, sizeof *list->args) !=
		STATUS_OK)
		return STATUS_NOMEM;
	list->arg_count = 0;
	for (size_t i = 0; i < list->count; i++) {
		struct export_span *span = &list->items[i];

		if (span->arg_count)
			memcpy(list->args + list->arg_count, span->args,
				span->arg_count * sizeof *span->args);
		span->args = list->args + list->arg_count;
		list->arg_count += span->arg_count;
	}
	return STATUS_OK;
}

int slices_read(struct slices *slices, size_t block, bool copy, struct slice_list *list)
{
	int status;

	list->count = 0;
	status = slices_walk(slices, block, false, collect, list);
	if (status == STATUS_OK && copy)
		status = copy_args(list);
	return status;
}

void slice_list_release(struct slice_list *list)
{
	free(list->items);
	free(list->args);
	memset(list, 0, sizeof *list);
}

static int put_instants(struct slices *slices)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < slices->count && status == STATUS_OK; i++)
		if (slices->kinds[i] == SPANS_INSTANT && !slices->empty[i])
			status = slices_walk(
				slices, i, false, slices->calls->instant, slices->context);
	return status;
}

static int run(struct slices *slices)
{
	uint64_t rows = slices->walk->result.rows;
	int status = slices_find_late(slices);

	/* What the first pass reads is read again, except for blocks that it could not. */
	slices->walk->result.rows = rows;
	if (status == STATUS_OK && slices->nested)
		status = slices_nested(slices);
	if (status == STATUS_OK && slices->explicit_spans)
		status = slices_explicit(slices, slices->nested ? 1 : 0);
	if (status == STATUS_OK && slices->calls->instant)
		status = put_instants(slices);
	return status;
}

int export_slices(struct export_walk *walk, uint32_t track, const struct export_slice_calls *calls,
	void *context, struct error *err)
{
	struct slices slices = { .walk = walk,
		.calls = calls,
		.context = context,
		.err = err,
		.track = track,
		.first = lower_bound(walk, track) };
	int status = STATUS_NOMEM;

	slices.count = lower_bound(walk, (uint64_t)track + 1) - slices.first;
	if (slices.count == 0)
		return STATUS_OK;
	slices.late = calloc(slices.count, sizeof *slices.late);
	slices.kinds = calloc(slices.count, sizeof *slices.kinds);
	slices.empty = calloc(slices.count, sizeof *slices.empty);
	if (slices.late && slices.kinds && slices.empty)
		status = run(&slices);
	for (size_t i = 0; slices.late && i < slices.count; i++) {
		for (size_t s = 0; s < slices.late[i].count; s++)
			free(slices.late[i].items[s].args);
		free(slices.late[i].items);
	}
	free(slices.late);
	free(slices.kinds);
	free(slices.empty);
	return status;
}
