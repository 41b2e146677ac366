// SPDX-License-Identifier: MIT OR Apache-2.0
/* Counters: all of them, or the few that a summary needs. */
#include "base/units.h"
#include "report/report_sections.h"

#include <stdlib.h>
#include <string.h>

#define BRIEF_ROWS 10

static void value_cell(struct text_table *table, double value, const char *unit)
{
	char text[UNITS_TEXT];

	if (strcmp(unit, "bytes") == 0)
		text_table_cell(table, units_bytes(text, value));
	else if (strcmp(unit, "bytes/s") == 0)
		text_table_cellf(table, "%s/s", units_bytes(text, value));
	else if (strcmp(unit, "ns") == 0)
		text_table_cell(table, units_duration(text, value));
	else if (strcmp(unit, "count") == 0 || unit[0] == '\0')
		text_table_cellf(table, "%.6g", value);
	else if (strcmp(unit, "%") == 0)
		text_table_cellf(table, "%.1f %%", value);
	else
		text_table_cellf(table, "%.5g %s", value, unit);
}

/* What the collector samples of machine and processes begins with one of these; everything else
 * is the program's own. */
static bool is_sampled(const char *name)
{
	static const char *const families[] = { "cgroup", "cpu", "disk", "energy", "faults", "io",
		"memory", "network", "power", "processes", "psi", "rss", "swap", "switches",
		"temperature", "threads" };
	size_t length = strcspn(name, ".");

	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		if (strlen(families[i]) == length && strncmp(families[i], name, length) == 0)
			return true;
	return false;
}

/* 0: not in a summary; else the smaller comes first. */
static unsigned brief_rank(const struct analyze_counter *counter)
{
	static const char *const first[] = { "cpu", "rss", "memory.used", "io.read", "io.write",
		"cgroup.cpu.throttled", "power.cpu" };

	if (!is_sampled(counter->name))
		return 1;
	for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
		if (strcmp(first[i], counter->name) == 0)
			return (unsigned)i + 2;
	return 0;
}

static int compare_rank(const void *a, const void *b)
{
	const struct analyze_counter *x = *(const struct analyze_counter *const *)a;
	const struct analyze_counter *y = *(const struct analyze_counter *const *)b;
	unsigned left = brief_rank(x), right = brief_rank(y);

	if (left != right)
		return left < right ? -1 : 1;
	return (x->track > y->track) - (x->track < y->track);
}

static void put_counters(
	struct report_page *page, const struct analyze_counter **counters, size_t count)
{
	static const struct text_column columns[] = {
		{ .title = "counter", .squeeze = true },
		{ .title = "of" },
		{ .title = "mean", .align = TEXT_RIGHT },
		{ .title = "min", .align = TEXT_RIGHT, .drop = 1 },
		{ .title = "max", .align = TEXT_RIGHT },
		{ .title = "last", .align = TEXT_RIGHT },
		{ .title = "values", .align = TEXT_RIGHT, .drop = 2 },
	};
	struct text_table table;

	text_table_init(&table, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < count; i++) {
		const struct analyze_counter *counter = counters[i];

		text_table_cell(&table, counter->name);
		text_table_cell(&table, counter->process);
		value_cell(&table, counter->mean, counter->unit);
		value_cell(&table, counter->min, counter->unit);
		value_cell(&table, counter->max, counter->unit);
		value_cell(&table, counter->last, counter->unit);
		text_table_count(&table, (double)counter->count);
	}
	page_table(page, &table);
}

/* Whether a summary shows it. The sum of all processes says nothing new about a single one. */
static bool in_brief(const struct report *report, const struct analyze_counter *counter)
{
	const struct trace *trace = report->trace;
	const struct trace_track *process = &trace->tracks[trace->tracks[counter->track].process];
	bool sum = process->kind == TRACK_PROCESS && !process->os_id;

	return brief_rank(counter) && !(sum && report_track_count(trace, TRACK_PROCESS) < 2);
}

void section_counters(struct report_page *page, const struct report *report, bool brief)
{
	const struct analyze_counters *all = &report->counters;
	const struct analyze_counter **chosen;
	size_t count = 0, limit = brief ? BRIEF_ROWS : SIZE_MAX;

	if (!brief && report->options.top < limit)
		limit = (size_t)report->options.top;
	chosen = malloc((all->count + 1) * sizeof(struct analyze_counter *));
	if (!chosen) {
		page->out->failed = true;
		return;
	}
	for (size_t i = 0; i < all->count; i++)
		if (!brief || in_brief(report, &all->items[i]))
			chosen[count++] = &all->items[i];
	if (brief)
		qsort(chosen, count, sizeof(struct analyze_counter *), compare_rank);
	count = count < limit ? count : limit;
	if (count) {
		page_heading(page, "Counters");
		put_counters(page, chosen, count);
	}
	if (count < all->count)
		page_note(page,
			brief ? "%zu more; --by counters shows all" : "%zu more; --top 0 shows all",
			all->count - count);
	free(chosen);
}
