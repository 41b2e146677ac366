// SPDX-License-Identifier: MIT OR Apache-2.0
/* One pass over all spans: statistics by name, track and category, steps and phases.
 *
 * Without a window each block stands alone, so threads take blocks. With one, a span that crosses
 * the edge keeps the self time that lies inside, which needs its children: threads then take
 * tracks and go through their blocks in order. */
#include "analyze/analyze_internal.h"
#include "base/id_map.h"

#include <stdlib.h>
#include <string.h>

struct spans_worker {
	struct work *work;
	const uint8_t *flags;
	const struct window_ns *window;
	struct trace_cursor cursor;
	struct stats_set names, tracks;
	struct step_list steps;
	uint64_t *child_sums; /* per depth, of the track being read; only with a window */
	uint32_t child_depth; /* entries from here on are zero */
	uint64_t memcpy_bytes, damaged;
	uint32_t step_key, bytes_key;
};

/* All rows of a block, nothing clipped, nothing left out: the hot loop. The track's sums stay in
 * registers. */
static int add_all(struct spans_worker *worker, const struct span_batch *spans, uint32_t track)
{
	struct stats_acc *of_track = stats_set_at(&worker->tracks, track), sum;
	uint32_t count = spans->count;

	if (!of_track)
		return STATUS_NOMEM;
	if (of_track->count + count > STATS_EXACT_MAX && stats_acc_widen(of_track) != STATUS_OK)
		return STATUS_NOMEM;
	sum = *of_track;
	for (uint32_t i = 0; i < count; i++) {
		struct stats_acc *acc = stats_set_at(&worker->names, spans->name[i]);
		uint64_t duration = spans->duration_ns[i], self = spans->self_ns[i];

		if (!acc || stats_acc_add(acc, duration, self) != STATUS_OK ||
			stats_acc_add(&sum, duration, self) != STATUS_OK) {
			*of_track = sum;
			return STATUS_NOMEM;
		}
	}
	*of_track = sum;
	return STATUS_OK;
}

/* The part of a row inside the window and its self time there. */
static bool clip_row(struct spans_worker *worker, const struct span_batch *spans, uint32_t row,
	struct step_span *ret_span)
{
	uint32_t depth = spans->depth[row];
	uint64_t *sums = worker->child_sums, children;
	bool hit;

	ret_span->start_ns = spans->start_ns[row];
	ret_span->duration_ns = spans->duration_ns[row];
	ret_span->self_ns = spans->self_ns[row];
	hit = window_clip(worker->window, &ret_span->start_ns, &ret_span->duration_ns);
	if (!hit)
		ret_span->duration_ns = 0;
	if (spans->layout != SPANS_NESTED) {
		ret_span->self_ns = ret_span->duration_ns;
		return hit;
	}
	children = sums[depth + 1];
	sums[depth + 1] = 0;
	sums[depth] += ret_span->duration_ns;
	worker->child_depth = depth + 2 > worker->child_depth ? depth + 2 : worker->child_depth;
	if (ret_span->duration_ns != spans->duration_ns[row])
		ret_span->self_ns =
			ret_span->duration_ns > children ? ret_span->duration_ns - children : 0;
	return hit;
}

/* The rows of a block, as window and filter will have them. */
static int add_some(struct spans_worker *worker, const struct span_batch *spans, uint32_t track)
{
	struct stats_acc *of_track = stats_set_at(&worker->tracks, track);

	if (!of_track)
		return STATUS_NOMEM;
	for (uint32_t i = 0; i < spans->count; i++) {
		struct step_span span;
		struct stats_acc *acc;

		if (worker->window->all) {
			span.duration_ns = spans->duration_ns[i];
			span.self_ns = spans->self_ns[i];
		} else if (!clip_row(worker, spans, i, &span)) {
			continue;
		}
		if (!(worker->flags[spans->name[i]] & NAME_WANTED))
			continue;
		acc = stats_set_at(&worker->names, spans->name[i]);
		if (!acc || stats_acc_add(acc, span.duration_ns, span.self_ns) != STATUS_OK ||
			stats_acc_add(of_track, span.duration_ns, span.self_ns) != STATUS_OK)
			return STATUS_NOMEM;
	}
	return STATUS_OK;
}

