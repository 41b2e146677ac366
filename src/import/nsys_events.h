/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the rows of each table of Nsight Systems are: work on a stream, calls on a thread, ranges,
 * counters, memory. */
#pragma once

#include "import/nsys_rows.h"

/* NULL for a table that we do not know; it is read by its columns. */
const struct nsys_table *nsys_events_find(const char *name);
/* Whether a table of this name tells that the file is of Nsight Systems. */
bool nsys_events_known(const char *name);

/* A row of a table that is not known: a span, or an instant when it has no end. */
int nsys_events_put(struct nsys_import *import, const struct nsys_table *table,
	const struct nsys_row *row) MUST_USE;

/* CPU samples, which lie in two tables. */
int nsys_events_samples(struct nsys_import *import) MUST_USE;
