// SPDX-License-Identifier: MIT OR Apache-2.0
/* PyTorch's flavour of Chrome JSON. A trace that was imported from it is written as it was: the
 * same events, numbers of rows, arguments and members of the document. Any other trace gets the
 * members that readers of Kineto files ask for. */
#include "export/export_walk.h"
#include "export/output_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kineto_export {
	const struct trace *trace;
	struct json_writer json;
	const char **pids, **tids; /* as written in the original, by track; NULL: the number */
	int64_t first_ns;
	bool imported; /* from Chrome JSON */
	uint64_t async_count;
};

static int check(const struct kineto_export *export)
{
	return export->json.failed ? STATUS_IO : STATUS_OK;
}

/* Tokens of rows that are no plain numbers: metadata "chrome.pid.N" and "chrome.tid.N". */
static int find_tokens(struct kineto_export *export)
{
	const struct trace *trace = export->trace;
	const char *first = trace_metadata(trace, "import.first_ns");
	const char *source = trace_metadata(trace, "source");

	export->pids = calloc((size_t)trace->track_count + 1, sizeof(char *));
	export->tids = calloc((size_t)trace->track_count + 1, sizeof(char *));
	if (!export->pids || !export->tids)
		return STATUS_NOMEM;
	export->imported =
		source && (strcmp(source, "chrome") == 0 || strcmp(source, "kineto") == 0);
	export->first_ns = export->imported && first ? strtoll(first, NULL, 10) : 0;
	for (size_t i = 0; i < trace->metadata_count; i++) {
		const struct trace_pair *pair = &trace->metadata[i];
		uint32_t track;

		if (sscanf(pair->key, "chrome.pid.%" SCNu32, &track) == 1 &&
			track < trace->track_count)
			export->pids[track] = pair->value;
		if (sscanf(pair->key, "chrome.tid.%" SCNu32, &track) == 1 &&
			track < trace->track_count)
			export->tids[track] = pair->value;
	}
	return STATUS_OK;
}

static void put_time(struct kineto_export *export, const char *key, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	char text[40];

	snprintf(text, sizeof text, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", size / 1000,
		(unsigned)(size % 1000));
	json_key(&export->json, key);
	json_raw(&export->json, text);
}

static void put_row(struct kineto_export *export, uint32_t track)
{
	const struct trace *trace = export->trace;
	uint32_t process = trace->tracks[track].process;
	bool is_row = track != process;

	json_key(&export->json, "pid");
	if (export->pids[process])
		export_json_kept(&export->json, export->pids[process]);
	else
		json_u64(&export->json, trace->tracks[process].os_id);
	json_key(&export->json, "tid");
	if (is_row && export->tids[track])
		export_json_kept(&export->json, export->tids[track]);
	else
		json_u64(&export->json, is_row ? trace->tracks[track].os_id : 0);
}

static void begin_event(struct kineto_export *export, const char *phase, uint32_t track,
	const struct trace_name *name)
{
	const char *category = name->category;

	/* Readers of Kineto files sort events by category; a plain scope is an annotation to them.
	 */
	if (!export->imported && !category[0])
		category = "user_annotation";
	json_object(&export->json);
	json_key_string(&export->json, "ph", phase);
	if (category[0])
		json_key_string(&export->json, "cat", category);
	json_key_string(&export->json, "name", name->name);
	put_row(export, track);
}

/* Keys that stood beside the arguments go back there; "~ph" is the phase itself. */
static void put_args(struct kineto_export *export, const struct export_span *span)
{
	const struct trace *trace = export->trace;
	struct span_arg inside[1024];
	struct export_span rest = *span;
	size_t count = 0;

	for (size_t i = 0; i < span->arg_count; i++) {
		const char *key = export_string(trace, span->args[i].key);
		struct export_span one = { .args = &span->args[i], .arg_count = 1 };

		if (key[0] != '~' && count < sizeof inside / sizeof *inside) {
			inside[count++] = span->args[i];
		} else if (key[0] == '~' && strcmp(key, "~ph") != 0) {
			json_key(&export->json, key + 1);
			export_json_value(&export->json, trace, one.args);
		}
	}
	rest.args = inside;
	rest.arg_count = count;
	if (count) {
		json_key(&export->json, "args");
		export_json_args(&export->json, trace, &rest);
	}
}