/* PyTorch's steps carry their number in the name. */
static void number_by_name(const char *name, struct step_span *span)
{
	if (strncmp(name, PROFILER_STEP, sizeof PROFILER_STEP - 1) != 0)
		return;
	span->number = strtoull(name + sizeof PROFILER_STEP - 1, NULL, 10);
	span->numbered = true;
}

/* Collects steps and phases of the block; returns where in the list they start. Self times across
 * the window's edge are not needed here. */
static int collect_steps(
	struct spans_worker *worker, const struct span_batch *spans, uint32_t track)
{
	for (uint32_t i = 0; i < spans->count; i++) {
		uint8_t flags = worker->flags[spans->name[i]];
		struct step_span span = { .track = track,
			.name = spans->name[i],
			.row = i,
			.phase = (flags & NAME_PHASE) != 0,
			.start_ns = spans->start_ns[i],
			.duration_ns = spans->duration_ns[i],
			.self_ns = spans->self_ns[i] };

		if (!(flags & (NAME_STEP | NAME_PHASE)) ||
			!window_clip(worker->window, &span.start_ns, &span.duration_ns))
			continue;
		if (span.self_ns > span.duration_ns)
			span.self_ns = span.duration_ns;
		number_by_name(worker->work->trace->names[span.name].name, &span);
		if (step_list_add(&worker->steps, &span) != STATUS_OK)
			return STATUS_NOMEM;
	}
	return STATUS_OK;
}

/* Gives a step collected from this block its number: they are in the order of their rows. */
static void number_step(struct spans_worker *worker, size_t first, const struct span_arg *arg)
{
	size_t low = first, high = worker->steps.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (worker->steps.items[middle].row < arg->row)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < worker->steps.count && worker->steps.items[low].row == arg->row) {
		worker->steps.items[low].number = arg->value;
		worker->steps.items[low].numbered = true;
	}
}

static void use_args(struct spans_worker *worker, const struct span_batch *spans, size_t first_step)
{
	for (size_t i = 0; i < spans->arg_count; i++) {
		const struct span_arg *arg = &spans->args[i];
		uint64_t start = spans->start_ns[arg->row], duration = spans->duration_ns[arg->row];
		uint8_t flags = worker->flags[spans->name[arg->row]];

		if (arg->type != ARG_INTEGER)
			continue;
		if (arg->key == worker->step_key && (flags & NAME_STEP))
			number_step(worker, first_step, arg);
		/* The last of several with one key counts. */
		if (arg->key == worker->bytes_key && (flags & NAME_MEMCPY) &&
			(flags & NAME_WANTED) && window_clip(worker->window, &start, &duration) &&
			!(i + 1 < spans->arg_count && arg[1].row == arg->row &&
				arg[1].key == arg->key))
			worker->memcpy_bytes += arg->value;
	}
}

/* Blocks without steps, phases or copies, most of them, are told by their list of names. */
static int add_special(struct spans_worker *worker, size_t block, uint32_t track)
{
	const struct span_batch *spans = &worker->cursor.spans;
	size_t first = worker->steps.count;
	uint8_t flags = 0;
	int status = STATUS_OK;

	for (uint32_t i = 0; i < spans->dictionary_count; i++)
		flags |= worker->flags[spans->dictionary[i]];
	if (flags & (NAME_STEP | NAME_PHASE))
		status = collect_steps(worker, spans, track);
	if (status == STATUS_OK && (flags & (NAME_STEP | NAME_MEMCPY))) {
		status = trace_cursor_args(&worker->cursor, block, NULL);
		if (status == STATUS_OK)
			use_args(worker, spans, first);
		else if (status != STATUS_NOMEM) {
			worker->damaged++;
			status = STATUS_OK;
		}
	}
	return status;
}

static int read_block(struct spans_worker *worker, size_t block)
{
	const struct analyze_options *options = worker->work->options;
	const struct trace_block *known = &worker->work->trace->blocks[block];
	int status = trace_cursor_spans(&worker->cursor, block, false, NULL);

	if (status == STATUS_NOMEM)
		return status;
	if (status != STATUS_OK) {
		worker->damaged++;
		return STATUS_OK;
	}
	/* Points in time are not spans. */
	if (worker->cursor.spans.layout == SPANS_INSTANT)
		return STATUS_OK;
	if (worker->window->all && !options->filter)
		status = add_all(worker, &worker->cursor.spans, known->track);
	else
		status = add_some(worker, &worker->cursor.spans, known->track);
	return status == STATUS_OK ? add_special(worker, block, known->track) : status;
}

