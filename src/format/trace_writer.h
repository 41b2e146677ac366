/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Writing a .tacho file: header, blocks as they come, dictionaries in front of the blocks that use
 * them, ledger, index and trailer. A file without its trailer is still readable: see trace/. */
#pragma once

#include "format/block.h"
#include "format/trace_dict.h"

#include <stdbool.h>

/* What went wrong and what was left out. Totals first, then entries. */
struct ledger {
	uint64_t produced, recorded, dropped, repaired, skipped;
	double overhead_percent; /* negative: not known */
	uint64_t clock_error_ns;
	struct ledger_entry *entries;
	size_t count, capacity;
};

struct ledger_entry {
	char what[80];
	uint64_t count;
	char where[80];
	char effect[160];
};

void ledger_init(struct ledger *ledger);
void ledger_release(struct ledger *ledger);
/* Adds `count` to the entry with the same `what` and `where`, or makes one. Out of memory is
 * ignored: the ledger is the last to fail. */
void ledger_add(struct ledger *ledger, uint64_t count, const char *what, const char *where,
	const char *effect);

struct trace_writer {
	int fd;
	char *path, *temporary; /* temporary is NULL when written in place */
	uint64_t offset;
	struct block_codec *codec;
	struct table_rows index;
	struct trace_dict_mark mark;
	struct buffer raw, encoded;
	bool failed; /* a write failed; nothing more is written */
};

/* Creates the file. In place: `path` itself, for a recording in progress; else under a temporary
 * name beside it, renamed by trace_writer_finish(). */
int trace_writer_open(struct trace_writer *writer, const char *path, bool in_place,
	const struct file_header *header, struct error *err) MUST_USE;

/* Writes what is new in `dict`. Call before blocks that refer to it. */
int trace_writer_dict(
	struct trace_writer *writer, const struct trace_dict *dict, struct error *err) MUST_USE;

/* Writes a block that is already encoded (header and stored bytes). */
int trace_writer_block(struct trace_writer *writer, const struct block_header *header,
	const void *bytes, size_t count, struct error *err) MUST_USE;

/* Encodes and writes rows of a plain table. */
int trace_writer_rows(struct trace_writer *writer, enum block_table table,
	const struct table_rows *rows, struct error *err) MUST_USE;

int trace_writer_ledger(struct trace_writer *writer, struct trace_dict *dict,
	const struct ledger *ledger, struct error *err) MUST_USE;

/* Writes index and trailer, syncs nothing, closes, renames. The writer is released either way. */
int trace_writer_finish(struct trace_writer *writer, struct error *err) MUST_USE;
/* Gives up: closes, and removes a temporary file. Harmless after finish. */
void trace_writer_release(struct trace_writer *writer);
