/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Questions and answers for the tests of SQL. */
#pragma once

#include "query/query.h"

/* Runs SQL and gives the answer as text, to be freed: cells with '|' between them, a line for each
 * row. A failed query gives "error: ...". */
char *ask(struct query *query, const char *sql);
/* The same with its lines sorted. */
char *ask_sorted(struct query *query, const char *sql);
/* Opens a query; a check fails when it cannot. */
struct query *asker_open(const struct trace *trace, const struct query_options *options);

/* A trace of several thousand spans in many blocks, random but the same each time: threads of two
 * processes, a stream, instants with arguments, counters, marks, links. Returns its path. */
const char *asker_random_trace(void);
