// SPDX-License-Identifier: MIT OR Apache-2.0
/* Threads, pieces of work, names and windows: what several analyses need. */
#include "analyze/analyze_internal.h"

#include <ctype.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define THREADS_MAX 16u

struct window_ns window_of(const struct trace *trace, const struct analyze_options *options)
{
	struct window_ns window = { .from = options->window.from_ns,
		.until = options->window.until_ns ? options->window.until_ns : UINT64_MAX };

	window.all = window.from == 0 && window.until > trace->span_ns;
	return window;
}

uint64_t window_wall_ns(const struct trace *trace, const struct window_ns *window)
{
	uint64_t until = window->until < trace->span_ns ? window->until : trace->span_ns;

	return until > window->from ? until - window->from : 0;
}

static bool block_hits(const struct work *work, const struct trace_block *block)
{
	return trace_window_hits(&work->options->window, block->time_min_ns, block->time_max_ns);
}

/* Pieces of one block each, in the order of the file. */
static void pieces_by_block(struct work *work)
{
	for (size_t i = 0; i < work->block_count; i++)
		work->pieces[i] = (struct work_piece){ .first = i, .count = 1 };
	work->piece_count = work->block_count;
}

/* Sorts `order` by track, stably, and makes a piece of each track: a counting sort. */
static int pieces_by_track(struct work *work)
{
	const struct trace *trace = work->trace;
	size_t *starts = calloc((size_t)trace->track_count + 2, sizeof *starts);
	size_t *sorted = malloc((work->block_count + 1) * sizeof *sorted);
	int status = STATUS_NOMEM;

	if (!starts || !sorted)
		goto out;
	for (size_t i = 0; i < work->block_count; i++)
		starts[trace->blocks[work->order[i]].track + 1]++;
	for (uint32_t track = 0; track < trace->track_count; track++) {
		if (starts[track + 1])
			work->pieces[work->piece_count++] =
				(struct work_piece){ .first = starts[track],
					.count = starts[track + 1] };
		starts[track + 1] += starts[track];
	}
	for (size_t i = 0; i < work->block_count; i++)
		sorted[starts[trace->blocks[work->order[i]].track]++] = work->order[i];
	memcpy(work->order, sorted, work->block_count * sizeof *sorted);
	status = STATUS_OK;
out:
	free(starts);
	free(sorted);
	return status;
}

int work_init(struct work *work, const struct trace *trace, const struct analyze_options *options,
	enum block_table table, bool by_track)
{
	int status = STATUS_OK;

	memset(work, 0, sizeof *work);
	work->trace = trace;
	work->options = options;
	work->order = calloc(trace->block_count + 1, sizeof *work->order);
	work->pieces = malloc((trace->block_count + 1) * sizeof *work->pieces);
	if (!work->order || !work->pieces) {
		work_release(work);
		return STATUS_NOMEM;
	}
	for (size_t i = 0; i < trace->block_count; i++) {
		if (trace->blocks[i].table != table || !block_hits(work, &trace->blocks[i]))
			continue;
		work->order[work->block_count++] = i;
		work->row_count += trace->blocks[i].rows;
	}
	if (by_track)
		status = pieces_by_track(work);
	else
		pieces_by_block(work);
	if (status != STATUS_OK)
		work_release(work);
	return status;
}

void work_release(struct work *work)
{
	free(work->order);
	free(work->pieces);
	work->order = NULL;
	work->pieces = NULL;
}

unsigned work_threads(const struct work *work)
{
	unsigned threads = work->options->threads;
	cpu_set_t cores;

	if (threads == 0 && sched_getaffinity(0, sizeof cores, &cores) == 0)
		threads = (unsigned)CPU_COUNT(&cores);
	if (threads == 0)
		threads = 1;
	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	return threads > work->piece_count ? (work->piece_count ? (unsigned)work->piece_count : 1)
					   : threads;
}

const struct work_piece *work_take(struct work *work)
{
	size_t piece;

	if (atomic_load(&work->status) != STATUS_OK)
		return NULL;
	piece = atomic_fetch_add(&work->next, 1);
	return piece < work->piece_count ? &work->pieces[piece] : NULL;
}

void work_done(struct work *work, uint64_t rows)
{
	uint64_t done = atomic_fetch_add(&work->rows_done, rows) + rows;

	if (work->options->progress)
		work->options->progress(work->options->progress_context, done, work->row_count);
}

void work_fail(struct work *work, int status)
{
	int fine = STATUS_OK;

	atomic_compare_exchange_strong(&work->status, &fine, status);
}

struct work_start {
	void (*run)(void *worker);
	void *worker;
	pthread_t thread;
	bool started;
};

static void *work_thread(void *context)
{
	struct work_start *start = context;

	start->run(start->worker);
	return NULL;
}

void work_run(void (*run)(void *worker), void **workers, unsigned count)
{
	struct work_start starts[THREADS_MAX];

	/* A thread that cannot be started leaves its share to the others: they take pieces until
	 * there are none. */
	for (unsigned i = 1; i < count; i++) {
		starts[i] = (struct work_start){ .run = run, .worker = workers[i] };
		starts[i].started =
			pthread_create(&starts[i].thread, NULL, work_thread, &starts[i]) == 0;
	}
	run(workers[0]);
	for (unsigned i = 1; i < count; i++)
		if (starts[i].started)
			pthread_join(starts[i].thread, NULL);
}

/* Whether `text` contains `part`, letters of either case. */
static bool contains(const char *text, const char *part)
{
	for (;; text++) {
		size_t i = 0;

		while (part[i] &&
			tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
			i++;
		if (!part[i])
			return true;
		if (!*text)
			return false;
	}
}

/* What other profilers call a step: PyTorch's annotation on the CPU side, a run of ONNX Runtime. */
static bool foreign_step(const struct trace_name *name)
{
	if (strncmp(name->name, PROFILER_STEP, sizeof PROFILER_STEP - 1) == 0)
		return strncmp(name->category, "gpu", 3) != 0;
	return strcmp(name->name, "model_run") == 0 && strcmp(name->category, "Session") == 0;
}

uint8_t *name_flags_new(const struct trace *trace, const char *filter)
{
	static const struct {
		const char *category;
		uint8_t flag;
	} kinds[] = {
		{ "step", NAME_STEP },
		{ "phase", NAME_PHASE },
		{ "memcpy", NAME_MEMCPY },
		{ "gpu_memcpy", NAME_MEMCPY },
		{ "kernel", NAME_KERNEL },
		{ "op", NAME_OP },
		{ "cpu_op", NAME_OP },
		{ "Operator", NAME_OP },
		{ "gpu_user_annotation", NAME_NOTE },
	};
	uint8_t *flags = calloc((size_t)trace->name_count + 1, 1);

	for (uint32_t i = 0; flags && i < trace->name_count; i++) {
		const struct trace_name *name = &trace->names[i];

		if (!filter || contains(name->name, filter))
			flags[i] |= NAME_WANTED;
		for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
			if (strcasecmp(name->category, kinds[k].category) == 0)
				flags[i] |= kinds[k].flag;
		if (foreign_step(name))
			flags[i] |= NAME_STEP;
	}
	return flags;
}
