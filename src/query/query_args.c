// SPDX-License-Identifier: MIT OR Apache-2.0
/* Arguments of spans: put together by row, as a table, and as JSON text. */
#include "query/query_internal.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* A row number has room for all arguments of a block. */
#define ARG_BITS 23
_Static_assert(SPANS_ARGS_MAX < 1u << ARG_BITS, "an argument's number has ARG_BITS bits");

void args_reader_init(struct args_reader *reader)
{
	memset(reader, 0, sizeof *reader);
	reader->block = SIZE_MAX;
}

void args_reader_release(struct args_reader *reader)
{
	if (reader->cursor.trace)
		trace_cursor_release(&reader->cursor);
	free(reader->starts);
	free(reader->args);
	args_reader_init(reader);
}

/* Arguments come grouped by key: a counting sort by row. */
static int gather(struct args_reader *reader)
{
	const struct span_batch *spans = &reader->cursor.spans;
	size_t rows = spans->count, *starts;

	if (array_grow((void **)&reader->starts, &reader->start_capacity, rows + 2,
		    sizeof *reader->starts) ||
		array_grow((void **)&reader->args, &reader->arg_capacity, spans->arg_count + 1,
			sizeof *reader->args))
		return STATUS_NOMEM;
	starts = reader->starts;
	memset(starts, 0, (rows + 2) * sizeof *starts);
	for (size_t i = 0; i < spans->arg_count; i++)
		starts[spans->args[i].row + 2]++;
	for (size_t i = 2; i < rows + 2; i++)
		starts[i] += starts[i - 1];
	/* While they are placed, starts[row + 1] is where the next one of the row goes. */
	for (size_t i = 0; i < spans->arg_count; i++)
		reader->args[starts[spans->args[i].row + 1]++] = spans->args[i];
	return STATUS_OK;
}

int args_reader_load(struct query *query, struct args_reader *reader, size_t block)
{
	int code;

	if (block == reader->block)
		return 1;
	if (block >= query->trace->block_count || query->trace->blocks[block].table != TABLE_SPANS)
		return 0;
	if (!reader->cursor.trace && trace_cursor_init(&reader->cursor, query->trace) != STATUS_OK)
		return -SQLITE_NOMEM;
	reader->block = SIZE_MAX;
	code = query_read_spans(query, &reader->cursor, block, true);
	if (code <= 0)
		return code;
	if (gather(reader) != STATUS_OK)
		return -SQLITE_NOMEM;
	reader->block = block;
	return 1;
}

const struct span_arg *args_reader_row(
	const struct args_reader *reader, uint32_t row, size_t *ret_count)
{
	*ret_count = 0;
	if (row >= reader->cursor.spans.count)
		return NULL;
	*ret_count = reader->starts[row + 1] - reader->starts[row];
	return reader->args + reader->starts[row];
}

static const char *text_of(const struct query *query, uint64_t string)
{
	return string <= UINT32_MAX ? string_table_borrow(&query->trace->strings, (uint32_t)string)
				    : "";
}

void query_result_arg(sqlite3_context *ctx, const struct query *query, const struct span_arg *arg)
{
	double real;

	switch (arg->type) {
	case ARG_INTEGER:
		sqlite3_result_int64(ctx, (int64_t)arg->value);
		break;
	case ARG_DOUBLE:
		memcpy(&real, &arg->value, sizeof real);
		sqlite3_result_double(ctx, real);
		break;
	default:
		query_result_string(ctx, query, arg->value);
	}
}

static void put_value(
	struct json_writer *json, const struct query *query, const struct span_arg *arg)
{
	double real;

	switch (arg->type) {
	case ARG_INTEGER:
		json_i64(json, (int64_t)arg->value);
		break;
	case ARG_DOUBLE:
		memcpy(&real, &arg->value, sizeof real);
		json_double(json, real);
		break;
	case ARG_JSON:
		json_raw(json, text_of(query, arg->value));
		break;
	default:
		json_string(json, text_of(query, arg->value));
	}
}

