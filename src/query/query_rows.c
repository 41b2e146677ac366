// SPDX-License-Identifier: MIT OR Apache-2.0
/* Tables whose rows happen at one time on one track: counters, marks, links, allocations, samples.
 * One cursor serves all; a table is the list of its columns and where each value comes from. */
#include "query/query_rows.h"

#include <stdlib.h>
#include <string.h>

static int rows_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct query_vtab *vtab = (struct query_vtab *)base;
	const struct rows_detail *detail = vtab->table->detail;
	struct query_plan plan;

	query_plan_conditions(&plan, vtab, detail->table, info);
	/* Points in time among the spans are found only by looking at all of these. */
	if (detail->instants)
		plan.scanned += (double)vtab->query->trace->row_counts[TABLE_SPANS] / 4;
	return query_plan_finish(&plan, info);
}

static int rows_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
	struct query_vtab *vtab = (struct query_vtab *)base;
	struct rows_cursor *cursor = calloc(1, sizeof *cursor);

	if (!cursor || trace_cursor_init(&cursor->reader, vtab->query->trace) != STATUS_OK) {
		free(cursor);
		return SQLITE_NOMEM;
	}
	cursor->query = vtab->query;
	cursor->detail = vtab->table->detail;
	cursor->schema = table_schema(cursor->detail->table);
	cursor->eof = true;
	args_reader_init(&cursor->args);
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *base)
{
	struct rows_cursor *cursor = (struct rows_cursor *)base;

	query_filter_release(&cursor->filter);
	args_reader_release(&cursor->args);
	trace_cursor_release(&cursor->reader);
	free(cursor);
	return SQLITE_OK;
}

/* Loads the row at hand into `values`. */
static void load_row(struct rows_cursor *cursor)
{
	const struct span_batch *spans = &cursor->reader.spans;
	const struct table_rows *rows = &cursor->reader.rows;
	size_t row = cursor->row;

	cursor->rowid = span_id(cursor->block, (uint32_t)row);
	if (cursor->instants) {
		cursor->values[MARKS_TRACK] = cursor->query->trace->blocks[cursor->block].track;
		cursor->values[MARKS_TIME] = spans->start_ns[row];
		cursor->values[MARKS_NAME] = spans->name[row];
		return;
	}
	for (unsigned i = 0; i < cursor->schema->column_count; i++)
		cursor->values[i] = rows->cells[i][row];
}

/* The track is the first column of all these tables, the time the second. */
static bool row_fits(const struct rows_cursor *cursor)
{
	const struct query_filter *filter = &cursor->filter;
	int name = cursor->detail->name_cell;

	return query_filter_range(filter, ROLE_START, cursor->values[1]) &&
	       query_filter_track(filter, cursor->query, (uint32_t)cursor->values[0]) &&
	       (name < 0 ||
		       query_filter_name(filter, cursor->query, (uint32_t)cursor->values[name]));
}

/* Decodes the next block that may hold rows: 1, 0 at the end, negative SQLite code. */
static int next_block(struct rows_cursor *cursor)
{
	const struct trace *trace = cursor->query->trace;

	for (; cursor->next_block < trace->block_count; cursor->next_block++) {
		const struct trace_block *block = &trace->blocks[cursor->next_block];
		uint8_t *marks = &cursor->query->block_marks[cursor->next_block];
		int code;

		cursor->instants = cursor->detail->instants && block->table == TABLE_SPANS;
		if ((block->table != cursor->detail->table && !cursor->instants) ||
			(cursor->instants && *marks & BLOCK_SPANS) ||
			!query_filter_block(&cursor->filter, block))
			continue;
		code = cursor->instants ? query_read_spans(cursor->query, &cursor->reader,
						  cursor->next_block, false)
					: query_read_rows(cursor->query, &cursor->reader,
						  cursor->next_block);
		if (code < 0)
			return code;
		if (code == 0 || (cursor->instants && *marks & BLOCK_SPANS))
			continue;
		cursor->block = cursor->next_block++;
		cursor->row = 0;
		cursor->count =
			cursor->instants ? cursor->reader.spans.count : cursor->reader.rows.count;
		return 1;
	}
	return 0;
}

