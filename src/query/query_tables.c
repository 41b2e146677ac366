// SPDX-License-Identifier: MIT OR Apache-2.0
/* The list of tables, and what all of them share: declaring themselves, reading blocks, texts. */
#include "query/query_internal.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define TABLES(XX)      \
	XX(allocations) \
	XX(arguments)   \
	XX(counters)    \
	XX(frames)      \
	XX(ledger)      \
	XX(links)       \
	XX(marks)       \
	XX(metadata)    \
	XX(names)       \
	XX(samples)     \
	XX(spans)       \
	XX(steps)       \
	XX(strings)     \
	XX(tracks)

#define XX(name) extern const struct query_table query_table_##name;
TABLES(XX)
#undef XX

const struct query_table *const query_tables[] = {
#define XX(name) &query_table_##name,
	TABLES(XX)
#undef XX
		NULL,
};

int query_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret,
	char **ret_error)
{
	const struct query_module *module = aux;
	struct query_vtab *vtab;
	struct buffer text;
	int code = SQLITE_NOMEM;

	(void)argc, (void)argv, (void)ret_error;
	buffer_init(&text);
	buffer_text(&text, "CREATE TABLE x(");
	for (const struct query_column *column = module->table->columns; column->name; column++)
		buffer_printf(&text, "%s\"%s\" %s%s", column == module->table->columns ? "" : ", ",
			column->name, column->type, column->hidden ? " HIDDEN" : "");
	/* A table without row numbers of SQLite's: ours would not be the same in every order. */
	if (module->table->key)
		buffer_printf(&text, ", PRIMARY KEY(%s)) WITHOUT ROWID", module->table->key);
	else
		buffer_text(&text, ")");
	buffer_byte(&text, 0);
	vtab = sqlite3_malloc(sizeof *vtab);
	if (vtab && buffer_ok(&text)) {
		module->query->declaring = true;
		code = sqlite3_declare_vtab(db, (const char *)text.data);
		module->query->declaring = false;
	}
	buffer_release(&text);
	if (code != SQLITE_OK) {
		sqlite3_free(vtab);
		return code;
	}
	memset(vtab, 0, sizeof *vtab);
	vtab->query = module->query;
	vtab->table = module->table;
	*ret = &vtab->base;
	return SQLITE_OK;
}

int query_disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

int query_fail(sqlite3_vtab *vtab, int code, const char *message)
{
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s", message);
	return code;
}

int query_check(struct query *query)
{
	if (!query->interrupted && clock_mono_ns() < query->deadline_ns)
		return SQLITE_OK;
	query->timed_out = !query->interrupted;
	return SQLITE_INTERRUPT;
}

/* A block that cannot be read is counted once, however often it is asked for. */
static int read_failed(struct query *query, size_t block, int status)
{
	if (status == STATUS_NOMEM)
		return -SQLITE_NOMEM;
	if (!(query->block_marks[block] & BLOCK_DAMAGED))
		query->damaged_blocks++;
	query->block_marks[block] |= BLOCK_DAMAGED;
	return 0;
}

int query_read_spans(struct query *query, struct trace_cursor *cursor, size_t block, bool with_args)
{
	int status;

	if (query_check(query) != SQLITE_OK)
		return -SQLITE_INTERRUPT;
	if (query->block_marks[block] & BLOCK_DAMAGED)
		return 0;
	status = trace_cursor_spans(cursor, block, with_args, NULL);
	if (status != STATUS_OK)
		return read_failed(query, block, status);
	query->block_marks[block] |=
		cursor->spans.layout == SPANS_INSTANT ? BLOCK_INSTANTS : BLOCK_SPANS;
	return 1;
}

int query_read_rows(struct query *query, struct trace_cursor *cursor, size_t block)
{
	int status;

	if (query_check(query) != SQLITE_OK)
		return -SQLITE_INTERRUPT;
	if (query->block_marks[block] & BLOCK_DAMAGED)
		return 0;
	status = trace_cursor_rows(cursor, block, NULL);
	return status == STATUS_OK ? 1 : read_failed(query, block, status);
}

void query_result_name(sqlite3_context *ctx, const struct query *query, uint32_t name)
{
	sqlite3_result_text(
		ctx, query->trace->names[name].name, (int)query->name_lengths[name], SQLITE_STATIC);
}

void query_result_category(sqlite3_context *ctx, const struct query *query, uint32_t name)
{
	sqlite3_result_text(ctx, query->trace->names[name].category,
		(int)query->category_lengths[name], SQLITE_STATIC);
}

void query_result_string(sqlite3_context *ctx, const struct query *query, uint64_t string)
{
	const char *text = string <= UINT32_MAX
				   ? string_table_borrow(&query->trace->strings, (uint32_t)string)
				   : "";

	sqlite3_result_text(ctx, text, -1, SQLITE_STATIC);
}

const char *query_role_text(const struct query *query, unsigned role, uint32_t number)
{
	const struct trace *trace = query->trace;

	switch (role) {
	case ROLE_NAME:
		return trace->names[number].name;
	case ROLE_CATEGORY:
		return trace->names[number].category;
	case ROLE_PROCESS:
		return trace->tracks[trace->tracks[number].process].name;
	default:
		return trace->tracks[number].name;
	}
}

struct rank_context {
	const struct query *query;
	unsigned role;
};

static int compare_texts(const void *a, const void *b, void *context)
{
	const struct rank_context *rank = context;

	return strcmp(query_role_text(rank->query, rank->role, *(const uint32_t *)a),
		query_role_text(rank->query, rank->role, *(const uint32_t *)b));
}

int query_ranks_need(struct query *query, unsigned role)
{
	struct query_ranks *ranks = &query->ranks[ROLE_TEXT(role)];
	struct rank_context context = { query, role };
	uint32_t count = role == ROLE_NAME || role == ROLE_CATEGORY ? query->trace->name_count
								    : query->trace->track_count;

	if (ranks->order)
		return SQLITE_OK;
	ranks->order = malloc(((size_t)count + 1) * sizeof *ranks->order);
	ranks->rank = malloc(((size_t)count + 1) * sizeof *ranks->rank);
	if (!ranks->order || !ranks->rank) {
		free(ranks->order);
		free(ranks->rank);
		memset(ranks, 0, sizeof *ranks);
		return SQLITE_NOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		ranks->order[i] = i;
	qsort_r(ranks->order, count, sizeof *ranks->order, compare_texts, &context);
	for (uint32_t i = 0, rank = 0; i < count; i++) {
		rank += i && compare_texts(&ranks->order[i - 1], &ranks->order[i], &context) != 0;
		ranks->rank[ranks->order[i]] = rank;
	}
	ranks->count = count;
	return SQLITE_OK;
}

int query_analyze(struct query *query, sqlite3_vtab *vtab)
{
	struct analyze_options options = { 0 };
	struct error err = ERROR_INIT;
	int code = query_check(query);

	if (query->analyzed || code != SQLITE_OK)
		return code;
	if (analyze_spans(query->trace, &options, &query->analysis, &err) != STATUS_OK)
		return query_fail(vtab, SQLITE_ERROR, err.message);
	query->analyzed = true;
	return SQLITE_OK;
}
