/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A .tacho file being read. Opening reads header, index and dictionaries; blocks are read when
 * asked for, by table, track and window, so memory does not grow with the number of rows. A file
 * without its trailer, or with damaged blocks, is scanned and repaired in memory, and the ledger
 * says what was lost. An open trace is read-only and may be used by several threads, each with its
 * own struct trace_cursor. */
#pragma once

#include "base/error.h"
#include "base/string_table.h"
#include "format/block.h"
#include "format/span_block.h"
#include "format/table.h"
#include "format/trace_writer.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_track {
	uint32_t id;
	uint32_t parent; /* track id; itself for the root */
	enum track_kind kind;
	uint64_t os_id; /* pid or tid */
	const char *name;
	const char *unit;    /* counters */
	uint32_t process;    /* track id of the process it belongs to, or of the machine */
	uint64_t span_count; /* from the index */
};

struct trace_name {
	const char *name;
	const char *category;
	uint32_t name_string, category_string;
};

struct trace_pair {
	const char *key, *value;
};

/* A block as the index knows it. */
struct trace_block {
	uint64_t offset;
	uint8_t table;
	uint32_t track;
	uint32_t rows;
	uint64_t time_min_ns, time_max_ns;
	uint32_t stored_bytes;
	uint64_t busy_ns;
};

struct trace {
	const char *path;
	uint64_t file_bytes;
	struct file_header header;
	uint64_t span_ns;           /* from the trace's start to the last event */
	struct trace_block *blocks; /* all of them, in file order */
	size_t block_count;
	struct string_table strings;
	struct trace_name *names;
	uint32_t name_count;
	struct trace_track *tracks;
	uint32_t track_count;
	struct trace_pair *metadata;
	size_t metadata_count;
	struct ledger ledger; /* the file's own, plus what opening repaired or skipped */
	bool repaired;        /* had no trailer, or something was damaged */
	uint64_t row_counts[TABLE_COUNT];
	int fd;
	struct arena arena;
	uint32_t *frames; /* string numbers of all stacks, one after the other */
	size_t *stack_ends;
	size_t stack_count;
	/* What stands in for a name or track whose dictionary block was lost; UINT32_MAX: none was.
	 */
	uint32_t lost_name, lost_track;
};

/* Opens a trace. One clear message with the byte offset on failure: STATUS_IO, STATUS_FORMAT (not a
 * trace, a directory, a pipe, empty), STATUS_VERSION, STATUS_NOMEM. */
int trace_open(const char *path, struct trace **ret_trace, struct error *err) MUST_USE;
void trace_close(struct trace *trace);

/* Value of a metadata key, or NULL. The last one written wins. */
const char *trace_metadata(const struct trace *trace, const char *key);
/* Frames of a stack as string ids, innermost first; NULL and 0 when there is none of that number.
 */
const uint32_t *trace_stack(const struct trace *trace, uint32_t stack, size_t *ret_count);

/* What to read. Zero-initialise for everything: until_ns 0 means the end. */
struct trace_window {
	uint64_t from_ns, until_ns;
};
static inline bool trace_window_hits(
	const struct trace_window *window, uint64_t start_ns, uint64_t end_ns)
{
	return end_ns >= window->from_ns && (window->until_ns == 0 || start_ns < window->until_ns);
}

/* Reads blocks one at a time into reused memory. One per thread. */
struct trace_cursor {
	const struct trace *trace;
	struct block_codec *codec;
	struct buffer stored, raw;
	struct span_batch spans; /* after trace_cursor_spans() */
	struct table_rows rows;  /* after trace_cursor_rows() */
};
int trace_cursor_init(struct trace_cursor *cursor, const struct trace *trace) MUST_USE;
void trace_cursor_release(struct trace_cursor *cursor);
/* Decodes block number `block` of trace->blocks. A damaged block is an error with its offset; the
 * caller counts it in its result's ledger notes and goes on. Every name and track number handed out
 * is below name_count and track_count. */
int trace_cursor_spans(
	struct trace_cursor *cursor, size_t block, bool with_args, struct error *err) MUST_USE;
int trace_cursor_rows(struct trace_cursor *cursor, size_t block, struct error *err) MUST_USE;
/* Adds the arguments to the spans that trace_cursor_spans() has just read without them. */
int trace_cursor_args(struct trace_cursor *cursor, size_t block, struct error *err) MUST_USE;
