/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where the collector's rows become blocks: written to a file as they come, or kept in memory by
 * the flight recorder, bounded by time and bytes, until somebody asks for a dump. */
#pragma once

#include "format/span_block.h"
#include "format/trace_writer.h"

#include <stdbool.h>

struct kept_block {
	struct block_header header;
	uint8_t *bytes;
	size_t count;
};

struct store {
	struct trace_dict dict;
	struct file_header header;
	struct ledger ledger;
	struct table_rows metadata;
	size_t metadata_written;
	struct block_codec *codec;
	struct buffer raw, encoded;
	/* file */
	struct trace_writer writer;
	bool writing;
	uint64_t max_bytes;
	char failure[256]; /* why nothing more is written; "" while all is well */
	uint64_t rows_written, rows_skipped;
	/* flight recorder */
	bool flight;
	uint64_t last_ns, last_bytes, kept_bytes;
	struct kept_block *kept; /* a queue: [head, head + count) of a growing array */
	size_t kept_head, kept_count, kept_capacity;
	uint64_t evicted_rows, newest_ns;
};

int store_init(struct store *store, const struct file_header *header) MUST_USE;
/* Full recording: `path` is made now and appended to in place. */
int store_open_file(
	struct store *store, const char *path, uint64_t max_bytes, struct error *err) MUST_USE;
/* Flight recorder: keep `last_ns` of time and at most `last_bytes`. */
void store_keep(struct store *store, uint64_t last_ns, uint64_t last_bytes);
void store_release(struct store *store);

/* Encodes the builder's spans as a block of `track` and empties it. Never fails: what cannot be
 * kept is counted as skipped. */
void store_spans(struct store *store, uint32_t track, struct span_builder *builder);
/* The same for rows of a plain table. */
void store_rows(struct store *store, enum block_table table, struct table_rows *rows);

/* A fact about the run; a later value of the same key wins. */
void store_metadata(struct store *store, const char *key, const char *value);
void store_metadata_n(struct store *store, const char *key, const char *value, size_t value_bytes);
/* Writes metadata and ledger as they stand, so that a killed collector leaves them behind. */
void store_checkpoint(struct store *store);

/* Flight recorder: writes the past `last_ns` (0: all that is kept) to a new file. */
int store_dump(struct store *store, const char *path, uint64_t last_ns, struct error *err) MUST_USE;
/* Full recording: metadata, ledger, index, trailer. */
int store_finish(struct store *store, struct error *err) MUST_USE;
