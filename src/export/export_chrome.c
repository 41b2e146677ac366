// SPDX-License-Identifier: MIT OR Apache-2.0
/* Chrome's trace event format, as chrome://tracing and Perfetto open it. Times are microseconds
 * with the nanoseconds behind the point. Tracks become: process, machine        a process; the
 * machine is process 0 thread                  a thread under its own number device, remote, other
 * a thread under a number above all that Linux gives out async                   begin and end
 * events with an id each */
#include "base/id_map.h"
#include "export/export_flows.h"
#include "export/export_walk.h"
#include "export/output_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/version.h>

#define SYNTHETIC_ID 0x40000000u /* Linux numbers processes and threads below 2^22 */

struct chrome_ids {
	uint64_t pid, tid;
};

struct chrome_export {
	const struct trace *trace;
	struct json_writer json;
	struct chrome_ids *ids; /* by track */
	uint64_t async_count;
	bool flows_per_process;
	/* What all spans of a name and of a track have in common, escaped and joined once. */
	struct buffer *name_keys, *track_keys;
};

/* A number of the system's is used once: one that was reused by a later process or thread would
 * merge the two. */
static int claim(
	struct id_map *used, uint64_t key, uint64_t wanted, uint32_t track, uint64_t *ret_id)
{
	uint64_t before;

	if (!id_map_get(used, key, &before)) {
		*ret_id = wanted;
		return id_map_put(used, key, track);
	}
	*ret_id = SYNTHETIC_ID + track;
	return STATUS_OK;
}

static int number_tracks(struct chrome_export *export)
{
	const struct trace *trace = export->trace;
	struct id_map pids, tids;
	int status;

	export->ids = calloc((size_t)trace->track_count + 1, sizeof *export->ids);
	export->track_keys = calloc((size_t)trace->track_count + 1, sizeof *export->track_keys);
	export->name_keys = calloc((size_t)trace->name_count + 1, sizeof *export->name_keys);
	if (!export->ids || !export->track_keys || !export->name_keys)
		return STATUS_NOMEM;
	id_map_init(&pids);
	id_map_init(&tids);
	/* 0 is the machine's. */
	status = id_map_put(&pids, 0, 0);
	for (uint32_t i = 0; i < trace->track_count && status == STATUS_OK; i++)
		if (trace->tracks[i].kind == TRACK_PROCESS)
			status = claim(&pids, trace->tracks[i].os_id, trace->tracks[i].os_id, i,
				&export->ids[i].pid);
	for (uint32_t i = 0; i < trace->track_count && status == STATUS_OK; i++) {
		const struct trace_track *track = &trace->tracks[i];
		struct chrome_ids *ids = &export->ids[i];

		ids->pid = export->ids[track->process].pid;
		ids->tid = SYNTHETIC_ID + i;
		if (track->kind == TRACK_THREAD)
			status = claim(&tids, (uint64_t)track->process << 32 ^ track->os_id,
				track->os_id, i, &ids->tid);
		else if (track->kind == TRACK_PROCESS || track->kind == TRACK_MACHINE)
			ids->tid = 0;
	}
	id_map_release(&pids);
	id_map_release(&tids);
	return status;
}

static int check(const struct chrome_export *export)
{
	return export->json.failed ? STATUS_IO : STATUS_OK;
}

/* Microseconds with three decimals, by hand: there are two in every event. */
static void put_time(struct json_writer *json, const char *key, uint64_t ns)
{
	char text[32], *at = text + sizeof text;
	uint64_t micros = ns / 1000;
	unsigned rest = (unsigned)(ns % 1000);

	*--at = '\0';
	for (int i = 0; i < 3; i++, rest /= 10)
		*--at = (char)('0' + rest % 10);
	*--at = '.';
	do {
		*--at = (char)('0' + micros % 10);
		micros /= 10;
	} while (micros);
	json_key(json, key);
	json_raw(json, at);
}

/* The keys that every event has. */
static void begin_event(struct chrome_export *export, const char *phase, uint32_t track,
	const char *name, const char *category)
{
	struct json_writer *json = &export->json;

	json_object(json);
	json_key_string(json, "ph", phase);
	json_key_u64(json, "pid", export->ids[track].pid);
	json_key_u64(json, "tid", export->ids[track].tid);
	json_key_string(json, "name", name);
	if (category && category[0])
		json_key_string(json, "cat", category);
}

static void put_args(struct chrome_export *export, const struct export_span *span)
{
	if (span->arg_count) {
		json_key(&export->json, "args");
		export_json_args(&export->json, export->trace, span);
	}
}

static void put_async(struct chrome_export *export, const struct export_span *span)
{
	const struct trace_name *name = &export->trace->names[span->name];
	const char *category = name->category[0] ? name->category : "async";
	char id[24];

	snprintf(id, sizeof id, "0x%" PRIx64, ++export->async_count);
	begin_event(export, "b", span->track, name->name, category);
	put_time(&export->json, "ts", span->start_ns);
	json_key_string(&export->json, "id", id);
	put_args(export, span);
	json_object_end(&export->json);
	begin_event(export, "e", span->track, name->name, category);
	put_time(&export->json, "ts", span->start_ns + span->duration_ns);
	json_key_string(&export->json, "id", id);
	json_object_end(&export->json);
}

