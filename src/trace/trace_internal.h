/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared by the files of trace/: reading of bytes and blocks, and the steps of opening. */
#pragma once

#include "trace/trace.h"

/* Limits on what a file can make us keep; a larger file ends in STATUS_LIMIT, not in swap. */
#define TRACE_STRINGS_BYTES_MAX ((size_t)2 << 30)
#define TRACE_ENTRIES_MAX       (16u << 20) /* of each dictionary */
#define TRACE_TRACKS_MAX        (4u << 20)
#define TRACE_GAP_MAX           (1u << 20)  /* entries made up for lost dictionary blocks */
#define TRACE_GAP_PER_BLOCK     (64u << 10) /* what a writer puts into one such block */
#define TRACE_NOTES_MAX         256u /* places named one by one in the ledger while opening */
#define TRACE_LEDGER_MAX        4096u

/* Reads exactly `count` bytes at `offset`. */
int trace_read_at(const struct trace *trace, void *bytes, size_t count, uint64_t offset,
	struct error *err) MUST_USE;

/* Reads and unpacks a block into `raw` and checks that it is the one the index speaks of. */
int trace_read_block(const struct trace *trace, size_t block, struct block_codec *codec,
	struct buffer *stored, struct buffer *raw, struct error *err) MUST_USE;

/* Fills trace->blocks from the index; STATUS_FORMAT when there is none that can be trusted. */
int trace_index_load(struct trace *trace, struct error *err) MUST_USE;
/* Fills trace->blocks from the blocks themselves, stepping over damage. */
int trace_scan(struct trace *trace, struct error *err) MUST_USE;
/* Adds a block; `header` is trusted as far as its checksum goes. */
int trace_blocks_add(struct trace *trace, size_t *capacity, uint64_t offset,
	const struct block_header *header) MUST_USE;

/* Strings, names, tracks, stacks, metadata, ledger. */
int trace_load(struct trace *trace, struct error *err) MUST_USE;
/* Gives tracks valid texts, parents and processes, and blocks valid tracks. `lost`: some tracks are
 * missing, so one is added that stands in for them. */
int trace_tracks_finish(struct trace *trace, size_t *capacity, bool lost) MUST_USE;

/* Ledger entries made while opening: something lost, or something mended. */
void trace_note_skipped(
	struct trace *trace, uint64_t count, const char *what, uint64_t offset, const char *effect);
void trace_note_repaired(struct trace *trace, uint64_t count, const char *what, const char *where,
	const char *effect);
