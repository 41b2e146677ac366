/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Questions asked of a trace. Each fills a result whose memory is freed by its _release function
 * and whose texts belong to the trace, which must outlive it. Times are nanoseconds. */
#pragma once

#include "trace/trace.h"

/* What to look at. Zero-initialise for everything. */
struct analyze_options {
	struct trace_window window;
	const char *
		filter; /* only spans whose name contains this text (case-insensitive); NULL: all */
	unsigned threads; /* 0: as many as there are cores, at most 16 */
	/* Called now and then with done and total rows; may be NULL. From any worker thread. */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
};

/* Statistics of a group of spans. Percentiles are exact up to 10,000 spans a group, above that from
 * a sketch with at most 1 % relative error, and `sketch` says so. Spans that cross the window's
 * edge are counted with the part inside it. */
struct analyze_stats {
	uint64_t count;
	uint64_t total_ns, self_ns;
	uint64_t min_ns, max_ns;
	double mean_ns, sd_ns; /* sample standard deviation; 0 for one span */
	uint64_t p50_ns, p90_ns, p99_ns;
	bool sketch;
	double share; /* of the sum of self times of all groups of the same kind, 0..1 */
};

struct analyze_group {
	const char *name;
	const char *category; /* "" when grouped otherwise */
	uint32_t id;          /* name number, track id or category string */
	struct analyze_stats stats;
};

struct analyze_groups {
	struct analyze_group *items;
	size_t count;
};

/* An argument key summed over the spans of a name ("flops", "bytes", ...) is left to later
 * analyses. */

struct analyze_phase {
	const char *name;
	uint64_t start_ns, duration_ns;
};

struct analyze_step {
	uint64_t number;
	uint32_t track;
	uint64_t start_ns, duration_ns;
	uint32_t first_phase, phase_count; /* in analyze_spans.phases */
};

/* Everything one pass over the spans tells. */
struct analyze_spans {
	struct analyze_groups names;      /* by name and category */
	struct analyze_groups tracks;     /* by track: threads, streams, async */
	struct analyze_groups categories; /* by category; "" is shown as "(none)" by report */
	struct analyze_step *steps; /* outermost spans of category "step", by start; without any,
				       one step 0 over the whole trace */
	size_t step_count;
	bool steps_recorded; /* false: the one step is the whole trace */
	struct analyze_phase *phases;
	size_t phase_count;
	struct analyze_stats step_stats;
	struct analyze_groups phase_groups; /* by phase name, over all steps */
	uint64_t span_count;
	uint64_t wall_ns;                      /* of the window */
	uint64_t kernel_count, kernel_time_ns; /* spans of category "kernel" */
	uint64_t gpu_busy_ns;                  /* union of device spans */
	uint64_t memcpy_bytes;                 /* argument "bytes" of category "memcpy" spans */
	uint64_t op_count;                     /* category "op" */
	uint64_t damaged_blocks;               /* left out, see ledger */
	bool steps_cut; /* more than a million steps or phases: only the first are listed */
};

/* The filter leaves steps and phases alone: they are the frame in which the rest is seen. Points in
 * time (SPANS_INSTANT) are not spans and are not counted. */
int analyze_spans(const struct trace *trace, const struct analyze_options *options,
	struct analyze_spans *ret_result, struct error *err) MUST_USE;
void analyze_spans_release(struct analyze_spans *result);

/* Call tree: a node per distinct path of names from a thread's root; tracks merged. Spans with
 * times of their own (device streams, async spans) do not nest and are left out. Node 0 is the
 * root. A span that the filter leaves out passes its children on to its parent. Children of a node
 * are linked by `child` and `sibling` (0 = none), largest total first. */
struct analyze_node {
	uint32_t name; /* name number; UINT32_MAX for the root and for "(other)" */
	uint32_t parent, child, sibling;
	uint64_t count, total_ns, self_ns;
};
struct analyze_tree {
	struct analyze_node *nodes;
	size_t count;
	bool cut; /* node limit reached: further paths are counted in their parent's "(other)" */
	uint64_t damaged_blocks;
};
int analyze_tree(const struct trace *trace, const struct analyze_options *options,
	struct analyze_tree *ret_result, struct error *err) MUST_USE;
void analyze_tree_release(struct analyze_tree *result);

/* Counters: one row per counter track, by track; the filter is for spans and has no say here. */
struct analyze_counter {
	const char *name, *unit;
	const char *process; /* name of the process track, or "machine" */
	uint32_t track;
	bool integer;
	uint64_t count;
	double min, max, mean, first, last;
};
struct analyze_counters {
	struct analyze_counter *items;
	size_t count;
	uint64_t damaged_blocks;
};
int analyze_counters(const struct trace *trace, const struct analyze_options *options,
	struct analyze_counters *ret_result, struct error *err) MUST_USE;
void analyze_counters_release(struct analyze_counters *result);
