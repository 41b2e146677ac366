// SPDX-License-Identifier: MIT OR Apache-2.0
/* The reading loop. */
#include "export/export_walk.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Ties are broken by position, so that qsort keeps the blocks of a track in order. */
static int compare_blocks(const void *a, const void *b, void *context)
{
	const struct trace_block *blocks = context;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (blocks[x].track != blocks[y].track)
		return blocks[x].track < blocks[y].track ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int order_blocks(struct export_walk *walk)
{
	const struct trace *trace = walk->trace;

	walk->order = malloc((trace->block_count + 1) * sizeof *walk->order);
	if (!walk->order)
		return STATUS_NOMEM;
	for (size_t i = 0; i < trace->block_count; i++) {
		const struct trace_block *block = &trace->blocks[i];

		walk->total += block->rows;
		if (block->table == TABLE_SPANS && trace_window_hits(&walk->options->window,
							   block->time_min_ns, block->time_max_ns))
			walk->order[walk->order_count++] = i;
	}
	qsort_r(walk->order, walk->order_count, sizeof *walk->order, compare_blocks, trace->blocks);
	return STATUS_OK;
}

static int match_names(struct export_walk *walk)
{
	const struct trace *trace = walk->trace;

	if (!walk->options->filter)
		return STATUS_OK;
	walk->name_hits = calloc((size_t)trace->name_count + 1, sizeof *walk->name_hits);
	if (!walk->name_hits)
		return STATUS_NOMEM;
	for (uint32_t i = 0; i < trace->name_count; i++)
		walk->name_hits[i] =
			strcasestr(trace->names[i].name, walk->options->filter) != NULL;
	return STATUS_OK;
}

int export_walk_init(struct export_walk *walk, const struct trace *trace,
	const struct export_options *options, struct error *err)
{
	memset(walk, 0, sizeof *walk);
	walk->trace = trace;
	walk->options = options;
	if (trace_cursor_init(&walk->cursor, trace) != STATUS_OK ||
		match_names(walk) != STATUS_OK || order_blocks(walk) != STATUS_OK) {
		export_walk_release(walk);
		return error_set(err, STATUS_NOMEM, "out of memory");
	}
	return STATUS_OK;
}

void export_walk_release(struct export_walk *walk)
{
	trace_cursor_release(&walk->cursor);
	free(walk->name_hits);
	free(walk->order);
	free(walk->args);
	free(walk->arg_starts);
	memset(walk, 0, sizeof *walk);
}

static void advance(struct export_walk *walk, uint64_t rows)
{
	walk->done += rows;
	if (walk->options->progress)
		walk->options->progress(walk->options->progress_context, walk->done, walk->total);
}

/* Arguments come grouped by key; here they are put together by row, a counting sort. */
static int gather_args(struct export_walk *walk)
{
	const struct span_batch *spans = &walk->cursor.spans;
	size_t *starts;

	if (array_grow((void **)&walk->arg_starts, &walk->start_capacity, (size_t)spans->count + 2,
		    sizeof *walk->arg_starts) ||
		array_grow((void **)&walk->args, &walk->arg_capacity, spans->arg_count + 1,
			sizeof *walk->args))
		return STATUS_NOMEM;
	starts = walk->arg_starts;
	memset(starts, 0, ((size_t)spans->count + 2) * sizeof *starts);
	for (size_t i = 0; i < spans->arg_count; i++)
		starts[spans->args[i].row + 2]++;
	for (size_t i = 2; i < (size_t)spans->count + 2; i++)
		starts[i] += starts[i - 1];
	/* While they are placed, starts[row + 1] is where the next one of the row goes. */
	for (size_t i = 0; i < spans->arg_count; i++)
		walk->args[starts[spans->args[i].row + 1]++] = spans->args[i];
	return STATUS_OK;
}

static bool span_wanted(const struct export_walk *walk, uint32_t row)
{
	const struct span_batch *spans = &walk->cursor.spans;
	const struct trace_window *window = &walk->options->window;
	uint64_t start = spans->start_ns[row], end = start + spans->duration_ns[row];

	if (!trace_window_hits(window, start, end))
		return false;
	return !walk->name_hits || walk->name_hits[spans->name[row]];
}

static int visit_block(struct export_walk *walk, size_t block, bool backwards,
	int (*each)(void *context, const struct export_span *span), void *context,
	struct error *err)
{
	const struct span_batch *spans = &walk->cursor.spans;
	int status = STATUS_OK;

	if (gather_args(walk) != STATUS_OK)
		return error_set(err, STATUS_NOMEM, "out of memory for arguments");
	for (uint32_t i = 0; i < spans->count && status == STATUS_OK; i++) {
		uint32_t row = backwards ? spans->count - 1 - i : i;
		struct export_span span = { .track = walk->trace->blocks[block].track,
			.name = spans->name[row],
			.depth = spans->depth[row],
			.layout = spans->layout,
			.start_ns = spans->start_ns[row],
			.duration_ns = spans->duration_ns[row],
			.self_ns = spans->self_ns[row],
			.args = walk->args + walk->arg_starts[row],
			.arg_count = walk->arg_starts[row + 1] - walk->arg_starts[row] };

		if (!span_wanted(walk, row))
			continue;
		walk->result.rows++;
		status = each(context, &span);
	}
	return status;
}

int export_walk_spans(struct export_walk *walk, bool parents_first,
	int (*each)(void *context, const struct export_span *span), void *context,
	struct error *err)
{
	const struct trace *trace = walk->trace;

	for (size_t i = 0; i < walk->order_count; i++) {
		size_t block = walk->order[parents_first ? walk->order_count - 1 - i : i];
		int status = trace_cursor_spans(&walk->cursor, block, true, NULL);

		if (status == STATUS_NOMEM)
			return error_set(err, status, "out of memory for a block");
		if (status == STATUS_OK) {
			status = visit_block(walk, block, parents_first, each, context, err);
			if (status < 0)
				return status;
		} else {
			walk->result.damaged_blocks++;
		}
		advance(walk, trace->blocks[block].rows);
	}
	return STATUS_OK;
}

static bool row_wanted(const struct export_walk *walk, enum block_table table, const uint64_t *row)
{
	const struct trace_window *window = &walk->options->window;
	uint64_t time = row[table_schema(table)->time_column];

	if (time < window->from_ns || (window->until_ns && time >= window->until_ns))
		return false;
	return table != TABLE_MARKS || !walk->name_hits || walk->name_hits[row[MARKS_NAME]];
}

int export_walk_rows(struct export_walk *walk, enum block_table table,
	int (*each)(void *context, const uint64_t *row), void *context, struct error *err)
{
	const struct trace *trace = walk->trace;
	const struct table_schema *schema = table_schema(table);

	for (size_t b = 0; b < trace->block_count; b++) {
		const struct trace_block *block = &trace->blocks[b];
		const struct table_rows *rows = &walk->cursor.rows;
		int status;

		if (block->table != table || !trace_window_hits(&walk->options->window,
						     block->time_min_ns, block->time_max_ns))
			continue;
		status = trace_cursor_rows(&walk->cursor, b, NULL);
		if (status == STATUS_NOMEM)
			return error_set(err, status, "out of memory for a block");
		walk->result.damaged_blocks += status != STATUS_OK;
		for (size_t i = 0; status == STATUS_OK && i < rows->count; i++) {
			uint64_t row[TABLE_COLUMNS_MAX] = { 0 };

			for (unsigned c = 0; c < schema->column_count; c++)
				row[c] = rows->cells[c][i];
			if (!row_wanted(walk, table, row))
				continue;
			walk->result.rows++;
			status = each(context, row);
			if (status < 0)
				return status;
		}
		advance(walk, block->rows);
	}
	return STATUS_OK;
}
