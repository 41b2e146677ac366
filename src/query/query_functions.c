// SPDX-License-Identifier: MIT OR Apache-2.0
/* Functions beside SQLite's own: numbers as people read them, times of day, names of C++, the
 * argument of a span, the frames of a stack. */
#include "query/query_rows.h"

#include "base/units.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEMANGLE_MAX 16384

static void with_unit(
	sqlite3_context *ctx, sqlite3_value *value, char *(*put)(char text[UNITS_TEXT], double))
{
	char text[UNITS_TEXT];
	int type = sqlite3_value_numeric_type(value);

	if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
		sqlite3_result_text(
			ctx, put(text, sqlite3_value_double(value)), -1, SQLITE_TRANSIENT);
}

static void fn_duration(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	with_unit(ctx, argv[0], units_duration);
}

static void fn_bytes(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	with_unit(ctx, argv[0], units_bytes);
}

static void fn_ns_to_utc(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct query *query = sqlite3_user_data(ctx);
	uint64_t ns = query->trace->header.start_unix_ns;
	char text[64], fraction[16];
	struct tm tm;
	time_t seconds;
	int64_t value;

	(void)argc;
	if (sqlite3_value_numeric_type(argv[0]) == SQLITE_NULL)
		return;
	value = sqlite3_value_int64(argv[0]);
	/* A time before 1970 or beyond 64 bits is no time of a trace. */
	if (value < 0 ? (uint64_t) - (value + 1) >= ns : (uint64_t)value > UINT64_MAX - ns)
		return;
	ns += (uint64_t)value;
	seconds = (time_t)(ns / 1000000000u);
	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm))
		return;
	snprintf(fraction, sizeof fraction, ".%09uZ", (unsigned)(ns % 1000000000u));
	strncat(text, fraction, sizeof text - strlen(text) - 1);
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

/* The C++ runtime knows its own names; the tool does not depend on it, so it is looked for. */
static void find_demangle(struct query *query)
{
	static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1" };

	query->demangle_tried = true;
	for (size_t i = 0; i < sizeof libraries / sizeof libraries[0] && !query->demangle; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
		void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;

		memcpy(&query->demangle, &symbol, sizeof symbol);
	}
	query->demangle_missing = !query->demangle;
}

static void fn_demangle(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct query *query = sqlite3_user_data(ctx);
	const char *text = (const char *)sqlite3_value_text(argv[0]);
	char *name = NULL;
	int status = -1;

	(void)argc;
	if (!text)
		return;
	if (!query->demangle_tried)
		find_demangle(query);
	/* Without the prefix the runtime would take "i" for a mangled "int". */
	if (query->demangle && strncmp(text, "_Z", 2) == 0 && strlen(text) <= DEMANGLE_MAX)
		name = query->demangle(text, NULL, NULL, &status);
	if (name && status == 0)
		sqlite3_result_text(ctx, name, -1, SQLITE_TRANSIENT);
	else
		sqlite3_result_value(ctx, argv[0]);
	free(name);
}

static void fn_arg(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct query *query = sqlite3_user_data(ctx);
	const char *key = (const char *)sqlite3_value_text(argv[1]);
	const struct span_arg *args;
	size_t block, count;
	uint32_t row;
	int code;

	(void)argc;
	if (!key || sqlite3_value_numeric_type(argv[0]) != SQLITE_INTEGER ||
		!span_id_split(sqlite3_value_int64(argv[0]), &block, &row))
		return;
	code = args_reader_load(query, &query->args, block);
	if (code < 0)
		sqlite3_result_error_code(ctx, -code);
	if (code <= 0)
		return;
	args = args_reader_row(&query->args, row, &count);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(string_table_borrow(&query->trace->strings, args[i].key), key) != 0)
			continue;
		query_result_arg(ctx, query, &args[i]);
		return;
	}
}

static void fn_stack(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	if (sqlite3_value_numeric_type(argv[0]) == SQLITE_INTEGER)
		query_result_stack(
			ctx, sqlite3_user_data(ctx), (uint64_t)sqlite3_value_int64(argv[0]));
}

int query_add_functions(struct query *query)
{
	static const struct {
		const char *name;
		int arguments;
		void (*call)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
	} functions[] = {
		{ "arg", 2, fn_arg },
		{ "bytes", 1, fn_bytes },
		{ "demangle", 1, fn_demangle },
		{ "duration", 1, fn_duration },
		{ "ns_to_utc", 1, fn_ns_to_utc },
		{ "stack", 1, fn_stack },
	};
	int code = SQLITE_OK;

	for (size_t i = 0; i < sizeof functions / sizeof functions[0] && code == SQLITE_OK; i++)
		code = sqlite3_create_function_v2(query->db, functions[i].name,
			functions[i].arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC, query,
			functions[i].call, NULL, NULL, NULL);
	return code;
}
