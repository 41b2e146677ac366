/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The cursor over spans: the blocks it visits, the row it stands on, and, when rows are wanted in
 * the order of names, the rows gathered by pairs of track and name. */
#pragma once

#include "base/id_map.h"
#include "query/query_internal.h"

/* Columns of the table, in its order. */
enum spans_column {
	SPANS_ID,
	SPANS_TRACK,
	SPANS_PROCESS,
	SPANS_THREAD,
	SPANS_NAME,
	SPANS_CATEGORY,
	SPANS_START,
	SPANS_END,
	SPANS_DURATION,
	SPANS_SELF,
	SPANS_DEPTH,
	SPANS_PARENT,
	SPANS_ARGS,
};

/* idxNum: the columns in use, and whether equal rows may be left out. */
#define SPANS_USED_MASK ((1 << (SPANS_ARGS + 1)) - 1)
#define SPANS_DISTINCT  (1 << 16)

/* All spans of one name on one track. */
struct span_pair {
	uint32_t track, name;
	uint64_t count;
	uint64_t first; /* where its rows begin in memory */
	uint64_t next;  /* where its next row goes, while rows are gathered */
};

struct span_groups {
	struct span_pair *pairs; /* in the order asked for */
	size_t count, capacity;
	struct id_map places; /* track << 32 | name -> number of the pair */
	size_t begin, end;    /* pairs whose rows are in memory */
	uint64_t capacity_rows;
	/* Columns of the rows in memory; NULL where not in use. */
	uint64_t *start, *duration, *self;
	int64_t *id;
	uint32_t *depth;
	uint32_t *slots;     /* by name, of the block at hand */
	uint32_t *positions; /* by row, of the block at hand */
	size_t row_capacity;
	bool distinct;
	/* A pair too large for memory is gathered piece by piece. */
	bool pieces;
	uint64_t left;      /* rows of it still to come */
	size_t resume_list; /* place in the list of blocks, and row, to go on from */
	uint32_t resume_row;
};

struct spans_cursor {
	sqlite3_vtab_cursor base;
	struct query *query;
	struct query_filter filter;
	struct trace_cursor reader;
	size_t *blocks; /* to visit, in this order */
	size_t block_count, block_capacity;
	int used; /* columns, 1 << enum spans_column */
	/* Where it stands. */
	size_t at;          /* in blocks */
	size_t block;       /* that is decoded; SIZE_MAX: none */
	uint32_t row, stop; /* rows [row, stop) of it are still to be looked at */
	bool filter_rows;   /* single rows may be left out */
	bool eof, grouped;
	/* When grouped, `pair` is the current one and the rows [place, place_end) are its. */
	size_t pair;
	uint64_t place, place_end;
	struct span_groups groups;
	struct args_reader args;
	struct parent_rows parents;
};

bool spans_row_fits(const struct spans_cursor *cursor, uint32_t row);
/* Restricts the rows of the decoded block to those that the times leave. */
void spans_bounds(const struct spans_cursor *cursor, uint32_t *ret_first, uint32_t *ret_stop);
/* Reads a block of the list: 1 it holds spans, 0 it does not, negative SQLite code. */
int spans_read(struct spans_cursor *cursor, size_t block);

/* Sorts the blocks by the parts of the order that the track decides. */
int spans_order_blocks(struct spans_cursor *cursor);
/* Counts all pairs and puts them in order; then the cursor stands on the first row. */
int spans_group(struct spans_cursor *cursor, bool distinct);
int spans_group_next(struct spans_cursor *cursor);
void spans_group_release(struct spans_cursor *cursor);
