// SPDX-License-Identifier: MIT OR Apache-2.0
/* Steps with their phases. */
#include "base/units.h"
#include "report/report_sections.h"

#include <inttypes.h>
#include <stdlib.h>

#define BRIEF_FIRST   3
#define BRIEF_SLOWEST 3
#define PHASES_SHOWN  16

/* "forward 60 %, backward 30 %" */
static void phases_text(
	const struct analyze_spans *spans, const struct analyze_step *step, struct buffer *out)
{
	for (uint32_t p = 0; p < step->phase_count; p++) {
		const struct analyze_phase *phase = &spans->phases[step->first_phase + p];

		if (p == PHASES_SHOWN) {
			buffer_printf(out, ", %u more", step->phase_count - p);
			break;
		}
		buffer_printf(out, "%s%s %.0f %%", p ? ", " : "", phase->name,
			100 * report_share(phase->duration_ns, step->duration_ns));
	}
	buffer_byte(out, 0);
}

static void put_step(struct text_table *table, const struct analyze_spans *spans,
	const struct analyze_step *step)
{
	struct buffer phases;

	buffer_init(&phases);
	phases_text(spans, step, &phases);
	text_table_cellf(table, "%" PRIu64, step->number);
	text_table_duration(table, (double)step->start_ns);
	text_table_duration(table, (double)step->duration_ns);
	text_table_cell(table, buffer_ok(&phases) ? (const char *)phases.data : "");
	buffer_release(&phases);
}

static void put_steps(struct report_page *page, const struct analyze_spans *spans,
	const struct analyze_step **steps, size_t count)
{
	static const struct text_column columns[] = {
		{ .title = "step", .align = TEXT_RIGHT },
		{ .title = "start", .align = TEXT_RIGHT },
		{ .title = "duration", .align = TEXT_RIGHT },
		{ .title = "phases", .squeeze = true },
	};
	struct text_table table;

	text_table_init(&table, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < count; i++)
		put_step(&table, spans, steps[i]);
	page_table(page, &table);
}

static void put_order(struct report_page *page, const struct report *report, bool slowest_first,
	size_t count, const char *heading)
{
	const struct analyze_spans *spans = &report->spans;
	const struct analyze_step **steps;

	if (report_steps_order(spans, slowest_first, &steps)) {
		page->out->failed = true;
		return;
	}
	page_heading(page, heading);
	put_steps(page, spans, steps, count < spans->step_count ? count : spans->step_count);
	free(steps);
}

void section_steps(struct report_page *page, const struct report *report, bool brief)
{
	size_t count = report->spans.step_count;
	uint64_t top = report->options.top;

	if (!report->spans.steps_recorded) {
		if (!brief)
			page_note(page, "no steps were recorded: mark them with tacho_step()");
		return;
	}
	if (brief) {
		bool few = count <= BRIEF_FIRST + BRIEF_SLOWEST;

		put_order(page, report, false, few ? count : BRIEF_FIRST,
			few ? "Steps" : "Steps: the first");
		if (!few)
			put_order(page, report, true, BRIEF_SLOWEST, "Steps: the slowest");
		return;
	}
	put_order(page, report, report->options.sorted, count < top ? count : (size_t)top,
		report->options.sorted ? "Steps, slowest first" : "Steps");
	if (count > top)
		page_note(page, "%zu more; --top 0 shows all", count - (size_t)top);
}
