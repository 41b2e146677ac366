// SPDX-License-Identifier: MIT OR Apache-2.0
/* Stacks with their weights, from samples or from the call tree. */
#include "export/export_stacks.h"

#include "analyze/analyze.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct frame_list {
	uint32_t *items;
	size_t count, capacity;
};

const char *export_frame(const struct trace *trace, uint32_t frame)
{
	return frame == EXPORT_OTHER ? "(other)" : export_string(trace, frame);
}

bool export_stacks_sampled(const struct trace *trace, const struct export_options *options)
{
	if (options->table == TABLE_SAMPLES)
		return true;
	return options->table != TABLE_SPANS && trace->row_counts[TABLE_SAMPLES] > 0;
}

/* The path to a node, outermost first. */
static int path_of(const struct trace *trace, const struct analyze_tree *tree, size_t node,
	struct frame_list *frames)
{
	size_t depth = 0;

	for (size_t at = node; at != 0; at = tree->nodes[at].parent)
		depth++;
	if (array_grow((void **)&frames->items, &frames->capacity, depth + 1,
		    sizeof *frames->items) != STATUS_OK)
		return STATUS_NOMEM;
	frames->count = depth;
	for (size_t at = node; at != 0; at = tree->nodes[at].parent) {
		uint32_t name = tree->nodes[at].name;

		frames->items[--depth] =
			name < trace->name_count ? trace->names[name].name_string : EXPORT_OTHER;
	}
	return STATUS_OK;
}

static int from_tree(const struct trace *trace, const struct export_options *options,
	int (*each)(void *context, const struct export_stack *stack), void *context,
	struct export_result *result, struct error *err)
{
	struct analyze_options wanted = { .window = options->window,
		.filter = options->filter,
		.progress = options->progress,
		.progress_context = options->progress_context };
	struct frame_list frames = { 0 };
	struct analyze_tree tree;
	int status = analyze_tree(trace, &wanted, &tree, err);

	if (status != STATUS_OK)
		return status;
	result->damaged_blocks = tree.damaged_blocks;
	for (size_t i = 1; i < tree.count && status == STATUS_OK; i++) {
		struct export_stack stack = { .hits = tree.nodes[i].count,
			.self_ns = tree.nodes[i].self_ns };

		status = path_of(trace, &tree, i, &frames);
		stack.frames = frames.items;
		stack.count = frames.count;
		result->rows++;
		if (status == STATUS_OK)
			status = each(context, &stack);
	}
	free(frames.items);
	analyze_tree_release(&tree);
	return status;
}

struct sample_counts {
	uint64_t *hits; /* by stack */
	size_t count;
};

static int count_sample(void *context, const uint64_t *row)
{
	struct sample_counts *counts = context;

	if (row[SAMPLES_STACK] < counts->count)
		counts->hits[row[SAMPLES_STACK]]++;
	return STATUS_OK;
}

static int hand_out(const struct trace *trace, const struct sample_counts *counts,
	int (*each)(void *context, const struct export_stack *stack), void *context)
{
	struct frame_list frames = { 0 };
	int status = STATUS_OK;

	for (size_t i = 0; i < counts->count && status == STATUS_OK; i++) {
		struct export_stack stack = { .hits = counts->hits[i] };
		const uint32_t *inner = trace_stack(trace, (uint32_t)i, &stack.count);

		if (!stack.hits || !inner || !stack.count)
			continue;
		status = array_grow((void **)&frames.items, &frames.capacity, stack.count,
			sizeof *frames.items);
		if (status != STATUS_OK)
			break;
		for (size_t f = 0; f < stack.count; f++)
			frames.items[f] = inner[stack.count - 1 - f];
		stack.frames = frames.items;
		status = each(context, &stack);
	}
	free(frames.items);
	return status;
}

static int from_samples(const struct trace *trace, const struct export_options *options,
	int (*each)(void *context, const struct export_stack *stack), void *context,
	struct export_result *result, struct error *err)
{
	struct sample_counts counts = { .count = trace->stack_count };
	struct export_walk walk;
	int status = export_walk_init(&walk, trace, options, err);

	if (status != STATUS_OK)
		return status;
	counts.hits = calloc(counts.count + 1, sizeof *counts.hits);
	if (counts.hits)
		status = export_walk_rows(&walk, TABLE_SAMPLES, count_sample, &counts, err);
	else
		status = STATUS_NOMEM;
	if (status == STATUS_OK)
		status = hand_out(trace, &counts, each, context);
	*result = walk.result;
	free(counts.hits);
	export_walk_release(&walk);
	return status;
}

int export_stacks(const struct trace *trace, const struct export_options *options,
	int (*each)(void *context, const struct export_stack *stack), void *context,
	struct export_result *ret_result, struct error *err)
{
	struct export_result result = { 0 };
	int status;

	if (options->table && options->table != TABLE_SPANS && options->table != TABLE_SAMPLES)
		status = error_set(err, STATUS_USAGE,
			"stacks are made of spans or samples, not of %s",
			block_table_name(options->table));
	else if (export_stacks_sampled(trace, options))
		status = from_samples(trace, options, each, context, &result, err);
	else
		status = from_tree(trace, options, each, context, &result, err);
	*ret_result = result;
	return status;
}
