// SPDX-License-Identifier: MIT OR Apache-2.0
/* Columns to roles, cells to arguments. */
#include "import/nsys_rows.h"

#include "format/span_block.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS_MAX 512

struct nsys_column {
	enum nsys_role role;
	uint32_t key;
	unsigned rank; /* of names: the lowest that has a text is taken */
};

static struct nsys_column column_of(const char *name)
{
	static const struct {
		const char *name;
		enum nsys_role role;
		unsigned rank;
	} known[] = {
		{ "start", NSYS_START, 0 },
		{ "timestamp", NSYS_START, 0 },
		{ "end", NSYS_END, 0 },
		{ "globalTid", NSYS_TID, 0 },
		{ "globalPid", NSYS_PID, 0 },
		{ "deviceId", NSYS_DEVICE, 0 },
		{ "contextId", NSYS_CONTEXT, 0 },
		{ "streamId", NSYS_STREAM, 0 },
		{ "correlationId", NSYS_CORRELATION, 0 },
		{ "eventClass", NSYS_CLASS, 0 },
		{ "eventType", NSYS_CLASS, 0 },
		{ "memoryOperationType", NSYS_CLASS, 0 },
		{ "syncType", NSYS_CLASS, 0 },
		{ "copyKind", NSYS_CLASS, 0 },
		{ "srcKind", NSYS_SOURCE_KIND, 0 },
		{ "dstKind", NSYS_TARGET_KIND, 0 },
		{ "memKind", NSYS_TARGET_KIND, 0 },
		{ "bytes", NSYS_BYTES, 0 },
		{ "address", NSYS_ADDRESS, 0 },
		{ "graphId", NSYS_GRAPH, 0 },
		{ "typeId", NSYS_TYPE_ID, 0 },
		{ "metricId", NSYS_METRIC_ID, 0 },
		{ "value", NSYS_VALUE, 0 },
		{ "demangledName", NSYS_NAME, 1 },
		{ "text", NSYS_NAME, 2 },
		{ "textId", NSYS_NAME, 3 },
		{ "nameId", NSYS_NAME, 4 },
		{ "name", NSYS_NAME, 5 },
		{ "shortName", NSYS_NAME, 6 },
		{ "mangledName", NSYS_STRING, 0 },
		{ "jsonTextId", NSYS_STRING, 0 },
		{ "filenameId", NSYS_STRING, 0 },
		{ "contentId", NSYS_STRING, 0 },
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i].name, name) == 0)
			return (struct nsys_column){ .role = known[i].role, .rank = known[i].rank };
	return (struct nsys_column){ .role = NSYS_ARGUMENT };
}

bool nsys_rows_is_string(const char *column)
{
	enum nsys_role role = column_of(column).role;

	return role == NSYS_NAME || role == NSYS_STRING;
}

uint32_t nsys_rows_string(struct nsys_import *import, sqlite3_stmt *statement, int column)
{
	uint64_t found = 0;
	const char *text;

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		id_map_get(&import->strings, (uint64_t)sqlite3_column_int64(statement, column),
			&found);
		return (uint32_t)found;
	case SQLITE_TEXT:
		text = (const char *)sqlite3_column_text(statement, column);
		return event_args_key(&import->args, text ? text : "",
			text ? (size_t)sqlite3_column_bytes(statement, column) : 0);
	default:
		return 0;
	}
}

static void add_argument(
	struct nsys_import *import, sqlite3_stmt *statement, int column, uint32_t key)
{
	struct event_args *args = &import->args;
	const void *bytes;

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		event_args_add(
			args, key, ARG_INTEGER, (uint64_t)sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT:
		event_args_double(args, key, sqlite3_column_double(statement, column));
		break;
	case SQLITE_TEXT:
		event_args_add(args, key, ARG_STRING, nsys_rows_string(import, statement, column));
		break;
	case SQLITE_BLOB:
		bytes = sqlite3_column_blob(statement, column);
		event_args_bytes(args, key, bytes ? bytes : "",
			bytes ? (size_t)sqlite3_column_bytes(statement, column) : 0);
		break;
	default:
		break; /* NULL says nothing */
	}
}

/* The column that names this row, or -1. */
static int find_name(struct nsys_import *import, sqlite3_stmt *statement,
	const struct nsys_column *columns, int count, uint32_t *ret_name)
{
	int best = -1;

	*ret_name = 0;
	for (int i = 0; i < count; i++) {
		uint32_t name;

		if (columns[i].role != NSYS_NAME ||
			(best >= 0 && columns[i].rank > columns[best].rank))
			continue;
		name = nsys_rows_string(import, statement, i);
		if (name) {
			best = i;
			*ret_name = name;
		}
	}
	return best;
}

static void read_row(struct nsys_import *import, sqlite3_stmt *statement,
	const struct nsys_column *columns, int count, struct nsys_row *row)
{
	int name_column = find_name(import, statement, columns, count, &row->name);

	event_args_reset(&import->args);
	for (int i = 0; i < count; i++) {
		enum nsys_role role = columns[i].role;
		int type = sqlite3_column_type(statement, i);
		uint32_t string;

		if (i == name_column || type == SQLITE_NULL)
			continue;
		if (role == NSYS_VALUE && (type == SQLITE_INTEGER || type == SQLITE_FLOAT))
			row->number = sqlite3_column_double(statement, i);
		if (role > NSYS_NAME && type == SQLITE_INTEGER) {
			row->has[role] = true;
			row->value[role] = sqlite3_column_int64(statement, i);
		} else if (role == NSYS_VALUE && type == SQLITE_FLOAT) {
			row->has[role] = true;
		}
		if (role >= NSYS_START && role < NSYS_DEVICE && row->has[role])
			continue; /* the event's place and time tell it */
		string = role == NSYS_STRING || role == NSYS_NAME
				 ? nsys_rows_string(import, statement, i)
				 : 0;
		if (string)
			event_args_add(&import->args, columns[i].key, ARG_STRING, string);
		else
			add_argument(import, statement, i, columns[i].key);
	}
}

int nsys_rows_read(struct nsys_import *import, const struct nsys_table *table)
{
	struct nsys_column columns[COLUMNS_MAX];
	sqlite3_stmt *statement =
		nsys_file_query(&import->file, "SELECT * FROM \"%w\"", table->name);
	int count = statement ? sqlite3_column_count(statement) : 0;
	int result = SQLITE_DONE, status = STATUS_OK;
	char what[80];

	count = count < COLUMNS_MAX ? count : COLUMNS_MAX;
	for (int i = 0; i < count; i++) {
		const char *name = sqlite3_column_name(statement, i);

		columns[i] = column_of(name ? name : "");
		columns[i].key =
			event_args_key(&import->args, name ? name : "", name ? strlen(name) : 0);
	}
	while (status == STATUS_OK && statement &&
		(result = sqlite3_step(statement)) == SQLITE_ROW) {
		struct nsys_row row = { 0 };

		read_row(import, statement, columns, count, &row);
		import->events++;
		status = table->put(import, table, &row);
		if (status == STATUS_OK)
			status = import->args.status;
	}
	if (status == STATUS_OK && (!statement || result != SQLITE_DONE)) {
		snprintf(what, sizeof what, "the table %.50s is damaged", table->name);
		import_sink_skip(import->sink, what, "the rest of it was left out");
	}
	sqlite3_finalize(statement);
	return status;
}
