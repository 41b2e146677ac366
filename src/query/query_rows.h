/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The cursor over tables of rows with a track and a time, and the kinds of values they have. */
#pragma once

#include "query/query_internal.h"

/* Where a column's value comes from. */
enum rows_cell {
	CELL_TRACK,
	CELL_TIME,
	CELL_PROCESS,
	CELL_THREAD,
	CELL_UNIT,
	CELL_NAME,
	CELL_CATEGORY,
	CELL_COUNTER_VALUE,
	CELL_LINK_ID,
	CELL_LINK_KIND,
	CELL_LINK_ENCLOSING,
	CELL_ALLOCATION_KIND,
	CELL_ALLOCATION_MEMORY,
	CELL_ALLOCATION_POOL,
	CELL_ALLOCATION_ADDRESS,
	CELL_ALLOCATION_BYTES,
	CELL_STACK,
	CELL_FRAMES,
	CELL_MARK_ID,
	CELL_ARGS,
};

struct rows_detail {
	enum block_table table;
	int name_cell; /* column of the file that holds a name's number; -1: none */
	bool instants; /* points in time that stand among the spans belong to it, too */
};

struct rows_cursor {
	sqlite3_vtab_cursor base;
	struct query *query;
	const struct rows_detail *detail;
	const struct table_schema *schema;
	struct query_filter filter;
	struct trace_cursor reader;
	size_t next_block, block, row, count;
	bool instants; /* the block at hand is one of spans */
	uint64_t values[TABLE_COLUMNS_MAX];
	int64_t rowid;
	bool eof;
	/* Links by their id. */
	bool by_link;
	uint64_t link_key;
	size_t link;
	struct args_reader args;
};

void rows_result(sqlite3_context *ctx, struct rows_cursor *cursor, unsigned cell);
/* A stack's frames, outermost first, with semicolons between them. */
void query_result_stack(sqlite3_context *ctx, const struct query *query, uint64_t stack);