static void spans_run(void *context)
{
	struct spans_worker *worker = context;
	struct work *work = worker->work;
	const struct work_piece *piece;

	while ((piece = work_take(work))) {
		if (worker->child_sums)
			memset(worker->child_sums, 0,
				worker->child_depth * sizeof *worker->child_sums);
		worker->child_depth = 0;
		for (size_t i = 0; i < piece->count; i++) {
			size_t block = work->order[piece->first + i];
			int status = read_block(worker, block);

			if (status != STATUS_OK) {
				work_fail(work, status);
				return;
			}
			work_done(work, work->trace->blocks[block].rows);
		}
	}
}

static int worker_init(struct spans_worker *worker, struct work *work, const uint8_t *flags,
	const struct window_ns *window)
{
	const struct trace *trace = work->trace;

	memset(worker, 0, sizeof *worker);
	worker->work = work;
	worker->flags = flags;
	worker->window = window;
	worker->step_key = string_table_find(&trace->strings, "step", 4);
	worker->bytes_key = string_table_find(&trace->strings, "bytes", 5);
	if (!window->all) {
		worker->child_sums = calloc(SPANS_DEPTH_MAX + 2, sizeof *worker->child_sums);
		if (!worker->child_sums)
			return STATUS_NOMEM;
	}
	if (stats_set_init(&worker->names, trace->name_count) != STATUS_OK ||
		stats_set_init(&worker->tracks, trace->track_count) != STATUS_OK)
		return STATUS_NOMEM;
	return trace_cursor_init(&worker->cursor, trace);
}

static void worker_release(struct spans_worker *worker)
{
	trace_cursor_release(&worker->cursor);
	stats_set_release(&worker->names);
	stats_set_release(&worker->tracks);
	free(worker->steps.items);
	free(worker->child_sums);
}

static int worker_merge(struct spans_worker *into, struct spans_worker *from)
{
	int status = stats_set_merge(&into->names, &from->names);

	if (status == STATUS_OK)
		status = stats_set_merge(&into->tracks, &from->tracks);
	for (size_t i = 0; status == STATUS_OK && i < from->steps.count; i++)
		status = step_list_add(&into->steps, &from->steps.items[i]);
	into->steps.cut |= from->steps.cut;
	into->memcpy_bytes += from->memcpy_bytes;
	into->damaged += from->damaged;
	return status;
}

/* Categories are sums over their names, which merge: no pass of their own. */
static int group_categories(
	const struct trace *trace, const struct stats_set *names, struct analyze_groups *ret_groups)
{
	struct id_map numbers;
	struct stats_set set = { 0 };
	uint32_t *strings = malloc(((size_t)trace->name_count + 1) * sizeof *strings);
	uint32_t count = 0;
	int status = strings ? stats_set_init(&set, trace->name_count) : STATUS_NOMEM;

	id_map_init(&numbers);
	for (uint32_t i = 0; status == STATUS_OK && i < trace->name_count; i++) {
		uint32_t category = trace->names[i].category_string;
		struct stats_acc *acc;
		uint64_t number;

		if (!names->by_id[i])
			continue;
		if (!id_map_get(&numbers, category, &number)) {
			number = count;
			strings[count++] = category;
			status = id_map_put(&numbers, category, number);
		}
		acc = status == STATUS_OK ? stats_set_at(&set, (uint32_t)number) : NULL;
		status = acc ? stats_acc_merge(acc, names->by_id[i]) : STATUS_NOMEM;
	}
	if (status == STATUS_OK)
		status = stats_set_groups(&set, ret_groups);
	for (size_t i = 0; status == STATUS_OK && i < ret_groups->count; i++) {
		struct analyze_group *group = &ret_groups->items[i];

		group->id = strings[group->id];
		group->name = string_table_borrow(&trace->strings, group->id);
	}
	id_map_release(&numbers);
	stats_set_release(&set);
	free(strings);
	return status;
}

