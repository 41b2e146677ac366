// SPDX-License-Identifier: MIT OR Apache-2.0
/* A profile for profiler.firefox.com: version 48 of its processed format, which every later front
 * end upgrades. Each track with spans, marks or samples is a thread; spans and marks are markers,
 * the stacks of scopes (or stack samples, where there are any) make the call tree. */
#include "base/array.h"
#include "export/export_sink.h"
#include "export/firefox_thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/version.h>

#define PROCESSED_VERSION 48u
#define GECKO_VERSION     29u /* what that version was made from */
#define CATEGORIES_MAX    64u

struct counter_value {
	uint64_t time_ns;
	double value;
	uint32_t track;
};

struct firefox_export {
	const struct trace *trace;
	struct json_writer json;
	struct export_samples samples;
	struct firefox_mark *marks;
	size_t mark_count, mark_capacity;
	struct counter_value *counters;
	size_t counter_count, counter_capacity;
	uint32_t *categories;                      /* by name: number of its category */
	uint32_t category_strings[CATEGORIES_MAX]; /* of the numbers from 1 on */
	size_t category_count;
	struct id_map keys;  /* of arguments */
	uint32_t *thread_of; /* by process track: its first thread + 1 */
	size_t thread_count;
};

static int keep_mark(void *context, const uint64_t *row)
{
	struct firefox_export *export = context;

	if (array_grow((void **)&export->marks, &export->mark_capacity, export->mark_count + 1,
		    sizeof *export->marks) != STATUS_OK)
		return STATUS_NOMEM;
	export->marks[export->mark_count++] = (struct firefox_mark){ .time_ns = row[MARKS_TIME],
		.track = (uint32_t)row[MARKS_TRACK],
		.name = (uint32_t)row[MARKS_NAME] };
	return STATUS_OK;
}

