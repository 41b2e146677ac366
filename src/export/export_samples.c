// SPDX-License-Identifier: MIT OR Apache-2.0
/* Stack samples by thread and time. */
#include "export/export_samples.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static int keep_sample(void *context, const uint64_t *row)
{
	struct export_samples *samples = context;

	if (array_grow((void **)&samples->items, &samples->capacity, samples->count + 1,
		    sizeof *samples->items) != STATUS_OK)
		return STATUS_NOMEM;
	samples->items[samples->count++] = (struct export_sample){ .time_ns = row[SAMPLES_TIME],
		.track = (uint32_t)row[SAMPLES_TRACK],
		.stack = (uint32_t)row[SAMPLES_STACK] };
	return STATUS_OK;
}

static int compare_samples(const void *a, const void *b)
{
	const struct export_sample *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

int export_samples_load(struct export_samples *samples, struct export_walk *walk, struct error *err)
{
	int status;

	memset(samples, 0, sizeof *samples);
	status = export_walk_rows(walk, TABLE_SAMPLES, keep_sample, samples, err);
	if (status == STATUS_OK && samples->count)
		qsort(samples->items, samples->count, sizeof *samples->items, compare_samples);
	if (status != STATUS_OK)
		export_samples_release(samples);
	return status;
}

void export_samples_release(struct export_samples *samples)
{
	free(samples->items);
	memset(samples, 0, sizeof *samples);
}

const struct export_sample *export_samples_of(
	const struct export_samples *samples, uint32_t track, size_t *ret_count)
{
	size_t low = 0, high = samples->count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (samples->items[middle].track < track)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < samples->count && samples->items[end].track == track;)
		end++;
	*ret_count = end - low;
	return end > low ? &samples->items[low] : NULL;
}
