// SPDX-License-Identifier: MIT OR Apache-2.0
/* Spans with times of their own: streams of a device, requests. Blocks are sorted each in itself
 * and merged, a block being read when the merge comes to its first time. Then each span gets the
 * first lane on which it fits: a lane that is free, or, on tracks other than async ones, one whose
 * open span holds it whole. Beyond a few lanes the one that is free first is taken, so that a
 * million requests at once cost no more than their logarithm each. */
#include "base/array.h"
#include "export/export_slices_internal.h"

#include <stdlib.h>
#include <string.h>

#define LANES_TRIED 16u

struct run {
	struct slice_list list;
	size_t at;
};

struct lane {
	uint64_t *ends; /* of open spans, outermost first */
	size_t count, capacity;
	uint64_t free_ns;
};

struct merge {
	struct slices *slices;
	size_t *blocks; /* of this kind, by their first time */
	size_t block_count, next;
	struct run *runs; /* being merged, then those that can be used again */
	size_t run_count, run_made, run_capacity;
	struct lane *lanes;
	size_t lane_count, lane_capacity;
	uint32_t *heap; /* lanes beyond LANES_TRIED, the one that is free first on top */
	size_t heap_count, heap_capacity;
	uint32_t first_lane;
	bool stacked; /* a span may lie inside another of its lane */
};

static uint64_t block_start(const struct slices *slices, size_t block)
{
	const struct export_walk *walk = slices->walk;

	return walk->trace->blocks[walk->order[slices->first + block]].time_min_ns;
}

static int compare_blocks(const void *a, const void *b, void *context)
{
	uint64_t x = block_start(context, *(const size_t *)a);
	uint64_t y = block_start(context, *(const size_t *)b);

	if (x != y)
		return x < y ? -1 : 1;
	return *(const size_t *)a < *(const size_t *)b ? -1 : 1;
}

/* By start; what holds another comes before it. */
static int compare_spans(const void *a, const void *b)
{
	const struct export_span *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->duration_ns != y->duration_ns)
		return x->duration_ns > y->duration_ns ? -1 : 1;
	return 0;
}

static void sort_list(struct slice_list *list)
{
	for (size_t i = 1; i < list->count; i++)
		if (compare_spans(&list->items[i - 1], &list->items[i]) > 0) {
			qsort(list->items, list->count, sizeof *list->items, compare_spans);
			return;
		}
}

static int load_run(struct merge *merge)
{
	struct run *run;
	int status;

	if (merge->run_count == merge->run_made) {
		if (array_grow((void **)&merge->runs, &merge->run_capacity, merge->run_made + 1,
			    sizeof *merge->runs) != STATUS_OK)
			return STATUS_NOMEM;
		memset(&merge->runs[merge->run_made++], 0, sizeof *merge->runs);
	}
	run = &merge->runs[merge->run_count];
	run->at = 0;
	status = slices_read(merge->slices, merge->blocks[merge->next++], true, &run->list);
	if (status == STATUS_OK && run->list.count) {
		sort_list(&run->list);
		merge->run_count++;
	}
	return status;
}

/* The next span of all, or NULL at the end. Valid until the next call. */
static int next_span(struct merge *merge, const struct export_span **ret_span)
{
	struct run *best;

	for (;;) {
		int status;

		best = NULL;
		for (size_t i = 0; i < merge->run_count; i++) {
			struct run *run = &merge->runs[i];

			if (run->at == run->list.count) {
				struct run used = *run;

				merge->runs[i--] = merge->runs[--merge->run_count];
				merge->runs[merge->run_count] = used;
			} else if (!best || compare_spans(&run->list.items[run->at],
						    &best->list.items[best->at]) < 0) {
				best = run;
			}
		}
		if (merge->next == merge->block_count ||
			(best && block_start(merge->slices, merge->blocks[merge->next]) >
					 best->list.items[best->at].start_ns))
			break;
		status = load_run(merge);
		if (status != STATUS_OK)
			return status;
	}
	*ret_span = best ? &best->list.items[best->at++] : NULL;
	return STATUS_OK;
}

static void heap_settle(struct merge *merge)
{
	uint32_t *heap = merge->heap;

	for (size_t at = 0, child; (child = 2 * at + 1) < merge->heap_count; at = child) {
		uint32_t moved = heap[at];

		if (child + 1 < merge->heap_count &&
			merge->lanes[heap[child + 1]].free_ns < merge->lanes[heap[child]].free_ns)
			child++;
		if (merge->lanes[heap[child]].free_ns >= merge->lanes[moved].free_ns)
			return;
		heap[at] = heap[child];
		heap[child] = moved;
	}
}

