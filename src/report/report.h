/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A report: the results of the analyses of one trace, and how they are shown. The same results
 * become text for a terminal, Markdown or JSON; nothing here prints. */
#pragma once

#include "analyze/analyze.h"
#include "base/buffer.h"
#include "base/json_writer.h"

#define REPORT_SCHEMA  1u
#define REPORT_TOP_ALL UINT64_MAX

/* What to show. REPORT_SUMMARY is a bit of everything. */
enum report_view {
	REPORT_SUMMARY,
	REPORT_NAME,
	REPORT_THREAD,
	REPORT_CATEGORY,
	REPORT_STEPS,
	REPORT_PHASES,
	REPORT_TREE,
	REPORT_COUNTERS,
	REPORT_ALL,
	REPORT_VIEWS
};
#define REPORT_VIEW_WORDS "name|thread|category|steps|phases|tree|counters|all"

enum report_sort {
	REPORT_BY_TOTAL,
	REPORT_BY_SELF,
	REPORT_BY_COUNT,
	REPORT_BY_MEAN,
	REPORT_BY_MAX,
	REPORT_BY_P50,
	REPORT_BY_P90,
	REPORT_BY_P99,
	REPORT_BY_NAME,
	REPORT_SORTS
};
#define REPORT_SORT_WORDS "total|self|count|mean|max|p50|p90|p99|name"

struct report_options {
	enum report_view view;
	enum report_sort sort;
	bool sorted;    /* the user chose `sort`; steps are otherwise in order of time */
	uint64_t top;   /* rows of a table; REPORT_TOP_ALL: all */
	unsigned width; /* text only */
	bool colour;    /* text only */
	struct analyze_options analyze;
};

struct report {
	const struct trace *trace; /* must outlive the report */
	struct report_options options;
	struct analyze_spans spans;
	struct analyze_counters counters;
	struct analyze_tree tree;
	bool has_tree;
};

/* The number of a word of the lists above, or -1. */
int report_view_of(const char *word);
int report_sort_of(const char *word);

/* Runs the analyses that the view needs. */
int report_run(struct report *report, const struct trace *trace,
	const struct report_options *options, struct error *err) MUST_USE;
void report_release(struct report *report);

/* The results. Out of memory is left in `out` or `json`. */
void report_text(const struct report *report, struct buffer *out);
void report_markdown(const struct report *report, struct buffer *out);
/* One whole document. */
void report_json(const struct report *report, struct json_writer *json);

/* What `tacho info` tells, from what opening the trace has read. */
void report_info_text(const struct trace *trace, unsigned width, bool colour, struct buffer *out);
void report_info_json(const struct trace *trace, struct json_writer *json);

/* "tacho": {schema, version, command}, the first key of every document. */
void report_json_head(struct json_writer *json, const char *command);
/* "ledger": {...} */
void report_json_ledger(struct json_writer *json, const struct ledger *ledger);
/* One sentence on what is missing from the trace and what follows from it; "" when nothing is. */
void report_warning(const struct trace *trace, uint64_t damaged_blocks, struct buffer *out);