static void put_instant(struct chrome_export *export, const struct export_span *span)
{
	const struct trace_name *name = &export->trace->names[span->name];

	begin_event(export, "i", span->track, name->name, name->category);
	put_time(&export->json, "ts", span->start_ns);
	json_key_string(&export->json, "s", "t");
	put_args(export, span);
	json_object_end(&export->json);
}

/* Members of an object as text, without the braces. */
static int keep_members(struct json_writer *members, struct buffer *kept)
{
	json_object_end(members);
	if (!buffer_ok(&members->out)) {
		json_writer_release(members);
		return STATUS_NOMEM;
	}
	buffer_append(kept, members->out.data + 1, members->out.length - 2);
	json_writer_release(members);
	return buffer_ok(kept) ? STATUS_OK : STATUS_NOMEM;
}

static int keep_name(struct chrome_export *export, uint32_t id)
{
	const struct trace_name *name = &export->trace->names[id];
	struct json_writer members;

	json_writer_init(&members, NULL, NULL);
	json_object(&members);
	json_key_string(&members, "name", name->name);
	if (name->category[0])
		json_key_string(&members, "cat", name->category);
	return keep_members(&members, &export->name_keys[id]);
}

static int keep_track(struct chrome_export *export, uint32_t id)
{
	struct json_writer members;

	json_writer_init(&members, NULL, NULL);
	json_object(&members);
	json_key_string(&members, "ph", "X");
	json_key_u64(&members, "pid", export->ids[id].pid);
	json_key_u64(&members, "tid", export->ids[id].tid);
	return keep_members(&members, &export->track_keys[id]);
}

static int put_span(void *context, const struct export_span *span)
{
	struct chrome_export *export = context;
	struct json_writer *json = &export->json;
	struct buffer *name = &export->name_keys[span->name];
	struct buffer *track = &export->track_keys[span->track];

	if (span->layout == SPANS_INSTANT) {
		put_instant(export, span);
		return check(export);
	}
	if (export->trace->tracks[span->track].kind == TRACK_ASYNC) {
		put_async(export, span);
		return check(export);
	}
	if ((!name->length && keep_name(export, span->name) != STATUS_OK) ||
		(!track->length && keep_track(export, span->track) != STATUS_OK))
		return STATUS_NOMEM;
	json_object(json);
	buffer_append(&json->out, track->data, track->length);
	buffer_byte(&json->out, ',');
	buffer_append(&json->out, name->data, name->length);
	json->first[json->depth] = false;
	put_time(json, "ts", span->start_ns);
	put_time(json, "dur", span->duration_ns);
	put_args(export, span);
	json_object_end(json);
	return check(export);
}

/* Counters with one name in one process are one line on the screen, so a counter of something else
 * than the process carries that in its name; and the unit belongs to the name as well. */
static int put_counter(void *context, const uint64_t *row)
{
	struct chrome_export *export = context;
	const struct trace_track *track = &export->trace->tracks[row[COUNTERS_TRACK]];
	const struct trace_track *parent = &export->trace->tracks[track->parent];
	bool plain = track->parent == track->process || track->parent == track->id;
	char name[512];

	snprintf(name, sizeof name, "%s%s%s%s%s%s", plain ? "" : parent->name, plain ? "" : " ",
		track->name, track->unit[0] ? " [" : "", track->unit, track->unit[0] ? "]" : "");
	begin_event(export, "C", track->id, name, NULL);
	put_time(&export->json, "ts", row[COUNTERS_TIME]);
	json_key(&export->json, "args");
	json_object(&export->json);
	json_key(&export->json, "value");
	export_json_counter(&export->json, row);
	json_object_end(&export->json);
	json_object_end(&export->json);
	return check(export);
}

static int put_mark(void *context, const uint64_t *row)
{
	struct chrome_export *export = context;
	const struct trace_name *name = &export->trace->names[row[MARKS_NAME]];

	begin_event(export, "i", (uint32_t)row[MARKS_TRACK], name->name, name->category);
	put_time(&export->json, "ts", row[MARKS_TIME]);
	json_key_string(&export->json, "s", "t");
	json_object_end(&export->json);
	return check(export);
}

/* The number of the process (of the machine, in an imported trace) in the category keeps flows of
 * two of them apart. A correlation is an arrow from the host to whatever ran elsewhere. */
