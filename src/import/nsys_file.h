/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A foreign SQLite file, opened so that nothing in it can act: read-only, immutable, no triggers,
 * no views, no functions from its schema. Packed files and standard input are unpacked into an
 * unlinked temporary first. */
#pragma once

#include "import/import_sink.h"
#include "import/import_source.h"

#include <sqlite3.h>

struct nsys_file {
	sqlite3 *db;
	int spool_fd;                  /* -1: none */
	void *map;                     /* of the temporary */
	uint64_t bytes, missing_bytes; /* missing: by the file's own header */
};

int nsys_file_open(struct nsys_file *file, struct import_source *source,
	const struct import_sink *sink, struct error *err) MUST_USE;
void nsys_file_close(struct nsys_file *file);

/* A statement with the table's name in place of %w; NULL when the table cannot be read. */
sqlite3_stmt *nsys_file_query(const struct nsys_file *file, const char *sql, const char *table);
bool nsys_file_has(const struct nsys_file *file, const char *table, const char *column);