/* What the instant was in the original. */
static const char *instant_phase(const struct kineto_export *export, const struct export_span *span)
{
	for (size_t i = 0; i < span->arg_count; i++)
		if (strcmp(export_string(export->trace, span->args[i].key), "~ph") == 0)
			return export_string(export->trace, span->args[i].value);
	return "i";
}

static void put_async(struct kineto_export *export, const struct export_span *span)
{
	const struct trace_name *name = &export->trace->names[span->name];
	char id[24];

	snprintf(id, sizeof id, "0x%" PRIx64, ++export->async_count);
	for (int end = 0; end < 2; end++) {
		begin_event(export, end ? "e" : "b", span->track, name);
		put_time(export, "ts",
			(int64_t)(span->start_ns + (end ? span->duration_ns : 0)) +
				export->first_ns);
		json_key_string(&export->json, "id", id);
		if (!end)
			put_args(export, span);
		json_object_end(&export->json);
	}
}

static int put_span(void *context, const struct export_span *span)
{
	struct kineto_export *export = context;
	const struct trace_name *name = &export->trace->names[span->name];
	bool instant = span->layout == SPANS_INSTANT;

	if (export->trace->tracks[span->track].kind == TRACK_ASYNC) {
		put_async(export, span);
		return check(export);
	}
	begin_event(export, instant ? instant_phase(export, span) : "X", span->track, name);
	put_time(export, "ts", (int64_t)span->start_ns + export->first_ns);
	if (!instant)
		put_time(export, "dur", (int64_t)span->duration_ns);
	put_args(export, span);
	json_object_end(&export->json);
	return check(export);
}

static int put_link(void *context, const uint64_t *row)
{
	static const char *const phases[] = { "s", "t", "f", "s" };
	struct kineto_export *export = context;
	const struct trace *trace = export->trace;
	static const struct trace_name correlation = { .name = "ac2g", .category = "ac2g" };
	unsigned kind = (unsigned)(row[LINKS_KIND] & LINK_KIND_MASK);
	bool host = trace->tracks[row[LINKS_TRACK]].kind == TRACK_THREAD;
	const char *phase = phases[kind < 4 ? kind : 0];

	/* A correlation is an arrow from the launch to what it started. */
	if (kind == LINK_CORRELATION)
		phase = host ? "s" : "f";
	begin_event(export, phase, (uint32_t)row[LINKS_TRACK],
		kind == LINK_CORRELATION || row[LINKS_NAME] >= trace->name_count
			? &correlation
			: &trace->names[row[LINKS_NAME]]);
	put_time(export, "ts", (int64_t)row[LINKS_TIME] + export->first_ns);
	json_key(&export->json, "id");
	if (row[LINKS_KIND] & LINK_TEXT_ID)
		json_string(&export->json, export_string(trace, row[LINKS_ID]));
	else
		json_i64(&export->json, (int64_t)row[LINKS_ID]);
	if (row[LINKS_KIND] & LINK_ENCLOSING || (kind == LINK_CORRELATION && !host))
		json_key_string(&export->json, "bp", "e");
	json_object_end(&export->json);
	return check(export);
}

static int put_mark(void *context, const uint64_t *row)
{
	struct kineto_export *export = context;

	begin_event(
		export, "i", (uint32_t)row[MARKS_TRACK], &export->trace->names[row[MARKS_NAME]]);
	put_time(export, "ts", (int64_t)row[MARKS_TIME] + export->first_ns);
	json_key_string(&export->json, "s", "t");
	json_object_end(&export->json);
	return check(export);
}

