// SPDX-License-Identifier: MIT OR Apache-2.0
/* Counters, marks, links, allocations and samples: their columns, and the list of links by id. */
#include "query/query_rows.h"

#include <stdlib.h>
#include <string.h>

static const struct query_column counters_columns[] = {
	{ "track", "INTEGER", ROLE_TRACK, CELL_TRACK, false },
	{ "process", "TEXT", ROLE_PROCESS, CELL_PROCESS, false },
	{ "name", "TEXT", ROLE_THREAD, CELL_THREAD, false },
	{ "unit", "TEXT", ROLE_NONE, CELL_UNIT, false },
	{ "time_ns", "INTEGER", ROLE_START, CELL_TIME, false },
	{ "value", "", ROLE_NONE, CELL_COUNTER_VALUE, false },
	{ 0 },
};

static const struct query_column marks_columns[] = {
	{ "id", "INTEGER", ROLE_NONE, CELL_MARK_ID, false },
	{ "track", "INTEGER", ROLE_TRACK, CELL_TRACK, false },
	{ "process", "TEXT", ROLE_PROCESS, CELL_PROCESS, false },
	{ "thread", "TEXT", ROLE_THREAD, CELL_THREAD, false },
	{ "name", "TEXT", ROLE_NAME, CELL_NAME, false },
	{ "category", "TEXT", ROLE_CATEGORY, CELL_CATEGORY, false },
	{ "time_ns", "INTEGER", ROLE_START, CELL_TIME, false },
	{ "args", "TEXT", ROLE_NONE, CELL_ARGS, true },
	{ 0 },
};

static const struct query_column links_columns[] = {
	{ "track", "INTEGER", ROLE_TRACK, CELL_TRACK, false },
	{ "process", "TEXT", ROLE_PROCESS, CELL_PROCESS, false },
	{ "thread", "TEXT", ROLE_THREAD, CELL_THREAD, false },
	{ "time_ns", "INTEGER", ROLE_START, CELL_TIME, false },
	{ "id", "", ROLE_KEY, CELL_LINK_ID, false },
	{ "kind", "TEXT", ROLE_NONE, CELL_LINK_KIND, false },
	{ "name", "TEXT", ROLE_NAME, CELL_NAME, false },
	{ "category", "TEXT", ROLE_CATEGORY, CELL_CATEGORY, false },
	{ "enclosing", "INTEGER", ROLE_NONE, CELL_LINK_ENCLOSING, false },
	{ 0 },
};

static const struct query_column allocations_columns[] = {
	{ "track", "INTEGER", ROLE_TRACK, CELL_TRACK, false },
	{ "process", "TEXT", ROLE_PROCESS, CELL_PROCESS, false },
	{ "thread", "TEXT", ROLE_THREAD, CELL_THREAD, false },
	{ "time_ns", "INTEGER", ROLE_START, CELL_TIME, false },
	{ "kind", "TEXT", ROLE_NONE, CELL_ALLOCATION_KIND, false },
	{ "memory", "TEXT", ROLE_NONE, CELL_ALLOCATION_MEMORY, false },
	{ "pool", "TEXT", ROLE_NONE, CELL_ALLOCATION_POOL, false },
	{ "address", "INTEGER", ROLE_NONE, CELL_ALLOCATION_ADDRESS, false },
	{ "bytes", "INTEGER", ROLE_NONE, CELL_ALLOCATION_BYTES, false },
	{ 0 },
};

static const struct query_column samples_columns[] = {
	{ "track", "INTEGER", ROLE_TRACK, CELL_TRACK, false },
	{ "process", "TEXT", ROLE_PROCESS, CELL_PROCESS, false },
	{ "thread", "TEXT", ROLE_THREAD, CELL_THREAD, false },
	{ "time_ns", "INTEGER", ROLE_START, CELL_TIME, false },
	{ "stack", "INTEGER", ROLE_NONE, CELL_STACK, false },
	{ "frames", "TEXT", ROLE_NONE, CELL_FRAMES, true },
	{ 0 },
};

void query_result_stack(sqlite3_context *ctx, const struct query *query, uint64_t stack)
{
	size_t count = 0;
	const uint32_t *frames =
		stack <= UINT32_MAX ? trace_stack(query->trace, (uint32_t)stack, &count) : NULL;
	struct buffer text;

	buffer_init(&text);
	for (size_t i = count; frames && i-- > 0;) {
		buffer_text(&text, string_table_borrow(&query->trace->strings, frames[i]));
		buffer_text(&text, i ? ";" : "");
	}
	if (!buffer_ok(&text))
		sqlite3_result_error_nomem(ctx);
	else if (frames)
		sqlite3_result_text64(
			ctx, (const char *)text.data, text.length, SQLITE_TRANSIENT, SQLITE_UTF8);
	buffer_release(&text);
}

