// SPDX-License-Identifier: MIT OR Apache-2.0
/* A report for people: the summary, and which sections a view has. */
#include "base/units.h"
#include "report/report.h"
#include "report/report_sections.h"

#include <inttypes.h>
#include <string.h>

static void put_counts(struct report_page *page, const struct report *report)
{
	const struct trace *trace = report->trace;
	size_t processes = report_track_count(trace, TRACK_PROCESS);
	size_t threads = report_track_count(trace, TRACK_THREAD);
	size_t devices = report_track_count(trace, TRACK_DEVICE);
	char more[64] = "";

	if (devices)
		snprintf(more, sizeof more, ", %zu device track%s", devices,
			devices == 1 ? "" : "s");
	page_fact(page, "processes", "%zu with %zu thread%s%s", processes, threads,
		threads == 1 ? "" : "s", more);
}

static void put_spans(struct report_page *page, const struct report *report)
{
	const struct analyze_spans *spans = &report->spans;
	double rate = spans->wall_ns ? (double)spans->span_count * 1e9 / (double)spans->wall_ns : 0;
	char count[UNITS_TEXT], per_second[UNITS_TEXT];

	page_fact(page, "spans", "%s, %s per second", units_count(count, (double)spans->span_count),
		units_count(per_second, rate));
}

static void put_steps(struct report_page *page, const struct report *report)
{
	const struct analyze_stats *stats = &report->spans.step_stats;
	char mean[UNITS_TEXT], p50[UNITS_TEXT], p90[UNITS_TEXT], p99[UNITS_TEXT];

	if (!report->spans.steps_recorded) {
		page_fact(page, "steps", "none recorded");
		return;
	}
	page_fact(page, "steps", "%zu; mean %s, p50 %s, p90 %s, p99 %s", report->spans.step_count,
		units_duration(mean, stats->mean_ns), units_duration(p50, (double)stats->p50_ns),
		units_duration(p90, (double)stats->p90_ns),
		units_duration(p99, (double)stats->p99_ns));
}

static void put_device(struct report_page *page, const struct report *report)
{
	const struct analyze_spans *spans = &report->spans;
	char count[UNITS_TEXT], time[UNITS_TEXT], busy[UNITS_TEXT], copied[UNITS_TEXT];

	if (!spans->kernel_count && !spans->gpu_busy_ns)
		return;
	page_fact(page, "device", "%s kernels in %s; busy %s (%.1f %% of wall); %s copied",
		units_count(count, (double)spans->kernel_count),
		units_duration(time, (double)spans->kernel_time_ns),
		units_duration(busy, (double)spans->gpu_busy_ns),
		100 * report_share(spans->gpu_busy_ns, spans->wall_ns),
		units_bytes(copied, (double)spans->memcpy_bytes));
}

static void put_overhead(struct report_page *page, const struct report *report)
{
	if (report->trace->ledger.overhead_percent < 0)
		page_fact(page, "overhead", "not known");
	else
		page_fact(page, "overhead", "%.3g %% by estimate; 'tacho info' tells how",
			report->trace->ledger.overhead_percent);
}

static void put_wall(struct report_page *page, const struct report *report)
{
	const struct trace_window *window = &report->options.analyze.window;
	char wall[UNITS_TEXT], from[UNITS_TEXT], until[UNITS_TEXT];

	units_duration(wall, (double)report->spans.wall_ns);
	if (!window->from_ns && !window->until_ns) {
		page_fact(page, "wall", "%s", wall);
		return;
	}
	units_duration(from, (double)window->from_ns);
	units_duration(
		until, (double)(window->until_ns ? window->until_ns : report->trace->span_ns));
	page_fact(page, "wall", "%s, the window from %s until %s", wall, from, until);
}

static void put_warning(struct report_page *page, const struct report *report)
{
	struct buffer text;

	buffer_init(&text);
	report_warning(report->trace, report->spans.damaged_blocks, &text);
	buffer_byte(&text, 0);
	if (!buffer_ok(&text))
		page->out->failed = true;
	else if (text.data[0])
		page_warning(page, (const char *)text.data);
	buffer_release(&text);
}

static void put_summary(struct report_page *page, const struct report *report)
{
	const char *slash = strrchr(report->trace->path, '/');

	page_title(page, slash ? slash + 1 : report->trace->path);
	put_wall(page, report);
	put_counts(page, report);
	put_spans(page, report);
	put_steps(page, report);
	put_device(page, report);
	put_overhead(page, report);
	if (report->options.analyze.filter)
		page_fact(page, "filter", "names with \"%s\" only", report->options.analyze.filter);
}

static void put_sections(struct report_page *page, const struct report *report)
{
	bool brief = report->options.view == REPORT_SUMMARY;

	if (brief || report_shows(report, REPORT_NAME))
		section_names(page, report,
			report->options.view == REPORT_NAME ? REPORT_ROWS_ALL : REPORT_ROWS_WORK,
			"Names");
	if (report_shows(report, REPORT_CATEGORY))
		section_categories(page, report);
	if (report_shows(report, REPORT_THREAD))
		section_threads(page, report);
	if (brief || report_shows(report, REPORT_STEPS))
		section_steps(page, report, brief);
	if (brief || report_shows(report, REPORT_PHASES))
		section_phases(page, report);
	if (report_shows(report, REPORT_TREE))
		section_tree(page, report);
	if (brief || report_shows(report, REPORT_COUNTERS))
		section_counters(page, report, brief);
}

static void put_page(struct report_page *page, const struct report *report)
{
	put_summary(page, report);
	put_warning(page, report);
	put_sections(page, report);
}

void report_text(const struct report *report, struct buffer *out)
{
	struct report_page page = {
		.out = out, .width = report->options.width, .colour = report->options.colour
	};

	put_page(&page, report);
}

void report_markdown(const struct report *report, struct buffer *out)
{
	struct report_page page = { .out = out, .markdown = true };

	put_page(&page, report);
}
