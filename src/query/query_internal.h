/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tables of a query share: the state of the query, the roles of columns, conditions that
 * were handed down (struct query_filter), and the reading of blocks. */
#pragma once

#include "analyze/analyze.h"
#include "query/query.h"

#include <signal.h>
#include <sqlite3.h>

/* A span's number: block << 20 | row. */
#define SPAN_ID_ROW_BITS 20
static inline int64_t span_id(size_t block, uint32_t row)
{
	return (int64_t)((uint64_t)block << SPAN_ID_ROW_BITS | row);
}
static inline bool span_id_split(int64_t id, size_t *ret_block, uint32_t *ret_row)
{
	*ret_block = (size_t)((uint64_t)id >> SPAN_ID_ROW_BITS);
	*ret_row = (uint32_t)id & ((1u << SPAN_ID_ROW_BITS) - 1);
	return id >= 0;
}

/* What a condition on a column means to the reader of its table. */
enum query_role {
	ROLE_NONE, /* nothing: SQLite does it */
	/* Integers: a condition is a range. */
	ROLE_ID, /* finds one row */
	ROLE_TRACK,
	ROLE_START, /* of a span, or the time of a row */
	ROLE_END,
	ROLE_DURATION,
	ROLE_SELF,
	ROLE_DEPTH,
	ROLE_RANGES,
	/* Texts of a name or a track: a condition is a set. */
	ROLE_NAME = ROLE_RANGES,
	ROLE_CATEGORY,
	ROLE_PROCESS,
	ROLE_THREAD, /* the track's own name */
	ROLE_TEXTS_END,
	ROLE_KEY = ROLE_TEXTS_END, /* equality that the table sees to itself */
};
#define ROLE_TEXTS      (ROLE_TEXTS_END - ROLE_RANGES)
#define ROLE_TEXT(role) ((role)-ROLE_RANGES)
static inline bool role_is_range(unsigned role)
{
	return role > ROLE_NONE && role < ROLE_RANGES;
}
static inline bool role_is_text(unsigned role)
{
	return role >= ROLE_RANGES && role < ROLE_TEXTS_END;
}

/* Names or tracks in the order of one of their texts. Equal texts have equal ranks. */
struct query_ranks {
	uint32_t *order; /* numbers, by text */
	uint32_t *rank;  /* of each number */
	uint32_t count;
};

/* Arguments of a block's spans, put together by row. */
struct args_reader {
	struct trace_cursor cursor;
	size_t block; /* SIZE_MAX: none */
	size_t *starts;
	size_t start_capacity;
	struct span_arg *args;
	size_t arg_capacity;
};

/* Where the parents of scopes that are open at a block's end are found: the first scope behind the
 * block, on the same track, of each depth. */
struct span_parents {
	bool built;
	int64_t **next;   /* by block and depth; NULL: none */
	uint32_t *depths; /* how many there are */
};

/* Parents within the block that a cursor has decoded. */
struct parent_rows {
	size_t block;  /* SIZE_MAX: none */
	uint32_t *row; /* of each row; UINT32_MAX: not in this block */
	size_t row_capacity;
	uint32_t *behind; /* by depth, while the block is walked */
	size_t depth_capacity;
};

/* A link, where links are looked up by id. */
struct link_entry {
	uint64_t key; /* the id, or the hash of its text */
	uint64_t time_ns, id;
	uint32_t track, name, kind;
	int64_t rowid;
};

struct query_module {
	struct query *query;
	const struct query_table *table;
};

struct query {
	const struct trace *trace;
	struct query_options options;
	sqlite3 *db;
	struct query_module *modules;
	volatile sig_atomic_t interrupted;
	bool timed_out;
	bool declaring; /* a table tells SQLite its columns */
	uint64_t deadline_ns;
	char denied[160]; /* why the last statement was refused */
	struct query_ranks ranks[ROLE_TEXTS];
	uint32_t *name_lengths, *category_lengths;
	struct analyze_spans analysis;
	bool analyzed;
	struct span_parents parents;
	struct link_entry *links;
	size_t link_count;
	bool links_built;
	struct args_reader args; /* of arg() */
	uint8_t *block_marks;    /* by block: enum block_mark */
	uint64_t damaged_blocks;
	char *(*demangle)(const char *, char *, size_t *, int *);
	bool demangle_tried, demangle_missing;
};

enum block_mark {
	BLOCK_DAMAGED = 1u << 0,
	BLOCK_SPANS = 1u << 1,    /* known to hold spans */
	BLOCK_INSTANTS = 1u << 2, /* known to hold points in time */
};

struct query_vtab {
	sqlite3_vtab base;
	struct query *query;
	const struct query_table *table;
};

/* Methods that all tables share. */
int query_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret,
	char **ret_error);
int query_disconnect(sqlite3_vtab *vtab);
/* The message of a failed method; returns `code`. */
int query_fail(sqlite3_vtab *vtab, int code, const char *message);

