// SPDX-License-Identifier: MIT OR Apache-2.0
/* Nsight Systems, exported to SQLite. Tables are there or not, as the recording had such events;
 * what each holds is in the table at the end of nsys_events.c. Times are nanoseconds from the start
 * of the session. */
#include "import/nsys_events.h"

#include "base/json_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FACTS_MAX_BYTES (1u << 20) /* of one table kept as metadata */

static int read_strings(struct nsys_import *import)
{
	sqlite3_stmt *statement =
		nsys_file_query(&import->file, "SELECT id, value FROM \"%w\"", "StringIds");
	int status = STATUS_OK;

	while (status == STATUS_OK && statement && sqlite3_step(statement) == SQLITE_ROW) {
		uint32_t string;

		if (sqlite3_column_type(statement, 0) != SQLITE_INTEGER ||
			sqlite3_column_type(statement, 1) != SQLITE_TEXT)
			continue;
		string = nsys_rows_string(import, statement, 1);
		status = import->args.status;
		if (status == STATUS_OK)
			status = id_map_put(&import->strings,
				(uint64_t)sqlite3_column_int64(statement, 0), string);
	}
	sqlite3_finalize(statement);
	return status;
}

/* Names by number: pairs of the first two columns of a query. */
static int read_names(
	struct nsys_import *import, const char *sql, const char *table, struct id_map *names)
{
	sqlite3_stmt *statement = nsys_file_query(&import->file, sql, table);
	int status = STATUS_OK;

	while (status == STATUS_OK && statement && sqlite3_step(statement) == SQLITE_ROW) {
		uint32_t string;

		if (sqlite3_column_type(statement, 0) != SQLITE_INTEGER)
			continue;
		string = nsys_rows_string(import, statement, 1);
		status = import->args.status;
		if (status == STATUS_OK && string)
			status = id_map_put(
				names, (uint64_t)sqlite3_column_int64(statement, 0), string);
	}
	sqlite3_finalize(statement);
	return status;
}

static int read_session(struct nsys_import *import)
{
	sqlite3_stmt *statement = nsys_file_query(&import->file,
		"SELECT utcEpochNs FROM \"%w\" LIMIT 1", "TARGET_INFO_SESSION_START_TIME");
	int status;

	if (statement && sqlite3_step(statement) == SQLITE_ROW &&
		sqlite3_column_type(statement, 0) == SQLITE_INTEGER) {
		int64_t epoch = sqlite3_column_int64(statement, 0);

		if (epoch > 0 && epoch < INT64_MAX / 2)
			import_sink_epoch(import->sink, epoch);
	}
	sqlite3_finalize(statement);
	status = read_names(import, "SELECT globalPid, name FROM \"%w\"", "PROCESSES",
		&import->tracks.process_names);
	if (status == STATUS_OK)
		status = read_names(import, "SELECT globalTid, nameId FROM \"%w\"", "ThreadNames",
			&import->tracks.thread_names);
	if (status == STATUS_OK)
		status = read_names(import,
			"SELECT typeId * 65536 + metricId, metricName FROM \"%w\"",
			"TARGET_INFO_GPU_METRICS", &import->metrics);
	return status;
}

static void put_cell(struct nsys_import *import, struct json_writer *json, sqlite3_stmt *statement,
	int column, const char *name)
{
	struct buffer text;
	const void *bytes;
	uint32_t string;

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		/* StringIds itself is not kept: what refers to it is. */
		string =
			nsys_rows_is_string(name) ? nsys_rows_string(import, statement, column) : 0;
		if (string)
			json_string(
				json, string_table_borrow(
					      &import_sink_dict(import->sink)->strings, string));
		else
			json_i64(json, sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT:
		json_double(json, sqlite3_column_double(statement, column));
		break;
	case SQLITE_TEXT:
		bytes = sqlite3_column_text(statement, column);
		json_string_n(json, bytes ? bytes : "",
			bytes ? (size_t)sqlite3_column_bytes(statement, column) : 0);
		break;
	case SQLITE_BLOB:
		buffer_init(&text);
		bytes = sqlite3_column_blob(statement, column);
		event_base64(
			&text, bytes, bytes ? (size_t)sqlite3_column_bytes(statement, column) : 0);
		json_string_n(json, text.length ? (char *)text.data : "", text.length);
		buffer_release(&text);
		break;
	default:
		json_null(json);
		break;
	}
}

