/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The one reading loop of all exporters: spans with their arguments, rows of the other tables,
 * within a window and past a filter. Damaged blocks are counted and left out. */
#pragma once

#include "base/json_writer.h"
#include "export/export.h"

struct output_file;

struct export_span {
	uint32_t track, name, depth;
	enum spans_layout layout;
	uint64_t start_ns, duration_ns, self_ns;
	const struct span_arg *args;
	size_t arg_count;
};

struct export_walk {
	const struct trace *trace;
	const struct export_options *options;
	struct trace_cursor cursor;
	bool *name_hits; /* which names the filter lets through; NULL: all */
	size_t *order;   /* numbers of the span blocks, by track, then by time */
	size_t order_count;
	struct span_arg *args; /* of one block, by row */
	size_t *arg_starts;
	size_t arg_capacity, start_capacity;
	uint64_t done, total; /* for the progress */
	struct export_result result;
};

int export_walk_init(struct export_walk *walk, const struct trace *trace,
	const struct export_options *options, struct error *err) MUST_USE;
void export_walk_release(struct export_walk *walk);

/* Calls `each` for every span that touches the window, track by track. Scopes of a thread come in
 * the order they ended; with `parents_first` all of a track comes backwards, so that a scope always
 * comes before its children. A negative status of `each` ends the walk and
 * is returned as it is. */
int export_walk_spans(struct export_walk *walk, bool parents_first,
	int (*each)(void *context, const struct export_span *span), void *context,
	struct error *err) MUST_USE;

/* Calls `each` with the cells of every row of a plain table that has times, in file order. */
int export_walk_rows(struct export_walk *walk, enum block_table table,
	int (*each)(void *context, const uint64_t *row), void *context, struct error *err) MUST_USE;

/* What several formats write the same way: export_common.c. */

/* The ledger entry for blocks that a walk could not read. */
#define EXPORT_DAMAGED_WHAT   "damaged blocks left out of an export"
#define EXPORT_DAMAGED_EFFECT "the rows they held are missing"

/* {"key": value, ...} of a span's arguments. */
void export_json_args(
	struct json_writer *json, const struct trace *trace, const struct export_span *span);
/* The value of one argument. */
void export_json_value(
	struct json_writer *json, const struct trace *trace, const struct span_arg *arg);
/* A JSON value that was kept as it was written. */
void export_json_kept(struct json_writer *json, const char *text);
void export_json_counter(struct json_writer *json, const uint64_t *row);
/* {"key": "value", ...}; of a key that was written several times the last counts. */
void export_json_metadata(struct json_writer *json, const struct trace *trace);
/* The ledger as `tacho info --json` shows it, with what this walk could not read. */
void export_json_ledger(
	struct json_writer *json, const struct trace *trace, uint64_t damaged_blocks);
/* Ends document and file, or gives both up when `status` says that something failed before. */
int export_json_finish(
	struct json_writer *json, struct output_file *file, int status, struct error *err) MUST_USE;
/* The texts of numbers that may be anything; "" for one that is not there. */
const char *export_string(const struct trace *trace, uint64_t id);
const char *export_name(const struct trace *trace, uint64_t id);
