// SPDX-License-Identifier: MIT OR Apache-2.0
/* Tables that are in memory anyway: tracks, strings, names, frames, steps, metadata, ledger. A
 * table is a number of rows and a function that gives a cell; its first column may be the row's
 * number. */
#include "query/query_internal.h"

#include <stdlib.h>
#include <string.h>

struct list_detail {
	uint64_t (*count)(const struct query *query);
	void (*cell)(sqlite3_context *ctx, const struct query *query, uint64_t row, int column);
	bool analysis; /* needs a pass over the spans */
	/* Rows of a first column that is not the row's number but rises with it; NULL: it is. */
	void (*find)(const struct query *query, uint64_t key, uint64_t *ret_row, uint64_t *ret_end);
};

struct list_cursor {
	sqlite3_vtab_cursor base;
	struct query *query;
	const struct list_detail *detail;
	uint64_t row, end;
};

static void result_text(sqlite3_context *ctx, const char *text)
{
	sqlite3_result_text(ctx, text ? text : "", -1, SQLITE_STATIC);
}

static void result_u64(sqlite3_context *ctx, uint64_t value)
{
	sqlite3_result_int64(ctx, query_clamp(value));
}

static int list_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct query_vtab *vtab = (struct query_vtab *)base;
	const struct list_detail *detail = vtab->table->detail;
	struct query_plan plan;
	int code;

	query_plan_conditions(&plan, vtab, TABLE_STRINGS, info);
	plan.scanned = plan.matched = detail->analysis ? 1000 : (double)detail->count(vtab->query);
	code = query_plan_finish(&plan, info);
	if (plan.by_id && detail->find) {
		info->idxFlags = 0;
		info->estimatedRows = 10;
	}
	return code;
}

static int list_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
	struct query_vtab *vtab = (struct query_vtab *)base;
	struct list_cursor *cursor = calloc(1, sizeof *cursor);

	if (!cursor)
		return SQLITE_NOMEM;
	cursor->query = vtab->query;
	cursor->detail = vtab->table->detail;
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int list_close(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

static int list_filter(
	sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
	struct list_cursor *cursor = (struct list_cursor *)base;
	struct query_vtab *vtab = (struct query_vtab *)base->pVtab;
	struct query_filter filter = { 0 };
	int code = query_filter_set(&filter, vtab, text, argc, argv);
	int64_t key = filter.low[ROLE_ID];

	(void)number;
	if (code == SQLITE_OK && cursor->detail->analysis)
		code = query_analyze(cursor->query, base->pVtab);
	cursor->row = cursor->end = 0;
	if (code != SQLITE_OK || filter.none)
		goto out;
	cursor->end = cursor->detail->count(cursor->query);
	if (!(filter.ranges & 1u << ROLE_ID))
		goto out;
	if (key < 0) {
		cursor->end = 0;
	} else if (cursor->detail->find) {
		cursor->detail->find(cursor->query, (uint64_t)key, &cursor->row, &cursor->end);
	} else {
		cursor->row = (uint64_t)key;
		cursor->end = cursor->row < cursor->end ? cursor->row + 1 : cursor->row;
	}
out:
	query_filter_release(&filter);
	return code;
}

static int list_next(sqlite3_vtab_cursor *base)
{
	((struct list_cursor *)base)->row++;
	return SQLITE_OK;
}

static int list_eof(sqlite3_vtab_cursor *base)
{
	struct list_cursor *cursor = (struct list_cursor *)base;

	return cursor->row >= cursor->end;
}

static int list_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int column)
{
	struct list_cursor *cursor = (struct list_cursor *)base;

	cursor->detail->cell(ctx, cursor->query, cursor->row, column);
	return SQLITE_OK;
}

static int list_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid)
{
	*ret_rowid = (sqlite3_int64)((struct list_cursor *)base)->row;
	return SQLITE_OK;
}

const sqlite3_module query_list_module = {
	.xConnect = query_connect,
	.xBestIndex = list_best_index,
	.xDisconnect = query_disconnect,
	.xOpen = list_open,
	.xClose = list_close,
	.xFilter = list_filter,
	.xNext = list_next,
	.xEof = list_eof,
	.xColumn = list_column,
	.xRowid = list_rowid,
};

static uint64_t tracks_count(const struct query *query)
{
	return query->trace->track_count;
}

static void tracks_cell(sqlite3_context *ctx, const struct query *query, uint64_t row, int column)
{
	const struct trace_track *tracks = query->trace->tracks, *track = &tracks[row];

	switch (column) {
	case 0:
		result_u64(ctx, row);
		break;
	case 1:
		if (track->parent != row)
			result_u64(ctx, track->parent);
		break;
	case 2:
		result_text(ctx, track_kind_name(track->kind));
		break;
	case 3:
		result_text(ctx, tracks[track->process].name);
		break;
	case 4:
		result_text(ctx, track->name);
		break;
	case 5:
		result_u64(ctx, track->os_id);
		break;
	case 6:
		result_text(ctx, track->unit);
		break;
	case 7:
		result_u64(ctx, track->process);
		break;
	case 8:
		if (tracks[track->process].kind == TRACK_PROCESS)
			result_u64(ctx, tracks[track->process].os_id);
		break;
	default:
		result_u64(ctx, track->span_count);
	}
}