void query_result_args(
	sqlite3_context *ctx, struct query *query, struct args_reader *reader, int64_t id)
{
	const struct span_arg *args;
	struct json_writer json;
	size_t block, count;
	uint32_t row;
	int code;

	if (!span_id_split(id, &block, &row))
		return;
	code = args_reader_load(query, reader, block);
	if (code < 0)
		sqlite3_result_error_code(ctx, -code);
	if (code <= 0)
		return;
	args = args_reader_row(reader, row, &count);
	if (count == 0)
		return;
	json_writer_init(&json, NULL, NULL);
	json_object(&json);
	for (size_t i = 0; i < count; i++) {
		json_key(&json, text_of(query, args[i].key));
		put_value(&json, query, &args[i]);
	}
	json_object_end(&json);
	if (buffer_ok(&json.out))
		sqlite3_result_text64(ctx, (const char *)json.out.data, json.out.length,
			SQLITE_TRANSIENT, SQLITE_UTF8);
	else
		sqlite3_result_error_nomem(ctx);
	json_writer_release(&json);
}

enum arguments_column { ARGUMENTS_SPAN, ARGUMENTS_KEY, ARGUMENTS_TYPE, ARGUMENTS_VALUE };

static const struct query_column arguments_columns[] = {
	{ "span_id", "INTEGER", ROLE_ID, 0, false },
	{ "key", "TEXT", ROLE_KEY, 0, false },
	{ "type", "TEXT", ROLE_NONE, 0, false },
	{ "value", "", ROLE_NONE, 0, false },
	{ 0 },
};

struct arguments_cursor {
	sqlite3_vtab_cursor base;
	struct query *query;
	struct query_filter filter;
	struct args_reader reader;
	char *key;    /* only this one; NULL: all */
	size_t block; /* to be looked at next */
	size_t at, end;
	bool one, eof;   /* one: of one span */
	uint32_t key_id; /* the last key compared, and how it went */
	bool key_known, key_fits;
};

static int arguments_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct query_plan plan;
	int code;

	query_plan_conditions(&plan, (struct query_vtab *)base, TABLE_SPANS, info);
	code = query_plan_finish(&plan, info);
	if (plan.by_id)
		info->idxFlags = 0; /* one span, but several arguments */
	/* Arguments cost more to decode than the spans themselves. */
	info->estimatedCost = plan.by_id ? 30 : info->estimatedCost * 3;
	info->estimatedRows = plan.by_id ? 4 : info->estimatedRows * 3;
	return code;
}

