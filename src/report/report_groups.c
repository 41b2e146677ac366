// SPDX-License-Identifier: MIT OR Apache-2.0
/* Sections that are tables of groups with their statistics. */
#include "report/report_sections.h"

#include <string.h>

/* The columns behind the name; which of them go first on a narrow terminal. */
static const struct text_column stat_columns[] = {
	{ .title = "count", .align = TEXT_RIGHT },
	{ .title = "total", .align = TEXT_RIGHT },
	{ .title = "self", .align = TEXT_RIGHT, .drop = 1 },
	{ .title = "share", .align = TEXT_RIGHT },
	{ .title = "mean", .align = TEXT_RIGHT },
	{ .title = "sd", .align = TEXT_RIGHT, .drop = 6 },
	{ .title = "min", .align = TEXT_RIGHT, .drop = 7 },
	{ .title = "p50", .align = TEXT_RIGHT, .drop = 3 },
	{ .title = "p90", .align = TEXT_RIGHT, .drop = 5 },
	{ .title = "p99", .align = TEXT_RIGHT, .drop = 2 },
	{ .title = "max", .align = TEXT_RIGHT, .drop = 4 },
};

#define STAT_COLUMNS (sizeof stat_columns / sizeof stat_columns[0])

static const char *const sort_titles[REPORT_SORTS] = {
	[REPORT_BY_TOTAL] = "total",
	[REPORT_BY_SELF] = "self",
	[REPORT_BY_COUNT] = "count",
	[REPORT_BY_MEAN] = "mean",
	[REPORT_BY_MAX] = "max",
	[REPORT_BY_P50] = "p50",
	[REPORT_BY_P90] = "p90",
	[REPORT_BY_P99] = "p99",
	[REPORT_BY_NAME] = "",
};

/* `leading` columns, then those of the statistics. */
static void init_table(struct text_table *table, const struct report *report,
	const struct text_column *leading, size_t leading_count)
{
	struct text_column columns[TEXT_COLUMNS_MAX];

	memcpy(columns, leading, leading_count * sizeof *columns);
	memcpy(columns + leading_count, stat_columns, sizeof stat_columns);
	for (size_t i = 0; i < STAT_COLUMNS; i++)
		columns[leading_count + i].highlight =
			strcmp(stat_columns[i].title, sort_titles[report->options.sort]) == 0;
	text_table_init(table, columns, leading_count + STAT_COLUMNS);
}

static void put_stats(struct text_table *table, const struct analyze_stats *stats, double share)
{
	text_table_count(table, (double)stats->count);
	text_table_duration(table, (double)stats->total_ns);
	text_table_duration(table, (double)stats->self_ns);
	text_table_percent(table, share);
	text_table_duration(table, stats->mean_ns);
	text_table_duration(table, stats->sd_ns);
	text_table_duration(table, (double)stats->min_ns);
	text_table_duration(table, (double)stats->p50_ns);
	text_table_duration(table, (double)stats->p90_ns);
	text_table_duration(table, (double)stats->p99_ns);
	text_table_duration(table, (double)stats->max_ns);
}

static void put_rest(
	struct report_page *page, const struct report *report, const struct report_list *list)
{
	bool sketch = false;

	for (size_t i = 0; i < list->count; i++)
		sketch |= list->items[i]->stats.sketch;
	if (list->count > report->options.top)
		page_note(page, "%zu more; --top 0 shows all",
			list->count - (size_t)report->options.top);
	if (sketch)
		page_note(page, "percentiles of groups above 10,000 spans are within 1 %%");
}

/* How the first cells of a row are written. */
typedef void leading_cells(
	struct text_table *table, const struct report *report, const struct analyze_group *group);

static void put_groups(struct report_page *page, const struct report *report, const char *heading,
	const struct report_list *list, const struct text_column *leading, size_t leading_count,
	leading_cells *cells)
{
	struct text_table table;

	page_heading(page, heading);
	init_table(&table, report, leading, leading_count);
	for (size_t i = 0; i < list->count && i < report->options.top; i++) {
		cells(&table, report, list->items[i]);
		put_stats(&table, &list->items[i]->stats, report_list_share(list, list->items[i]));
	}
	page_table(page, &table);
	put_rest(page, report, list);
}

/* A section of `groups`, left out when there is none. */
static void section_groups(struct report_page *page, const struct report *report,
	const char *heading, const struct analyze_groups *groups, enum report_rows rows,
	const struct text_column *leading, size_t leading_count, leading_cells *cells)
{
	struct report_list list;

	if (report_list_init(&list, groups, rows, report->options.sort)) {
		page->out->failed = true;
		return;
	}
	/* A phase is a part of its step, with all that is in it. */
	if (groups == &report->spans.phase_groups)
		list.whole_ns = report->spans.step_stats.total_ns;
	if (list.count)
		put_groups(page, report, heading, &list, leading, leading_count, cells);
	report_list_release(&list);
}

static void name_cells(
	struct text_table *table, const struct report *report, const struct analyze_group *group)
{
	(void)report;
	text_table_cell(table, group->name);
	text_table_cell(table, group->category);
}

static void plain_cells(
	struct text_table *table, const struct report *report, const struct analyze_group *group)
{
	(void)report;
	text_table_cell(table, group->name[0] ? group->name : "(none)");
}

static void thread_cells(
	struct text_table *table, const struct report *report, const struct analyze_group *group)
{
	struct buffer label;

	buffer_init(&label);
	report_track_label(report->trace, group->id, &label);
	buffer_byte(&label, 0);
	text_table_cell(table, buffer_ok(&label) ? (const char *)label.data : "");
	buffer_release(&label);
}

void section_names(struct report_page *page, const struct report *report, enum report_rows rows,
	const char *heading)
{
	static const struct text_column leading[] = {
		{ .title = "name", .squeeze = true },
		{ .title = "category", .drop = 8 },
	};

	section_groups(page, report, heading, &report->spans.names, rows, leading, 2, name_cells);
}

void section_threads(struct report_page *page, const struct report *report)
{
	static const struct text_column leading[] = { { .title = "thread", .squeeze = true } };

	section_groups(page, report, "Threads", &report->spans.tracks, REPORT_ROWS_ALL, leading, 1,
		thread_cells);
}

void section_categories(struct report_page *page, const struct report *report)
{
	static const struct text_column leading[] = { { .title = "category", .squeeze = true } };

	section_groups(page, report, "Categories", &report->spans.categories, REPORT_ROWS_ALL,
		leading, 1, plain_cells);
}

void section_phases(struct report_page *page, const struct report *report)
{
	static const struct text_column leading[] = { { .title = "phase", .squeeze = true } };

	section_groups(page, report, "Phases", &report->spans.phase_groups, REPORT_ROWS_ALL,
		leading, 1, plain_cells);
}
