// SPDX-License-Identifier: MIT OR Apache-2.0
/* Counters: what each was at least, at most and on average. They come at a few hertz, so one thread
 * is enough. */
#include "analyze/analyze_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct counter_sum {
	uint64_t first_ns, last_ns;
	double sum;
};

static double counter_value(uint64_t kind, uint64_t bits)
{
	double value;

	if (kind == COUNTER_INTEGER)
		return (double)(int64_t)bits;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static void add_value(struct counter_sum *sum, struct analyze_counter *item, uint64_t time_ns,
	bool integer, double value)
{
	if (item->count == 0 || value < item->min)
		item->min = value;
	if (item->count == 0 || value > item->max)
		item->max = value;
	if (item->count == 0 || time_ns < sum->first_ns) {
		item->first = value;
		sum->first_ns = time_ns;
	}
	if (item->count == 0 || time_ns >= sum->last_ns) {
		item->last = value;
		sum->last_ns = time_ns;
	}
	item->integer &= integer;
	item->count++;
	sum->sum += value;
}

static void add_rows(const struct table_rows *rows, const struct window_ns *window,
	struct analyze_counter *items, struct counter_sum *sums)
{
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t track = rows->cells[COUNTERS_TRACK][i];
		uint64_t time = rows->cells[COUNTERS_TIME][i], kind = rows->cells[COUNTERS_KIND][i];
		double value = counter_value(kind, rows->cells[COUNTERS_VALUE][i]);

		/* A value that is no number says nothing, and would hide all others in the mean. */
		if (time < window->from || time >= window->until || isnan(value))
			continue;
		add_value(&sums[track], &items[track], time, kind == COUNTER_INTEGER, value);
	}
}

/* Leaves the counters that had values, with their texts. */
static size_t counters_finish(
	const struct trace *trace, struct analyze_counter *items, const struct counter_sum *sums)
{
	size_t count = 0;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct trace_track *track = &trace->tracks[i];
		const struct trace_track *process = &trace->tracks[track->process];

		if (items[i].count == 0)
			continue;
		items[i].track = i;
		items[i].name = track->name;
		items[i].unit = track->unit;
		items[i].process = process->kind == TRACK_PROCESS ? process->name : "machine";
		items[i].mean = sums[i].sum / (double)items[i].count;
		items[count++] = items[i];
	}
	return count;
}

int analyze_counters(const struct trace *trace, const struct analyze_options *options,
	struct analyze_counters *ret_result, struct error *err)
{
	struct window_ns window = window_of(trace, options);
	struct analyze_counter *items = calloc((size_t)trace->track_count + 1, sizeof *items);
	struct counter_sum *sums = calloc((size_t)trace->track_count + 1, sizeof *sums);
	struct trace_cursor cursor = { 0 };
	uint64_t damaged = 0;
	int status = items && sums ? trace_cursor_init(&cursor, trace) : STATUS_NOMEM;

	for (uint32_t i = 0; status == STATUS_OK && i < trace->track_count; i++)
		items[i].integer = true;
	for (size_t i = 0; status == STATUS_OK && i < trace->block_count; i++) {
		const struct trace_block *block = &trace->blocks[i];

		if (block->table != TABLE_COUNTERS ||
			!trace_window_hits(
				&options->window, block->time_min_ns, block->time_max_ns))
			continue;
		status = trace_cursor_rows(&cursor, i, NULL);
		if (status == STATUS_OK)
			add_rows(&cursor.rows, &window, items, sums);
		else if (status != STATUS_NOMEM) {
			damaged++;
			status = STATUS_OK;
		}
	}
	if (status == STATUS_OK)
		*ret_result = (struct analyze_counters){ .items = items,
			.count = counters_finish(trace, items, sums),
			.damaged_blocks = damaged };
	else
		free(items);
	free(sums);
	trace_cursor_release(&cursor);
	if (status != STATUS_OK)
		return error_set(err, status, "counters: %s", status_text(status));
	return STATUS_OK;
}

void analyze_counters_release(struct analyze_counters *result)
{
	free(result->items);
	memset(result, 0, sizeof *result);
}
