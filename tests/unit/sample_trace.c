// SPDX-License-Identifier: MIT OR Apache-2.0
/* The sample trace, written by the means of src/format alone. */
#include "tests/unit/sample_trace.h"

#include "format/span_block.h"
#include "format/trace_writer.h"

#include <string.h>

#define DEPTH_MAX 16

struct sample {
	struct trace_writer writer;
	struct trace_dict dict;
	struct span_builder nested, explicit_spans;
	struct buffer raw, encoded;
	struct table_rows counters, marks, links, allocations, samples, metadata;
	/* Scopes open on the thread being written. */
	uint32_t names[DEPTH_MAX];
	uint64_t starts[DEPTH_MAX], sums[DEPTH_MAX + 1];
	uint32_t depth;
	struct error *err;
	int status;
};

/* Everything below keeps the first failure and goes on. */
static void note(struct sample *sample, int status)
{
	if (sample->status == STATUS_OK)
		sample->status = status;
}

static uint32_t text(struct sample *sample, const char *value)
{
	uint32_t id = 0;

	note(sample, trace_dict_string(&sample->dict, value, strlen(value), &id));
	return id;
}

static uint32_t name(struct sample *sample, const char *value, const char *category)
{
	uint32_t id = 0;

	note(sample,
		trace_dict_name(&sample->dict, text(sample, value), text(sample, category), &id));
	return id;
}

static void track(struct sample *sample, enum sample_track wanted, uint32_t parent,
	enum track_kind kind, uint64_t os_id, const char *label, const char *unit)
{
	uint32_t id = 0;

	note(sample, trace_dict_track(&sample->dict, parent, kind, os_id, text(sample, label),
			     text(sample, unit), &id));
	if (id != (uint32_t)wanted)
		note(sample, STATUS_USAGE);
}

static void row(struct sample *sample, enum block_table table, struct table_rows *rows,
	const uint64_t *values)
{
	note(sample, table_rows_add(rows, table_schema(table), values));
}

static void block(struct sample *sample, uint32_t on, struct span_builder *builder)
{
	struct block_header header = { .table = TABLE_SPANS,
		.track = on,
		.rows = builder->count,
		.time_min_ns = builder->time_min_ns,
		.time_max_ns = builder->time_max_ns,
		.busy_ns = builder->busy_ns };

	if (sample->status != STATUS_OK || builder->count == 0)
		return;
	buffer_reset(&sample->raw);
	buffer_reset(&sample->encoded);
	note(sample, span_builder_encode(builder, &sample->raw));
	note(sample, block_encode(sample->writer.codec, &header, sample->raw.data,
			     sample->raw.length, &sample->encoded));
	note(sample, trace_writer_dict(&sample->writer, &sample->dict, sample->err));
	note(sample, trace_writer_block(&sample->writer, &header, sample->encoded.data,
			     sample->encoded.length, sample->err));
}

static void nested_block(struct sample *sample, uint32_t on)
{
	block(sample, on, &sample->nested);
	note(sample, span_builder_start(&sample->nested, sample->sums + 1, sample->depth));
}

static void open_thread(struct sample *sample)
{
	span_builder_release(&sample->nested);
	span_builder_init(&sample->nested, SPANS_NESTED);
	memset(sample->sums, 0, sizeof sample->sums);
	note(sample, span_builder_start(&sample->nested, NULL, 0));
}

static void open_explicit(struct sample *sample)
{
	span_builder_release(&sample->explicit_spans);
	span_builder_init(&sample->explicit_spans, SPANS_EXPLICIT);
	note(sample, span_builder_start(&sample->explicit_spans, NULL, 0));
}

static void begin(struct sample *sample, uint64_t now, const char *label, const char *category)
{
	sample->names[sample->depth] = name(sample, label, category);
	sample->starts[sample->depth++] = now;
}

static void end(struct sample *sample, uint64_t now)
{
	uint32_t depth = --sample->depth;
	uint64_t duration = now - sample->starts[depth];

	note(sample, span_builder_add_nested(&sample->nested, sample->names[depth], depth,
			     sample->starts[depth], now, duration - sample->sums[depth + 1]));
	sample->sums[depth + 1] = 0;
	sample->sums[depth] += duration;
}