/* A table without times, as one JSON list of its rows. */
static int keep_facts(struct nsys_import *import, const char *table)
{
	sqlite3_stmt *statement = nsys_file_query(&import->file, "SELECT * FROM \"%w\"", table);
	struct json_writer json;
	uint64_t rows = 0, left_out = 0;
	char key[160];
	int status = STATUS_OK;

	json_writer_init(&json, NULL, NULL);
	json_array(&json);
	while (statement && sqlite3_step(statement) == SQLITE_ROW) {
		if (json.out.length > FACTS_MAX_BYTES) {
			left_out++;
			continue;
		}
		rows++;
		json_object(&json);
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *name = sqlite3_column_name(statement, i);

			json_key(&json, name ? name : "");
			put_cell(import, &json, statement, i, name ? name : "");
		}
		json_object_end(&json);
	}
	json_array_end(&json);
	sqlite3_finalize(statement);
	snprintf(key, sizeof key, "nsys.%.120s", table);
	if (json_writer_finish(&json) < 0)
		status = STATUS_NOMEM;
	else if (rows)
		status = import_sink_metadata(
			import->sink, key, (char *)json.out.data, json.out.length);
	if (left_out)
		ledger_add(import_sink_ledger(import->sink), left_out, key, "import",
			"rows beyond the first MiB of a table without times were left out");
	json_writer_release(&json);
	return status;
}

static int read_table(struct nsys_import *import, const char *name)
{
	const struct nsys_table *known = nsys_events_find(name);
	struct nsys_table other = {
		.name = name, .title = name, .category = "", .put = nsys_events_put
	};

	if (strcmp(name, "StringIds") == 0)
		return STATUS_OK;
	if (known)
		return nsys_rows_read(import, known);
	if (nsys_file_has(&import->file, name, "start") ||
		nsys_file_has(&import->file, name, "timestamp"))
		return nsys_rows_read(import, &other);
	return keep_facts(import, name);
}

/* The names of all real tables; virtual ones would run code of ours on their behalf. */
static int list_tables(struct nsys_import *import, struct string_table *ret_names)
{
	sqlite3_stmt *statement = nsys_file_query(&import->file,
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%%' "
		"ESCAPE '\\' AND sql LIKE 'CREATE TABLE%%' ORDER BY rowid",
		"");
	int result = SQLITE_ERROR;

	while (statement && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 0);
		uint32_t id;

		if (name && string_table_add(ret_names, name, strlen(name), &id) != STATUS_OK) {
			sqlite3_finalize(statement);
			return event_fail(import->err, STATUS_NOMEM);
		}
	}
	sqlite3_finalize(statement);
	if (result == SQLITE_DONE)
		return STATUS_OK;
	return error_set_at(import->err, STATUS_FORMAT,
		import->file.missing_bytes ? import->file.bytes : 0, "damaged SQLite file: %s",
		sqlite3_errmsg(import->file.db));
}

static int read_tables(struct nsys_import *import)
{
	struct string_table names;
	int status = string_table_init(&names, 16 << 20);
	bool known = false;

	if (status != STATUS_OK)
		return event_fail(import->err, status);
	status = list_tables(import, &names);
	for (uint32_t i = 1; i < names.count; i++)
		known |= nsys_events_known(string_table_borrow(&names, i));
	if (status == STATUS_OK && !known)
		status = error_set_at(import->err, STATUS_FORMAT, 0,
			"an SQLite file, but none of Nsight Systems: it has none of its tables");
	if (status == STATUS_OK) {
		status = read_strings(import);
		if (status == STATUS_OK)
			status = read_session(import);
		for (uint32_t i = 1; status == STATUS_OK && i < names.count; i++)
			status = read_table(import, string_table_borrow(&names, i));
		if (status == STATUS_OK)
			status = nsys_events_samples(import);
		if (status != STATUS_OK)
			event_fail(import->err, status);
	}
	string_table_release(&names);
	return status;
}

static int run_nsys(struct import_source *source, struct import_sink *sink, struct error *err)
{
	struct nsys_import *import = calloc(1, sizeof *import);
	int status;

	if (!import)
		return error_set(err, STATUS_NOMEM, "out of memory");
	import->sink = sink;
	import->err = err;
	nsys_tracks_init(&import->tracks, sink);
	event_args_init(&import->args, sink);
	buffer_init(&import->text);
	status = nsys_file_open(&import->file, source, sink, err);
	if (status == STATUS_OK) {
		status = read_tables(import);
		if (status == STATUS_OK && import->file.missing_bytes)
			import_sink_skip(sink, "the file is shorter than it says",
				"tables that lay behind its end were left out");
		event_args_finish(&import->args);
		nsys_file_close(&import->file);
	}
	nsys_tracks_release(&import->tracks);
	id_map_release(&import->strings);
	id_map_release(&import->metrics);
	buffer_release(&import->text);
	free(import);
	return status;
}

static int detect_nsys(const uint8_t *head, size_t count)
{
	static const char magic[] = "SQLite format 3"; /* with its NUL */

	return count >= sizeof magic && memcmp(head, magic, sizeof magic) == 0 ? 90 : 0;
}

const struct importer import_nsys = {
	.name = "nsys",
	.summary = "Nsight Systems, exported to SQLite",
	.version = 1,
	.whole_file = true,
	.detect = detect_nsys,
	.run = run_nsys,
};
