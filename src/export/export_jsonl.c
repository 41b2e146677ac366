// SPDX-License-Identifier: MIT OR Apache-2.0
/* One JSON object per line, each whole in itself, told apart by "type": for jq, log pipelines and
 * databases that read lines. docs/cli/export.md lists the keys. */
#include "export/export_sink.h"
#include "export/export_walk.h"

#include <string.h>
#include <tacho/version.h>

struct jsonl_export {
	const struct trace *trace;
	struct json_writer json;
};

static void begin_line(struct jsonl_export *export, const char *type)
{
	json_object(&export->json);
	json_key_string(&export->json, "type", type);
}

static int end_line(struct jsonl_export *export)
{
	struct json_writer *json = &export->json;

	json_object_end(json);
	buffer_byte(&json->out, '\n');
	/* The next object begins a document of its own: no comma in front of it. */
	json->first[0] = true;
	return json->failed ? STATUS_IO : STATUS_OK;
}

static void put_place(struct jsonl_export *export, uint64_t id)
{
	const struct trace_track *track = &export->trace->tracks[id];

	json_key_u64(&export->json, "track", id);
	json_key_string(&export->json, "process", export->trace->tracks[track->process].name);
	json_key_string(&export->json, "thread", track->name);
}

static void put_name(struct jsonl_export *export, uint64_t id)
{
	const struct trace_name *name = &export->trace->names[id];

	json_key_string(&export->json, "name", name->name);
	if (name->category[0])
		json_key_string(&export->json, "category", name->category);
}

static int put_span(void *context, const struct export_span *span)
{
	struct jsonl_export *export = context;
	struct json_writer *json = &export->json;
	bool instant = span->layout == SPANS_INSTANT;

	begin_line(export, instant ? "mark" : "span");
	put_place(export, span->track);
	put_name(export, span->name);
	if (instant) {
		json_key_u64(json, "time_ns", span->start_ns);
	} else {
		json_key_u64(json, "start_ns", span->start_ns);
		json_key_u64(json, "duration_ns", span->duration_ns);
		json_key_u64(json, "self_ns", span->self_ns);
		json_key_u64(json, "depth", span->depth);
	}
	if (span->arg_count) {
		json_key(json, "args");
		export_json_args(json, export->trace, span);
	}
	return end_line(export);
}

static int put_counter(void *context, const uint64_t *row)
{
	struct jsonl_export *export = context;
	const struct trace_track *track = &export->trace->tracks[row[COUNTERS_TRACK]];
	struct json_writer *json = &export->json;

	begin_line(export, "counter");
	json_key_u64(json, "track", track->id);
	json_key_string(json, "process", export->trace->tracks[track->process].name);
	json_key_string(json, "name", track->name);
	json_key_string(json, "unit", track->unit);
	json_key_u64(json, "time_ns", row[COUNTERS_TIME]);
	json_key(json, "value");
	export_json_counter(json, row);
	return end_line(export);
}

static int put_mark(void *context, const uint64_t *row)
{
	struct jsonl_export *export = context;

	begin_line(export, "mark");
	put_place(export, row[MARKS_TRACK]);
	put_name(export, row[MARKS_NAME]);
	json_key_u64(&export->json, "time_ns", row[MARKS_TIME]);
	return end_line(export);
}

static int put_link(void *context, const uint64_t *row)
{
	struct jsonl_export *export = context;
	struct json_writer *json = &export->json;

	begin_line(export, "link");
	put_place(export, row[LINKS_TRACK]);
	json_key_string(json, "kind", link_kind_name((unsigned)row[LINKS_KIND]));
	json_key_string(json, "name", export->trace->names[row[LINKS_NAME]].name);
	if (row[LINKS_KIND] & LINK_TEXT_ID)
		json_key_string(json, "id", export_string(export->trace, row[LINKS_ID]));
	else
		json_key_u64(json, "id", row[LINKS_ID]);
	json_key_u64(json, "time_ns", row[LINKS_TIME]);
	return end_line(export);
}

static int put_allocation(void *context, const uint64_t *row)
{
	struct jsonl_export *export = context;
	struct json_writer *json = &export->json;
	uint64_t kind = row[ALLOCATIONS_KIND];

	begin_line(export, "allocation");
	put_place(export, row[ALLOCATIONS_TRACK]);
	json_key_string(json, "kind", kind & ALLOCATION_FREE ? "free" : "alloc");
	json_key_string(json, "memory", kind & ALLOCATION_DEVICE ? "device" : "host");
	json_key_string(json, "pool", export_name(export->trace, row[ALLOCATIONS_POOL]));
	json_key_u64(json, "address", row[ALLOCATIONS_ADDRESS]);
	json_key_u64(json, "bytes", row[ALLOCATIONS_BYTES]);
	json_key_u64(json, "time_ns", row[ALLOCATIONS_TIME]);
	return end_line(export);
}

