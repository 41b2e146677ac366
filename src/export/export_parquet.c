// SPDX-License-Identifier: MIT OR Apache-2.0
/* One table as a Parquet file, for DuckDB, pandas, Spark and ClickHouse. The columns are those of
 * the csv exporter with types: docs/cli/export.md lists them. */
#include "export/export_sink.h"
#include "export/export_walk.h"
#include "export/parquet_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tacho/version.h>

struct parquet_export {
	const struct trace *trace;
	struct parquet_writer *writer;
	struct json_writer json; /* arguments of a span, the ledger */
};

/* track, process, thread */
static void put_place(struct parquet_export *export, uint64_t id)
{
	const struct trace_track *track = &export->trace->tracks[id];

	parquet_writer_int(export->writer, id);
	parquet_writer_word(
		export->writer, track->process, export->trace->tracks[track->process].name);
	parquet_writer_word(export->writer, id, track->name);
}

static void put_name(struct parquet_export *export, uint64_t id)
{
	const struct trace_name *name = &export->trace->names[id];

	parquet_writer_word(export->writer, id, name->name);
	parquet_writer_word(export->writer, name->category_string, name->category);
}

static int put_args(struct parquet_export *export, const struct export_span *span)
{
	struct buffer *text = &export->json.out;

	if (!span->arg_count) {
		parquet_writer_null(export->writer);
		return STATUS_OK;
	}
	buffer_reset(text);
	export->json.first[0] = true;
	export_json_args(&export->json, export->trace, span);
	if (!buffer_ok(text))
		return STATUS_NOMEM;
	parquet_writer_text(export->writer, (const char *)text->data, text->length);
	return STATUS_OK;
}

static const struct parquet_column span_columns[] = {
	{ "start_ns", PARQUET_I64, false },
	{ "duration_ns", PARQUET_I64, false },
	{ "self_ns", PARQUET_I64, false },
	{ "depth", PARQUET_I32, false },
	{ "track", PARQUET_I32, false },
	{ "process", PARQUET_WORD, false },
	{ "thread", PARQUET_WORD, false },
	{ "name", PARQUET_WORD, false },
	{ "category", PARQUET_WORD, false },
	{ "args", PARQUET_TEXT, true },
};

static int put_span(void *context, const struct export_span *span)
{
	struct parquet_export *export = context;

	if (span->layout == SPANS_INSTANT)
		return STATUS_OK;
	parquet_writer_int(export->writer, span->start_ns);
	parquet_writer_int(export->writer, span->duration_ns);
	parquet_writer_int(export->writer, span->self_ns);
	parquet_writer_int(export->writer, span->depth);
	put_place(export, span->track);
	put_name(export, span->name);
	if (put_args(export, span) != STATUS_OK)
		return STATUS_NOMEM;
	return parquet_writer_row(export->writer);
}

static const struct parquet_column counter_columns[] = {
	{ "track", PARQUET_I32, false }, { "process", PARQUET_WORD, false },
	{ "name", PARQUET_WORD, false }, { "unit", PARQUET_WORD, false },
	{ "time_ns", PARQUET_I64, false }, { "value", PARQUET_DOUBLE, false },
	{ "value_int", PARQUET_I64, true }, /* exact, of counters of whole numbers */
};

static int put_counter(void *context, const uint64_t *row)
{
	struct parquet_export *export = context;
	const struct trace_track *track = &export->trace->tracks[row[COUNTERS_TRACK]];
	double value;

	put_place(export, track->id);
	parquet_writer_word(export->writer, track->id, track->unit);
	parquet_writer_int(export->writer, row[COUNTERS_TIME]);
	if (row[COUNTERS_KIND] == COUNTER_DOUBLE) {
		memcpy(&value, &row[COUNTERS_VALUE], sizeof value);
		parquet_writer_double(export->writer, value);
		parquet_writer_null(export->writer);
	} else {
		parquet_writer_double(export->writer, (double)(int64_t)row[COUNTERS_VALUE]);
		parquet_writer_int(export->writer, row[COUNTERS_VALUE]);
	}
	return parquet_writer_row(export->writer);
}