static int arguments_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor)
{
	struct arguments_cursor *cursor = calloc(1, sizeof *cursor);

	if (!cursor)
		return SQLITE_NOMEM;
	cursor->query = ((struct query_vtab *)base)->query;
	cursor->eof = true;
	args_reader_init(&cursor->reader);
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int arguments_close(sqlite3_vtab_cursor *base)
{
	struct arguments_cursor *cursor = (struct arguments_cursor *)base;

	args_reader_release(&cursor->reader);
	query_filter_release(&cursor->filter);
	free(cursor->key);
	free(cursor);
	return SQLITE_OK;
}

static bool key_fits(struct arguments_cursor *cursor, uint32_t key)
{
	if (!cursor->key)
		return true;
	if (!cursor->key_known || cursor->key_id != key) {
		cursor->key_fits = strcmp(text_of(cursor->query, key), cursor->key) == 0;
		cursor->key_id = key;
		cursor->key_known = true;
	}
	return cursor->key_fits;
}

static int settle(struct arguments_cursor *cursor)
{
	const struct trace *trace = cursor->query->trace;

	for (;;) {
		int code;

		for (; cursor->at < cursor->end; cursor->at++)
			if (key_fits(cursor, cursor->reader.args[cursor->at].key))
				return SQLITE_OK;
		while (!cursor->one && cursor->block < trace->block_count &&
			trace->blocks[cursor->block].table != TABLE_SPANS)
			cursor->block++;
		if (cursor->one || cursor->block >= trace->block_count) {
			cursor->eof = true;
			return SQLITE_OK;
		}
		code = args_reader_load(cursor->query, &cursor->reader, cursor->block++);
		if (code < 0)
			return -code;
		cursor->at = 0;
		cursor->end = code ? cursor->reader.cursor.spans.arg_count : 0;
	}
}

static int set_key(struct arguments_cursor *cursor)
{
	sqlite3_value *key = cursor->filter.key;

	free(cursor->key);
	cursor->key = NULL;
	cursor->key_known = false;
	if (!key || sqlite3_value_type(key) != SQLITE_TEXT)
		return SQLITE_OK;
	cursor->key = strdup((const char *)sqlite3_value_text(key));
	return cursor->key ? SQLITE_OK : SQLITE_NOMEM;
}

static int arguments_filter(
	sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
	struct arguments_cursor *cursor = (struct arguments_cursor *)base;
	struct query_vtab *vtab = (struct query_vtab *)base->pVtab;
	int code = query_filter_set(&cursor->filter, vtab, text, argc, argv);
	size_t block, count;
	uint32_t row;

	(void)number;
	cursor->eof = cursor->one = true;
	cursor->at = cursor->end = 0;
	if (code == SQLITE_OK)
		code = set_key(cursor);
	if (code != SQLITE_OK || cursor->filter.none)
		return code;
	if (!(cursor->filter.ranges & 1u << ROLE_ID)) {
		cursor->eof = cursor->one = false;
		cursor->block = 0;
		return settle(cursor);
	}
	if (!span_id_split(cursor->filter.low[ROLE_ID], &block, &row))
		return SQLITE_OK;
	code = args_reader_load(cursor->query, &cursor->reader, block);
	if (code <= 0)
		return -code;
	args_reader_row(&cursor->reader, row, &count);
	if (count == 0)
		return SQLITE_OK;
	cursor->at = cursor->reader.starts[row];
	cursor->end = cursor->at + count;
	cursor->eof = false;
	return settle(cursor);
}

static int arguments_next(sqlite3_vtab_cursor *base)
{
	struct arguments_cursor *cursor = (struct arguments_cursor *)base;

	cursor->at++;
	return settle(cursor);
}

static int arguments_eof(sqlite3_vtab_cursor *base)
{
	return ((struct arguments_cursor *)base)->eof;
}

static int arguments_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int column)
{
	static const char *const types[] = { "integer", "double", "string", "json" };
	struct arguments_cursor *cursor = (struct arguments_cursor *)base;
	const struct span_arg *arg = &cursor->reader.args[cursor->at];

	switch (column) {
	case ARGUMENTS_SPAN:
		sqlite3_result_int64(ctx, span_id(cursor->reader.block, arg->row));
		break;
	case ARGUMENTS_KEY:
		query_result_string(ctx, cursor->query, arg->key);
		break;
	case ARGUMENTS_TYPE:
		sqlite3_result_text(
			ctx, arg->type < ARG_TYPES ? types[arg->type] : "?", -1, SQLITE_STATIC);
		break;
	default:
		query_result_arg(ctx, cursor->query, arg);
	}
	return SQLITE_OK;
}

static int arguments_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid)
{
	struct arguments_cursor *cursor = (struct arguments_cursor *)base;

	*ret_rowid = (sqlite3_int64)((uint64_t)cursor->reader.block << ARG_BITS | cursor->at);
	return SQLITE_OK;
}

const sqlite3_module query_arguments_module = {
	.xConnect = query_connect,
	.xBestIndex = arguments_best_index,
	.xDisconnect = query_disconnect,
	.xOpen = arguments_open,
	.xClose = arguments_close,
	.xFilter = arguments_filter,
	.xNext = arguments_next,
	.xEof = arguments_eof,
	.xColumn = arguments_column,
	.xRowid = arguments_rowid,
};

const struct query_table query_table_arguments = {
	.name = "arguments",
	.summary = "what was recorded with spans and marks: keys and values",
	.columns = arguments_columns,
	.module = &query_arguments_module,
};