static void sum_names(const struct trace *trace, const uint8_t *flags, struct analyze_spans *result)
{
	for (size_t i = 0; i < result->names.count; i++) {
		struct analyze_group *group = &result->names.items[i];

		group->name = trace->names[group->id].name;
		group->category = trace->names[group->id].category;
		result->span_count += group->stats.count;
		if (flags[group->id] & NAME_KERNEL) {
			result->kernel_count += group->stats.count;
			result->kernel_time_ns += group->stats.total_ns;
		}
		if (flags[group->id] & NAME_OP)
			result->op_count += group->stats.count;
	}
}

/* Turns what the workers have gathered, merged into the first, into the result. */
static int spans_finish(const struct trace *trace, struct spans_worker *worker,
	const struct window_ns *window, struct analyze_spans *result, struct error *err)
{
	int status = group_categories(trace, &worker->names, &result->categories);

	if (status == STATUS_OK)
		status = stats_set_groups(&worker->names, &result->names);
	if (status == STATUS_OK)
		status = stats_set_groups(&worker->tracks, &result->tracks);
	if (status != STATUS_OK)
		return status;
	sum_names(trace, worker->flags, result);
	for (size_t i = 0; i < result->tracks.count; i++)
		result->tracks.items[i].name = trace->tracks[result->tracks.items[i].id].name;
	result->memcpy_bytes = worker->memcpy_bytes;
	result->damaged_blocks = worker->damaged;
	result->wall_ns = window_wall_ns(trace, window);
	status = steps_finish(trace, &worker->steps, window, result);
	if (status == STATUS_OK)
		status = device_busy(trace, window, worker->flags, &result->gpu_busy_ns, err);
	return status;
}

/* Runs the workers and leaves everything in workers[0]. */
static int spans_pass(struct work *work, struct spans_worker *workers, unsigned count,
	const uint8_t *flags, const struct window_ns *window)
{
	void **pointers = calloc(count, sizeof(void *));
	int status = pointers ? STATUS_OK : STATUS_NOMEM;

	for (unsigned i = 0; status == STATUS_OK && i < count; i++) {
		status = worker_init(&workers[i], work, flags, window);
		pointers[i] = &workers[i];
	}
	if (status == STATUS_OK) {
		work_run(spans_run, pointers, count);
		status = atomic_load(&work->status);
	}
	for (unsigned i = 1; status == STATUS_OK && i < count; i++) {
		status = worker_merge(&workers[0], &workers[i]);
		worker_release(&workers[i]);
		memset(&workers[i], 0, sizeof workers[i]);
	}
	free(pointers);
	return status;
}

int analyze_spans(const struct trace *trace, const struct analyze_options *options,
	struct analyze_spans *ret_result, struct error *err)
{
	struct window_ns window = window_of(trace, options);
	struct analyze_spans result = { 0 };
	struct spans_worker *workers = NULL;
	uint8_t *flags = name_flags_new(trace, options->filter);
	struct work work = { 0 };
	unsigned count = 0;
	int status =
		flags ? work_init(&work, trace, options, TABLE_SPANS, !window.all) : STATUS_NOMEM;

	if (status == STATUS_OK) {
		count = work_threads(&work);
		workers = calloc(count, sizeof *workers);
		status = workers ? spans_pass(&work, workers, count, flags, &window) : STATUS_NOMEM;
	}
	if (status == STATUS_OK)
		status = spans_finish(trace, &workers[0], &window, &result, err);
	for (unsigned i = 0; workers && i < count; i++)
		worker_release(&workers[i]);
	free(workers);
	free(flags);
	work_release(&work);
	if (status != STATUS_OK) {
		analyze_spans_release(&result);
		return error_set(err, status, "analysis of spans: %s", status_text(status));
	}
	*ret_result = result;
	return STATUS_OK;
}

void analyze_spans_release(struct analyze_spans *result)
{
	free(result->names.items);
	free(result->tracks.items);
	free(result->categories.items);
	free(result->phase_groups.items);
	free(result->steps);
	free(result->phases);
	memset(result, 0, sizeof *result);
}
