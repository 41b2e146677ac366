/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SQL over an open trace: virtual tables of SQLite that read blocks as they are needed, with time,
 * track and name handed down to the index. A query only reads, whoever wrote it: everything but
 * SELECT is refused, and memory, time and rows are limited. docs/query.md describes the tables.
 * Nothing here prints. One thread at a time may use a struct query. */
#pragma once

#include "base/json_writer.h"
#include "trace/trace.h"

#include <stdbool.h>

struct query_options {
	/* Memory of SQLite and of sorting, for the whole process; 0: QUERY_MEMORY_DEFAULT. */
	uint64_t max_memory_bytes;
	uint64_t sort_bytes; /* of it, to put spans in order; 0: half of it */
	uint64_t timeout_ns; /* of one call of query_run(); 0: QUERY_TIMEOUT_DEFAULT */
	uint64_t max_rows;   /* of one call of query_run(); 0: QUERY_ROWS_DEFAULT */
	/* Hands nothing down: each table is read from end to end. For tests and measurements, since
	 * the answers must be the same. */
	bool plain;
};
#define QUERY_MEMORY_DEFAULT  (512ull << 20)
#define QUERY_MEMORY_MIN      (8ull << 20)
#define QUERY_TIMEOUT_DEFAULT 60000000000ull
#define QUERY_ROWS_DEFAULT    1000000ull
#define QUERY_TEXT_MAX        (1u << 20) /* bytes of SQL */

enum query_type { QUERY_NULL, QUERY_INTEGER, QUERY_DOUBLE, QUERY_TEXT, QUERY_BLOB };

/* A cell of the answer; texts are lent until the callback returns. */
struct query_value {
	enum query_type type;
	int64_t integer;
	double real;
	const char *text; /* texts and blobs; not always NUL-terminated */
	size_t length;
};

/* Takes the answer. Each call returns STATUS_OK to go on. */
struct query_sink {
	void *context;
	/* A statement's columns; `index` of `statements`. */
	int (*begin)(void *context, size_t index, size_t statements, const char *const *columns,
		size_t count);
	int (*row)(void *context, const struct query_value *values, size_t count);
	int (*end)(void *context); /* of a statement that ran to its end */
};

struct query_result {
	uint64_t rows;
	size_t statements;
	uint64_t damaged_blocks; /* left out: what they held is missing from the answer */
	bool demangle_missing;   /* demangle() was asked for and found no C++ library */
};

struct query;
/* The trace must outlive the query. */
int query_open(const struct trace *trace, const struct query_options *options,
	struct query **ret_query, struct error *err) MUST_USE;
void query_close(struct query *query);
/* Runs the statements of `sql` in order. All are checked before the first one runs. The message has
 * the place in the text when there is one: STATUS_USAGE for SQL that is wrong, STATUS_DENIED for
 * what is not allowed, STATUS_LIMIT for time and rows, STATUS_NOMEM, or what the sink returned.
 * `ret_result` is filled either way. */
int query_run(struct query *query, const char *sql, size_t length, const struct query_sink *sink,
	struct query_result *ret_result, struct error *err) MUST_USE;
/* Ends the running query soon; may be called from a signal handler. */
void query_interrupt(struct query *query);
/* Whether the text ends with a whole statement; for shells that read line by line. */
bool query_is_complete(const char *sql);

/* The tables, for listings and completion. */
struct query_column {
	const char *name;
	const char *type; /* "" when it depends on the row */
	uint8_t role;     /* internal: what a condition on it means */
	uint8_t cell;     /* internal: where its value comes from */
	bool hidden;      /* not in SELECT * */
};
struct query_table {
	const char *name;
	const char *summary;
	const struct query_column *columns; /* ends with a NULL name */
	const struct sqlite3_module *module;
	const void *detail; /* internal */
	const char *key;    /* internal: column that stands for the row number, or NULL */
};
extern const struct query_table *const query_tables[]; /* sorted by name, ends with NULL */
/* Words worth completing: keywords and functions, sorted. */
const char *const *query_words(size_t *ret_count);

/* The answer as text. CSV: to `out`, from which the caller takes it whenever it likes; JSON: the
 * keys `columns` and `rows` inside an object that is open already, or with several statements the
 * key `results` with an array of such objects. */
void query_csv_row(struct buffer *out, const struct query_value *values, size_t count);
void query_csv_columns(struct buffer *out, const char *const *columns, size_t count);
void query_json_value(struct json_writer *json, const struct query_value *value);
/* A value as people read it, appended to `out`: texts as they are, blobs as hexadecimal digits. */
void query_text_value(struct buffer *out, const struct query_value *value);