static int settle(struct rows_cursor *cursor)
{
	for (;;) {
		int code;

		for (; cursor->row < cursor->count; cursor->row++) {
			load_row(cursor);
			if (row_fits(cursor))
				return SQLITE_OK;
		}
		code = next_block(cursor);
		if (code > 0)
			continue;
		cursor->eof = true;
		return -code;
	}
}

/* The next link of the list with this id that fits. */
static void settle_links(struct rows_cursor *cursor)
{
	const struct query *query = cursor->query;

	for (; cursor->link < query->link_count; cursor->link++) {
		const struct link_entry *entry = &query->links[cursor->link];

		if (entry->key != cursor->link_key)
			break;
		cursor->values[LINKS_TRACK] = entry->track;
		cursor->values[LINKS_TIME] = entry->time_ns;
		cursor->values[LINKS_ID] = entry->id;
		cursor->values[LINKS_KIND] = entry->kind;
		cursor->values[LINKS_NAME] = entry->name;
		cursor->rowid = entry->rowid;
		if (row_fits(cursor))
			return;
	}
	cursor->eof = true;
}

/* The key that a condition on a link's id asks for; false: all links have to be looked at. */
static bool wanted_key(const struct rows_cursor *cursor, uint64_t *ret_key)
{
	sqlite3_value *value = cursor->filter.key;

	if (!value)
		return false;
	if (sqlite3_value_type(value) == SQLITE_TEXT) {
		const char *text = (const char *)sqlite3_value_text(value);

		*ret_key = query_text_key(text, strlen(text));
		return true;
	}
	*ret_key = (uint64_t)sqlite3_value_int64(value);
	return sqlite3_value_type(value) == SQLITE_INTEGER;
}

static int find_links(struct rows_cursor *cursor)
{
	size_t low = 0, high;
	int code = query_links_need(cursor->query, &cursor->reader);

	if (code != SQLITE_OK)
		return code;
	high = cursor->query->link_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cursor->query->links[middle].key < cursor->link_key)
			low = middle + 1;
		else
			high = middle;
	}
	cursor->link = low;
	cursor->by_link = true;
	cursor->eof = false;
	settle_links(cursor);
	return SQLITE_OK;
}

static int rows_filter(
	sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
	struct rows_cursor *cursor = (struct rows_cursor *)base;
	struct query_vtab *vtab = (struct query_vtab *)base->pVtab;
	int code = query_filter_set(&cursor->filter, vtab, text, argc, argv);
	bool by_link;

	(void)number;
	cursor->eof = true;
	cursor->by_link = false;
	cursor->row = cursor->count = cursor->next_block = 0;
	by_link = wanted_key(cursor, &cursor->link_key);
	cursor->filter.key = NULL;
	if (code != SQLITE_OK || cursor->filter.none)
		return code;
	if (by_link)
		return find_links(cursor);
	cursor->eof = false;
	return settle(cursor);
}

static int rows_next(sqlite3_vtab_cursor *base)
{
	struct rows_cursor *cursor = (struct rows_cursor *)base;

	if (cursor->by_link) {
		cursor->link++;
		settle_links(cursor);
		return SQLITE_OK;
	}
	cursor->row++;
	return settle(cursor);
}

static int rows_eof(sqlite3_vtab_cursor *base)
{
	return ((struct rows_cursor *)base)->eof;
}

static int rows_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int column)
{
	struct rows_cursor *cursor = (struct rows_cursor *)base;
	struct query_vtab *vtab = (struct query_vtab *)base->pVtab;

	rows_result(ctx, cursor, vtab->table->columns[column].cell);
	return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid)
{
	*ret_rowid = ((struct rows_cursor *)base)->rowid;
	return SQLITE_OK;
}

const sqlite3_module query_rows_module = {
	.xConnect = query_connect,
	.xBestIndex = rows_best_index,
	.xDisconnect = query_disconnect,
	.xOpen = rows_open,
	.xClose = rows_close,
	.xFilter = rows_filter,
	.xNext = rows_next,
	.xEof = rows_eof,
	.xColumn = rows_column,
	.xRowid = rows_rowid,
};