static int put_link(void *context, const uint64_t *row)
{
	struct chrome_export *export = context;
	const struct trace_track *track = &export->trace->tracks[row[LINKS_TRACK]];
	unsigned kind = (unsigned)row[LINKS_KIND] & LINK_KIND_MASK;
	bool correlation = kind == LINK_CORRELATION;
	const char *name = export->trace->names[row[LINKS_NAME]].name, *phase = "t";
	bool end = kind == LINK_FLOW_END || (correlation && track->kind != TRACK_THREAD);
	char category[64], id[24];

	if (kind == LINK_FLOW_BEGIN || (correlation && !end))
		phase = "s";
	else if (end)
		phase = "f";
	snprintf(category, sizeof category, "%s:%" PRIu64, correlation ? "correlation" : "flow",
		export->ids[export_flow_group(export->trace, export->flows_per_process, track->id)]
			.pid);
	snprintf(id, sizeof id, "%s0x%" PRIx64, row[LINKS_KIND] & LINK_TEXT_ID ? "text-" : "",
		row[LINKS_ID]);
	/* Both ends must agree on the name; a kernel and its launch do not. */
	begin_event(export, phase, track->id, correlation ? "correlation" : name, category);
	put_time(&export->json, "ts", row[LINKS_TIME]);
	json_key_string(&export->json, "id", id);
	/* The enclosing slice, not the next one. */
	if (end)
		json_key_string(&export->json, "bp", "e");
	json_object_end(&export->json);
	return check(export);
}

static void put_meta(struct chrome_export *export, uint32_t track, const char *what,
	const char *key, const char *text, uint64_t number)
{
	struct json_writer *json = &export->json;

	begin_event(export, "M", track, what, NULL);
	json_key(json, "args");
	json_object(json);
	if (text)
		json_key_string(json, key, text);
	else
		json_key_u64(json, key, number);
	json_object_end(json);
	json_object_end(json);
}

static void put_tracks(struct chrome_export *export)
{
	for (uint32_t i = 0; i < export->trace->track_count; i++) {
		const struct trace_track *track = &export->trace->tracks[i];
		const char *name = track->name[0] ? track->name : track_kind_name(track->kind);

		if (track->kind == TRACK_COUNTER || track->kind == TRACK_ASYNC)
			continue;
		if (track->kind == TRACK_PROCESS || track->kind == TRACK_MACHINE) {
			put_meta(export, i, "process_name", "name", name, 0);
			put_meta(export, i, "process_sort_index", "sort_index", NULL, i);
		} else {
			put_meta(export, i, "thread_name", "name", name, 0);
			put_meta(export, i, "thread_sort_index", "sort_index", NULL, i);
		}
	}
}

static void put_other(struct chrome_export *export, uint64_t damaged_blocks)
{
	struct json_writer *json = &export->json;
	const struct trace *trace = export->trace;

	json_key_string(json, "displayTimeUnit", "ns");
	json_key(json, "otherData");
	json_object(json);
	json_key_string(json, "writer", "tacho " TACHO_VERSION);
	json_key_u64(json, "start_unix_ns", trace->header.start_unix_ns);
	json_key(json, "metadata");
	export_json_metadata(json, trace);
	json_key(json, "ledger");
	export_json_ledger(json, trace, damaged_blocks);
	/* The format has no place for these. */
	json_key(json, "left_out");
	json_object(json);
	json_key_u64(json, "allocations", trace->row_counts[TABLE_ALLOCATIONS]);
	json_key_u64(json, "samples", trace->row_counts[TABLE_SAMPLES]);
	json_object_end(json);
	json_object_end(json);
}

static int put_document(struct chrome_export *export, struct export_walk *walk, struct error *err)
{
	struct json_writer *json = &export->json;
	int status;

	json_object(json);
	json_key(json, "traceEvents");
	json_array(json);
	put_tracks(export);
	status = export_walk_spans(walk, true, put_span, export, err);
	if (status == STATUS_OK)
		status = export_walk_rows(walk, TABLE_COUNTERS, put_counter, export, err);
	if (status == STATUS_OK)
		status = export_walk_rows(walk, TABLE_MARKS, put_mark, export, err);
	if (status == STATUS_OK)
		status = export_walk_rows(walk, TABLE_LINKS, put_link, export, err);
	json_array_end(json);
	put_other(export, walk->result.damaged_blocks);
	json_object_end(json);
	return status;
}

static void export_release(struct chrome_export *export)
{
	for (uint32_t i = 0; export->name_keys && i < export->trace->name_count; i++)
		buffer_release(&export->name_keys[i]);
	for (uint32_t i = 0; export->track_keys && i < export->trace->track_count; i++)
		buffer_release(&export->track_keys[i]);
	free(export->name_keys);
	free(export->track_keys);
	free(export->ids);
}

static int run_chrome(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct chrome_export export = { .trace = trace,
		.flows_per_process = export_flows_per_process(trace) };
	struct export_walk walk;
	struct output_file file;
	int status = export_walk_init(&walk, trace, options, err);

	if (status != STATUS_OK)
		return status;
	if (number_tracks(&export) != STATUS_OK)
		status = error_set(err, STATUS_NOMEM, "out of memory");
	if (status == STATUS_OK)
		status = output_file_open(&file, options->path, options->fd, err);
	if (status == STATUS_OK) {
		json_writer_init(&export.json, output_file_write, &file);
		status = put_document(&export, &walk, err);
		status = export_json_finish(&export.json, &file, status, err);
	}
	*ret_result = walk.result;
	export_walk_release(&walk);
	export_release(&export);
	return status;
}

const struct exporter export_chrome = {
	.name = "chrome",
	.summary = "trace events for Perfetto and chrome://tracing",
	.extensions = ".chrome.json .trace.json",
	.run = run_chrome,
};
