/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the renderings of a report share: the choice and order of rows. */
#pragma once

#include "report/report.h"

/* Which names a list holds. */
enum report_rows {
	REPORT_ROWS_ALL,
	REPORT_ROWS_WORK,       /* all but steps and phases, which have their own sections */
	REPORT_ROWS_OPERATIONS, /* what the host did: no kernels and copies either */
	REPORT_ROWS_KERNELS,
};

/* Groups in the order asked for. */
struct report_list {
	const struct analyze_group **items;
	size_t count;
	uint64_t self_ns;  /* of all of them */
	uint64_t whole_ns; /* what total times are shares of; 0: self times are shares of self_ns */
};

/* STATUS_NOMEM, or a list to be released. */
int report_list_init(struct report_list *list, const struct analyze_groups *groups,
	enum report_rows rows, enum report_sort sort) MUST_USE;
void report_list_release(struct report_list *list);
double report_share(uint64_t part, uint64_t whole);
/* The share of an item of the list. */
double report_list_share(const struct report_list *list, const struct analyze_group *group);

/* Steps in order of time, or the slowest first. STATUS_NOMEM, or an array to be freed. */
int report_steps_order(const struct analyze_spans *spans, bool slowest_first,
	const struct analyze_step ***ret_steps) MUST_USE;

/* Name and category of a node; "(other)" for what the tree cut off. */
const char *report_node_name(
	const struct report *report, const struct analyze_node *node, const char **ret_category);

/* Tracks of a kind; of processes those that have a number: the sum of all processes is none. */
size_t report_track_count(const struct trace *trace, enum track_kind kind);
/* "process > thread" into `out`. */
void report_track_label(const struct trace *trace, uint32_t track, struct buffer *out);

static inline bool report_shows(const struct report *report, enum report_view view)
{
	return report->options.view == view || report->options.view == REPORT_ALL;
}