static void arg(struct sample *sample, struct span_builder *builder, const char *key,
	enum arg_type type, uint64_t value)
{
	note(sample,
		span_builder_add_arg(builder, builder->count - 1, text(sample, key), type, value));
}

static void link_row(struct sample *sample, uint32_t on, uint64_t now, uint64_t id,
	enum link_kind kind, const char *label)
{
	row(sample, TABLE_LINKS, &sample->links,
		(uint64_t[]){ on, now, id, kind, name(sample, label, "") });
}

static uint64_t step_start(uint64_t step)
{
	uint64_t start = 1000000 + step * (SAMPLE_STEP_NS + 500000);

	return step > SAMPLE_SLOW_STEP ? start + SAMPLE_SLOW_NS - SAMPLE_STEP_NS : start;
}

static uint64_t step_length(uint64_t step)
{
	return step == SAMPLE_SLOW_STEP ? SAMPLE_SLOW_NS : SAMPLE_STEP_NS;
}

static void matmul(struct sample *sample, uint64_t now, uint64_t step, uint64_t id)
{
	double flops = 2.0 * 64 * 128 * 256;
	uint64_t bits;

	memcpy(&bits, &flops, sizeof bits);
	begin(sample, now, "matmul", "op");
	begin(sample, now + 100000, "pack", "");
	end(sample, now + 300000);
	link_row(sample, SAMPLE_MAIN, now + 400000, id, LINK_CORRELATION, "launch");
	end(sample, now + 1000000 + step * 1000);
	arg(sample, &sample->nested, "flops", ARG_DOUBLE, bits);
	arg(sample, &sample->nested, "index", ARG_INTEGER, id);
	arg(sample, &sample->nested, "shapes", ARG_STRING,
		text(sample, "float32[64,256] float32[256,128]"));
}

/* A step: forward with two matrix products, and backward up to its end. */
static void step(struct sample *sample, uint64_t number)
{
	uint64_t now = step_start(number), last = now + step_length(number);

	begin(sample, now, "step", "step");
	begin(sample, now, "forward", "phase");
	link_row(sample, SAMPLE_MAIN, now + 50000, number, LINK_FLOW_END, "batch");
	matmul(sample, now + 200000, number, 2 * number);
	/* A block ends in the middle of open scopes. */
	if (number == 3)
		nested_block(sample, SAMPLE_MAIN);
	matmul(sample, now + 2000000, number, 2 * number + 1);
	end(sample, now + 4000000);
	begin(sample, now + 4000000, "backward", "phase");
	end(sample, last);
	end(sample, last);
	arg(sample, &sample->nested, "step", ARG_INTEGER, number);
}

static void write_main(struct sample *sample)
{
	open_thread(sample);
	for (uint64_t i = 0; i < SAMPLE_STEPS; i++)
		step(sample, i);
	nested_block(sample, SAMPLE_MAIN);
}

static void write_loader(struct sample *sample)
{
	open_thread(sample);
	for (uint64_t i = 0; i < SAMPLE_STEPS; i++) {
		uint64_t now = step_start(i) - 900000;

		begin(sample, now, "load", "input");
		link_row(sample, SAMPLE_LOADER, now + 300000, i, LINK_FLOW_BEGIN, "batch");
		end(sample, now + 800000);
	}
	nested_block(sample, SAMPLE_LOADER);
}

static void write_worker(struct sample *sample)
{
	open_thread(sample);
	begin(sample, 2000000, "decode", "");
	begin(sample, 2500000, SAMPLE_BAD_NAME, "");
	end(sample, 3000000);
	begin(sample, 3000000, SAMPLE_QUOTE_NAME, "");
	end(sample, 3600000);
	begin(sample, 3600000,
		"gr\xc3\xb6\xc3\x9f"
		"e",
		"");
	end(sample, 4200000);
	end(sample, 5000000);
	nested_block(sample, SAMPLE_WORKER_MAIN);
}