static int put_counter(void *context, const uint64_t *row)
{
	struct kineto_export *export = context;
	uint32_t track = (uint32_t)row[COUNTERS_TRACK];
	struct trace_name name = { .name = export->trace->tracks[track].name,
		.category = "counter" };

	begin_event(export, "C", export->trace->tracks[track].process, &name);
	put_time(export, "ts", (int64_t)row[COUNTERS_TIME] + export->first_ns);
	json_key(&export->json, "args");
	json_object(&export->json);
	json_key(&export->json, name.name);
	export_json_counter(&export->json, row);
	json_object_end(&export->json);
	json_object_end(&export->json);
	return check(export);
}

/* Names of processes and threads: the original's events, or our own. */
static void put_names(struct kineto_export *export)
{
	const struct trace *trace = export->trace;

	for (size_t i = 0; export->imported && i < trace->metadata_count; i++)
		if (strcmp(trace->metadata[i].key, "chrome.event") == 0)
			export_json_kept(&export->json, trace->metadata[i].value);
	for (uint32_t i = 0; !export->imported && i < trace->track_count; i++) {
		const struct trace_track *track = &trace->tracks[i];
		bool process = track->kind == TRACK_PROCESS || track->kind == TRACK_MACHINE;
		struct trace_name name = { .name = process ? "process_name" : "thread_name",
			.category = "__metadata" };

		if (track->kind == TRACK_COUNTER || track->kind == TRACK_ASYNC)
			continue;
		begin_event(export, "M", i, &name);
		put_time(export, "ts", 0);
		json_key(&export->json, "args");
		json_object(&export->json);
		json_key_string(&export->json, "name", track->name);
		json_object_end(&export->json);
		json_object_end(&export->json);
	}
}

/* The members of the document beside the events. */
static void put_members(struct kineto_export *export)
{
	const struct trace *trace = export->trace;

	if (!export->imported) {
		json_key_u64(&export->json, "schemaVersion", 1);
		json_key(&export->json, "deviceProperties");
		json_array(&export->json);
		json_array_end(&export->json);
		json_key_string(&export->json, "displayTimeUnit", "ms");
		json_key_u64(&export->json, "baseTimeNanoseconds", trace->header.start_unix_ns);
	}
	for (size_t i = 0; export->imported && i < trace->metadata_count; i++) {
		const char *key = trace->metadata[i].key;

		if (strncmp(key, "chrome.", 7) != 0 || strcmp(key, "chrome.event") == 0 ||
			strncmp(key, "chrome.pid.", 11) == 0 ||
			strncmp(key, "chrome.tid.", 11) == 0)
			continue;
		json_key(&export->json, key + 7);
		export_json_kept(&export->json, trace->metadata[i].value);
	}
}

static int put_document(struct kineto_export *export, struct export_walk *walk, struct error *err)
{
	int status;

	json_object(&export->json);
	put_members(export);
	json_key(&export->json, "traceEvents");
	json_array(&export->json);
	put_names(export);
	status = export_walk_spans(walk, true, put_span, export, err);
	if (status == STATUS_OK)
		status = export_walk_rows(walk, TABLE_MARKS, put_mark, export, err);
	if (status == STATUS_OK)
		status = export_walk_rows(walk, TABLE_COUNTERS, put_counter, export, err);
	if (status == STATUS_OK)
		status = export_walk_rows(walk, TABLE_LINKS, put_link, export, err);
	json_array_end(&export->json);
	json_object_end(&export->json);
	return status;
}

static int run_kineto(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct kineto_export export = { .trace = trace };
	struct export_walk walk;
	struct output_file file;
	int status = export_walk_init(&walk, trace, options, err);

	if (status != STATUS_OK)
		return status;
	if (find_tokens(&export) != STATUS_OK)
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
	free((void *)export.pids);
	free((void *)export.tids);
	return status;
}

const struct exporter export_kineto = {
	.name = "kineto",
	.summary = "PyTorch's trace format, for HTA and the PyTorch ecosystem",
	.extensions = ".pt.trace.json .kineto.json",
	.run = run_kineto,
};
