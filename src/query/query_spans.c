// SPDX-License-Identifier: MIT OR Apache-2.0
/* The table of spans: read block by block, in the order of the file, or of tracks, or of names. */
#include "query/query_spans.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static const struct query_column spans_columns[] = {
	[SPANS_ID] = { "id", "INTEGER", ROLE_ID, SPANS_ID, false },
	[SPANS_TRACK] = { "track", "INTEGER", ROLE_TRACK, SPANS_TRACK, false },
	[SPANS_PROCESS] = { "process", "TEXT", ROLE_PROCESS, SPANS_PROCESS, false },
	[SPANS_THREAD] = { "thread", "TEXT", ROLE_THREAD, SPANS_THREAD, false },
	[SPANS_NAME] = { "name", "TEXT", ROLE_NAME, SPANS_NAME, false },
	[SPANS_CATEGORY] = { "category", "TEXT", ROLE_CATEGORY, SPANS_CATEGORY, false },
	[SPANS_START] = { "start_ns", "INTEGER", ROLE_START, SPANS_START, false },
	[SPANS_END] = { "end_ns", "INTEGER", ROLE_END, SPANS_END, false },
	[SPANS_DURATION] = { "duration_ns", "INTEGER", ROLE_DURATION, SPANS_DURATION, false },
	[SPANS_SELF] = { "self_ns", "INTEGER", ROLE_SELF, SPANS_SELF, false },
	[SPANS_DEPTH] = { "depth", "INTEGER", ROLE_DEPTH, SPANS_DEPTH, false },
	[SPANS_PARENT] = { "parent", "INTEGER", ROLE_NONE, SPANS_PARENT, false },
	[SPANS_ARGS] = { "args", "TEXT", ROLE_NONE, SPANS_ARGS, true },
	{ 0 },
};

/* Columns that a pair of track and name decides. */
#define PAIR_COLUMNS                                                                   \
	(1 << SPANS_TRACK | 1 << SPANS_PROCESS | 1 << SPANS_THREAD | 1 << SPANS_NAME | \
		1 << SPANS_CATEGORY)

/* Adds the order to the plan, if the pair of track and name decides it. */
static bool plan_order(struct query_plan *plan, const sqlite3_index_info *info)
{
	size_t length = plan->length;

	if (info->nOrderBy == 0 || info->nOrderBy > 8)
		return false;
	plan->text[length++] = '/';
	for (int i = 0; i < info->nOrderBy; i++) {
		int column = info->aOrderBy[i].iColumn;

		if (column < 0 || !(PAIR_COLUMNS & 1 << column))
			return false;
		if (info->aOrderBy[i].desc)
			plan->text[length++] = '-';
		plan->text[length++] = (char)('a' + column);
	}
	plan->length = length;
	return true;
}

static int spans_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct query_vtab *vtab = (struct query_vtab *)base;
	int used = (int)(info->colUsed & SPANS_USED_MASK), distinct = sqlite3_vtab_distinct(info);
	struct query_plan plan;

	query_plan_conditions(&plan, vtab, TABLE_SPANS, info);
	info->idxNum = used;
	/* What needs its block at hand is not gathered. */
	if (!vtab->query->options.plain && !plan.by_id &&
		!(used & (1 << SPANS_ARGS | 1 << SPANS_PARENT)) && plan_order(&plan, info)) {
		info->orderByConsumed = 1;
		if (distinct >= 2 && !(used & ~PAIR_COLUMNS))
			info->idxNum |= SPANS_DISTINCT;
		plan.scanned *= 1.5;
	}
	return query_plan_finish(&plan, info);
}

