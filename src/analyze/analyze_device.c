// SPDX-License-Identifier: MIT OR Apache-2.0
/* How long any device was busy: the union of the spans of all device tracks.
 *
 * Blocks are read by the time of their first span. Once the next block begins at t, no span still
 * to come starts before t (the index says so), so all that wait and start before t can be sorted
 * and joined. What waits is bounded by the blocks that overlap, one per track or so. */
#include "analyze/analyze_internal.h"
#include "base/array.h"

#include <stdlib.h>

struct interval {
	uint64_t start_ns, end_ns;
};

struct device_sweep {
	struct interval *items;
	size_t count, capacity;
	uint64_t covered_until, busy_ns;
};

struct device_block {
	uint64_t time_min_ns;
	size_t block;
};

static int compare_intervals(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct device_block *x = a, *y = b;

	if (x->time_min_ns != y->time_min_ns)
		return x->time_min_ns < y->time_min_ns ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

/* Counts the waiting spans that start before `until` and keeps the others. */
static void sweep(struct device_sweep *device, uint64_t until)
{
	size_t kept = 0;

	qsort(device->items, device->count, sizeof *device->items, compare_intervals);
	for (size_t i = 0; i < device->count; i++) {
		const struct interval *item = &device->items[i];
		uint64_t from = item->start_ns > device->covered_until ? item->start_ns
								       : device->covered_until;

		if (item->start_ns >= until) {
			device->items[kept++] = *item;
		} else if (item->end_ns > from) {
			device->busy_ns += item->end_ns - from;
			device->covered_until = item->end_ns;
		}
	}
	device->count = kept;
}

static int add_spans(struct device_sweep *device, const struct span_batch *spans,
	const struct window_ns *window, const uint8_t *flags)
{
	if (spans->layout == SPANS_INSTANT)
		return STATUS_OK;
	if (array_grow((void **)&device->items, &device->capacity, device->count + spans->count,
		    sizeof *device->items) != STATUS_OK)
		return STATUS_NOMEM;
	for (uint32_t i = 0; i < spans->count; i++) {
		uint64_t start = spans->start_ns[i], duration = spans->duration_ns[i];

		if ((flags[spans->name[i]] & (NAME_WANTED | NAME_NOTE)) == NAME_WANTED &&
			window_clip(window, &start, &duration))
			device->items[device->count++] =
				(struct interval){ .start_ns = start, .end_ns = start + duration };
	}
	return STATUS_OK;
}

/* Blocks of device tracks that touch the window. */
static struct device_block *device_blocks(
	const struct trace *trace, const struct window_ns *window, size_t *ret_count)
{
	struct device_block *blocks = malloc((trace->block_count + 1) * sizeof *blocks);
	size_t count = 0;

	for (size_t i = 0; blocks && i < trace->block_count; i++) {
		const struct trace_block *block = &trace->blocks[i];

		if (block->table == TABLE_SPANS &&
			trace->tracks[block->track].kind == TRACK_DEVICE &&
			block->time_max_ns >= window->from && block->time_min_ns < window->until)
			blocks[count++] = (struct device_block){ .time_min_ns = block->time_min_ns,
				.block = i };
	}
	if (blocks && count)
		qsort(blocks, count, sizeof *blocks, compare_blocks);
	*ret_count = count;
	return blocks;
}

int device_busy(const struct trace *trace, const struct window_ns *window, const uint8_t *flags,
	uint64_t *ret_ns, struct error *err)
{
	struct device_sweep device = { 0 };
	struct trace_cursor cursor = { 0 };
	size_t count;
	struct device_block *blocks = device_blocks(trace, window, &count);
	int status = blocks ? trace_cursor_init(&cursor, trace) : STATUS_NOMEM;

	for (size_t i = 0; status == STATUS_OK && i < count; i++) {
		uint64_t next = i + 1 < count ? blocks[i + 1].time_min_ns : UINT64_MAX;

		status = trace_cursor_spans(&cursor, blocks[i].block, false, err);
		if (status == STATUS_OK)
			status = add_spans(&device, &cursor.spans, window, flags);
		else if (status != STATUS_NOMEM)
			status = STATUS_OK; /* the pass over all spans counts damaged blocks */
		if (device.count)
			sweep(&device, next);
	}
	if (status == STATUS_OK)
		*ret_ns = device.busy_ns;
	trace_cursor_release(&cursor);
	free(device.items);
	free(blocks);
	return status;
}
