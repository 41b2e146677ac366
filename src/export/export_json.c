// SPDX-License-Identifier: MIT OR Apache-2.0
/* Everything in a trace as one JSON document; docs/cli/export.md describes it. */
#include "export/export_walk.h"
#include "export/output_file.h"

#include <string.h>
#include <tacho/version.h>

struct json_export {
	const struct trace *trace;
	struct json_writer json;
};

static int check(const struct json_export *export)
{
	return export->json.failed ? STATUS_IO : STATUS_OK;
}

static int put_span(void *context, const struct export_span *span)
{
	struct json_export *export = context;
	const struct trace_name *name = &export->trace->names[span->name];
	struct json_writer *json = &export->json;

	json_object(json);
	json_key_u64(json, "track", span->track);
	json_key_string(json, "name", name->name);
	if (name->category[0])
		json_key_string(json, "category", name->category);
	json_key_u64(json, "start_ns", span->start_ns);
	json_key_u64(json, "duration_ns", span->duration_ns);
	json_key_u64(json, "self_ns", span->self_ns);
	json_key_u64(json, "depth", span->depth);
	if (span->arg_count) {
		json_key(json, "args");
		export_json_args(json, export->trace, span);
	}
	json_object_end(json);
	return check(export);
}

/* The two columns that every row begins with. */
static void begin_row(struct json_export *export, const uint64_t *row)
{
	json_object(&export->json);
	json_key_u64(&export->json, "track", row[0]);
	json_key_u64(&export->json, "time_ns", row[1]);
}

static int end_row(struct json_export *export)
{
	json_object_end(&export->json);
	return check(export);
}

static int put_counter(void *context, const uint64_t *row)
{
	struct json_export *export = context;

	begin_row(export, row);
	json_key(&export->json, "value");
	export_json_counter(&export->json, row);
	return end_row(export);
}

static int put_mark(void *context, const uint64_t *row)
{
	struct json_export *export = context;
	const struct trace_name *name = &export->trace->names[row[MARKS_NAME]];

	begin_row(export, row);
	json_key_string(&export->json, "name", name->name);
	if (name->category[0])
		json_key_string(&export->json, "category", name->category);
	return end_row(export);
}

static int put_link(void *context, const uint64_t *row)
{
	struct json_export *export = context;

	begin_row(export, row);
	json_key_string(&export->json, "kind", link_kind_name((unsigned)row[LINKS_KIND]));
	json_key_string(&export->json, "name", export->trace->names[row[LINKS_NAME]].name);
	json_key_u64(&export->json, "id", row[LINKS_ID]);
	return end_row(export);
}

static int put_allocation(void *context, const uint64_t *row)
{
	struct json_export *export = context;
	struct json_writer *json = &export->json;
	uint64_t kind = row[ALLOCATIONS_KIND];

	begin_row(export, row);
	json_key_string(json, "kind", kind & ALLOCATION_FREE ? "free" : "alloc");
	json_key_string(json, "memory", kind & ALLOCATION_DEVICE ? "device" : "host");
	json_key_string(json, "pool", export_name(export->trace, row[ALLOCATIONS_POOL]));
	json_key_u64(json, "address", row[ALLOCATIONS_ADDRESS]);
	json_key_u64(json, "bytes", row[ALLOCATIONS_BYTES]);
	return end_row(export);
}

static int put_sample(void *context, const uint64_t *row)
{
	struct json_export *export = context;

	begin_row(export, row);
	json_key_u64(&export->json, "stack", row[SAMPLES_STACK]);
	return end_row(export);
}

