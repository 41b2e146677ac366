// SPDX-License-Identifier: MIT OR Apache-2.0
/* Median and median absolute deviation over a window: a few outliers do not move them. */
#include "collect/step_watch.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

bool step_watch_add(struct step_watch *watch, uint64_t duration_ns)
{
	uint64_t sorted[STEP_WATCH_WINDOW], median, spread, limit;
	size_t kept = watch->count < STEP_WATCH_WINDOW ? (size_t)watch->count : STEP_WATCH_WINDOW;
	bool outlier = false;

	if (kept >= STEP_WATCH_LEAST) {
		memcpy(sorted, watch->durations, kept * sizeof *sorted);
		qsort(sorted, kept, sizeof *sorted, compare);
		median = sorted[kept / 2];
		for (size_t i = 0; i < kept; i++)
			sorted[i] = sorted[i] > median ? sorted[i] - median : median - sorted[i];
		qsort(sorted, kept, sizeof *sorted, compare);
		spread = sorted[kept / 2];
		limit = 8 * spread > median / 2 ? 8 * spread : median / 2;
		outlier = duration_ns > median + limit;
	}
	watch->durations[watch->count++ % STEP_WATCH_WINDOW] = duration_ns;
	return outlier;
}