static void result_counter(sqlite3_context *ctx, const uint64_t *values)
{
	double real;

	memcpy(&real, &values[COUNTERS_VALUE], sizeof real);
	if (values[COUNTERS_KIND] == COUNTER_DOUBLE)
		sqlite3_result_double(ctx, real);
	else
		sqlite3_result_int64(ctx, (int64_t)values[COUNTERS_VALUE]);
}

static void result_link(sqlite3_context *ctx, const struct rows_cursor *cursor, unsigned cell)
{
	uint64_t kind = cursor->values[LINKS_KIND];

	if (cell == CELL_LINK_KIND)
		sqlite3_result_text(
			ctx, link_kind_name((unsigned)kind & LINK_KIND_MASK), -1, SQLITE_STATIC);
	else if (cell == CELL_LINK_ENCLOSING)
		sqlite3_result_int64(ctx, (kind & LINK_ENCLOSING) != 0);
	else if (kind & LINK_TEXT_ID)
		query_result_string(ctx, cursor->query, cursor->values[LINKS_ID]);
	else
		sqlite3_result_int64(ctx, (int64_t)cursor->values[LINKS_ID]);
}

static void result_allocation(sqlite3_context *ctx, const struct rows_cursor *cursor, unsigned cell)
{
	const uint64_t *values = cursor->values;
	uint64_t kind = values[ALLOCATIONS_KIND], pool = values[ALLOCATIONS_POOL];

	switch (cell) {
	case CELL_ALLOCATION_KIND:
		sqlite3_result_text(
			ctx, kind & ALLOCATION_FREE ? "free" : "alloc", -1, SQLITE_STATIC);
		break;
	case CELL_ALLOCATION_MEMORY:
		sqlite3_result_text(
			ctx, kind & ALLOCATION_DEVICE ? "device" : "host", -1, SQLITE_STATIC);
		break;
	case CELL_ALLOCATION_POOL:
		if (pool < cursor->query->trace->name_count)
			query_result_name(ctx, cursor->query, (uint32_t)pool);
		break;
	case CELL_ALLOCATION_ADDRESS:
		sqlite3_result_int64(ctx, (int64_t)values[ALLOCATIONS_ADDRESS]);
		break;
	default:
		sqlite3_result_int64(ctx, query_clamp(values[ALLOCATIONS_BYTES]));
	}
}

/* What the track or the name decides. */
static void result_place(sqlite3_context *ctx, const struct rows_cursor *cursor, unsigned cell)
{
	const struct query *query = cursor->query;
	uint32_t track = (uint32_t)cursor->values[0];
	uint32_t name = cursor->detail->name_cell < 0
				? 0
				: (uint32_t)cursor->values[cursor->detail->name_cell];

	switch (cell) {
	case CELL_TRACK:
		sqlite3_result_int64(ctx, track);
		break;
	case CELL_TIME:
		sqlite3_result_int64(ctx, query_clamp(cursor->values[1]));
		break;
	case CELL_PROCESS:
		sqlite3_result_text(
			ctx, query_role_text(query, ROLE_PROCESS, track), -1, SQLITE_STATIC);
		break;
	case CELL_THREAD:
		sqlite3_result_text(ctx, query->trace->tracks[track].name, -1, SQLITE_STATIC);
		break;
	case CELL_UNIT:
		sqlite3_result_text(ctx, query->trace->tracks[track].unit, -1, SQLITE_STATIC);
		break;
	case CELL_NAME:
		query_result_name(ctx, query, name);
		break;
	default:
		query_result_category(ctx, query, name);
	}
}