static int compare_marks(const void *a, const void *b)
{
	const struct firefox_mark *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int keep_counter(void *context, const uint64_t *row)
{
	struct firefox_export *export = context;
	struct counter_value kept = { .time_ns = row[COUNTERS_TIME],
		.value = (double)(int64_t)row[COUNTERS_VALUE],
		.track = (uint32_t)row[COUNTERS_TRACK] };

	if (row[COUNTERS_KIND] == COUNTER_DOUBLE)
		memcpy(&kept.value, &row[COUNTERS_VALUE], sizeof kept.value);
	if (array_grow((void **)&export->counters, &export->counter_capacity,
		    export->counter_count + 1, sizeof *export->counters) != STATUS_OK)
		return STATUS_NOMEM;
	export->counters[export->counter_count++] = kept;
	return STATUS_OK;
}

static int compare_counters(const void *a, const void *b)
{
	const struct counter_value *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Numbers of categories: 0 is for names without one, and for those beyond the limit. */
static int number_categories(struct firefox_export *export)
{
	const struct trace *trace = export->trace;

	export->categories = calloc((size_t)trace->name_count + 1, sizeof *export->categories);
	export->thread_of = calloc((size_t)trace->track_count + 1, sizeof *export->thread_of);
	if (!export->categories || !export->thread_of)
		return STATUS_NOMEM;
	for (uint32_t i = 0; i < trace->name_count; i++) {
		uint32_t string = trace->names[i].category_string;
		size_t at = 0;

		if (!trace->names[i].category[0])
			continue;
		while (at < export->category_count && export->category_strings[at] != string)
			at++;
		if (at == export->category_count) {
			if (at == CATEGORIES_MAX)
				continue;
			export->category_strings[export->category_count++] = string;
		}
		export->categories[i] = (uint32_t)at + 1;
	}
	return STATUS_OK;
}

static void put_category(struct json_writer *json, const char *name, const char *color)
{
	json_object(json);
	json_key_string(json, "name", name);
	json_key_string(json, "color", color);
	json_key(json, "subcategories");
	json_array(json);
	json_string(json, "Other");
	json_array_end(json);
	json_object_end(json);
}

static void put_categories(struct firefox_export *export)
{
	static const char *const colors[] = { "blue", "green", "orange", "purple", "red", "yellow",
		"lightblue", "brown", "magenta", "lightgreen" };
	struct json_writer *json = &export->json;

	json_key(json, "categories");
	json_array(json);
	/* Every profile needs a grey one: it is the default. */
	put_category(json, "Other", "grey");
	for (size_t i = 0; i < export->category_count; i++)
		put_category(json, export_string(export->trace, export->category_strings[i]),
			colors[i % (sizeof colors / sizeof colors[0])]);
	json_array_end(json);
}

/* One schema for all markers, with every key that occurred; those a marker lacks are not shown. */
static void put_schema(struct firefox_export *export)
{
	static const char *const formats[] = { [ARG_INTEGER] = "integer",
		[ARG_DOUBLE] = "decimal",
		[ARG_STRING] = "string",
		[ARG_JSON] = "string" };
	struct json_writer *json = &export->json;

	json_key(json, "markerSchema");
	json_array(json);
	json_object(json);
	json_key_string(json, "name", "tacho");
	json_key_string(json, "tooltipLabel", "{marker.name}");
	json_key_string(json, "tableLabel", "{marker.name}");
	json_key_string(json, "chartLabel", "{marker.name}");
	json_key(json, "display");
	json_array(json);
	json_string(json, "marker-chart");
	json_string(json, "marker-table");
	json_array_end(json);
	json_key(json, "data");
	json_array(json);
	for (uint32_t i = 0; i < export->trace->strings.count; i++) {
		const char *key = export_string(export->trace, i);
		uint64_t type;

		if (!id_map_get(&export->keys, i, &type))
			continue;
		json_object(json);
		json_key_string(json, "key", strcmp(key, "type") == 0 ? "type_" : key);
		json_key_string(json, "label", key);
		json_key_string(json, "format", formats[type]);
		json_key_bool(json, "searchable", true);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
	json_array_end(json);
}

static void put_meta(struct firefox_export *export, uint64_t damaged_blocks)
{
	static const char *const units[][2] = { { "time", "ms" }, { "eventDelay", "ms" },
		{ "threadCPUDelta", "ns" } };
	struct json_writer *json = &export->json;
	const struct trace *trace = export->trace;
	const char *program = trace_metadata(trace, "program");

	json_key(json, "meta");
	json_object(json);
	json_key_u64(json, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_key_u64(json, "version", GECKO_VERSION);
	json_key_u64(json, "interval", 1);
	json_key(json, "startTime");
	firefox_time(json, trace->header.start_unix_ns);
	json_key_u64(json, "processType", 0);
	json_key_string(json, "product", program ? program : "tacho");
	json_key_string(json, "importedFrom", "tacho " TACHO_VERSION);
	json_key_u64(json, "stackwalk", 0);
	json_key_bool(json, "debug", false);
	json_key_bool(json, "symbolicated", true);
	json_key_bool(json, "usesOnlyOneStackType", true);
	json_key_bool(json, "doesNotUseFrameImplementation", true);
	json_key_bool(json, "sourceCodeIsNotOnSearchfox", true);
	json_key(json, "sampleUnits");
	json_object(json);
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		json_key_string(json, units[i][0], units[i][1]);
	json_object_end(json);
	put_categories(export);
	put_schema(export);
	json_key(json, "extra");
	json_array(json);
	json_array_end(json);
	json_key(json, "tacho");
	json_object(json);
	json_key(json, "metadata");
	export_json_metadata(json, trace);
	json_key(json, "ledger");
	export_json_ledger(json, trace, damaged_blocks);
	json_object_end(json);
	json_object_end(json);
}

/* Numbers of processes may repeat; the track's own never does. */
static void put_pid(struct firefox_export *export, uint32_t process)
{
	char text[64];

	snprintf(text, sizeof text, "%" PRIu64, export->trace->tracks[process].os_id);
	for (uint32_t i = 0; i < process; i++)
		if (export->trace->tracks[i].kind == TRACK_PROCESS &&
			export->trace->tracks[i].os_id == export->trace->tracks[process].os_id) {
			snprintf(text, sizeof text, "%" PRIu64 "-%u",
				export->trace->tracks[process].os_id, process);
			break;
		}
	json_key_string(&export->json, "pid", text);
}

static void put_thread_head(struct firefox_export *export, uint32_t id)
{
	const struct trace_track *track = &export->trace->tracks[id];
	const struct trace_track *process = &export->trace->tracks[track->process];
	struct json_writer *json = &export->json;

	json_key_string(json, "name", track->name[0] ? track->name : track_kind_name(track->kind));
	json_key_string(json, "processName", process->name);
	json_key_string(json, "processType", "default");
	json_key_bool(json, "isMainThread",
		track->kind == TRACK_THREAD && track->os_id == process->os_id);
	put_pid(export, process->id);
	json_key_u64(json, "tid", track->kind == TRACK_THREAD ? track->os_id : (1u << 30) + id);
	json_key_u64(json, "processStartupTime", 0);
	json_key(json, "processShutdownTime");
	json_null(json);
	json_key_u64(json, "registerTime", 0);
	json_key(json, "unregisterTime");
	json_null(json);
	json_key(json, "pausedRanges");
	json_array(json);
	json_array_end(json);
}

/* Marks of a track. */
static const struct firefox_mark *marks_of(
	const struct firefox_export *export, uint32_t track, size_t *ret_count)
{
	size_t low = 0, high = export->mark_count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (export->marks[middle].track < track)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < export->mark_count && export->marks[end].track == track;)
		end++;
	*ret_count = end - low;
	return export->marks + low;
}

static int put_thread(struct firefox_export *export, struct export_walk *walk, uint32_t id,
	bool even_empty, struct error *err)
{
	const struct trace_track *track = &export->trace->tracks[id];
	struct firefox_thread thread = { .trace = export->trace,
		.json = &export->json,
		.walk = walk,
		.err = err,
		.track = id,
		.categories = export->categories,
		.keys = &export->keys };
	size_t sample_count;
	const struct export_sample *samples =
		export_samples_of(&export->samples, id, &sample_count);
	int status;

	thread.marks = marks_of(export, id, &thread.mark_count);
	if (!samples && !thread.mark_count && !export_slices_any(walk, id) && !even_empty)
		return STATUS_OK;
	export->thread_count++;
	if (!export->thread_of[track->process])
		export->thread_of[track->process] = (uint32_t) export->thread_count;
	json_object(&export->json);
	put_thread_head(export, id);
	status = firefox_thread_write(&thread, samples, sample_count);
	json_object_end(&export->json);
	firefox_thread_release(&thread);
	return status;
}

/* A counter is stored as what was added since the value before. */
static size_t put_counter(struct firefox_export *export, size_t first)
{
	struct json_writer *json = &export->json;
	const struct trace_track *track = &export->trace->tracks[export->counters[first].track];
	uint32_t thread = export->thread_of[track->process];
	size_t end = first;

	while (end < export->counter_count && export->counters[end].track == track->id)
		end++;
	json_object(json);
	json_key_string(json, "name", track->name);
	json_key_string(json, "category", strcmp(track->unit, "bytes") == 0 ? "Memory" : "Other");
	json_key_string(json, "description", track->unit);
	put_pid(export, track->process);
	json_key_u64(json, "mainThreadIndex", thread - 1);
	json_key(json, "samples");
	json_object(json);
	json_key(json, "time");
	json_array(json);
	for (size_t i = first; i < end; i++)
		firefox_time(json, export->counters[i].time_ns);
	json_array_end(json);
	json_key(json, "count");
	json_array(json);
	for (size_t i = first; i < end; i++)
		json_double(json, export->counters[i].value -
					  (i > first ? export->counters[i - 1].value : 0));
	json_array_end(json);
	json_key_u64(json, "length", end - first);
	json_object_end(json);
	json_object_end(json);
	return end;
}

/* A counter belongs to a process, and there is none without a thread: one that has only counters,
 * such as the machine, gets an empty one. */
static int put_owners(struct firefox_export *export, struct export_walk *walk, struct error *err)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < export->counter_count && status == STATUS_OK; i++) {
		uint32_t process = export->trace->tracks[export->counters[i].track].process;

		if (!export->thread_of[process])
			status = put_thread(export, walk, process, true, err);
	}
	return status;
}

static int load(struct firefox_export *export, struct export_walk *walk, struct error *err)
{
	int status = number_categories(export);

	if (status == STATUS_OK)
		status = export_samples_load(&export->samples, walk, err);
	if (status == STATUS_OK)
		status = export_walk_rows(walk, TABLE_MARKS, keep_mark, export, err);
	if (status == STATUS_OK)
		status = export_walk_rows(walk, TABLE_COUNTERS, keep_counter, export, err);
	if (export->mark_count)
		qsort(export->marks, export->mark_count, sizeof *export->marks, compare_marks);
	if (export->counter_count)
		qsort(export->counters, export->counter_count, sizeof *export->counters,
			compare_counters);
	/* Six columns of markers, three of samples, the latter read twice each. */
	walk->total *= 12;
	return status;
}

static int put_document(struct firefox_export *export, struct export_walk *walk, struct error *err)
{
	static const char *const empty[] = { "libs", "pages", "profilerOverhead" };
	struct json_writer *json = &export->json;
	int status = load(export, walk, err);

	if (status != STATUS_OK)
		return status;
	json_object(json);
	json_key(json, "threads");
	json_array(json);
	for (uint32_t i = 0; i < export->trace->track_count && status == STATUS_OK; i++)
		status = put_thread(export, walk, i, false, err);
	if (status == STATUS_OK)
		status = put_owners(export, walk, err);
	json_array_end(json);
	json_key(json, "counters");
	json_array(json);
	for (size_t i = 0; i < export->counter_count && status == STATUS_OK;)
		i = put_counter(export, i);
	json_array_end(json);
	for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
		json_key(json, empty[i]);
		json_array(json);
		json_array_end(json);
	}
	put_meta(export, walk->result.damaged_blocks);
	json_object_end(json);
	return status;
}

static bool wants_gzip(const char *path)
{
	size_t length = path ? strlen(path) : 0;

	return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

static int run_firefox(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct firefox_export export = { .trace = trace };
	struct export_sink sink;
	struct export_walk walk;
	int status = export_walk_init(&walk, trace, options, err);

	if (status != STATUS_OK)
		return status;
	status = export_sink_open(&sink, options, wants_gzip(options->path), err);
	if (status == STATUS_OK) {
		json_writer_init(&export.json, export_sink_write, &sink);
		id_map_init(&export.keys);
		status = put_document(&export, &walk, err);
		if (status == STATUS_OK)
			status = json_writer_finish(&export.json);
		json_writer_release(&export.json);
		status = export_sink_finish(&sink, status, err);
	}
	*ret_result = walk.result;
	id_map_release(&export.keys);
	export_samples_release(&export.samples);
	free(export.marks);
	free(export.counters);
	free(export.categories);
	free(export.thread_of);
	export_walk_release(&walk);
	return status;
}

const struct exporter export_firefox = {
	.name = "firefox",
	.summary = "a profile for profiler.firefox.com",
	.extensions = ".firefox.json .firefox.json.gz",
	.run = run_firefox,
};