const struct query_table query_table_tracks = {
	.name = "tracks",
	.summary = "processes, threads, streams, counters: everything that has a line of its own",
	.columns = (const struct query_column[]){ { "id", "INTEGER", ROLE_ID, 0, false },
		{ "parent", "INTEGER", ROLE_NONE, 0, false },
		{ "kind", "TEXT", ROLE_NONE, 0, false }, { "process", "TEXT", ROLE_NONE, 0, false },
		{ "name", "TEXT", ROLE_NONE, 0, false },
		{ "os_id", "INTEGER", ROLE_NONE, 0, false },
		{ "unit", "TEXT", ROLE_NONE, 0, false },
		{ "process_track", "INTEGER", ROLE_NONE, 0, false },
		{ "pid", "INTEGER", ROLE_NONE, 0, false },
		{ "spans", "INTEGER", ROLE_NONE, 0, false }, { 0 } },
	.module = &query_list_module,
	.detail = &(const struct list_detail){ tracks_count, tracks_cell, false, NULL },
};

static uint64_t strings_count(const struct query *query)
{
	return query->trace->strings.count;
}

static void strings_cell(sqlite3_context *ctx, const struct query *query, uint64_t row, int column)
{
	if (column == 0)
		result_u64(ctx, row);
	else
		query_result_string(ctx, query, row);
}

const struct query_table query_table_strings = {
	.name = "strings",
	.summary = "every distinct text",
	.columns = (const struct query_column[]){ { "id", "INTEGER", ROLE_ID, 0, false },
		{ "text", "TEXT", ROLE_NONE, 0, false }, { 0 } },
	.module = &query_list_module,
	.detail = &(const struct list_detail){ strings_count, strings_cell, false, NULL },
};

/* Frames of all stacks, one after the other. */
static uint64_t frames_count(const struct query *query)
{
	const struct trace *trace = query->trace;

	return trace->stack_count ? trace->stack_ends[trace->stack_count - 1] : 0;
}

