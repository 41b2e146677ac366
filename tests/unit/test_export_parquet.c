// SPDX-License-Identifier: MIT OR Apache-2.0
/* The Parquet export, read by a reader of the tests' own: every value of every column, statistics,
 * pages that end in the middle, the hybrid encoding, and all tables. */
#include "base/wire.h"
#include "export/parquet_column.h"
#include "tests/unit/export_fixture.h"
#include "tests/unit/mini_parquet.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/trace_maker.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mini_parquet *read_table(const struct trace *trace, enum block_table table)
{
	size_t bytes;
	uint8_t *file = fixture_export(
		trace, "parquet", ".parquet", (struct export_options){ .table = table }, &bytes);
	struct mini_parquet *parquet = file ? mini_parquet_read(file, bytes) : NULL;

	free(file);
	return parquet;
}

static void check_number(
	const struct mini_parquet *file, const char *name, size_t row, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	CHECK_STR(mini_parquet_column(file, name)->values[row], text);
}

/* {"key":"value","key":1} as the list of spans has it. */
static void plain_args(const char *json, char args[256])
{
	char *out = args;

	args[0] = '\0';
	for (; json && *json && out < args + 250; json++) {
		bool between = json[0] == ',' && json[1] == '"';

		if (between)
			*out++ = ' ';
		else if (json[0] == ':')
			*out++ = '=';
		else if (!strchr("{}\"", json[0]))
			*out++ = *json;
	}
	*out = '\0';
}

static void spans(void)
{
	struct mini_parquet *file = read_table(fixture_trace, TABLE_SPANS);

	if (!file)
		return;
	CHECK_EQ(file->column_count, 10);
	CHECK_EQ(file->row_count, SAMPLE_SPANS);
	for (size_t i = 0; i < file->row_count && i < fixture_span_count; i++) {
		const struct fixture_span *span = &fixture_spans[i];
		const struct trace_track *track = &fixture_trace->tracks[span->track];
		char args[256];

		check_number(file, "start_ns", i, span->start_ns);
		check_number(file, "duration_ns", i, span->duration_ns);
		check_number(file, "self_ns", i, span->self_ns);
		check_number(file, "depth", i, span->depth);
		check_number(file, "track", i, span->track);
		CHECK_STR(mini_parquet_column(file, "name")->values[i], fixture_utf8(span->name));
		CHECK_STR(mini_parquet_column(file, "category")->values[i], span->category);
		CHECK_STR(mini_parquet_column(file, "thread")->values[i], track->name);
		CHECK_STR(mini_parquet_column(file, "process")->values[i],
			fixture_trace->tracks[track->process].name);
		plain_args(mini_parquet_column(file, "args")->values[i], args);
		CHECK_STR(args, span->args);
	}
	CHECK(mini_parquet_column(file, "name")->has_text);
	CHECK_EQ(mini_parquet_column(file, "args")->optional, 1);
	CHECK_EQ(file->fact_count, 2);
	mini_parquet_free(file);
}

static void statistics(void)
{
	struct mini_parquet *file = read_table(fixture_trace, TABLE_SPANS);
	size_t nulls = 0;

	if (!file)
		return;
	CHECK_STR(mini_parquet_column(file, "start_ns")->low, "100000");
	CHECK_STR(mini_parquet_column(file, "depth")->high, "3");
	CHECK_STR(mini_parquet_column(file, "name")->low, "backward");
	CHECK_STR(mini_parquet_column(file, "name")->high, "step");
	CHECK_STR(mini_parquet_column(file, "category")->low, "");
	for (size_t i = 0; i < file->row_count; i++)
		nulls += mini_parquet_column(file, "args")->values[i] == NULL;
	CHECK_EQ(mini_parquet_column(file, "args")->null_count, nulls);
	mini_parquet_free(file);
}