static int spans_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
	struct query_vtab *vtab = (struct query_vtab *)base;
	struct spans_cursor *cursor = calloc(1, sizeof *cursor);

	if (!cursor || trace_cursor_init(&cursor->reader, vtab->query->trace) != STATUS_OK) {
		free(cursor);
		return SQLITE_NOMEM;
	}
	cursor->query = vtab->query;
	cursor->block = SIZE_MAX;
	cursor->eof = true;
	id_map_init(&cursor->groups.places);
	args_reader_init(&cursor->args);
	parent_rows_init(&cursor->parents);
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int spans_close(sqlite3_vtab_cursor *base)
{
	struct spans_cursor *cursor = (struct spans_cursor *)base;

	spans_group_release(cursor);
	query_filter_release(&cursor->filter);
	args_reader_release(&cursor->args);
	parent_rows_release(&cursor->parents);
	trace_cursor_release(&cursor->reader);
	free(cursor->blocks);
	free(cursor);
	return SQLITE_OK;
}

int spans_read(struct spans_cursor *cursor, size_t block)
{
	int code;

	if (cursor->block == block)
		return 1;
	if (cursor->query->block_marks[block] & BLOCK_INSTANTS)
		return 0;
	cursor->block = SIZE_MAX;
	code = query_read_spans(cursor->query, &cursor->reader, block, false);
	if (code <= 0)
		return code;
	if (cursor->query->block_marks[block] & BLOCK_INSTANTS)
		return 0;
	cursor->block = block;
	return 1;
}

bool spans_row_fits(const struct spans_cursor *cursor, uint32_t row)
{
	const struct query_filter *filter = &cursor->filter;
	const struct span_batch *spans = &cursor->reader.spans;
	uint64_t start = spans->start_ns[row], duration = spans->duration_ns[row];

	return query_filter_range(filter, ROLE_START, start) &&
	       query_filter_range(filter, ROLE_END, start + duration) &&
	       query_filter_range(filter, ROLE_DURATION, duration) &&
	       query_filter_range(filter, ROLE_SELF, spans->self_ns[row]) &&
	       query_filter_range(filter, ROLE_DEPTH, spans->depth[row]) &&
	       query_filter_name(filter, cursor->query, spans->name[row]);
}

static int64_t end_of(const struct span_batch *spans, uint32_t row)
{
	return query_clamp(spans->start_ns[row] + spans->duration_ns[row]);
}

