// SPDX-License-Identifier: MIT OR Apache-2.0
/* A report as one JSON document. The keys are a promise: more may be added, none renamed. */
#include "report/report.h"
#include "report/report_internal.h"

#include <stdlib.h>

/* Out of memory in the middle of a document: the writer fails as a whole. */
static void fail(struct json_writer *json)
{
	json->failed = true;
}

static void put_stats(struct json_writer *json, const struct analyze_stats *stats, double share)
{
	json_key_u64(json, "count", stats->count);
	json_key_u64(json, "total_ns", stats->total_ns);
	json_key_u64(json, "self_ns", stats->self_ns);
	json_key_double(json, "mean_ns", stats->mean_ns);
	json_key_double(json, "sd_ns", stats->sd_ns);
	json_key_u64(json, "min_ns", stats->min_ns);
	json_key_u64(json, "max_ns", stats->max_ns);
	json_key_u64(json, "p50_ns", stats->p50_ns);
	json_key_u64(json, "p90_ns", stats->p90_ns);
	json_key_u64(json, "p99_ns", stats->p99_ns);
	json_key_string(json, "percentiles", stats->sketch ? "sketch" : "exact");
	json_key_double(json, "share", share);
}

static void put_names(const struct report *report, struct json_writer *json, const char *key,
	enum report_rows rows)
{
	struct report_list list;
	bool device = rows == REPORT_ROWS_KERNELS;

	json_key(json, key);
	json_array(json);
	if (report_list_init(&list, &report->spans.names, rows, report->options.sort)) {
		fail(json);
		json_array_end(json);
		return;
	}
	for (size_t i = 0; i < list.count && i < report->options.top; i++) {
		const struct analyze_group *group = list.items[i];

		json_object(json);
		json_key_string(json, "name", group->name);
		json_key_string(json, "category", group->category);
		put_stats(json, &group->stats, report_list_share(&list, group));
		/* A kernel is device time itself; what an operation caused there is not known yet.
		 */
		json_key_u64(json, "device_ns", device ? group->stats.total_ns : 0);
		json_object_end(json);
	}
	json_array_end(json);
	report_list_release(&list);
}

/* Categories, threads and phases: groups in full. Phases are shares of `whole_ns`, the time of all
 * steps. */
static void put_groups(const struct report *report, struct json_writer *json, const char *key,
	const struct analyze_groups *groups, bool tracks, uint64_t whole_ns)
{
	const struct trace *trace = report->trace;
	struct report_list list;

	json_key(json, key);
	json_array(json);
	if (report_list_init(&list, groups, REPORT_ROWS_ALL, report->options.sort)) {
		fail(json);
		json_array_end(json);
		return;
	}
	list.whole_ns = whole_ns;
	for (size_t i = 0; i < list.count && i < report->options.top; i++) {
		const struct analyze_group *group = list.items[i];

		json_object(json);
		json_key_string(json, "name", group->name);
		if (tracks && group->id < trace->track_count) {
			const struct trace_track *track = &trace->tracks[group->id];

			json_key_u64(json, "track", group->id);
			json_key_string(json, "kind", track_kind_name(track->kind));
			json_key_u64(json, "os_id", track->os_id);
			json_key_string(json, "process",
				track->process < trace->track_count
					? trace->tracks[track->process].name
					: "");
		}
		put_stats(json, &group->stats, report_list_share(&list, group));
		json_object_end(json);
	}
	json_array_end(json);
	report_list_release(&list);
}

