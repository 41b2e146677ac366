/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared by the files of analyze/: dealing out work to threads, what is known of names, windows,
 * and the parts of analyze_spans(). */
#pragma once

#include "analyze/analyze_stats.h"

#include <stdatomic.h>

/* Work: pieces that threads take one after the other. A piece is a run of `order`, which holds
 * block numbers. */
struct work_piece {
	size_t first, count;
};

struct work {
	const struct trace *trace;
	const struct analyze_options *options;
	size_t *order;
	size_t block_count;
	struct work_piece *pieces;
	size_t piece_count;
	uint64_t row_count;
	atomic_size_t next;
	_Atomic uint64_t rows_done;
	atomic_int status; /* the first failure; everybody stops */
};

/* Blocks of `table` that the window touches. `by_track`: a piece is all blocks of one track in the
 * order of the file, else it is one block. */
int work_init(struct work *work, const struct trace *trace, const struct analyze_options *options,
	enum block_table table, bool by_track) MUST_USE;
void work_release(struct work *work);
/* How many threads are worth while. */
unsigned work_threads(const struct work *work);
/* The next piece, or NULL when there is none or a thread failed. */
const struct work_piece *work_take(struct work *work);
void work_done(struct work *work, uint64_t rows);
void work_fail(struct work *work, int status);
/* Calls run(workers[i]) on `count` threads, the caller's among them, and waits for all. */
void work_run(void (*run)(void *worker), void **workers, unsigned count);

/* What a name is to the analyses. */
#define PROFILER_STEP "ProfilerStep#" /* and its number */

enum name_flags {
	NAME_WANTED = 1u << 0, /* passes the filter */
	NAME_STEP = 1u << 1,
	NAME_PHASE = 1u << 2,
	NAME_MEMCPY = 1u << 3,
	NAME_KERNEL = 1u << 4,
	NAME_OP = 1u << 5,
	NAME_NOTE = 1u << 6, /* an annotation on a device's row: no work of the device */
};
/* One byte per name, to be freed; NULL when out of memory. */
uint8_t *name_flags_new(const struct trace *trace, const char *filter);

/* The window with its end in plain numbers. */
struct window_ns {
	uint64_t from, until; /* until is not in it; UINT64_MAX: no end */
	bool all;             /* nothing of the trace is outside */
};
struct window_ns window_of(const struct trace *trace, const struct analyze_options *options);
uint64_t window_wall_ns(const struct trace *trace, const struct window_ns *window);
/* Whether a span touches the window; cuts it to the part inside. */
static inline bool window_clip(
	const struct window_ns *window, uint64_t *start_ns, uint64_t *duration_ns)
{
	uint64_t end = *start_ns + *duration_ns;

	if (end < window->from || *start_ns >= window->until)
		return false;
	end = end < window->until ? end : window->until;
	*start_ns = *start_ns > window->from ? *start_ns : window->from;
	*duration_ns = end > *start_ns ? end - *start_ns : 0;
	return true;
}

/* A step or phase as found in a block. */
struct step_span {
	uint32_t track, name, row;
	bool phase, numbered;
	uint64_t start_ns, duration_ns, self_ns;
	uint64_t number;
};
#define STEPS_MAX 1000000u

struct step_list {
	struct step_span *items;
	size_t count, capacity;
	bool cut;
};
/* Adds a span, or notes that there are too many. */
int step_list_add(struct step_list *list, const struct step_span *span) MUST_USE;
/* Fills steps, phases, step_stats and phase_groups of the result; reorders the list. */
int steps_finish(const struct trace *trace, struct step_list *list, const struct window_ns *window,
	struct analyze_spans *result) MUST_USE;

/* Time covered by spans of device tracks. Memory follows the blocks that overlap in time, not the
 * number of spans. */
int device_busy(const struct trace *trace, const struct window_ns *window, const uint8_t *flags,
	uint64_t *ret_ns, struct error *err) MUST_USE;