static const struct parquet_column mark_columns[] = {
	{ "track", PARQUET_I32, false },
	{ "process", PARQUET_WORD, false },
	{ "thread", PARQUET_WORD, false },
	{ "name", PARQUET_WORD, false },
	{ "category", PARQUET_WORD, false },
	{ "time_ns", PARQUET_I64, false },
	{ "args", PARQUET_TEXT, true },
};

static int put_mark(void *context, const uint64_t *row)
{
	struct parquet_export *export = context;

	put_place(export, row[MARKS_TRACK]);
	put_name(export, row[MARKS_NAME]);
	parquet_writer_int(export->writer, row[MARKS_TIME]);
	parquet_writer_null(export->writer);
	return parquet_writer_row(export->writer);
}

static int put_instant(void *context, const struct export_span *span)
{
	struct parquet_export *export = context;

	if (span->layout != SPANS_INSTANT)
		return STATUS_OK;
	put_place(export, span->track);
	put_name(export, span->name);
	parquet_writer_int(export->writer, span->start_ns);
	if (put_args(export, span) != STATUS_OK)
		return STATUS_NOMEM;
	return parquet_writer_row(export->writer);
}

static const struct parquet_column link_columns[] = {
	{ "track", PARQUET_I32, false },
	{ "process", PARQUET_WORD, false },
	{ "thread", PARQUET_WORD, false },
	{ "kind", PARQUET_WORD, false },
	{ "name", PARQUET_WORD, false },
	{ "id", PARQUET_U64, true },
	{ "id_text", PARQUET_WORD, true }, /* of links whose id is a text */
	{ "time_ns", PARQUET_I64, false },
};

static int put_link(void *context, const uint64_t *row)
{
	struct parquet_export *export = context;
	unsigned kind = (unsigned)row[LINKS_KIND];

	put_place(export, row[LINKS_TRACK]);
	parquet_writer_word(export->writer, kind & LINK_KIND_MASK, link_kind_name(kind));
	parquet_writer_word(
		export->writer, row[LINKS_NAME], export->trace->names[row[LINKS_NAME]].name);
	if (kind & LINK_TEXT_ID) {
		parquet_writer_null(export->writer);
		parquet_writer_word(
			export->writer, row[LINKS_ID], export_string(export->trace, row[LINKS_ID]));
	} else {
		parquet_writer_int(export->writer, row[LINKS_ID]);
		parquet_writer_null(export->writer);
	}
	parquet_writer_int(export->writer, row[LINKS_TIME]);
	return parquet_writer_row(export->writer);
}

static const struct parquet_column allocation_columns[] = {
	{ "track", PARQUET_I32, false },
	{ "process", PARQUET_WORD, false },
	{ "thread", PARQUET_WORD, false },
	{ "kind", PARQUET_WORD, false },
	{ "memory", PARQUET_WORD, false },
	{ "pool", PARQUET_WORD, false },
	{ "address", PARQUET_U64, false },
	{ "bytes", PARQUET_I64, false },
	{ "time_ns", PARQUET_I64, false },
};

static int put_allocation(void *context, const uint64_t *row)
{
	struct parquet_export *export = context;
	bool freed = row[ALLOCATIONS_KIND] & ALLOCATION_FREE;
	bool device = row[ALLOCATIONS_KIND] & ALLOCATION_DEVICE;

	put_place(export, row[ALLOCATIONS_TRACK]);
	parquet_writer_word(export->writer, freed, freed ? "free" : "alloc");
	parquet_writer_word(export->writer, device, device ? "device" : "host");
	parquet_writer_word(export->writer, row[ALLOCATIONS_POOL],
		export_name(export->trace, row[ALLOCATIONS_POOL]));
	parquet_writer_int(export->writer, row[ALLOCATIONS_ADDRESS]);
	parquet_writer_int(export->writer, row[ALLOCATIONS_BYTES]);
	parquet_writer_int(export->writer, row[ALLOCATIONS_TIME]);
	return parquet_writer_row(export->writer);
}

static const struct parquet_column sample_columns[] = {
	{ "track", PARQUET_I32, false },
	{ "process", PARQUET_WORD, false },
	{ "thread", PARQUET_WORD, false },
	{ "time_ns", PARQUET_I64, false },
	{ "stack", PARQUET_WORD, false },
};

