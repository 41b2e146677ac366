// SPDX-License-Identifier: MIT OR Apache-2.0
/* What makes a query safe to take from a stranger: only SELECT over our tables, only functions that
 * compute, and limits. Everything is refused that is not listed. */
#include "query/query_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Functions that may be called, sorted. */
static const char *const functions[] = { "->", "->>", "abs", "acos", "acosh", "arg", "asin",
	"asinh", "atan", "atan2", "atanh", "avg", "bytes", "ceil", "ceiling", "char", "coalesce",
	"concat", "concat_ws", "cos", "cosh", "count", "cume_dist", "current_date", "current_time",
	"current_timestamp", "date", "datetime", "degrees", "demangle", "dense_rank", "duration",
	"exp", "first_value", "floor", "format", "glob", "group_concat", "hex", "ifnull", "iif",
	"instr", "json", "json_array", "json_array_length", "json_each", "json_extract",
	"json_group_array", "json_group_object", "json_insert", "json_object", "json_patch",
	"json_quote", "json_remove", "json_replace", "json_set", "json_tree", "json_type",
	"json_valid", "julianday", "lag", "last_value", "lead", "length", "like", "likelihood",
	"likely", "ln", "log", "log10", "log2", "lower", "ltrim", "max", "min", "mod", "ns_to_utc",
	"nth_value", "ntile", "nullif", "octet_length", "percent_rank", "pi", "pow", "power",
	"printf", "quote", "radians", "random", "randomblob", "rank", "replace", "round",
	"row_number", "rtrim", "sign", "sin", "sinh", "soundex", "sqlite_version", "sqrt", "stack",
	"strftime", "string_agg", "substr", "substring", "sum", "tan", "tanh", "time", "timediff",
	"total", "trim", "trunc", "typeof", "unhex", "unicode", "unixepoch", "unlikely", "upper",
	"zeroblob" };

static const char *const keywords[] = { "ALL", "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST",
	"COLLATE", "CROSS", "DESC", "DISTINCT", "ELSE", "END", "ESCAPE", "EXCEPT", "EXISTS",
	"FILTER", "FROM", "FULL", "GLOB", "GROUP", "HAVING", "IN", "INNER", "INTERSECT", "IS",
	"JOIN", "LEFT", "LIKE", "LIMIT", "MATERIALIZED", "NATURAL", "NOT", "NULL", "NULLS",
	"OFFSET", "ON", "OR", "ORDER", "OUTER", "OVER", "PARTITION", "PRECEDING", "RANGE",
	"RECURSIVE", "RIGHT", "ROWS", "SELECT", "THEN", "UNBOUNDED", "UNION", "USING", "VALUES",
	"WHEN", "WHERE", "WINDOW", "WITH" };

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

const char *const *query_words(size_t *ret_count)
{
	static const char *words[COUNT_OF(keywords) + COUNT_OF(functions) - 2];

	if (!words[0]) {
		memcpy(words, keywords, sizeof keywords);
		/* The two arrows are no words. */
		memcpy(words + COUNT_OF(keywords), functions + 2,
			sizeof functions - 2 * sizeof *words);
	}
	*ret_count = COUNT_OF(words);
	return words;
}

static int compare_words(const void *a, const void *b)
{
	return strcasecmp(a, *(const char *const *)b);
}

static bool known_function(const char *name)
{
	return name &&
	       bsearch(name, functions, COUNT_OF(functions), sizeof *functions, compare_words);
}

static bool known_table(const char *name)
{
	if (!name)
		return false;
	for (size_t i = 0; query_tables[i]; i++)
		if (strcasecmp(query_tables[i]->name, name) == 0)
			return true;
	return strcasecmp(name, "json_each") == 0 || strcasecmp(name, "json_tree") == 0;
}

static const char *action_name(int action)
{
	switch (action) {
	case SQLITE_ATTACH:
		return "ATTACH";
	case SQLITE_DETACH:
		return "DETACH";
	case SQLITE_PRAGMA:
		return "PRAGMA";
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
		return "changing data or tables";
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
		return "a transaction";
	case SQLITE_ANALYZE:
		return "ANALYZE";
	case SQLITE_REINDEX:
		return "REINDEX";
	default:
		return "changing tables";
	}
}

static int deny(struct query *query, const char *what, const char *name)
{
	/* The first refusal is the one that matters: what follows from it is noise. */
	if (!query->denied[0])
		snprintf(query->denied, sizeof query->denied, "%s%s%.64s is not allowed: %s", what,
			*name ? " " : "", name,
			*name ? "see docs/query.md" : "a query can only SELECT");
	return SQLITE_DENY;
}

static int authorize(void *context, int action, const char *first, const char *second,
	const char *database, const char *origin)
{
	struct query *query = context;

	(void)database, (void)origin;
	if (query->declaring)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_READ:
		/* No column is read of what is only counted, which may be a common table
		 * expression. */
		if (second && !*second)
			return SQLITE_OK;
		return known_table(first) ? SQLITE_OK
					  : deny(query, "the table", first ? first : "?");
	case SQLITE_FUNCTION:
		return known_function(second) ? SQLITE_OK
					      : deny(query, "the function", second ? second : "?");
	default:
		return deny(query, action_name(action), "");
	}
}

static int progress(void *context)
{
	return query_check(context) != SQLITE_OK;
}

/* Modules of SQLite's own that could be used without being created. */
static int drop_modules(sqlite3 *db)
{
	const char *keep[32];
	size_t count = 0;

	for (; query_tables[count]; count++)
		keep[count] = query_tables[count]->name;
	keep[count++] = "json_each";
	keep[count++] = "json_tree";
	keep[count] = NULL;
	return sqlite3_drop_modules(db, keep);
}

int query_guard(struct query *query)
{
	static const struct {
		int id, value;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, 16 << 20 },
		{ SQLITE_LIMIT_SQL_LENGTH, QUERY_TEXT_MAX },
		{ SQLITE_LIMIT_COLUMN, 500 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 200 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 100 },
		{ SQLITE_LIMIT_VDBE_OP, 1 << 20 },
		{ SQLITE_LIMIT_FUNCTION_ARG, 64 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, QUERY_PATTERN_MAX },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 100 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 0 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};
	static const struct {
		int id, value;
	} settings[] = {
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_DQS_DML, 0 },
		{ SQLITE_DBCONFIG_DQS_DDL, 0 },
	};

	if (drop_modules(query->db) != SQLITE_OK)
		return SQLITE_ERROR;
	for (size_t i = 0; i < COUNT_OF(settings); i++)
		if (sqlite3_db_config(query->db, settings[i].id, settings[i].value, NULL) !=
			SQLITE_OK)
			return SQLITE_ERROR;
	for (size_t i = 0; i < COUNT_OF(limits); i++)
		sqlite3_limit(query->db, limits[i].id, limits[i].value);
	/* Sorting stays in memory, where the limit holds: a stranger shall not fill the disk.
	 * Tables of SQLite's that are allowed declare themselves now, while that is no change of
	 * tables. */
	if (sqlite3_exec(query->db,
		    "PRAGMA temp_store = MEMORY; SELECT 1 FROM json_each('[]'), json_tree('[]')",
		    NULL, NULL, NULL) != SQLITE_OK)
		return SQLITE_ERROR;
	sqlite3_hard_heap_limit64((sqlite3_int64)query->options.max_memory_bytes);
	sqlite3_progress_handler(query->db, 4000, progress, query);
	return sqlite3_set_authorizer(query->db, authorize, query);
}
