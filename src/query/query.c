// SPDX-License-Identifier: MIT OR Apache-2.0
/* Opening a database of virtual tables over a trace, and running statements in it. */
#include "query/query_internal.h"

#include "base/clock.h"
#include "base/nearest.h"
#include "base/units.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define STATEMENTS_MAX 100

static int measure_names(struct query *query)
{
	uint32_t count = query->trace->name_count;

	query->name_lengths = malloc(((size_t)count + 1) * sizeof *query->name_lengths);
	query->category_lengths = malloc(((size_t)count + 1) * sizeof *query->category_lengths);
	if (!query->name_lengths || !query->category_lengths)
		return STATUS_NOMEM;
	for (uint32_t i = 0; i < count; i++) {
		query->name_lengths[i] = (uint32_t)strlen(query->trace->names[i].name);
		query->category_lengths[i] = (uint32_t)strlen(query->trace->names[i].category);
	}
	return STATUS_OK;
}

static int add_tables(struct query *query)
{
	size_t count = 0;
	int code = SQLITE_OK;

	while (query_tables[count])
		count++;
	query->modules = calloc(count, sizeof *query->modules);
	if (!query->modules)
		return SQLITE_NOMEM;
	for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
		query->modules[i] = (struct query_module){ query, query_tables[i] };
		code = sqlite3_create_module_v2(query->db, query_tables[i]->name,
			query_tables[i]->module, &query->modules[i], NULL);
	}
	return code;
}

int query_open(const struct trace *trace, const struct query_options *options,
	struct query **ret_query, struct error *err)
{
	struct query *query = calloc(1, sizeof *query);
	int code = SQLITE_NOMEM;

	if (!query)
		return error_set(err, STATUS_NOMEM, "out of memory");
	query->trace = trace;
	query->options = *options;
	if (!query->options.max_memory_bytes)
		query->options.max_memory_bytes = QUERY_MEMORY_DEFAULT;
	if (!query->options.sort_bytes)
		query->options.sort_bytes = query->options.max_memory_bytes / 2;
	if (!query->options.timeout_ns)
		query->options.timeout_ns = QUERY_TIMEOUT_DEFAULT;
	if (!query->options.max_rows)
		query->options.max_rows = QUERY_ROWS_DEFAULT;
	args_reader_init(&query->args);
	query->deadline_ns = UINT64_MAX;
	query->block_marks = calloc(trace->block_count + 1, 1);
	if (query->block_marks && measure_names(query) == STATUS_OK)
		code = sqlite3_open_v2(":memory:", &query->db,
			SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
				SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
			NULL);
	if (code == SQLITE_OK)
		code = add_tables(query);
	if (code == SQLITE_OK)
		code = query_add_functions(query);
	if (code == SQLITE_OK)
		code = query_guard(query);
	if (code != SQLITE_OK) {
		query_close(query);
		return error_set(
			err, STATUS_NOMEM, "SQLite does not start: %s", sqlite3_errstr(code));
	}
	*ret_query = query;
	return STATUS_OK;
}

void query_close(struct query *query)
{
	if (!query)
		return;
	sqlite3_close_v2(query->db);
	free(query->modules);
	for (size_t i = 0; i < ROLE_TEXTS; i++) {
		free(query->ranks[i].order);
		free(query->ranks[i].rank);
	}
	if (query->analyzed)
		analyze_spans_release(&query->analysis);
	query_parents_release(query);
	sqlite3_free(query->links);
	args_reader_release(&query->args);
	free(query->name_lengths);
	free(query->category_lengths);
	free(query->block_marks);
	free(query);
}

void query_interrupt(struct query *query)
{
	query->interrupted = 1;
}

bool query_is_complete(const char *sql)
{
	return sqlite3_complete(sql);
}

/* A message of SQLite's may quote the statement: one line, and nothing that moves a cursor. */
static void plain_text(char *to, size_t size, const char *from)
{
	size_t used = 0, left = strlen(from);

	while (left && used + 5 < size) {
		size_t length = utf8_decode(from, left, NULL);

		if (length == 0 || (unsigned char)*from < 0x20 || *from == 0x7f) {
			used += (size_t)snprintf(
				to + used, size - used, "\\x%02x", (unsigned char)*from);
			length = 1;
		} else {
			memcpy(to + used, from, length);
			used += length;
		}
		from += length;
		left -= length;
	}
	to[used] = 0;
}

