// SPDX-License-Identifier: MIT OR Apache-2.0
/* Reading of large traces: bytes a scope takes, time to open, a small window, the full pass.
 * Prints "bench NAME VALUE UNIT" lines. Usage: bench_read [SCOPES [FOLDER]] */
#include "analyze/analyze.h"
#include "base/clock.h"
#include "base/units.h"
#include "format/trace_writer.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMES 50u
#define DEPTH 5u

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void die(const char *what, const struct error *err)
{
	fprintf(stderr, "bench_read: %s: %s\n", what, err ? err->message : "failed");
	exit(1);
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

struct generator {
	struct trace_writer writer;
	struct span_builder builder;
	struct block_codec *codec;
	struct buffer raw, encoded;
	uint32_t track;
	uint32_t keys[3]; /* step, index, size; 0: without arguments */
	uint64_t written;
	uint64_t now_ns;
	uint64_t duration_sum_ns;
	/* open scopes: start, time of ended children, name */
	uint64_t start[DEPTH], children[DEPTH];
	uint32_t name[DEPTH];
	uint32_t open;
};

static void flush_block(struct generator *gen)
{
	struct error err = ERROR_INIT;
	struct block_header header = { .table = TABLE_SPANS,
		.track = gen->track,
		.rows = gen->builder.count,
		.time_min_ns = gen->builder.time_min_ns,
		.time_max_ns = gen->builder.time_max_ns,
		.busy_ns = gen->builder.busy_ns };

	buffer_reset(&gen->raw);
	buffer_reset(&gen->encoded);
	if (gen->builder.count == 0)
		return;
	if (span_builder_encode(&gen->builder, &gen->raw) ||
		block_encode(gen->codec, &header, gen->raw.data, gen->raw.length, &gen->encoded) ||
		trace_writer_block(
			&gen->writer, &header, gen->encoded.data, gen->encoded.length, &err) ||
		span_builder_start(&gen->builder, gen->children, gen->open))
		die("cannot write", &err);
}

static void end_scope(struct generator *gen)
{
	uint32_t depth = --gen->open;
	uint64_t duration = gen->now_ns - gen->start[depth];
	struct span_builder *builder = &gen->builder;

	if (span_builder_add_nested(builder, gen->name[depth], depth, gen->start[depth],
		    gen->now_ns, duration - gen->children[depth]))
		die("out of memory", NULL);
	if (depth)
		gen->children[depth - 1] += duration;
	if (gen->keys[0] && (span_builder_add_arg(builder, builder->count - 1, gen->keys[0],
				     ARG_INTEGER, gen->written / 10000) ||
				    span_builder_add_arg(builder, builder->count - 1, gen->keys[1],
					    ARG_INTEGER, gen->written) ||
				    span_builder_add_arg(builder, builder->count - 1, gen->keys[2],
					    ARG_INTEGER, 64u << random_next() % 16)))
		die("out of memory", NULL);
	gen->written++;
	gen->duration_sum_ns += duration;
	if (builder->count == BLOCK_ROWS_TARGET)
		flush_block(gen);
}

/* Random nesting: each moment a scope begins or ends, 1 ns to 4 us after the moment before, so that
 * scopes last 10 us on average. */
static void generate(struct generator *gen, uint64_t scopes)
{
	while (gen->written < scopes) {
		uint64_t dice = random_next();

		gen->now_ns += 1 + (dice >> 8) % 4000;
		if (gen->open == 0 || (gen->open < DEPTH && (dice & 1))) {
			gen->start[gen->open] = gen->now_ns;
			gen->children[gen->open] = 0;
			gen->name[gen->open] = (uint32_t)((dice >> 40) % NAMES);
			gen->open++;
		} else {
			end_scope(gen);
		}
	}
	flush_block(gen);
}

static uint32_t add_string(struct trace_dict *dict, const char *text)
{
	uint32_t id;

	if (trace_dict_string(dict, text, strlen(text), &id))
		die("out of memory", NULL);
	return id;
}

static uint64_t write_trace(const char *path, uint64_t scopes, bool with_args)
{
	struct file_header header = { .version = FORMAT_VERSION };
	struct generator gen = { .codec = block_codec_new() };
	struct error err = ERROR_INIT;
	struct trace_dict dict;
	struct ledger ledger;
	struct stat st;
	char text[32];
	uint32_t id, machine;

	ledger_init(&ledger);
	if (!gen.codec || trace_dict_init(&dict) ||
		trace_writer_open(&gen.writer, path, false, &header, &err))
		die("cannot begin", &err);
	if (trace_dict_track(&dict, 0, TRACK_MACHINE, 0, 0, 0, &machine) ||
		trace_dict_track(&dict, machine, TRACK_THREAD, 1, 0, 0, &gen.track))
		die("out of memory", NULL);
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(text, sizeof text, "function_%u", i);
		if (trace_dict_name(&dict, add_string(&dict, text), 0, &id))
			die("out of memory", NULL);
	}
	if (with_args) {
		gen.keys[0] = add_string(&dict, "step");
		gen.keys[1] = add_string(&dict, "index");
		gen.keys[2] = add_string(&dict, "size");
	}
	span_builder_init(&gen.builder, SPANS_NESTED);
	if (trace_writer_dict(&gen.writer, &dict, &err) ||
		span_builder_start(&gen.builder, NULL, 0))
		die("cannot begin", &err);
	generate(&gen, scopes);
	if (!with_args)
		printf("bench mean_scope %.3f us\n",
			(double)gen.duration_sum_ns / (double)gen.written / 1e3);
	if (trace_writer_ledger(&gen.writer, &dict, &ledger, &err) ||
		trace_writer_finish(&gen.writer, &err))
		die("cannot end", &err);
	span_builder_release(&gen.builder);
	block_codec_free(gen.codec);
	buffer_release(&gen.raw);
	buffer_release(&gen.encoded);
	trace_dict_release(&dict);
	if (stat(path, &st) != 0)
		die("cannot look at the file", NULL);
	return (uint64_t)st.st_size;
}