void rows_result(sqlite3_context *ctx, struct rows_cursor *cursor, unsigned cell)
{
	switch (cell) {
	case CELL_COUNTER_VALUE:
		result_counter(ctx, cursor->values);
		break;
	case CELL_LINK_ID:
	case CELL_LINK_KIND:
	case CELL_LINK_ENCLOSING:
		result_link(ctx, cursor, cell);
		break;
	case CELL_ALLOCATION_KIND:
	case CELL_ALLOCATION_MEMORY:
	case CELL_ALLOCATION_POOL:
	case CELL_ALLOCATION_ADDRESS:
	case CELL_ALLOCATION_BYTES:
		result_allocation(ctx, cursor, cell);
		break;
	case CELL_STACK:
		sqlite3_result_int64(ctx, query_clamp(cursor->values[SAMPLES_STACK]));
		break;
	case CELL_FRAMES:
		query_result_stack(ctx, cursor->query, cursor->values[SAMPLES_STACK]);
		break;
	case CELL_MARK_ID:
		if (cursor->instants)
			sqlite3_result_int64(ctx, cursor->rowid);
		break;
	case CELL_ARGS:
		if (cursor->instants)
			query_result_args(ctx, cursor->query, &cursor->args, cursor->rowid);
		break;
	default:
		result_place(ctx, cursor, cell);
	}
}

uint64_t query_text_key(const char *text, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	while (length--)
		hash = (hash ^ (uint8_t)*text++) * 0x100000001b3u;
	return hash;
}

uint64_t query_link_key(const struct query *query, uint64_t id, unsigned kind)
{
	const char *text;

	if (!(kind & LINK_TEXT_ID))
		return id;
	text = id <= UINT32_MAX ? string_table_borrow(&query->trace->strings, (uint32_t)id) : "";
	return query_text_key(text, strlen(text));
}

static int compare_links(const void *a, const void *b)
{
	const struct link_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rowid < y->rowid ? -1 : x->rowid > y->rowid;
}

static void add_links(struct query *query, const struct table_rows *rows, size_t block)
{
	for (size_t i = 0; i < rows->count; i++) {
		unsigned kind = (unsigned)rows->cells[LINKS_KIND][i];
		uint64_t id = rows->cells[LINKS_ID][i];

		query->links[query->link_count++] =
			(struct link_entry){ .key = query_link_key(query, id, kind),
				.id = id,
				.kind = kind,
				.time_ns = rows->cells[LINKS_TIME][i],
				.track = (uint32_t)rows->cells[LINKS_TRACK][i],
				.name = (uint32_t)rows->cells[LINKS_NAME][i],
				.rowid = span_id(block, (uint32_t)i) };
	}
}

int query_links_need(struct query *query, struct trace_cursor *scratch)
{
	const struct trace *trace = query->trace;
	uint64_t total = 0;

	if (query->links_built)
		return SQLITE_OK;
	for (size_t i = 0; i < trace->block_count; i++)
		total += trace->blocks[i].table == TABLE_LINKS ? trace->blocks[i].rows : 0;
	sqlite3_free(query->links);
	query->link_count = 0;
	query->links = sqlite3_malloc64((total + 1) * sizeof *query->links);
	if (!query->links)
		return SQLITE_NOMEM;
	for (size_t i = 0; i < trace->block_count; i++) {
		int code;

		if (trace->blocks[i].table != TABLE_LINKS)
			continue;
		code = query_read_rows(query, scratch, i);
		if (code < 0)
			return -code;
		if (code)
			add_links(query, &scratch->rows, i);
	}
	qsort(query->links, query->link_count, sizeof *query->links, compare_links);
	query->links_built = true;
	return SQLITE_OK;
}

const struct query_table query_table_counters = {
	.name = "counters",
	.summary = "values over time: memory, load, loss",
	.columns = counters_columns,
	.module = &query_rows_module,
	.detail = &(const struct rows_detail){ TABLE_COUNTERS, -1, false },
};

const struct query_table query_table_marks = {
	.name = "marks",
	.summary = "points in time",
	.columns = marks_columns,
	.module = &query_rows_module,
	.detail = &(const struct rows_detail){ TABLE_MARKS, MARKS_NAME, true },
};

const struct query_table query_table_links = {
	.name = "links",
	.summary = "ends of arrows between tracks: flows, and what launched what",
	.columns = links_columns,
	.module = &query_rows_module,
	.detail = &(const struct rows_detail){ TABLE_LINKS, LINKS_NAME, false },
};

const struct query_table query_table_allocations = {
	.name = "allocations",
	.summary = "memory taken and given back",
	.columns = allocations_columns,
	.module = &query_rows_module,
	.detail = &(const struct rows_detail){ TABLE_ALLOCATIONS, -1, false },
};

const struct query_table query_table_samples = {
	.name = "samples",
	.summary = "call stacks, sampled",
	.columns = samples_columns,
	.module = &query_rows_module,
	.detail = &(const struct rows_detail){ TABLE_SAMPLES, -1, false },
};