static void write_device(struct sample *sample)
{
	struct span_builder *spans = &sample->explicit_spans;

	open_explicit(sample);
	for (uint64_t i = 0; i < SAMPLE_MATMULS; i++) {
		uint64_t now = step_start(i / 2) + (i % 2 ? 2600000 : 800000);

		note(sample, span_builder_add_explicit(
				     spans, name(sample, "gemm", "kernel"), now, now + 1200000));
		link_row(sample, SAMPLE_STREAM, now, i, LINK_CORRELATION, "launch");
	}
	note(sample,
		span_builder_add_explicit(spans, name(sample, "copy", "memcpy"), 200000, 600000));
	arg(sample, spans, "bytes", ARG_INTEGER, 65536);
	block(sample, SAMPLE_STREAM, spans);
}

static void write_async(struct sample *sample)
{
	struct span_builder *spans = &sample->explicit_spans;

	open_explicit(sample);
	for (uint64_t i = 0; i < 4; i++)
		note(sample, span_builder_add_explicit(spans, name(sample, "request", "rpc"),
				     3000000 + i * 1000000, 3000000 + i * 1000000 + 2500000));
	block(sample, SAMPLE_REQUESTS, spans);
}

static void write_counters(struct sample *sample)
{
	for (uint64_t i = 0; i < SAMPLE_STEPS; i++) {
		double loss = 2.0 / (double)(i + 1), cpu = 50 + (double)i;
		uint64_t loss_bits, cpu_bits, now = step_start(i) + 9000000;

		memcpy(&loss_bits, &loss, sizeof loss_bits);
		memcpy(&cpu_bits, &cpu, sizeof cpu_bits);
		row(sample, TABLE_COUNTERS, &sample->counters,
			(uint64_t[]){ SAMPLE_RSS, now, COUNTER_INTEGER, (100 + i) << 20 });
		row(sample, TABLE_COUNTERS, &sample->counters,
			(uint64_t[]){ SAMPLE_LOSS, now, COUNTER_DOUBLE, loss_bits });
		row(sample, TABLE_COUNTERS, &sample->counters,
			(uint64_t[]){ SAMPLE_CPU, now, COUNTER_DOUBLE, cpu_bits });
	}
	note(sample,
		trace_writer_rows(&sample->writer, TABLE_COUNTERS, &sample->counters, sample->err));
}

static void write_events(struct sample *sample)
{
	uint32_t frames[] = { text(sample, "gemm_inner"), text(sample, "matmul"),
		text(sample, "main") };
	uint32_t deep = 0, shallow = 0;

	row(sample, TABLE_MARKS, &sample->marks,
		(uint64_t[]){ SAMPLE_MAIN, 900000, name(sample, "epoch", "") });
	row(sample, TABLE_MARKS, &sample->marks,
		(uint64_t[]){ SAMPLE_MAIN, 50000000, name(sample, "checkpoint", "io") });
	for (uint64_t i = 0; i < 4; i++)
		row(sample, TABLE_ALLOCATIONS, &sample->allocations,
			(uint64_t[]){ SAMPLE_MAIN, 1000000 + i * 1000,
				0x7f0000000000 + i % 3 * 4096, i < 3 ? 4096 * (i + 1) : 0,
				name(sample, i == 2 ? "cuda:0" : "arena", ""),
				i == 2   ? ALLOCATION_DEVICE
				: i == 3 ? ALLOCATION_FREE
					 : 0 });
	note(sample, trace_dict_stack(&sample->dict, frames, 3, &deep));
	note(sample, trace_dict_stack(&sample->dict, frames + 1, 2, &shallow));
	for (uint64_t i = 0; i < 6; i++)
		row(sample, TABLE_SAMPLES, &sample->samples,
			(uint64_t[]){ SAMPLE_MAIN, 2000000 + i * 1000000, i % 3 ? deep : shallow });
	note(sample, trace_writer_dict(&sample->writer, &sample->dict, sample->err));
	note(sample, trace_writer_rows(&sample->writer, TABLE_MARKS, &sample->marks, sample->err));
	note(sample, trace_writer_rows(&sample->writer, TABLE_LINKS, &sample->links, sample->err));
	note(sample, trace_writer_rows(&sample->writer, TABLE_ALLOCATIONS, &sample->allocations,
			     sample->err));
	note(sample,
		trace_writer_rows(&sample->writer, TABLE_SAMPLES, &sample->samples, sample->err));
}