static void other_tables(void)
{
	struct mini_parquet *file = read_table(fixture_trace, TABLE_COUNTERS);
	double sum = 0;

	if (file && CHECK_EQ(file->row_count, 24)) {
		for (size_t i = 0; i < 24; i++)
			sum += strtod(mini_parquet_column(file, "value")->values[i], NULL);
		CHECK_EQ(mini_parquet_column(file, "value_int")->null_count, 16);
		CHECK_STR(mini_parquet_column(file, "unit")->high, "bytes");
		CHECK(sum > 8 * 100.0 * (1 << 20));
	}
	mini_parquet_free(file);
	file = read_table(fixture_trace, TABLE_MARKS);
	if (file && CHECK_EQ(file->row_count, 2))
		CHECK_STR(mini_parquet_column(file, "name")->values[1], "checkpoint");
	mini_parquet_free(file);
	file = read_table(fixture_trace, TABLE_LINKS);
	if (file && CHECK_EQ(file->row_count, 48))
		CHECK_STR(mini_parquet_column(file, "kind")->high, "flow_end");
	mini_parquet_free(file);
	file = read_table(fixture_trace, TABLE_ALLOCATIONS);
	if (file && CHECK_EQ(file->row_count, 4)) {
		CHECK_STR(mini_parquet_column(file, "pool")->values[2], "cuda:0");
		check_number(file, "address", 1, 0x7f0000001000);
	}
	mini_parquet_free(file);
	file = read_table(fixture_trace, TABLE_SAMPLES);
	if (file && CHECK_EQ(file->row_count, 6))
		CHECK_STR(mini_parquet_column(file, "stack")->values[1], "main;matmul;gemm_inner");
	mini_parquet_free(file);
}

/* Numbers of every width, in runs and without. */
static void hybrid(void)
{
	for (unsigned width = 1; width <= 24; width++)
		for (size_t count = 0; count < 70; count++) {
			struct buffer out;
			uint32_t values[70];
			struct reader in;
			size_t at = 0;

			for (size_t i = 0; i < count; i++)
				values[i] = (uint32_t)((i % 31 < 14 ? 5 : i * 2654435761u) &
						       ((1u << width) - 1));
			buffer_init(&out);
			parquet_hybrid(&out, values, count, width);
			reader_init(&in, out.data, out.length);
			while (at < count && !in.failed) {
				uint64_t head = wire_read_varint(&in);
				uint64_t bits = 0;
				unsigned held = 0;
				uint32_t run =
					head & 1 ? 0 : (uint32_t)reader_fixed(&in, (width + 7) / 8);
				size_t more = (head >> 1) * (head & 1 ? 8 : 1);

				for (size_t i = 0; i < more; i++) {
					uint32_t value = run;

					for (; head & 1 && held < width; held += 8)
						bits |= (uint64_t)reader_byte(&in) << held;
					if (head & 1) {
						value = (uint32_t)(bits & ((1ull << width) - 1));
						bits >>= width;
						held -= width;
					}
					if (at < count && value != values[at])
						CHECK_EQ(value, values[at]);
					at++;
				}
			}
			CHECK(!in.failed && reader_left(&in) == 0);
			CHECK(at >= count && at < count + 8);
			buffer_release(&out);
		}
}

/* More rows than a page holds, and more names than a byte counts. */
static void many_rows(void)
{
	size_t count = 70000;
	struct maker_span *list = calloc(count, sizeof *list);
	struct mini_parquet *file;
	struct trace *trace;
	struct maker maker;
	char name[32];
	uint32_t track;

	maker_open(&maker);
	track = maker_track(&maker, 0, TRACK_DEVICE, "stream");
	for (uint32_t i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "name %u", i);
		maker_name(&maker, name, "");
	}
	for (size_t i = 0; i < count; i++)
		list[i] = (struct maker_span){
			.name = (uint32_t)(i / 20 % 3000), .start_ns = i * 10, .end_ns = i * 10 + 5
		};
	maker_spans(&maker, track, SPANS_EXPLICIT, list, count, NULL, 0, 30000);
	maker_finish(&maker);
	trace = maker_trace(maker.path);
	file = trace ? read_table(trace, TABLE_SPANS) : NULL;
	if (file && CHECK_EQ(file->row_count, count)) {
		const struct mini_column *names = mini_parquet_column(file, "name");

		CHECK_EQ(names->pages, 2);
		CHECK_EQ(file->group_count, 1);
		for (size_t i = 0; i < count; i += 997) {
			check_number(file, "start_ns", i, i * 10);
			snprintf(name, sizeof name, "name %zu", i / 20 % 3000);
			CHECK_STR(names->values[i], name);
		}
	}
	mini_parquet_free(file);
	trace_close(trace);
	maker_remove(&maker);
	free(list);
}

static void empty(void)
{
	struct trace *trace = fixture_empty();
	struct mini_parquet *file = trace ? read_table(trace, TABLE_SPANS) : NULL;

	if (file) {
		CHECK_EQ(file->row_count, 0);
		CHECK_EQ(file->group_count, 0);
		CHECK_EQ(file->column_count, 10);
	}
	mini_parquet_free(file);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(spans),
		UNIT(statistics),
		UNIT(other_tables),
		UNIT(hybrid),
		UNIT(many_rows),
		UNIT(empty),
	};

	return fixture_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
