// SPDX-License-Identifier: MIT OR Apache-2.0
/* Writes a trace for the benchmark of exports. Usage: bench_export FILE SPANS
 *
 * Four threads with nested scopes and a device stream, names and arguments as a training run has
 * them: every fourth span has a shape, a size and a number. */
#include "base/units.h"
#include "format/span_block.h"
#include "format/trace_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4u
#define NAMES   400u
#define DEPTH   6u

struct maker {
	struct trace_writer writer;
	struct trace_dict dict;
	struct buffer raw, encoded;
	uint32_t names[NAMES], shapes[NAMES], keys[3];
	uint64_t random;
	struct error err;
};

static void must(struct maker *maker, int status)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "bench_export: %s\n",
		maker->err.message[0] ? maker->err.message : status_text(status));
	exit(1);
}

static uint64_t next(struct maker *maker)
{
	maker->random ^= maker->random << 13;
	maker->random ^= maker->random >> 7;
	maker->random ^= maker->random << 17;
	return maker->random;
}

static uint32_t text(struct maker *maker, const char *value)
{
	uint32_t id = 0;

	must(maker, trace_dict_string(&maker->dict, value, strlen(value), &id));
	return id;
}

static void make_names(struct maker *maker)
{
	static const char *const categories[] = { "op", "phase", "python_function", "" };
	char value[96];

	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(value, sizeof value, "aten::operation_%u", i);
		must(maker, trace_dict_name(&maker->dict, text(maker, value),
				    text(maker, categories[i % 4]), &maker->names[i]));
		snprintf(value, sizeof value, "[[%u, 256], [256, %u]]", 1 + i, 2 * i);
		maker->shapes[i] = text(maker, value);
	}
	maker->keys[0] = text(maker, "Input Dims");
	maker->keys[1] = text(maker, "bytes");
	maker->keys[2] = text(maker, "flops");
}

static void add_args(struct maker *maker, struct span_builder *builder)
{
	double flops = (double)(next(maker) % 1000000) * 1e3;
	uint64_t bits;

	memcpy(&bits, &flops, sizeof bits);
	must(maker, span_builder_add_arg(builder, builder->count - 1, maker->keys[0], ARG_STRING,
			    maker->shapes[next(maker) % NAMES]));
	must(maker, span_builder_add_arg(builder, builder->count - 1, maker->keys[1], ARG_INTEGER,
			    next(maker) % 100000000));
	must(maker, span_builder_add_arg(
			    builder, builder->count - 1, maker->keys[2], ARG_DOUBLE, bits));
}

static void put_block(struct maker *maker, struct span_builder *builder, uint32_t track)
{
	struct block_header header = { .table = TABLE_SPANS,
		.track = track,
		.rows = builder->count,
		.time_min_ns = builder->time_min_ns,
		.time_max_ns = builder->time_max_ns,
		.busy_ns = builder->busy_ns };

	if (!builder->count)
		return;
	buffer_reset(&maker->raw);
	buffer_reset(&maker->encoded);
	must(maker, span_builder_encode(builder, &maker->raw));
	must(maker, block_encode(maker->writer.codec, &header, maker->raw.data, maker->raw.length,
			    &maker->encoded));
	must(maker, trace_writer_dict(&maker->writer, &maker->dict, &maker->err));
	must(maker, trace_writer_block(&maker->writer, &header, maker->encoded.data,
			    maker->encoded.length, &maker->err));
}

/* Opens and closes scopes at random, as deep as DEPTH; the last ones are closed as well. */
static void make_thread(struct maker *maker, uint32_t track, uint64_t count)
{
	uint64_t starts[DEPTH + 1], sums[DEPTH + 2] = { 0 }, now = 1000;
	uint32_t names[DEPTH + 1], depth = 0;
	struct span_builder builder;

	span_builder_init(&builder, SPANS_NESTED);
	must(maker, span_builder_start(&builder, NULL, 0));
	for (uint64_t made = 0; made < count;) {
		now += 100 + next(maker) % 2000;
		if (depth == 0 || (depth < DEPTH && made + depth < count && next(maker) % 2)) {
			names[depth] = maker->names[next(maker) % NAMES];
			starts[depth++] = now;
			continue;
		}
		depth--;
		must(maker, span_builder_add_nested(&builder, names[depth], depth, starts[depth],
				    now, now - starts[depth] - sums[depth + 1]));
		sums[depth + 1] = 0;
		sums[depth] += now - starts[depth];
		if (++made % 4 == 0)
			add_args(maker, &builder);
		if (builder.count >= BLOCK_ROWS_TARGET) {
			put_block(maker, &builder, track);
			must(maker, span_builder_start(&builder, sums + 1, depth));
		}
	}
	put_block(maker, &builder, track);
	span_builder_release(&builder);
}

static void make_stream(struct maker *maker, uint32_t track, uint64_t count)
{
	struct span_builder builder;
	uint64_t now = 2000;

	span_builder_init(&builder, SPANS_EXPLICIT);
	must(maker, span_builder_start(&builder, NULL, 0));
	for (uint64_t i = 0; i < count; i++) {
		uint64_t start = now + next(maker) % 500;

		now = start + 1000 + next(maker) % 5000;
		must(maker, span_builder_add_explicit(
				    &builder, maker->names[next(maker) % NAMES], start, now));
		if (i % 4 == 0)
			add_args(maker, &builder);
		if (builder.count >= BLOCK_ROWS_TARGET) {
			put_block(maker, &builder, track);
			must(maker, span_builder_start(&builder, NULL, 0));
		}
	}
	put_block(maker, &builder, track);
	span_builder_release(&builder);
}

int main(int argc, char **argv)
{
	struct file_header header = { .version = FORMAT_VERSION,
		.start_unix_ns = 1700000000000000000u,
		.start_mono_ns = 5000000000u };
	struct maker maker = { .random = 0x9e3779b97f4a7c15u, .err = ERROR_INIT };
	uint32_t machine, process, track;
	uint64_t spans;

	if (argc != 3 || units_parse_u64(argv[2], &spans) != STATUS_OK) {
		fprintf(stderr, "usage: bench_export FILE SPANS\n");
		return 2;
	}
	must(&maker, trace_dict_init(&maker.dict));
	must(&maker, trace_writer_open(&maker.writer, argv[1], false, &header, &maker.err));
	make_names(&maker);
	must(&maker, trace_dict_track(&maker.dict, 0, TRACK_MACHINE, 0, text(&maker, "machine"), 0,
			     &machine));
	must(&maker, trace_dict_track(&maker.dict, machine, TRACK_PROCESS, 100,
			     text(&maker, "train"), 0, &process));
	for (uint32_t i = 0; i <= THREADS; i++) {
		must(&maker, trace_dict_track(&maker.dict, process,
				     i < THREADS ? TRACK_THREAD : TRACK_DEVICE, 100 + i,
				     text(&maker, i < THREADS ? "worker" : "GPU 0 stream 7"), 0,
				     &track));
		if (i < THREADS)
			make_thread(&maker, track, spans / (THREADS + 1));
		else
			make_stream(&maker, track, spans - THREADS * (spans / (THREADS + 1)));
	}
	must(&maker, trace_writer_dict(&maker.writer, &maker.dict, &maker.err));
	must(&maker, trace_writer_finish(&maker.writer, &maker.err));
	trace_dict_release(&maker.dict);
	buffer_release(&maker.raw);
	buffer_release(&maker.encoded);
	return 0;
}