/* Says where in the whole text it is: "line 2, column 7: ". */
static int fail_at(
	struct error *err, int status, const char *sql, size_t offset, const char *message)
{
	unsigned line = 1, column = 1;
	char text[200];

	for (size_t i = 0; i < offset && sql[i]; i++) {
		bool inside = ((unsigned char)sql[i] & 0xc0) == 0x80;

		line += sql[i] == '\n';
		column = sql[i] == '\n' ? 1 : column + !inside;
	}
	plain_text(text, sizeof text, message);
	error_set(err, status, "SQL, line %u, column %u: %s", line, column, text);
	if (err)
		err->offset = (int64_t)offset;
	return status;
}

/* The name nearest to one that is not there; "" when nothing is like it. */
static const char *nearest_name(const char *name, bool table)
{
	const char *words[256];
	size_t count = 0;

	for (size_t i = 0; query_tables[i]; i++) {
		const struct query_column *column = query_tables[i]->columns;

		if (table)
			words[count++] = query_tables[i]->name;
		for (; !table && column->name && count < 256; column++)
			words[count++] = column->name;
	}
	return nearest_word(name, words, count);
}

/* SQLite's message, with a hint when a name is wrong. */
static const char *message_of(struct query *query, char text[256])
{
	static const char no_table[] = "no such table: ", no_column[] = "no such column: ";
	const char *message = sqlite3_errmsg(query->db);
	bool table = strncmp(message, no_table, sizeof no_table - 1) == 0;
	bool column = strncmp(message, no_column, sizeof no_column - 1) == 0;
	const char *name = message + (table ? sizeof no_table : sizeof no_column) - 1, *nearest;

	if (query->denied[0])
		return query->denied;
	if ((!table && !column) || strlen(name) > 64)
		return message;
	name = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
	nearest = nearest_name(name, table);
	/* Something altogether different, or a column of another table, is no hint. */
	if (nearest[0] != name[0] || strcmp(nearest, name) == 0)
		return message;
	snprintf(text, 256, "%.128s; did you mean '%s'?", message, nearest);
	return text;
}

/* The error of the connection as one of ours. `start` is where the statement begins. */
static int fail(struct query *query, int code, const char *sql, size_t start, struct error *err)
{
	int offset = sqlite3_error_offset(query->db);
	char text[UNITS_TEXT], message[256];

	switch (code & 0xff) {
	case SQLITE_INTERRUPT:
		if (!query->timed_out)
			return error_set(err, STATUS_LIMIT, "interrupted");
		return error_set(err, STATUS_LIMIT,
			"the query took longer than %s; --timeout allows more",
			units_duration(text, (double)query->options.timeout_ns));
	case SQLITE_NOMEM:
		return error_set(err, STATUS_NOMEM,
			"the query needs more than %s of memory; --max-memory allows more",
			units_bytes(text, (double)query->options.max_memory_bytes));
	}
	return fail_at(err, query->denied[0] ? STATUS_DENIED : STATUS_USAGE, sql,
		start + (offset > 0 ? (size_t)offset : 0), message_of(query, message));
}

struct statements {
	sqlite3_stmt *items[STATEMENTS_MAX];
	size_t starts[STATEMENTS_MAX];
	size_t count;
};

/* The offset of the first character that is no white space. */
static size_t skip_space(const char *sql, size_t at)
{
	return at + strspn(sql + at, " \t\r\n\f;");
}

/* Compiles all statements; none of them has run when one is refused. */
static int prepare(
	struct query *query, const char *sql, struct statements *statements, struct error *err)
{
	const char *at = sql;

	while (*at) {
		size_t start = skip_space(sql, (size_t)(at - sql));
		sqlite3_stmt *statement;
		int code;

		query->denied[0] = 0;
		code = sqlite3_prepare_v3(query->db, sql + start, -1, 0, &statement, &at);
		if (code != SQLITE_OK)
			return fail(query, code, sql, start, err);
		if (!statement)
			continue; /* a comment */
		if (statements->count == STATEMENTS_MAX) {
			sqlite3_finalize(statement);
			return fail_at(err, STATUS_LIMIT, sql, start, "too many statements");
		}
		statements->items[statements->count] = statement;
		statements->starts[statements->count++] = start;
		if (!sqlite3_stmt_readonly(statement) || sqlite3_column_count(statement) == 0)
			return fail_at(
				err, STATUS_DENIED, sql, start, "only SELECT is allowed here");
		if (sqlite3_bind_parameter_count(statement))
			return fail_at(
				err, STATUS_USAGE, sql, start, "parameters have no values here");
	}
	if (statements->count == 0)
		return error_set(err, STATUS_USAGE, "there is no SQL statement");
	return STATUS_OK;
}

