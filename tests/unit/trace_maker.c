// SPDX-License-Identifier: MIT OR Apache-2.0
/* Small traces for tests. */
#include "tests/unit/trace_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define DEPTH_MAX 64u

void maker_open(struct maker *maker)
{
	static unsigned number;
	struct file_header header = { .version = FORMAT_VERSION,
		.start_unix_ns = 1700000000000000000u,
		.start_mono_ns = 5,
		.session = "0123456789abcde" };
	const char *folder = getenv("TMPDIR");
	struct error err = ERROR_INIT;

	memset(maker, 0, sizeof *maker);
	snprintf(maker->path, sizeof maker->path, "%s/test_trace.%d.%u.tacho",
		folder ? folder : "/tmp", (int)getpid(), number++);
	maker->codec = block_codec_new();
	ledger_init(&maker->ledger);
	CHECK_EQ(trace_dict_init(&maker->dict), STATUS_OK);
	CHECK_EQ(trace_writer_open(&maker->writer, maker->path, true, &header, &err), STATUS_OK);
}

static void maker_release(struct maker *maker)
{
	trace_dict_release(&maker->dict);
	ledger_release(&maker->ledger);
	block_codec_free(maker->codec);
}

void maker_finish(struct maker *maker)
{
	struct error err = ERROR_INIT;

	CHECK_EQ(trace_writer_dict(&maker->writer, &maker->dict, &err), STATUS_OK);
	CHECK_EQ(
		trace_writer_ledger(&maker->writer, &maker->dict, &maker->ledger, &err), STATUS_OK);
	CHECK_EQ(trace_writer_finish(&maker->writer, &err), STATUS_OK);
	maker_release(maker);
}

void maker_abandon(struct maker *maker)
{
	struct error err = ERROR_INIT;

	CHECK_EQ(trace_writer_dict(&maker->writer, &maker->dict, &err), STATUS_OK);
	trace_writer_release(&maker->writer);
	maker_release(maker);
}

void maker_remove(struct maker *maker)
{
	unlink(maker->path);
}

uint32_t maker_string(struct maker *maker, const char *text)
{
	uint32_t id = 0;

	CHECK_EQ(trace_dict_string(&maker->dict, text, strlen(text), &id), STATUS_OK);
	return id;
}

uint32_t maker_name(struct maker *maker, const char *name, const char *category)
{
	uint32_t id = 0;

	CHECK_EQ(trace_dict_name(&maker->dict, maker_string(maker, name),
			 maker_string(maker, category), &id),
		STATUS_OK);
	return id;
}

uint32_t maker_track(struct maker *maker, uint32_t parent, enum track_kind kind, const char *name)
{
	uint32_t id = 0;

	CHECK_EQ(trace_dict_track(&maker->dict, parent, kind, 100 + maker->dict.tracks.count,
			 maker_string(maker, name),
			 maker_string(maker, kind == TRACK_COUNTER ? "B" : ""), &id),
		STATUS_OK);
	return id;
}

void maker_rows(struct maker *maker, enum block_table table, const uint64_t *cells, size_t rows)
{
	const struct table_schema *schema = table_schema(table);
	struct error err = ERROR_INIT;
	struct table_rows list;

	table_rows_init(&list);
	for (size_t i = 0; i < rows; i++)
		CHECK_EQ(
			table_rows_add(&list, schema, cells + i * schema->column_count), STATUS_OK);
	CHECK_EQ(trace_writer_dict(&maker->writer, &maker->dict, &err), STATUS_OK);
	CHECK_EQ(trace_writer_rows(&maker->writer, table, &list, &err), STATUS_OK);
	table_rows_release(&list);
}

void maker_metadata(struct maker *maker, const char *key, const char *value)
{
	uint64_t row[] = { maker_string(maker, key), maker_string(maker, value) };

	maker_rows(maker, TABLE_METADATA, row, 1);
}

static void write_block(struct maker *maker, uint32_t track, struct span_builder *builder)
{
	struct block_header header = { .table = TABLE_SPANS,
		.track = track,
		.rows = builder->count,
		.time_min_ns = builder->time_min_ns,
		.time_max_ns = builder->time_max_ns,
		.busy_ns = builder->busy_ns };
	struct buffer raw, encoded;
	struct error err = ERROR_INIT;

	buffer_init(&raw);
	buffer_init(&encoded);
	CHECK_EQ(trace_writer_dict(&maker->writer, &maker->dict, &err), STATUS_OK);
	CHECK_EQ(span_builder_encode(builder, &raw), STATUS_OK);
	CHECK_EQ(block_encode(maker->codec, &header, raw.data, raw.length, &encoded), STATUS_OK);
	CHECK_EQ(trace_writer_block(&maker->writer, &header, encoded.data, encoded.length, &err),
		STATUS_OK);
	buffer_release(&raw);
	buffer_release(&encoded);
}

