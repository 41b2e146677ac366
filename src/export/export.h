/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Exporters: one file per format with a descriptor at its foot, one table. All read a trace by the
 * same walk (export_walk.h), block by block, so memory does not grow with the trace. */
#pragma once

#include "trace/trace.h"

struct export_options {
	struct trace_window window;
	const char *filter;     /* only spans and marks whose name contains this; NULL: all */
	enum block_table table; /* csv, parquet: which table; 0: the format's own choice */
	const char *path;       /* NULL: to `fd` */
	int fd;
	void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL */
	void *progress_context;
};

/* What was written and what could not be read. */
struct export_result {
	uint64_t rows;
	uint64_t damaged_blocks;
};

struct exporter {
	const char *name;
	const char *summary;
	const char *extensions; /* separated by spaces: ".chrome.json .trace.json" */
	bool needs_path;        /* cannot be written to a pipe */
	bool has_tables;        /* holds one table, which options->table names */
	int (*run)(const struct trace *trace, const struct export_options *options,
		struct export_result *ret_result, struct error *err);
};

extern const struct exporter *const exporters[]; /* sorted by name, ends with NULL */
#define EXPORTER_WORDS                                            \
	"chrome|collapsed|csv|firefox|json|jsonl|kineto|parquet|" \
	"perfetto|pprof|speedscope|tacho|xplane"

/* Several traces in one .tacho file, processes kept apart: times of trace i are moved by
 * shifts_ns[i], and options->window counts in the merged time. */
int export_merge(const struct trace *const *traces, const uint64_t *shifts_ns, size_t count,
	const struct export_options *options, struct export_result *ret_result,
	struct error *err) MUST_USE;

/* By name, or NULL. */
const struct exporter *exporter_find(const char *name);
/* The exporter whose extension ends `path`, the longest if several do, or NULL. */
const struct exporter *exporter_for_path(const char *path);