static int put_sample(void *context, const uint64_t *row)
{
	struct jsonl_export *export = context;
	struct json_writer *json = &export->json;
	size_t count;
	const uint32_t *frames = trace_stack(export->trace, (uint32_t)row[SAMPLES_STACK], &count);

	begin_line(export, "sample");
	put_place(export, row[SAMPLES_TRACK]);
	json_key_u64(json, "time_ns", row[SAMPLES_TIME]);
	json_key(json, "stack");
	json_array(json);
	for (size_t i = 0; frames && i < count; i++)
		json_string(json, export_string(export->trace, frames[i]));
	json_array_end(json);
	return end_line(export);
}

static int put_head(struct jsonl_export *export)
{
	struct json_writer *json = &export->json;
	const struct trace *trace = export->trace;
	int status;

	begin_line(export, "header");
	json_key_u64(json, "schema", 1);
	json_key_string(json, "version", TACHO_VERSION);
	json_key_string(json, "file", trace->path);
	json_key_u64(json, "start_unix_ns", trace->header.start_unix_ns);
	json_key_u64(json, "start_mono_ns", trace->header.start_mono_ns);
	json_key_u64(json, "span_ns", trace->span_ns);
	status = end_line(export);
	for (uint32_t i = 0; i < trace->track_count && status == STATUS_OK; i++) {
		const struct trace_track *track = &trace->tracks[i];

		begin_line(export, "track");
		json_key_u64(json, "id", track->id);
		json_key_u64(json, "parent", track->parent);
		json_key_u64(json, "process", track->process);
		json_key_string(json, "kind", track_kind_name(track->kind));
		json_key_u64(json, "os_id", track->os_id);
		json_key_string(json, "name", track->name);
		json_key_string(json, "unit", track->unit);
		status = end_line(export);
	}
	return status;
}

static int put_tail(struct jsonl_export *export, uint64_t damaged_blocks)
{
	struct json_writer *json = &export->json;
	int status;

	begin_line(export, "metadata");
	json_key(json, "metadata");
	export_json_metadata(json, export->trace);
	status = end_line(export);
	begin_line(export, "ledger");
	json_key(json, "ledger");
	export_json_ledger(json, export->trace, damaged_blocks);
	return status == STATUS_OK ? end_line(export) : status;
}

static int put_lines(struct jsonl_export *export, struct export_walk *walk, struct error *err)
{
	static const struct {
		enum block_table table;
		int (*put)(void *context, const uint64_t *row);
	} tables[] = {
		{ TABLE_COUNTERS, put_counter },
		{ TABLE_MARKS, put_mark },
		{ TABLE_LINKS, put_link },
		{ TABLE_ALLOCATIONS, put_allocation },
		{ TABLE_SAMPLES, put_sample },
	};
	int status = put_head(export);

	if (status == STATUS_OK)
		status = export_walk_spans(walk, false, put_span, export, err);
	for (size_t i = 0; i < sizeof tables / sizeof tables[0] && status == STATUS_OK; i++)
		status = export_walk_rows(walk, tables[i].table, tables[i].put, export, err);
	if (status == STATUS_OK)
		status = put_tail(export, walk->result.damaged_blocks);
	return status;
}

static int run_jsonl(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct jsonl_export export = { .trace = trace };
	struct export_sink sink;
	struct export_walk walk;
	int status = export_walk_init(&walk, trace, options, err);

	if (status != STATUS_OK)
		return status;
	status = export_sink_open(&sink, options, false, err);
	if (status == STATUS_OK) {
		json_writer_init(&export.json, export_sink_write, &sink);
		status = put_lines(&export, &walk, err);
		if (status == STATUS_OK)
			status = json_writer_finish(&export.json);
		json_writer_release(&export.json);
		status = export_sink_finish(&sink, status, err);
	}
	*ret_result = walk.result;
	export_walk_release(&walk);
	return status;
}

const struct exporter export_jsonl = {
	.name = "jsonl",
	.summary = "everything as one JSON object per line",
	.extensions = ".jsonl .ndjson",
	.run = run_jsonl,
};