static void load_value(sqlite3_stmt *statement, int column, struct query_value *value)
{
	*value = (struct query_value){ .type = QUERY_NULL };
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		value->type = QUERY_INTEGER;
		value->integer = sqlite3_column_int64(statement, column);
		break;
	case SQLITE_FLOAT:
		value->type = QUERY_DOUBLE;
		value->real = sqlite3_column_double(statement, column);
		break;
	case SQLITE_TEXT:
		value->type = QUERY_TEXT;
		value->text = (const char *)sqlite3_column_text(statement, column);
		value->length = (size_t)sqlite3_column_bytes(statement, column);
		break;
	case SQLITE_BLOB:
		value->type = QUERY_BLOB;
		value->text = sqlite3_column_blob(statement, column);
		value->length = (size_t)sqlite3_column_bytes(statement, column);
		break;
	}
	/* Out of memory shows as a NULL text. */
	if (!value->text) {
		value->text = "";
		value->length = 0;
	}
}

static int run_rows(struct query *query, sqlite3_stmt *statement, struct query_value *values,
	size_t columns, const struct query_sink *sink, struct query_result *result, int *ret_code,
	struct error *err)
{
	int status = STATUS_OK;

	while (status == STATUS_OK && (*ret_code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (result->rows == query->options.max_rows)
			return error_set(err, STATUS_LIMIT,
				"the answer has more than %llu rows; --max-rows allows more",
				(unsigned long long)query->options.max_rows);
		result->rows++;
		for (size_t i = 0; i < columns; i++)
			load_value(statement, (int)i, &values[i]);
		status = sink->row(sink->context, values, columns);
	}
	return status;
}

static int run_one(struct query *query, const char *sql, const struct statements *statements,
	size_t index, const struct query_sink *sink, struct query_result *result, struct error *err)
{
	sqlite3_stmt *statement = statements->items[index];
	size_t columns = (size_t)sqlite3_column_count(statement);
	struct query_value *values = calloc(columns, sizeof *values);
	const char **names = calloc(columns, sizeof *names);
	int status = STATUS_NOMEM, code = SQLITE_DONE;

	if (!values || !names) {
		error_set(err, status, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < columns; i++) {
		names[i] = sqlite3_column_name(statement, (int)i);
		names[i] = names[i] ? names[i] : "";
	}
	status = sink->begin(sink->context, index, statements->count, names, columns);
	if (status == STATUS_OK)
		status = run_rows(query, statement, values, columns, sink, result, &code, err);
	if (status == STATUS_OK && code != SQLITE_DONE)
		status = fail(query, code, sql, statements->starts[index], err);
	if (status == STATUS_OK && sink->end)
		status = sink->end(sink->context);
out:
	free(names);
	free(values);
	return status;
}

int query_run(struct query *query, const char *sql, size_t length, const struct query_sink *sink,
	struct query_result *ret_result, struct error *err)
{
	struct statements statements = { .count = 0 };
	char *copy = malloc(length + 1);
	int status;

	memset(ret_result, 0, sizeof *ret_result);
	if (!copy)
		return error_set(err, STATUS_NOMEM, "out of memory");
	memcpy(copy, sql, length);
	copy[length] = 0;
	query->interrupted = 0;
	query->timed_out = false;
	query->deadline_ns = clock_mono_ns() + query->options.timeout_ns;
	if (strlen(copy) != length)
		status = fail_at(err, STATUS_USAGE, copy, strlen(copy), "a NUL byte");
	else if (length > QUERY_TEXT_MAX)
		status = error_set(err, STATUS_LIMIT, "more than %u bytes of SQL", QUERY_TEXT_MAX);
	else
		status = prepare(query, copy, &statements, err);
	for (size_t i = 0; i < statements.count && status == STATUS_OK; i++)
		status = run_one(query, copy, &statements, i, sink, ret_result, err);
	for (size_t i = 0; i < statements.count; i++)
		sqlite3_finalize(statements.items[i]);
	ret_result->statements = statements.count;
	ret_result->damaged_blocks = query->damaged_blocks;
	ret_result->demangle_missing = query->demangle_missing;
	free(copy);
	return status;
}