/* The first row of a nested block that ends at `time` or later: they stand in the order of ends. */
static uint32_t first_end(const struct span_batch *spans, int64_t time)
{
	uint32_t low = 0, high = spans->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (end_of(spans, middle) < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void spans_bounds(const struct spans_cursor *cursor, uint32_t *ret_first, uint32_t *ret_stop)
{
	const struct query_filter *filter = &cursor->filter;
	const struct span_batch *spans = &cursor->reader.spans;
	uint32_t stop;

	*ret_first = 0;
	*ret_stop = spans->count;
	if (spans->layout != SPANS_NESTED)
		return;
	for (unsigned role = ROLE_START; role <= ROLE_END; role++) {
		uint32_t first;

		if (!(filter->ranges & 1u << role))
			continue;
		first = first_end(spans, filter->low[role]);
		*ret_first = first > *ret_first ? first : *ret_first;
	}
	/* Behind an outermost scope everything begins after its end. */
	if (filter->ranges & 1u << ROLE_START && filter->high[ROLE_START] < INT64_MAX) {
		stop = first_end(spans, filter->high[ROLE_START] + 1);
		while (stop < spans->count && spans->depth[stop] != 0)
			stop++;
		*ret_stop = stop < spans->count ? stop + 1 : stop;
	}
	if (filter->ranges & 1u << ROLE_END && filter->high[ROLE_END] < INT64_MAX) {
		stop = first_end(spans, filter->high[ROLE_END] + 1);
		*ret_stop = stop < *ret_stop ? stop : *ret_stop;
	}
}

/* Stands on the next row that fits, in this block or a later one. */
static int settle(struct spans_cursor *cursor)
{
	for (;;) {
		int code;

		for (; cursor->row < cursor->stop; cursor->row++)
			if (!cursor->filter_rows || spans_row_fits(cursor, cursor->row))
				return SQLITE_OK;
		if (cursor->at == cursor->block_count) {
			cursor->eof = true;
			return SQLITE_OK;
		}
		code = spans_read(cursor, cursor->blocks[cursor->at++]);
		if (code < 0)
			return -code;
		cursor->row = cursor->stop = 0;
		if (code)
			spans_bounds(cursor, &cursor->row, &cursor->stop);
	}
}

static int list_blocks(struct spans_cursor *cursor)
{
	const struct trace *trace = cursor->query->trace;

	cursor->block_count = 0;
	for (size_t i = 0; i < trace->block_count; i++) {
		const struct trace_block *block = &trace->blocks[i];

		if (block->table != TABLE_SPANS || !query_filter_block(&cursor->filter, block) ||
			!query_filter_track(&cursor->filter, cursor->query, block->track))
			continue;
		if (array_grow((void **)&cursor->blocks, &cursor->block_capacity,
			    cursor->block_count + 1, sizeof *cursor->blocks) != STATUS_OK)
			return SQLITE_NOMEM;
		cursor->blocks[cursor->block_count++] = i;
	}
	return SQLITE_OK;
}

/* One span by its number; the other conditions hold for it as well. */
static int find_span(struct spans_cursor *cursor)
{
	const struct trace *trace = cursor->query->trace;
	int64_t id = cursor->filter.low[ROLE_ID];
	size_t block;
	uint32_t row;
	int code;

	if (!span_id_split(id, &block, &row) || block >= trace->block_count ||
		trace->blocks[block].table != TABLE_SPANS ||
		!query_filter_track(&cursor->filter, cursor->query, trace->blocks[block].track))
		return SQLITE_OK;
	code = spans_read(cursor, block);
	if (code <= 0)
		return -code;
	if (row < cursor->reader.spans.count && spans_row_fits(cursor, row)) {
		cursor->row = row;
		cursor->stop = row + 1;
		cursor->eof = false;
	}
	return SQLITE_OK;
}

static bool order_needs_names(const char *order)
{
	return strchr(order, 'a' + SPANS_NAME) || strchr(order, 'a' + SPANS_CATEGORY);
}

static int spans_filter(
	sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
	struct spans_cursor *cursor = (struct spans_cursor *)base;
	struct query_vtab *vtab = (struct query_vtab *)base->pVtab;
	const unsigned in_row = ~(1u << ROLE_ID | 1u << ROLE_TRACK);
	int code = query_filter_set(&cursor->filter, vtab, text, argc, argv);

	cursor->eof = true;
	cursor->grouped = false;
	cursor->used = number & SPANS_USED_MASK;
	cursor->row = cursor->stop = 0;
	cursor->at = cursor->block_count = 0;
	cursor->filter_rows = (cursor->filter.ranges & in_row) || cursor->filter.by_name;
	if (code == SQLITE_OK && cursor->used & 1 << SPANS_PARENT) {
		cursor->block = SIZE_MAX;
		code = query_parents_need(cursor->query, &cursor->reader);
	}
	if (code != SQLITE_OK || cursor->filter.none)
		return code;
	if (cursor->filter.ranges & 1u << ROLE_ID)
		return find_span(cursor);
	code = list_blocks(cursor);
	if (code == SQLITE_OK && cursor->filter.order[0])
		code = spans_order_blocks(cursor);
	if (code != SQLITE_OK)
		return code;
	cursor->eof = false;
	if (order_needs_names(cursor->filter.order))
		return spans_group(cursor, number & SPANS_DISTINCT);
	return settle(cursor);
}

static int spans_next(sqlite3_vtab_cursor *base)
{
	struct spans_cursor *cursor = (struct spans_cursor *)base;

	if (cursor->grouped)
		return ++cursor->place < cursor->place_end ? SQLITE_OK : spans_group_next(cursor);
	if (++cursor->row < cursor->stop && !cursor->filter_rows)
		return SQLITE_OK;
	/* A span found by its number is the only one. */
	return settle(cursor);
}

static int spans_eof(sqlite3_vtab_cursor *base)
{
	return ((struct spans_cursor *)base)->eof;
}

/* Times of the row: from the block at hand, or from what was gathered. */
static void result_time(sqlite3_context *ctx, const struct spans_cursor *cursor, int column)
{
	const struct span_batch *spans = &cursor->reader.spans;
	const struct span_groups *groups = &cursor->groups;
	bool grouped = cursor->grouped;
	uint64_t row = grouped ? cursor->place : cursor->row, value;

	switch (column) {
	case SPANS_START:
		value = grouped ? groups->start[row] : spans->start_ns[row];
		break;
	case SPANS_END:
		value = grouped ? groups->start[row] + groups->duration[row]
				: spans->start_ns[row] + spans->duration_ns[row];
		break;
	case SPANS_DURATION:
		value = grouped ? groups->duration[row] : spans->duration_ns[row];
		break;
	case SPANS_SELF:
		value = grouped ? groups->self[row] : spans->self_ns[row];
		break;
	default:
		value = grouped ? groups->depth[row] : spans->depth[row];
	}
	sqlite3_result_int64(ctx, query_clamp(value));
}

static int64_t current_id(const struct spans_cursor *cursor)
{
	if (!cursor->grouped)
		return span_id(cursor->block, cursor->row);
	return cursor->groups.id ? cursor->groups.id[cursor->place] : -1;
}

static void result_parent(sqlite3_context *ctx, struct spans_cursor *cursor)
{
	int64_t parent;

	if (query_parent(cursor->query, &cursor->parents, cursor->block, &cursor->reader.spans,
		    cursor->row, &parent) != SQLITE_OK)
		sqlite3_result_error_nomem(ctx);
	else if (parent >= 0)
		sqlite3_result_int64(ctx, parent);
}

static int spans_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int column)
{
	struct spans_cursor *cursor = (struct spans_cursor *)base;
	struct query *query = cursor->query;
	const struct span_pair *pair = cursor->grouped ? &cursor->groups.pairs[cursor->pair] : NULL;
	uint32_t name = pair ? pair->name : cursor->reader.spans.name[cursor->row];
	uint32_t track = pair ? pair->track : query->trace->blocks[cursor->block].track;

	switch (column) {
	case SPANS_ID:
		sqlite3_result_int64(ctx, current_id(cursor));
		break;
	case SPANS_TRACK:
		sqlite3_result_int64(ctx, track);
		break;
	case SPANS_PROCESS:
		sqlite3_result_text(
			ctx, query_role_text(query, ROLE_PROCESS, track), -1, SQLITE_STATIC);
		break;
	case SPANS_THREAD:
		sqlite3_result_text(ctx, query->trace->tracks[track].name, -1, SQLITE_STATIC);
		break;
	case SPANS_NAME:
		query_result_name(ctx, query, name);
		break;
	case SPANS_CATEGORY:
		query_result_category(ctx, query, name);
		break;
	case SPANS_PARENT:
		result_parent(ctx, cursor);
		break;
	case SPANS_ARGS:
		query_result_args(ctx, query, &cursor->args, current_id(cursor));
		break;
	default:
		result_time(ctx, cursor, column);
	}
	return SQLITE_OK;
}

const sqlite3_module query_spans_module = {
	.xConnect = query_connect,
	.xBestIndex = spans_best_index,
	.xDisconnect = query_disconnect,
	.xOpen = spans_open,
	.xClose = spans_close,
	.xFilter = spans_filter,
	.xNext = spans_next,
	.xEof = spans_eof,
	.xColumn = spans_column,
};

const struct query_table query_table_spans = {
	.name = "spans",
	.summary = "everything with a begin and an end: scopes, kernels, copies, requests",
	.columns = spans_columns,
	.module = &query_spans_module,
	.key = "id",
};
