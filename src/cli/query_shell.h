/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Statements typed one after the other. */
#pragma once

#include "cli/query_output.h"

/* Reads standard input to its end: with history, editing and completion on a terminal, else plain
 * lines, where the first mistake ends it. Returns the exit status. */
int query_shell(const struct cli *cli, struct query *query, enum query_format format);

/* Runs SQL and writes the answer, here or to a file; prints what went wrong. Returns the exit
 * status. In cmd_query.c. */
int query_answer(const struct cli *cli, struct query *query, enum query_format format,
	const char *path, const char *sql, size_t length);
