/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of importers share: bytes as a file, converted and opened, and questions to the
 * trace. */
#pragma once

#include "import/import.h"
#include "trace/trace.h"

/* Makes a folder for input and output; the folder is removed by import_fixture_end(). */
void import_fixture_begin(void);
void import_fixture_end(void);

/* The status of converting these bytes; the message is in import_fixture_error. */
int import_fixture_convert(const void *bytes, size_t count, uint64_t max_memory);
extern struct error import_fixture_error;
/* Converts and opens; NULL when that fails, which is a failed check. */
struct trace *import_fixture_open(const void *bytes, size_t count);
/* The same for a file of tests/fuzz/corpus. */
struct trace *import_fixture_corpus(const char *name);
/* The bytes of such a file, to be freed. */
uint8_t *import_fixture_read(const char *name, size_t *ret_count);

/* Number of spans or instants of a name; times of the last one. Any of the outputs may be NULL. */
unsigned import_fixture_span(const struct trace *trace, const char *name, uint64_t *ret_start_ns,
	uint64_t *ret_duration_ns, const char **ret_category);
/* An argument of the last span of a name, as text; "" when it has none. */
const char *import_fixture_argument(const struct trace *trace, const char *name, const char *key);
/* Count of a ledger entry, 0 when there is none. */
uint64_t import_fixture_ledger(const struct trace *trace, const char *what);
const struct trace_track *import_fixture_track(const struct trace *trace, const char *name);
/* The cells of all rows of a plain table, in file order; `room` rows of `column` at most. */
size_t import_fixture_cells(const struct trace *trace, enum block_table table, unsigned column,
	uint64_t *cells, size_t room);
