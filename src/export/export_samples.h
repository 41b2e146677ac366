/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The stack samples of a trace by thread and time, for formats with a table of them per thread.
 * They are held in memory, 16 bytes each. */
#pragma once

#include "export/export_walk.h"

struct export_sample {
	uint64_t time_ns;
	uint32_t track, stack;
};

struct export_samples {
	struct export_sample *items;
	size_t count, capacity;
};

int export_samples_load(
	struct export_samples *samples, struct export_walk *walk, struct error *err) MUST_USE;
void export_samples_release(struct export_samples *samples);
/* Those of one track; NULL when there are none. */
const struct export_sample *export_samples_of(
	const struct export_samples *samples, uint32_t track, size_t *ret_count);