static void put_steps(const struct report *report, struct json_writer *json)
{
	const struct analyze_spans *spans = &report->spans;

	json_key(json, "steps");
	json_array(json);
	for (size_t i = 0; i < spans->step_count; i++) {
		const struct analyze_step *step = &spans->steps[i];

		json_object(json);
		json_key_u64(json, "number", step->number);
		json_key_u64(json, "track", step->track);
		json_key_u64(json, "start_ns", step->start_ns);
		json_key_u64(json, "duration_ns", step->duration_ns);
		json_key(json, "phases");
		json_array(json);
		for (uint32_t p = 0; p < step->phase_count; p++) {
			const struct analyze_phase *phase = &spans->phases[step->first_phase + p];

			json_object(json);
			json_key_string(json, "name", phase->name);
			json_key_u64(json, "start_ns", phase->start_ns);
			json_key_u64(json, "duration_ns", phase->duration_ns);
			json_object_end(json);
		}
		json_array_end(json);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_counters(const struct report *report, struct json_writer *json)
{
	json_key(json, "counters");
	json_array(json);
	for (size_t i = 0; i < report->counters.count; i++) {
		const struct analyze_counter *counter = &report->counters.items[i];

		json_object(json);
		json_key_string(json, "name", counter->name);
		json_key_string(json, "unit", counter->unit);
		json_key_string(json, "process", counter->process);
		json_key_u64(json, "track", counter->track);
		json_key_u64(json, "count", counter->count);
		json_key_double(json, "min", counter->min);
		json_key_double(json, "max", counter->max);
		json_key_double(json, "mean", counter->mean);
		json_key_double(json, "first", counter->first);
		json_key_double(json, "last", counter->last);
		json_object_end(json);
	}
	json_array_end(json);
}

/* Flat, with parents by number: a nested document of a deep recursion could not be read again. */
static void put_tree(const struct report *report, struct json_writer *json)
{
	const struct analyze_tree *tree = &report->tree;

	if (!report->has_tree)
		return;
	json_key(json, "tree");
	json_object(json);
	json_key_bool(json, "cut", tree->cut);
	json_key(json, "nodes");
	json_array(json);
	for (size_t i = 1; i < tree->count; i++) {
		const struct analyze_node *node = &tree->nodes[i];
		const char *category, *name = report_node_name(report, node, &category);

		json_object(json);
		json_key_u64(json, "id", i);
		json_key_u64(json, "parent", node->parent);
		json_key_string(json, "name", name);
		json_key_string(json, "category", category);
		json_key_u64(json, "count", node->count);
		json_key_u64(json, "total_ns", node->total_ns);
		json_key_u64(json, "self_ns", node->self_ns);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

static void put_summary(const struct report *report, struct json_writer *json)
{
	const struct analyze_spans *spans = &report->spans;
	const struct trace *trace = report->trace;

	json_key(json, "summary");
	json_object(json);
	json_key_u64(json, "wall_ns", spans->wall_ns);
	json_key_u64(json, "steps", spans->step_count);
	json_key_bool(json, "steps_recorded", spans->steps_recorded);
	json_key(json, "step_ns");
	json_object(json);
	json_key_double(json, "mean", spans->step_stats.mean_ns);
	json_key_u64(json, "p50", spans->step_stats.p50_ns);
	json_key_u64(json, "p90", spans->step_stats.p90_ns);
	json_key_u64(json, "p99", spans->step_stats.p99_ns);
	json_object_end(json);
	json_key_u64(json, "span_count", spans->span_count);
	json_key_u64(json, "cpu_op_count", spans->op_count);
	json_key_u64(json, "kernel_count", spans->kernel_count);
	json_key_u64(json, "kernel_time_ns", spans->kernel_time_ns);
	json_key_u64(json, "gpu_busy_ns", spans->gpu_busy_ns);
	json_key_u64(json, "memcpy_bytes", spans->memcpy_bytes);
	json_key_u64(json, "processes", report_track_count(trace, TRACK_PROCESS));
	json_key_u64(json, "threads", report_track_count(trace, TRACK_THREAD));
	json_key_u64(json, "damaged_blocks", spans->damaged_blocks);
	json_object_end(json);
}

static void put_warnings(const struct report *report, struct json_writer *json)
{
	struct buffer text;

	buffer_init(&text);
	report_warning(report->trace, report->spans.damaged_blocks, &text);
	json_key(json, "warnings");
	json_array(json);
	if (text.length)
		json_string_n(json, (const char *)text.data, text.length);
	json_array_end(json);
	buffer_release(&text);
}

void report_json(const struct report *report, struct json_writer *json)
{
	const struct trace_window *window = &report->options.analyze.window;

	json_object(json);
	report_json_head(json, "report");
	json_key_string(json, "file", report->trace->path);
	json_key(json, "window");
	json_object(json);
	json_key_u64(json, "from_ns", window->from_ns);
	json_key_u64(
		json, "until_ns", window->until_ns ? window->until_ns : report->trace->span_ns);
	json_object_end(json);
	put_warnings(report, json);
	put_summary(report, json);
	put_names(report, json, "operations", REPORT_ROWS_OPERATIONS);
	put_names(report, json, "kernels", REPORT_ROWS_KERNELS);
	json_key(json, "layers");
	json_array(json);
	json_array_end(json);
	put_steps(report, json);
	put_groups(report, json, "phases", &report->spans.phase_groups, false,
		report->spans.step_stats.total_ns);
	put_groups(report, json, "threads", &report->spans.tracks, true, 0);
	put_groups(report, json, "categories", &report->spans.categories, false, 0);
	put_counters(report, json);
	put_tree(report, json);
	report_json_ledger(json, &report->trace->ledger);
	json_object_end(json);
}
