// SPDX-License-Identifier: MIT OR Apache-2.0
/* Steps and their phases, from the spans that the pass over the trace has collected. */
#include "analyze/analyze_internal.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

int step_list_add(struct step_list *list, const struct step_span *span)
{
	if (list->count >= 2 * STEPS_MAX) {
		list->cut = true;
		return STATUS_OK;
	}
	if (array_grow((void **)&list->items, &list->capacity, list->count + 1,
		    sizeof *list->items) != STATUS_OK)
		return STATUS_NOMEM;
	list->items[list->count++] = *span;
	return STATUS_OK;
}

/* Steps in front of phases; each by track, start, the longer one first. */
static int compare_spans(const void *a, const void *b)
{
	const struct step_span *x = a, *y = b;

	if (x->phase != y->phase)
		return x->phase ? 1 : -1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->duration_ns != y->duration_ns)
		return x->duration_ns > y->duration_ns ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* A step with what is needed to find its place. */
struct step_work {
	struct analyze_step step;
	bool numbered;
	uint32_t place; /* in the order of the file's steps */
};

/* A phase and the step it belongs to, as its place in the final order; UINT32_MAX: none. */
struct phase_work {
	struct analyze_phase phase;
	uint32_t step;
	uint32_t name, track;
	uint64_t self_ns;
};

