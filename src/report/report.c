// SPDX-License-Identifier: MIT OR Apache-2.0
/* Running the analyses of a report, and the choice and order of its rows. */
#include "report/report.h"

#include "report/report_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/version.h>

/* Position of `word` in "a|b|c", or -1. */
static int word_of(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (int i = 0; *words; i++) {
		size_t one = strcspn(words, "|");

		if (one == length && strncmp(words, word, length) == 0)
			return i;
		words += one + (words[one] == '|');
	}
	return -1;
}

int report_view_of(const char *word)
{
	int found = word_of(REPORT_VIEW_WORDS, word);

	return found < 0 ? -1 : found + REPORT_NAME;
}

int report_sort_of(const char *word)
{
	return word_of(REPORT_SORT_WORDS, word);
}

int report_run(struct report *report, const struct trace *trace,
	const struct report_options *options, struct error *err)
{
	int status;

	memset(report, 0, sizeof *report);
	report->trace = trace;
	report->options = *options;
	status = analyze_spans(trace, &options->analyze, &report->spans, err);
	if (status != STATUS_OK)
		return status;
	status = analyze_counters(trace, &options->analyze, &report->counters, err);
	if (status == STATUS_OK && report_shows(report, REPORT_TREE)) {
		status = analyze_tree(trace, &options->analyze, &report->tree, err);
		report->has_tree = status == STATUS_OK;
	}
	if (status != STATUS_OK)
		report_release(report);
	return status;
}

void report_release(struct report *report)
{
	analyze_spans_release(&report->spans);
	analyze_counters_release(&report->counters);
	if (report->has_tree)
		analyze_tree_release(&report->tree);
	memset(report, 0, sizeof *report);
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

static bool row_wanted(const struct analyze_group *group, enum report_rows rows)
{
	static const char *const frame[] = { "step", "phase", NULL };
	static const char *const device[] = { "kernel", "memcpy", "memset", NULL };

	switch (rows) {
	case REPORT_ROWS_WORK:
		return !is_one_of(group->category, frame);
	case REPORT_ROWS_OPERATIONS:
		return !is_one_of(group->category, frame) && !is_one_of(group->category, device);
	case REPORT_ROWS_KERNELS:
		return strcmp(group->category, "kernel") == 0;
	case REPORT_ROWS_ALL:
		break;
	}
	return true;
}

static double sort_value(const struct analyze_stats *stats, enum report_sort sort)
{
	switch (sort) {
	case REPORT_BY_SELF:
		return (double)stats->self_ns;
	case REPORT_BY_COUNT:
		return (double)stats->count;
	case REPORT_BY_MEAN:
		return stats->mean_ns;
	case REPORT_BY_MAX:
		return (double)stats->max_ns;
	case REPORT_BY_P50:
		return (double)stats->p50_ns;
	case REPORT_BY_P90:
		return (double)stats->p90_ns;
	case REPORT_BY_P99:
		return (double)stats->p99_ns;
	default:
		return (double)stats->total_ns;
	}
}

/* Largest first; equals by name, so that the order is the same each time. */
static int compare_groups(const void *a, const void *b, void *sort)
{
	const struct analyze_group *x = *(const struct analyze_group *const *)a;
	const struct analyze_group *y = *(const struct analyze_group *const *)b;
	enum report_sort by = *(const enum report_sort *)sort;
	int order;

	if (by != REPORT_BY_NAME) {
		double left = sort_value(&x->stats, by), right = sort_value(&y->stats, by);

		if (left != right)
			return left > right ? -1 : 1;
	}
	order = strcmp(x->name, y->name);
	if (order == 0)
		order = strcmp(x->category, y->category);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

int report_list_init(struct report_list *list, const struct analyze_groups *groups,
	enum report_rows rows, enum report_sort sort)
{
	memset(list, 0, sizeof *list);
	list->items = malloc((groups->count + 1) * sizeof(struct analyze_group *));
	if (!list->items)
		return STATUS_NOMEM;
	for (size_t i = 0; i < groups->count; i++) {
		if (!row_wanted(&groups->items[i], rows))
			continue;
		list->items[list->count++] = &groups->items[i];
		list->self_ns += groups->items[i].stats.self_ns;
	}
	qsort_r(list->items, list->count, sizeof(struct analyze_group *), compare_groups, &sort);
	return STATUS_OK;
}

void report_list_release(struct report_list *list)
{
	free(list->items);
	memset(list, 0, sizeof *list);
}

double report_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

double report_list_share(const struct report_list *list, const struct analyze_group *group)
{
	if (list->whole_ns)
		return report_share(group->stats.total_ns, list->whole_ns);
	return report_share(group->stats.self_ns, list->self_ns);
}

static int compare_slowest(const void *a, const void *b)
{
	const struct analyze_step *x = *(const struct analyze_step *const *)a;
	const struct analyze_step *y = *(const struct analyze_step *const *)b;

	if (x->duration_ns != y->duration_ns)
		return x->duration_ns > y->duration_ns ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

int report_steps_order(const struct analyze_spans *spans, bool slowest_first,
	const struct analyze_step ***ret_steps)
{
	const struct analyze_step **steps;

	steps = malloc((spans->step_count + 1) * sizeof(struct analyze_step *));
	if (!steps)
		return STATUS_NOMEM;
	for (size_t i = 0; i < spans->step_count; i++)
		steps[i] = &spans->steps[i];
	if (slowest_first)
		qsort(steps, spans->step_count, sizeof(struct analyze_step *), compare_slowest);
	*ret_steps = steps;
	return STATUS_OK;
}

const char *report_node_name(
	const struct report *report, const struct analyze_node *node, const char **ret_category)
{
	const struct trace *trace = report->trace;
	bool known = node->name < trace->name_count;

	if (ret_category)
		*ret_category = known ? trace->names[node->name].category : "";
	return known ? trace->names[node->name].name : "(other)";
}

size_t report_track_count(const struct trace *trace, enum track_kind kind)
{
	size_t count = 0;

	for (uint32_t i = 0; i < trace->track_count; i++)
		count += trace->tracks[i].kind == kind &&
			 (kind != TRACK_PROCESS || trace->tracks[i].os_id);
	return count;
}

void report_track_label(const struct trace *trace, uint32_t track, struct buffer *out)
{
	const struct trace_track *self, *process;

	if (track >= trace->track_count) {
		buffer_printf(out, "track %u", track);
		return;
	}
	self = &trace->tracks[track];
	process = self->process < trace->track_count ? &trace->tracks[self->process] : self;
	if (process != self)
		buffer_printf(out, "%s %" PRIu64 " > ", process->name, process->os_id);
	buffer_text(out, self->name);
	if (self->kind == TRACK_THREAD || self->kind == TRACK_PROCESS)
		buffer_printf(out, " %" PRIu64, self->os_id);
}

void report_json_head(struct json_writer *json, const char *command)
{
	json_key(json, "tacho");
	json_object(json);
	json_key_u64(json, "schema", REPORT_SCHEMA);
	json_key_string(json, "version", TACHO_VERSION);
	json_key_string(json, "command", command);
	json_object_end(json);
}