/* Adds row `row` with its arguments. */
static void add_span(struct span_builder *builder, const struct maker_span *span, size_t row,
	uint64_t *sums, const struct span_arg *args, size_t arg_count)
{
	uint64_t duration = span->end_ns - span->start_ns;

	if (builder->layout == SPANS_NESTED) {
		CHECK_EQ(span_builder_add_nested(builder, span->name, span->depth, span->start_ns,
				 span->end_ns, duration - sums[span->depth + 1]),
			STATUS_OK);
		sums[span->depth + 1] = 0;
		sums[span->depth] += duration;
	} else {
		CHECK_EQ(span_builder_add_explicit(
				 builder, span->name, span->start_ns, span->end_ns),
			STATUS_OK);
	}
	for (size_t i = 0; i < arg_count; i++)
		if (args[i].row == row)
			CHECK_EQ(span_builder_add_arg(builder, builder->count - 1, args[i].key,
					 (enum arg_type)args[i].type, args[i].value),
				STATUS_OK);
}

void maker_spans(struct maker *maker, uint32_t track, enum spans_layout layout,
	const struct maker_span *spans, size_t count, const struct span_arg *args, size_t arg_count,
	size_t cut)
{
	uint64_t sums[DEPTH_MAX + 2] = { 0 };
	struct span_builder builder;

	span_builder_init(&builder, layout);
	CHECK_EQ(span_builder_start(&builder, NULL, 0), STATUS_OK);
	for (size_t i = 0; i < count; i++) {
		add_span(&builder, &spans[i], i, sums, args, arg_count);
		if (builder.count < cut && i + 1 < count)
			continue;
		write_block(maker, track, &builder);
		/* After a scope of depth d the scopes 0 .. d-1 are open. */
		CHECK_EQ(span_builder_start(
				 &builder, sums + 1, layout == SPANS_NESTED ? spans[i].depth : 0),
			STATUS_OK);
	}
	span_builder_release(&builder);
}

void maker_sample(struct maker *maker, bool whole)
{
	uint32_t machine, process, thread, stream, counter, step, forward, kernel, stack;
	uint32_t frames[3];

	maker_open(maker);
	machine = maker_track(maker, 0, TRACK_MACHINE, "host");
	process = maker_track(maker, machine, TRACK_PROCESS, "train");
	thread = maker_track(maker, process, TRACK_THREAD, "main");
	stream = maker_track(maker, process, TRACK_DEVICE, "stream 7");
	counter = maker_track(maker, process, TRACK_COUNTER, "rss");
	step = maker_name(maker, "step", "step");
	forward = maker_name(maker, "forward", "phase");
	for (int i = 0; i < 3; i++)
		frames[i] = maker_string(maker, i ? i == 1 ? "outer" : "main" : "inner");
	CHECK_EQ(trace_dict_stack(&maker->dict, frames, 3, &stack), STATUS_OK);
	maker_metadata(maker, "command", "train.py");
	{
		struct maker_span spans[] = { { forward, 1, 110, 150 }, { forward, 1, 160, 180 },
			{ step, 0, 100, 200 }, { forward, 1, 310, 350 }, { step, 0, 300, 400 } };
		struct span_arg args[] = { { 2, maker_string(maker, "step"), ARG_INTEGER, 7 },
			{ 4, maker_string(maker, "step"), ARG_INTEGER, 8 } };

		maker_spans(maker, thread, SPANS_NESTED, spans, 5, args, 2, 2);
	}
	kernel = maker_name(maker, "sgemm", "kernel");
	{
		struct maker_span spans[] = { { kernel, 0, 120, 140 }, { kernel, 0, 130, 190 } };
		uint64_t counters[] = { counter, 50, COUNTER_INTEGER, 1000, counter, 150,
			COUNTER_INTEGER, 3000 };
		uint64_t marks[] = { thread, 175, forward };
		uint64_t links[] = { thread, 115, 42, LINK_CORRELATION, forward };
		uint64_t samples[] = { thread, 120, stack };

		maker_spans(maker, stream, SPANS_EXPLICIT, spans, 2, NULL, 0, 100);
		maker_rows(maker, TABLE_COUNTERS, counters, 2);
		maker_rows(maker, TABLE_MARKS, marks, 1);
		maker_rows(maker, TABLE_LINKS, links, 1);
		maker_rows(maker, TABLE_SAMPLES, samples, 1);
	}
	maker_metadata(maker, "command", "train.py --fast");
	maker->ledger.produced = 10;
	maker->ledger.recorded = 8;
	maker->ledger.dropped = 2;
	maker->ledger.overhead_percent = 1.25;
	ledger_add(&maker->ledger, 2, "buffer was full", "main", "two scopes are missing");
	if (whole)
		maker_finish(maker);
	else
		maker_abandon(maker);
}

struct trace *maker_trace(const char *path)
{
	struct error err = ERROR_INIT;
	struct trace *trace = NULL;

	CHECK_EQ(trace_open(path, &trace, &err), STATUS_OK);
	CHECK_STR(err.message, "");
	return trace;
}

size_t maker_find(const struct trace *trace, enum block_table table, size_t number)
{
	for (size_t i = 0; i < trace->block_count; i++)
		if (trace->blocks[i].table == table && number-- == 0)
			return i;
	CHECK(!"no such block");
	return 0;
}

void maker_write(const char *path, const void *bytes, size_t count)
{
	FILE *file = fopen(path, "wb");

	if (!CHECK(file != NULL))
		return;
	CHECK_EQ(fwrite(bytes, 1, count, file), count);
	fclose(file);
}

uint8_t *maker_read(const char *path, size_t *ret_count)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(1u << 20);

	*ret_count = file ? fread(bytes, 1, 1u << 20, file) : 0;
	CHECK(*ret_count > 0);
	if (file)
		fclose(file);
	return bytes;
}