static void write_facts(struct sample *sample)
{
	static const char *const facts[][2] = {
		{ "source", "tacho record" },
		{ "program", "train" },
		{ "model", "two layers" },
		{ "model", "three layers" },
		{ "setting.counters_rate", "100" },
		{ "env.cpu.model", "Example CPU" },
		{ "env.kernel", "6.1.0" },
		{ "overhead.derivation", "85 scopes x 20.0 ns = 0.000002 s of 0.100 s" },
	};
	struct ledger ledger;

	for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
		row(sample, TABLE_METADATA, &sample->metadata,
			(uint64_t[]){ text(sample, facts[i][0]), text(sample, facts[i][1]) });
	note(sample, trace_writer_dict(&sample->writer, &sample->dict, sample->err));
	note(sample,
		trace_writer_rows(&sample->writer, TABLE_METADATA, &sample->metadata, sample->err));
	ledger_init(&ledger);
	ledger.recorded = 150;
	ledger.dropped = 3;
	ledger.produced = 153;
	ledger.overhead_percent = 0.0017;
	ledger.clock_error_ns = 35;
	ledger_add(&ledger, 3, "events dropped", "loader 1001", "no free buffer");
	note(sample, trace_writer_ledger(&sample->writer, &sample->dict, &ledger, sample->err));
	ledger_release(&ledger);
}

static void write_tracks(struct sample *sample)
{
	track(sample, SAMPLE_MACHINE, 0, TRACK_MACHINE, 0, "machine", "");
	track(sample, SAMPLE_TRAIN, SAMPLE_MACHINE, TRACK_PROCESS, 1000, "train", "");
	track(sample, SAMPLE_MAIN, SAMPLE_TRAIN, TRACK_THREAD, 1000, "main", "");
	track(sample, SAMPLE_LOADER, SAMPLE_TRAIN, TRACK_THREAD, 1001, "loader", "");
	track(sample, SAMPLE_STREAM, SAMPLE_TRAIN, TRACK_DEVICE, 0, "GPU 0 stream 7", "");
	track(sample, SAMPLE_REQUESTS, SAMPLE_TRAIN, TRACK_ASYNC, 0, "request", "");
	track(sample, SAMPLE_RSS, SAMPLE_TRAIN, TRACK_COUNTER, 0, "rss", "bytes");
	track(sample, SAMPLE_LOSS, SAMPLE_TRAIN, TRACK_COUNTER, 0, "loss", "");
	track(sample, SAMPLE_WORKER, SAMPLE_MACHINE, TRACK_PROCESS, 2000, "worker", "");
	track(sample, SAMPLE_WORKER_MAIN, SAMPLE_WORKER, TRACK_THREAD, 2000, "main", "");
	track(sample, SAMPLE_CPU, SAMPLE_MACHINE, TRACK_COUNTER, 0, "cpu", "%");
}

static void release(struct sample *sample)
{
	trace_writer_release(&sample->writer);
	trace_dict_release(&sample->dict);
	span_builder_release(&sample->nested);
	span_builder_release(&sample->explicit_spans);
	buffer_release(&sample->raw);
	buffer_release(&sample->encoded);
	table_rows_release(&sample->counters);
	table_rows_release(&sample->marks);
	table_rows_release(&sample->links);
	table_rows_release(&sample->allocations);
	table_rows_release(&sample->samples);
	table_rows_release(&sample->metadata);
}

int sample_trace_write(const char *path, struct error *err)
{
	struct file_header header = { .version = FORMAT_VERSION,
		.start_unix_ns = SAMPLE_START_NS,
		.start_mono_ns = 5000000000u,
		.session = "sample" };
	struct sample sample = { .err = err };

	note(&sample, trace_dict_init(&sample.dict));
	note(&sample, trace_writer_open(&sample.writer, path, false, &header, err));
	if (sample.status == STATUS_OK) {
		write_tracks(&sample);
		write_main(&sample);
		write_loader(&sample);
		write_worker(&sample);
		write_device(&sample);
		write_async(&sample);
		write_counters(&sample);
		write_events(&sample);
		write_facts(&sample);
	}
	if (sample.status == STATUS_OK)
		note(&sample, trace_writer_finish(&sample.writer, err));
	release(&sample);
	return sample.status;
}
