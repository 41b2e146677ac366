/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Answers of queries on their way out: an aligned table, CSV or a JSON document. Rows are written
 * as they come; a table looks at the first ones to find its widths. */
#pragma once

#include "cli/cli_output.h"
#include "query/query.h"

#define QUERY_FORMAT_WORDS "table|csv|json"
enum query_format { QUERY_FORMAT_TABLE, QUERY_FORMAT_CSV, QUERY_FORMAT_JSON };
enum query_format query_format_of(const char *word);

/* A column of a table. */
struct query_output_column {
	size_t width; /* terminal columns */
	bool text;    /* some value is one: aligned to the left */
};

struct query_output {
	struct cli_output output;
	struct query_sink sink; /* for query_run() */
	enum query_format format;
	bool whole;     /* a file that appears only when it is whole */
	unsigned width; /* that a table is cut to; 0: not cut */
	bool bold;      /* titles of a table */
	/* The first rows of a table, until the widths are known. */
	struct query_output_column *columns;
	size_t column_count;
	struct buffer cells; /* each with a NUL behind it, titles first */
	size_t *starts;      /* of the cells */
	size_t start_count, start_capacity;
	bool laid_out; /* widths are settled, rows go straight out */
	bool several;  /* statements */
};

/* `path` NULL: standard output. */
int query_output_open(struct query_output *output, const struct cli *cli, enum query_format format,
	const char *path, struct error *err) MUST_USE;
/* Ends the document; `failed` is the query's error, which a JSON document ends with, or NULL. A
 * file is left out then. err->status tells how the writing went. */
void query_output_finish(
	struct query_output *output, const struct error *failed, struct error *err);