static void put_tracks(struct json_export *export)
{
	struct json_writer *json = &export->json;

	json_key(json, "tracks");
	json_array(json);
	for (uint32_t i = 0; i < export->trace->track_count; i++) {
		const struct trace_track *track = &export->trace->tracks[i];

		json_object(json);
		json_key_u64(json, "id", track->id);
		json_key_u64(json, "parent", track->parent);
		json_key_u64(json, "process", track->process);
		json_key_string(json, "kind", track_kind_name(track->kind));
		json_key_u64(json, "os_id", track->os_id);
		json_key_string(json, "name", track->name);
		json_key_string(json, "unit", track->unit);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_names(struct json_export *export)
{
	struct json_writer *json = &export->json;

	json_key(json, "names");
	json_array(json);
	for (uint32_t i = 0; i < export->trace->name_count; i++) {
		json_object(json);
		json_key_string(json, "name", export->trace->names[i].name);
		json_key_string(json, "category", export->trace->names[i].category);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_stacks(struct json_export *export)
{
	struct json_writer *json = &export->json;

	json_key(json, "stacks");
	json_array(json);
	for (size_t i = 0; i < export->trace->stack_count; i++) {
		size_t count;
		const uint32_t *frames = trace_stack(export->trace, (uint32_t)i, &count);

		json_array(json);
		for (size_t f = 0; frames && f < count; f++)
			json_string(json, export_string(export->trace, frames[f]));
		json_array_end(json);
	}
	json_array_end(json);
}

static void put_head(struct json_export *export)
{
	struct json_writer *json = &export->json;
	const struct trace *trace = export->trace;

	json_key(json, "tacho");
	json_object(json);
	json_key_u64(json, "schema", 1);
	json_key_string(json, "version", TACHO_VERSION);
	json_key_string(json, "command", "export");
	json_object_end(json);
	json_key(json, "header");
	json_object(json);
	json_key_string(json, "file", trace->path);
	json_key_u64(json, "format_version", trace->header.version);
	json_key_u64(json, "start_unix_ns", trace->header.start_unix_ns);
	json_key_u64(json, "start_mono_ns", trace->header.start_mono_ns);
	json_key_u64(json, "span_ns", trace->span_ns);
	json_object_end(json);
}

static int put_tables(struct json_export *export, struct export_walk *walk, struct error *err)
{
	static const struct {
		const char *key;
		enum block_table table;
		int (*put)(void *context, const uint64_t *row);
	} tables[] = {
		{ "counters", TABLE_COUNTERS, put_counter },
		{ "marks", TABLE_MARKS, put_mark },
		{ "links", TABLE_LINKS, put_link },
		{ "allocations", TABLE_ALLOCATIONS, put_allocation },
		{ "samples", TABLE_SAMPLES, put_sample },
	};
	int status = STATUS_OK;

	for (size_t i = 0; i < sizeof tables / sizeof tables[0] && status == STATUS_OK; i++) {
		json_key(&export->json, tables[i].key);
		json_array(&export->json);
		status = export_walk_rows(walk, tables[i].table, tables[i].put, export, err);
		json_array_end(&export->json);
	}
	return status;
}

static int put_document(struct json_export *export, struct export_walk *walk, struct error *err)
{
	struct json_writer *json = &export->json;
	int status;

	json_object(json);
	put_head(export);
	put_tracks(export);
	put_names(export);
	json_key(json, "spans");
	json_array(json);
	status = export_walk_spans(walk, false, put_span, export, err);
	json_array_end(json);
	if (status == STATUS_OK)
		status = put_tables(export, walk, err);
	put_stacks(export);
	json_key(json, "metadata");
	export_json_metadata(json, export->trace);
	json_key(json, "ledger");
	export_json_ledger(json, export->trace, walk->result.damaged_blocks);
	json_object_end(json);
	return status;
}

static int run_json(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct json_export export = { .trace = trace };
	struct export_walk walk;
	struct output_file file;
	int status = export_walk_init(&walk, trace, options, err);

	if (status != STATUS_OK)
		return status;
	status = output_file_open(&file, options->path, options->fd, err);
	if (status == STATUS_OK) {
		json_writer_init(&export.json, output_file_write, &file);
		status = put_document(&export, &walk, err);
		status = export_json_finish(&export.json, &file, status, err);
	}
	*ret_result = walk.result;
	export_walk_release(&walk);
	return status;
}

const struct exporter export_json = {
	.name = "json",
	.summary = "everything as one JSON document",
	.extensions = ".json",
	.run = run_json,
};