static int put_sample(void *context, const uint64_t *row)
{
	struct parquet_export *export = context;
	struct buffer *text = &export->json.out;
	size_t count;
	const uint32_t *frames = trace_stack(export->trace, (uint32_t)row[SAMPLES_STACK], &count);

	put_place(export, row[SAMPLES_TRACK]);
	parquet_writer_int(export->writer, row[SAMPLES_TIME]);
	buffer_reset(text);
	for (size_t i = frames ? count : 0; i > 0; i--) {
		buffer_text(text, export_string(export->trace, frames[i - 1]));
		buffer_text(text, i > 1 ? ";" : "");
	}
	buffer_byte(text, 0);
	if (!buffer_ok(text))
		return STATUS_NOMEM;
	parquet_writer_word(export->writer, row[SAMPLES_STACK], (const char *)text->data);
	return parquet_writer_row(export->writer);
}

#define COLUMNS(list) list, sizeof list / sizeof list[0]

static const struct parquet_table {
	enum block_table table;
	const struct parquet_column *columns;
	size_t column_count;
	int (*put)(void *context, const uint64_t *row);
	int (*put_span)(void *context, const struct export_span *span);
} tables[] = {
	{ TABLE_SPANS, COLUMNS(span_columns), NULL, put_span },
	{ TABLE_COUNTERS, COLUMNS(counter_columns), put_counter, NULL },
	{ TABLE_MARKS, COLUMNS(mark_columns), put_mark, put_instant },
	{ TABLE_LINKS, COLUMNS(link_columns), put_link, NULL },
	{ TABLE_ALLOCATIONS, COLUMNS(allocation_columns), put_allocation, NULL },
	{ TABLE_SAMPLES, COLUMNS(sample_columns), put_sample, NULL },
};

static int put_facts(struct parquet_export *export, uint64_t damaged_blocks)
{
	struct buffer *text = &export->json.out;
	char number[24];

	snprintf(number, sizeof number, "%" PRIu64, export->trace->header.start_unix_ns);
	parquet_writer_fact(export->writer, "tacho.start_unix_ns", number);
	buffer_reset(text);
	export->json.first[0] = true;
	export_json_ledger(&export->json, export->trace, damaged_blocks);
	buffer_byte(text, 0);
	if (!buffer_ok(text))
		return STATUS_NOMEM;
	parquet_writer_fact(export->writer, "tacho.ledger", (const char *)text->data);
	return STATUS_OK;
}

static int put_table(struct parquet_export *export, struct export_walk *walk,
	const struct parquet_table *table, struct error *err)
{
	int status = STATUS_OK;

	if (table->put_span)
		status = export_walk_spans(walk, false, table->put_span, export, err);
	if (status == STATUS_OK && table->put)
		status = export_walk_rows(walk, table->table, table->put, export, err);
	if (status == STATUS_OK)
		status = put_facts(export, walk->result.damaged_blocks);
	return status == STATUS_OK ? parquet_writer_finish(export->writer) : status;
}

static int run_parquet(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct parquet_export export = { .trace = trace };
	const struct parquet_table *table = &tables[0];
	struct export_sink sink;
	struct export_walk walk;
	int status = export_walk_init(&walk, trace, options, err);

	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		if (tables[i].table == options->table)
			table = &tables[i];
	json_writer_init(&export.json, NULL, NULL);
	status = export_sink_open(&sink, options, false, err);
	if (status == STATUS_OK) {
		export.writer = parquet_writer_new(&sink, table->columns, table->column_count);
		status = export.writer ? put_table(&export, &walk, table, err) : STATUS_NOMEM;
		parquet_writer_free(export.writer);
		status = export_sink_finish(&sink, status, err);
	}
	*ret_result = walk.result;
	json_writer_release(&export.json);
	export_walk_release(&walk);
	return status;
}

const struct exporter export_parquet = {
	.name = "parquet",
	.summary = "one table with types, for DuckDB, pandas, Spark and ClickHouse",
	.extensions = ".parquet",
	.has_tables = true,
	.run = run_parquet,
};