/* SQLITE_OK, or SQLITE_INTERRUPT when time is up or somebody wants the end. */
int query_check(struct query *query);
/* Decodes a block: 1 done, 0 damaged (counted, to be left out), or a negative SQLite code. */
int query_read_spans(
	struct query *query, struct trace_cursor *cursor, size_t block, bool with_args);
int query_read_rows(struct query *query, struct trace_cursor *cursor, size_t block);
/* Texts of the trace, which outlives every statement. */
void query_result_name(sqlite3_context *ctx, const struct query *query, uint32_t name);
void query_result_category(sqlite3_context *ctx, const struct query *query, uint32_t name);
void query_result_string(sqlite3_context *ctx, const struct query *query, uint64_t string);
/* Times and sizes; what SQL's integers cannot hold becomes the largest of them. */
static inline int64_t query_clamp(uint64_t value)
{
	return value <= INT64_MAX ? (int64_t)value : INT64_MAX;
}
int query_ranks_need(struct query *query, unsigned role);
const char *query_role_text(const struct query *query, unsigned role, uint32_t number);
int query_analyze(struct query *query, sqlite3_vtab *vtab);

/* Planning. Conditions become text for xFilter: a letter for the column and one for the operator,
 * each; then the order, if the table serves it. */
struct query_plan {
	char text[160];
	size_t length;
	int argc;
	bool by_id;
	double scanned, matched; /* rows, by estimate */
};
/* Takes what conditions it can. */
void query_plan_conditions(struct query_plan *plan, struct query_vtab *vtab,
	enum block_table block_table, sqlite3_index_info *info);
/* Hands the plan to SQLite. */
int query_plan_finish(struct query_plan *plan, sqlite3_index_info *info);

/* A longer LIKE or GLOB pattern is refused by SQLite, and not handed down. */
#define QUERY_PATTERN_MAX 1000

/* Conditions as xFilter sees them. */
struct query_filter {
	bool none;       /* no row can match */
	unsigned ranges; /* 1 << role */
	int64_t low[ROLE_RANGES], high[ROLE_RANGES];
	unsigned equals; /* 1 << ROLE_TEXT(role) */
	uint32_t rank[ROLE_TEXTS];
	uint8_t *names, *tracks; /* sets by number; NULL: all */
	bool by_name, by_track;  /* whether there is a condition on them */
	sqlite3_value *key;      /* of ROLE_KEY, lent during xFilter; NULL: none */
	const char *order;       /* letters of columns, '-' in front: falling; "" for none */
};
int query_filter_set(struct query_filter *filter, struct query_vtab *vtab, const char *text,
	int argc, sqlite3_value **argv);
void query_filter_release(struct query_filter *filter);
bool query_filter_track(
	const struct query_filter *filter, const struct query *query, uint32_t track);
bool query_filter_name(const struct query_filter *filter, const struct query *query, uint32_t name);
/* Whether a block's time range can hold a match. */
bool query_filter_block(const struct query_filter *filter, const struct trace_block *block);
static inline bool query_filter_range(
	const struct query_filter *filter, unsigned role, uint64_t value)
{
	int64_t number = query_clamp(value);

	return !(filter->ranges & 1u << role) ||
	       (number >= filter->low[role] && number <= filter->high[role]);
}

void args_reader_init(struct args_reader *reader);
void args_reader_release(struct args_reader *reader);
/* Loads a block unless it is there: 1 done, 0 damaged or none, negative SQLite code. */
int args_reader_load(struct query *query, struct args_reader *reader, size_t block);
const struct span_arg *args_reader_row(
	const struct args_reader *reader, uint32_t row, size_t *ret_count);
void query_result_arg(sqlite3_context *ctx, const struct query *query, const struct span_arg *arg);
/* The arguments of a span as a JSON object, or NULL where it has none. */
void query_result_args(
	sqlite3_context *ctx, struct query *query, struct args_reader *reader, int64_t id);

/* The number of the span around a row of a decoded block, or -1; query_parents_need() first. */
int query_parents_need(struct query *query, struct trace_cursor *scratch);
void query_parents_release(struct query *query);
int query_parent(const struct query *query, struct parent_rows *parents, size_t block,
	const struct span_batch *spans, uint32_t row, int64_t *ret_id);
void parent_rows_init(struct parent_rows *parents);
void parent_rows_release(struct parent_rows *parents);

int query_links_need(struct query *query, struct trace_cursor *scratch);
uint64_t query_link_key(const struct query *query, uint64_t id, unsigned kind);
uint64_t query_text_key(const char *text, size_t length);

/* query_guard.c: makes a connection safe; query_functions.c: our functions. */
int query_guard(struct query *query);
int query_add_functions(struct query *query);

extern const sqlite3_module query_spans_module, query_rows_module, query_list_module,
	query_arguments_module;