/* Writes the trace in a child, whose memory is then not part of what is measured. */
static void write_in_child(const char *path, uint64_t scopes, bool with_args)
{
	pid_t child;
	int status = 1;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		uint64_t bytes = write_trace(path, scopes, with_args);

		printf("bench bytes_per_scope%s %.3f bytes\n", with_args ? "_3_args" : "",
			(double)bytes / (double)scopes);
		fflush(stdout);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		die("cannot write the trace", NULL);
}

static void measure_open(const char *path)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		struct error err = ERROR_INIT;
		struct trace *trace;
		uint64_t before = clock_mono_ns(), took;

		if (trace_open(path, &trace, &err))
			die("cannot open", &err);
		took = clock_mono_ns() - before;
		best = took < best ? took : best;
		trace_close(trace);
	}
	printf("bench open %.3f ms\n", (double)best / 1e6);
}

/* The best of `runs` passes in nanoseconds. */
static uint64_t measure_pass(const struct trace *trace, const struct analyze_options *options,
	int runs, uint64_t *ret_spans)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < runs; i++) {
		struct error err = ERROR_INIT;
		struct analyze_spans result;
		uint64_t before = clock_mono_ns(), took;

		if (analyze_spans(trace, options, &result, &err))
			die("cannot analyze", &err);
		took = clock_mono_ns() - before;
		best = took < best ? took : best;
		*ret_spans = result.span_count;
		analyze_spans_release(&result);
	}
	return best;
}

static void measure_passes(const char *path)
{
	struct analyze_options options = { 0 };
	struct error err = ERROR_INIT;
	struct trace *trace;
	uint64_t spans, took;
	long before;

	if (trace_open(path, &trace, &err))
		die("cannot open", &err);
	before = peak_kib();
	options.window.from_ns = trace->span_ns / 2;
	options.window.until_ns = options.window.from_ns + 10000000;
	took = measure_pass(trace, &options, 5, &spans);
	printf("bench window_10ms %.3f ms\n", (double)took / 1e6);
	printf("bench window_10ms_scopes %" PRIu64 " scopes\n", spans);
	printf("bench window_10ms_memory %.1f MiB\n", (double)(peak_kib() - before) / 1024);
	memset(&options, 0, sizeof options);
	for (options.threads = 1; options.threads <= 2; options.threads++) {
		took = measure_pass(trace, &options, 3, &spans);
		printf("bench analyze_%u_threads %.1f Mscopes/s\n", options.threads,
			(double)spans * 1e3 / (double)took);
	}
	printf("bench analyze_peak_memory %.1f MiB\n", (double)peak_kib() / 1024);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	uint64_t scopes = 50000000;
	const char *folder = argc > 2 ? argv[2] : getenv("TMPDIR");
	char path[4096];

	if (argc > 1 && units_parse_u64(argv[1], &scopes) != STATUS_OK) {
		fprintf(stderr, "usage: bench_read [SCOPES [FOLDER]]\n");
		return 2;
	}
	snprintf(path, sizeof path, "%s/bench_read.%d.tacho", folder ? folder : "/tmp",
		(int)getpid());
	write_in_child(path, scopes < 2000000 ? scopes : 2000000, true);
	write_in_child(path, scopes, false);
	measure_open(path);
	measure_passes(path);
	unlink(path);
	return 0;
}