static int end_until(struct merge *merge, uint32_t number, uint64_t time_ns)
{
	const struct slices *slices = merge->slices;
	struct lane *lane = &merge->lanes[number];
	int status = STATUS_OK;

	while (lane->count && lane->ends[lane->count - 1] <= time_ns && status == STATUS_OK)
		status = slices->calls->end(slices->context, slices->track,
			merge->first_lane + number, lane->ends[--lane->count]);
	return status;
}

static bool fits(const struct merge *merge, const struct lane *lane, uint64_t start, uint64_t end)
{
	size_t open = lane->count;

	if (lane->free_ns <= start)
		return true;
	while (open && lane->ends[open - 1] <= start)
		open--;
	return merge->stacked && open && lane->ends[open - 1] >= end;
}

static int new_lane(struct merge *merge, uint32_t *ret_lane)
{
	if (array_grow((void **)&merge->lanes, &merge->lane_capacity, merge->lane_count + 1,
		    sizeof *merge->lanes) != STATUS_OK)
		return STATUS_NOMEM;
	memset(&merge->lanes[merge->lane_count], 0, sizeof *merge->lanes);
	*ret_lane = (uint32_t)merge->lane_count++;
	if (*ret_lane < LANES_TRIED)
		return STATUS_OK;
	if (array_grow((void **)&merge->heap, &merge->heap_capacity, merge->heap_count + 1,
		    sizeof *merge->heap) != STATUS_OK)
		return STATUS_NOMEM;
	/* A lane that was never used is free before all others: it belongs on top. */
	for (size_t at = merge->heap_count; at > 0; at = (at - 1) / 2)
		merge->heap[at] = merge->heap[(at - 1) / 2];
	merge->heap[0] = *ret_lane;
	merge->heap_count++;
	return STATUS_OK;
}

static int choose_lane(struct merge *merge, uint64_t start, uint64_t end, uint32_t *ret_lane)
{
	for (uint32_t i = 0; i < merge->lane_count && i < LANES_TRIED; i++)
		if (fits(merge, &merge->lanes[i], start, end)) {
			*ret_lane = i;
			return STATUS_OK;
		}
	if (merge->heap_count && merge->lanes[merge->heap[0]].free_ns <= start) {
		*ret_lane = merge->heap[0];
		return STATUS_OK;
	}
	return new_lane(merge, ret_lane);
}

static int put_span(struct merge *merge, const struct export_span *span)
{
	const struct slices *slices = merge->slices;
	uint64_t end = span->start_ns + span->duration_ns;
	struct export_slice slice = { .span = *span, .quiet_ns = span->start_ns };
	struct lane *lane;
	uint32_t number = 0;
	int status = choose_lane(merge, span->start_ns, end, &number);

	if (status == STATUS_OK)
		status = end_until(merge, number, span->start_ns);
	if (status != STATUS_OK)
		return status;
	lane = &merge->lanes[number];
	if (array_grow((void **)&lane->ends, &lane->capacity, lane->count + 1,
		    sizeof *lane->ends) != STATUS_OK)
		return STATUS_NOMEM;
	lane->ends[lane->count++] = end;
	if (end > lane->free_ns)
		lane->free_ns = end;
	if (number >= LANES_TRIED)
		heap_settle(merge);
	slice.lane = merge->first_lane + number;
	return slices->calls->begin(slices->context, &slice);
}

static int merge_all(struct merge *merge)
{
	const struct slices *slices = merge->slices;
	const struct export_span *span;
	int status;

	for (size_t i = 0; i < slices->count; i++)
		if (slices->kinds[i] == SPANS_EXPLICIT && !slices->empty[i])
			merge->blocks[merge->block_count++] = i;
	qsort_r(merge->blocks, merge->block_count, sizeof *merge->blocks, compare_blocks,
		merge->slices);
	do {
		status = next_span(merge, &span);
		if (status == STATUS_OK && span)
			status = put_span(merge, span);
	} while (status == STATUS_OK && span);
	for (uint32_t i = 0; i < merge->lane_count && status == STATUS_OK; i++)
		status = end_until(merge, i, UINT64_MAX);
	return status;
}

int slices_explicit(struct slices *slices, uint32_t first_lane)
{
	struct merge merge = { .slices = slices,
		.first_lane = first_lane,
		.stacked = slices->walk->trace->tracks[slices->track].kind != TRACK_ASYNC };
	int status = STATUS_NOMEM;

	merge.blocks = calloc(slices->count + 1, sizeof *merge.blocks);
	if (merge.blocks)
		status = merge_all(&merge);
	for (size_t i = 0; i < merge.run_made; i++)
		slice_list_release(&merge.runs[i].list);
	for (size_t i = 0; i < merge.lane_count; i++)
		free(merge.lanes[i].ends);
	free(merge.runs);
	free(merge.blocks);
	free(merge.lanes);
	free(merge.heap);
	return status;
}