static int compare_steps(const void *a, const void *b)
{
	const struct step_work *x = a, *y = b;

	if (x->step.start_ns != y->step.start_ns)
		return x->step.start_ns < y->step.start_ns ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int compare_phases(const void *a, const void *b)
{
	const struct phase_work *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->phase.start_ns != y->phase.start_ns)
		return x->phase.start_ns < y->phase.start_ns ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static bool inside(uint64_t start_ns, uint64_t duration_ns, uint64_t outer_start_ns,
	uint64_t outer_duration_ns)
{
	return start_ns >= outer_start_ns &&
	       start_ns + duration_ns <= outer_start_ns + outer_duration_ns;
}

/* Keeps the outermost of the sorted step spans; returns how many. */
static size_t outermost(const struct step_span *spans, size_t count, struct step_work *ret_steps)
{
	size_t kept = 0;

	for (size_t i = 0; i < count && kept < STEPS_MAX; i++) {
		const struct step_span *span = &spans[i];
		const struct analyze_step *before = kept ? &ret_steps[kept - 1].step : NULL;

		if (before && before->track == span->track &&
			inside(span->start_ns, span->duration_ns, before->start_ns,
				before->duration_ns))
			continue;
		ret_steps[kept] = (struct step_work){ .numbered = span->numbered,
			.place = (uint32_t)kept,
			.step = { .number = span->number,
				.track = span->track,
				.start_ns = span->start_ns,
				.duration_ns = span->duration_ns } };
		kept++;
	}
	return kept;
}

/* Finds the step of each phase: both are sorted by track and start, so one walk serves all. */
static void assign_phases(const struct step_span *spans, size_t count,
	const struct step_work *steps, size_t step_count, struct phase_work *ret_phases,
	const struct trace *trace)
{
	size_t next = 0;

	for (size_t i = 0; i < count; i++) {
		const struct step_span *span = &spans[i];
		const struct analyze_step *step;

		while (next < step_count &&
			(steps[next].step.track < span->track ||
				(steps[next].step.track == span->track &&
					steps[next].step.start_ns <= span->start_ns)))
			next++;
		step = next ? &steps[next - 1].step : NULL;
		ret_phases[i] = (struct phase_work){ .step = UINT32_MAX,
			.name = span->name,
			.track = span->track,
			.self_ns = span->self_ns,
			.phase = { .name = trace->names[span->name].name,
				.start_ns = span->start_ns,
				.duration_ns = span->duration_ns } };
		if (step && step->track == span->track &&
			inside(span->start_ns, span->duration_ns, step->start_ns,
				step->duration_ns))
			ret_phases[i].step = (uint32_t)(next - 1);
	}
}

static int phase_groups(const struct trace *trace, const struct phase_work *phases, size_t count,
	struct analyze_groups *ret_groups)
{
	struct stats_set set = { 0 };
	int status = stats_set_init(&set, trace->name_count);

	for (size_t i = 0; status == STATUS_OK && i < count; i++) {
		struct stats_acc *acc = stats_set_at(&set, phases[i].name);

		status = acc ? stats_acc_add(acc, phases[i].phase.duration_ns, phases[i].self_ns)
			     : STATUS_NOMEM;
	}
	if (status == STATUS_OK)
		status = stats_set_groups(&set, ret_groups);
	for (size_t i = 0; status == STATUS_OK && i < ret_groups->count; i++) {
		ret_groups->items[i].name = trace->names[ret_groups->items[i].id].name;
		ret_groups->items[i].category = trace->names[ret_groups->items[i].id].category;
	}
	stats_set_release(&set);
	return status;
}

/* Copies steps and phases into the result, phases beside their steps; a step's self time is what
 * its phases do not cover. */
static int fill_result(struct step_work *steps, size_t step_count, struct phase_work *phases,
	size_t phase_count, struct analyze_spans *result)
{
	struct stats_acc acc;
	size_t at = 0;
	int status = STATUS_OK;

	result->steps = calloc(step_count + 1, sizeof *result->steps);
	result->phases = calloc(phase_count + 1, sizeof *result->phases);
	if (!result->steps || !result->phases)
		return STATUS_NOMEM;
	for (size_t i = 0; i < phase_count; i++)
		result->phases[i] = phases[i].phase;
	result->phase_count = phase_count;
	stats_acc_init(&acc);
	for (size_t i = 0; status == STATUS_OK && i < step_count; i++) {
		struct analyze_step *step = &result->steps[i];
		uint64_t covered = 0;

		*step = steps[i].step;
		step->number = steps[i].numbered ? step->number : i;
		step->first_phase = (uint32_t)at;
		for (; at < phase_count && phases[at].step == i; at++)
			covered += phases[at].phase.duration_ns;
		step->phase_count = (uint32_t)at - step->first_phase;
		status = stats_acc_add(&acc, step->duration_ns,
			covered < step->duration_ns ? step->duration_ns - covered : 0);
	}
	result->step_count = step_count;
	if (status == STATUS_OK)
		stats_acc_finish(&acc, &result->step_stats);
	result->step_stats.share = step_count ? 1 : 0;
	stats_acc_release(&acc);
	return status;
}

/* Sorts steps by start and tells the phases where theirs has gone. */
static int order_steps(
	struct step_work *steps, size_t step_count, struct phase_work *phases, size_t phase_count)
{
	uint32_t *place = malloc((step_count + 1) * sizeof *place);

	if (!place)
		return STATUS_NOMEM;
	qsort(steps, step_count, sizeof *steps, compare_steps);
	for (size_t i = 0; i < step_count; i++)
		place[steps[i].place] = (uint32_t)i;
	for (size_t i = 0; i < phase_count; i++)
		if (phases[i].step != UINT32_MAX)
			phases[i].step = place[phases[i].step];
	free(place);
	return STATUS_OK;
}

int steps_finish(const struct trace *trace, struct step_list *list, const struct window_ns *window,
	struct analyze_spans *result)
{
	size_t step_spans = 0, step_count, phase_count;
	struct step_work *steps;
	struct phase_work *phases;
	int status = STATUS_NOMEM;

	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, compare_spans);
	while (step_spans < list->count && !list->items[step_spans].phase)
		step_spans++;
	phase_count = list->count - step_spans;
	result->steps_cut = list->cut || phase_count > STEPS_MAX;
	phase_count = phase_count < STEPS_MAX ? phase_count : STEPS_MAX;
	steps = malloc((step_spans + 1) * sizeof *steps);
	phases = malloc((phase_count + 1) * sizeof *phases);
	if (!steps || !phases)
		goto out;
	step_count = outermost(list->items, step_spans, steps);
	result->steps_cut |= step_count == STEPS_MAX;
	result->steps_recorded = step_count > 0;
	assign_phases(list->items ? list->items + step_spans : NULL, phase_count, steps, step_count,
		phases, trace);
	if (step_count == 0) {
		steps[0] = (struct step_work){ .numbered = true,
			.step = { .start_ns = window->from,
				.duration_ns = window_wall_ns(trace, window) } };
		step_count = 1;
		for (size_t i = 0; i < phase_count; i++)
			phases[i].step = 0;
	}
	status = order_steps(steps, step_count, phases, phase_count);
	if (status != STATUS_OK)
		goto out;
	qsort(phases, phase_count, sizeof *phases, compare_phases);
	status = fill_result(steps, step_count, phases, phase_count, result);
	if (status == STATUS_OK)
		status = phase_groups(trace, phases, phase_count, &result->phase_groups);
out:
	free(steps);
	free(phases);
	return status;
}