/* The stack that a frame belongs to: the first that ends behind it. */
static size_t stack_of(const struct trace *trace, uint64_t frame)
{
	size_t low = 0, high = trace->stack_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (trace->stack_ends[middle] <= frame)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void frames_cell(sqlite3_context *ctx, const struct query *query, uint64_t row, int column)
{
	const struct trace *trace = query->trace;
	size_t stack = stack_of(trace, row);

	if (column == 0)
		result_u64(ctx, stack);
	else if (column == 1)
		result_u64(ctx, row - (stack ? trace->stack_ends[stack - 1] : 0));
	else
		query_result_string(ctx, query, trace->frames[row]);
}

static void frames_find(
	const struct query *query, uint64_t key, uint64_t *ret_row, uint64_t *ret_end)
{
	const struct trace *trace = query->trace;

	*ret_row = *ret_end = 0;
	if (key >= trace->stack_count)
		return;
	*ret_row = key ? trace->stack_ends[key - 1] : 0;
	*ret_end = trace->stack_ends[key];
}

const struct query_table query_table_frames = {
	.name = "frames",
	.summary = "frames of call stacks, innermost first",
	.columns = (const struct query_column[]){ { "stack", "INTEGER", ROLE_ID, 0, false },
		{ "depth", "INTEGER", ROLE_NONE, 0, false },
		{ "name", "TEXT", ROLE_NONE, 0, false }, { 0 } },
	.module = &query_list_module,
	.detail = &(const struct list_detail){ frames_count, frames_cell, false, frames_find },
};

static uint64_t steps_count(const struct query *query)
{
	return query->analyzed ? query->analysis.step_count : 0;
}

static void steps_cell(sqlite3_context *ctx, const struct query *query, uint64_t row, int column)
{
	const struct analyze_step *step = &query->analysis.steps[row];
	uint64_t cells[] = { step->number, step->track, step->start_ns,
		step->start_ns + step->duration_ns, step->duration_ns };

	/* Without steps the whole trace is one, and on no track. */
	if (column != 1 || query->analysis.steps_recorded)
		result_u64(ctx, cells[column]);
}

const struct query_table query_table_steps = {
	.name = "steps",
	.summary = "training steps; without any, the whole trace is step 0",
	.columns = (const struct query_column[]){ { "number", "INTEGER", ROLE_NONE, 0, false },
		{ "track", "INTEGER", ROLE_NONE, 0, false },
		{ "start_ns", "INTEGER", ROLE_NONE, 0, false },
		{ "end_ns", "INTEGER", ROLE_NONE, 0, false },
		{ "duration_ns", "INTEGER", ROLE_NONE, 0, false }, { 0 } },
	.module = &query_list_module,
	.detail = &(const struct list_detail){ steps_count, steps_cell, true, NULL },
};

static uint64_t names_count(const struct query *query)
{
	return query->analyzed ? query->analysis.names.count : 0;
}

static void names_cell(sqlite3_context *ctx, const struct query *query, uint64_t row, int column)
{
	const struct analyze_group *group = &query->analysis.names.items[row];
	const struct analyze_stats *stats = &group->stats;
	uint64_t cells[] = { stats->count, stats->total_ns, stats->self_ns, stats->min_ns,
		stats->max_ns, stats->p50_ns, stats->p90_ns, stats->p99_ns };

	switch (column) {
	case 0:
		result_text(ctx, group->name);
		break;
	case 1:
		result_text(ctx, group->category);
		break;
	case 10:
		sqlite3_result_double(ctx, stats->mean_ns);
		break;
	case 11:
		sqlite3_result_double(ctx, stats->sd_ns);
		break;
	default:
		result_u64(ctx, cells[column - 2]);
	}
}

const struct query_table query_table_names = {
	.name = "names",
	.summary = "spans by name and category, added up: the quick answer to most questions",
	.columns = (const struct query_column[]){ { "name", "TEXT", ROLE_NONE, 0, false },
		{ "category", "TEXT", ROLE_NONE, 0, false },
		{ "count", "INTEGER", ROLE_NONE, 0, false },
		{ "total_ns", "INTEGER", ROLE_NONE, 0, false },
		{ "self_ns", "INTEGER", ROLE_NONE, 0, false },
		{ "min_ns", "INTEGER", ROLE_NONE, 0, false },
		{ "max_ns", "INTEGER", ROLE_NONE, 0, false },
		{ "p50_ns", "INTEGER", ROLE_NONE, 0, false },
		{ "p90_ns", "INTEGER", ROLE_NONE, 0, false },
		{ "p99_ns", "INTEGER", ROLE_NONE, 0, false },
		{ "mean_ns", "REAL", ROLE_NONE, 0, false },
		{ "sd_ns", "REAL", ROLE_NONE, 0, false }, { 0 } },
	.module = &query_list_module,
	.detail = &(const struct list_detail){ names_count, names_cell, true, NULL },
};

static uint64_t metadata_count(const struct query *query)
{
	return query->trace->metadata_count;
}

static void metadata_cell(sqlite3_context *ctx, const struct query *query, uint64_t row, int column)
{
	const struct trace_pair *pair = &query->trace->metadata[row];

	result_text(ctx, column ? pair->value : pair->key);
}

const struct query_table query_table_metadata = {
	.name = "metadata",
	.summary = "facts about the recording, as keys and values",
	.columns = (const struct query_column[]){ { "key", "TEXT", ROLE_NONE, 0, false },
		{ "value", "TEXT", ROLE_NONE, 0, false }, { 0 } },
	.module = &query_list_module,
	.detail = &(const struct list_detail){ metadata_count, metadata_cell, false, NULL },
};

/* First the totals, then the entries. */
#define LEDGER_TOTALS 7

static uint64_t ledger_count(const struct query *query)
{
	return LEDGER_TOTALS + query->trace->ledger.count;
}

static void ledger_total(
	sqlite3_context *ctx, const struct ledger *ledger, uint64_t row, int column)
{
	static const char *const names[LEDGER_TOTALS] = { "produced", "recorded", "dropped",
		"repaired", "skipped", "clock_error_ns", "overhead_percent" };
	const uint64_t counts[] = { ledger->produced, ledger->recorded, ledger->dropped,
		ledger->repaired, ledger->skipped, ledger->clock_error_ns };

	if (column == 1)
		result_text(ctx, names[row]);
	else if (column != 2)
		result_text(ctx, column == 0 ? "total" : "");
	else if (row < LEDGER_TOTALS - 1)
		result_u64(ctx, counts[row]);
	else if (ledger->overhead_percent >= 0)
		sqlite3_result_double(ctx, ledger->overhead_percent);
}

static void ledger_cell(sqlite3_context *ctx, const struct query *query, uint64_t row, int column)
{
	const struct ledger *ledger = &query->trace->ledger;
	const struct ledger_entry *entry;

	if (row < LEDGER_TOTALS) {
		ledger_total(ctx, ledger, row, column);
		return;
	}
	entry = &ledger->entries[row - LEDGER_TOTALS];
	if (column == 2)
		result_u64(ctx, entry->count);
	else
		result_text(ctx, column == 0   ? "entry"
				 : column == 1 ? entry->what
				 : column == 3 ? entry->where
					       : entry->effect);
}

const struct query_table query_table_ledger = {
	.name = "ledger",
	.summary = "what the trace says about its own faults",
	.columns = (const struct query_column[]){ { "kind", "TEXT", ROLE_NONE, 0, false },
		{ "what", "TEXT", ROLE_NONE, 0, false }, { "count", "", ROLE_NONE, 0, false },
		{ "where", "TEXT", ROLE_NONE, 0, false }, { "effect", "TEXT", ROLE_NONE, 0, false },
		{ 0 } },
	.module = &query_list_module,
	.detail = &(const struct list_detail){ ledger_count, ledger_cell, false, NULL },
};
