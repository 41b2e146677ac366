// SPDX-License-Identifier: MIT OR Apache-2.0
/* The collector's parts that need no process: the store with its flight recorder and size limit,
 * the watch over steps, names of output files. */
#include "collect/output_name.h"
#include "collect/step_watch.h"
#include "collect/store.h"
#include "tests/unit/unit.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct store store;
static char folder[] = "/tmp/tacho-store-XXXXXX";
static char path[sizeof folder + 32];

static void start(void)
{
	struct file_header header = { .version = FORMAT_VERSION, .start_unix_ns = 1 };
	uint32_t text, name, track;

	CHECK_EQ(store_init(&store, &header), STATUS_OK);
	CHECK_EQ(trace_dict_string(&store.dict, "work", 4, &text), STATUS_OK);
	CHECK_EQ(trace_dict_name(&store.dict, text, 0, &name), STATUS_OK);
	CHECK_EQ(trace_dict_track(&store.dict, 0, TRACK_THREAD, 1, text, 0, &track), STATUS_OK);
}

/* A block of `rows` scopes of one microsecond each, from `from_ns` on. */
static void add_block(uint64_t from_ns, uint32_t rows)
{
	struct span_builder builder;

	span_builder_init(&builder, SPANS_NESTED);
	builder.last_end_ns = from_ns;
	CHECK_EQ(span_builder_start(&builder, NULL, 0), STATUS_OK);
	for (uint32_t i = 0; i < rows; i++)
		CHECK_EQ(span_builder_add_nested(&builder, 0, 0, from_ns + i * 2000u,
				 from_ns + i * 2000u + 1000, 1000),
			STATUS_OK);
	store_spans(&store, 0, &builder);
	CHECK_EQ(builder.count, 0);
	span_builder_release(&builder);
}

static uint64_t spans_in(const char *file, uint64_t *ret_first_ns)
{
	struct error err = ERROR_INIT;
	struct trace *trace;
	uint64_t rows;

	if (!CHECK_EQ(trace_open(file, &trace, &err), STATUS_OK)) {
		fprintf(stderr, "%s\n", err.message);
		return 0;
	}
	CHECK(!trace->repaired);
	rows = trace->row_counts[TABLE_SPANS];
	*ret_first_ns = UINT64_MAX;
	for (size_t i = 0; i < trace->block_count; i++)
		if (trace->blocks[i].table == TABLE_SPANS &&
			trace->blocks[i].time_min_ns < *ret_first_ns)
			*ret_first_ns = trace->blocks[i].time_min_ns;
	trace_close(trace);
	return rows;
}

static void test_flight_keeps_the_past(void)
{
	struct error err = ERROR_INIT;
	uint64_t first;

	start();
	store_keep(&store, UINT64_C(1000000000), 64u << 20);
	for (uint64_t i = 0; i < 100; i++)
		add_block(i * 100000000u, 1000);
	CHECK(store.kept_count <= 12);
	CHECK(store.evicted_rows >= 88000);
	CHECK_EQ(store_dump(&store, path, 0, &err), STATUS_OK);
	CHECK_EQ(spans_in(path, &first), store.kept_count * 1000);
	CHECK(first <= UINT64_C(8910000000));
	CHECK_EQ(store_dump(&store, path, 250000000, &err), STATUS_OK);
	CHECK_EQ(spans_in(path, &first), 3000);
	store_release(&store);
}

static void test_flight_is_bounded_by_bytes(void)
{
	start();
	store_keep(&store, UINT64_MAX / 2, 20000);
	for (uint64_t i = 0; i < 1000; i++)
		add_block(i * 100000000u, 1000);
	CHECK(store.kept_bytes <= 20000);
	CHECK(store.kept_count >= 1);
	/* The queue's own array does not grow with what passed through it. */
	CHECK(store.kept_capacity < 400);
	store_release(&store);
}

static void test_size_limit(void)
{
	struct error err = ERROR_INIT;
	uint64_t first;

	start();
	CHECK_EQ(store_open_file(&store, path, 4000, &err), STATUS_OK);
	for (uint64_t i = 0; i < 100; i++)
		add_block(i * 100000000u, 1000);
	CHECK_EQ(store.rows_written + store.rows_skipped, 100000);
	CHECK(store.rows_written >= 1000);
	CHECK(strstr(store.failure, "max_size"));
	CHECK_EQ(store_finish(&store, &err), STATUS_OK);
	CHECK_EQ(spans_in(path, &first), store.rows_written);
	store_release(&store);
}

static void test_checkpoint_survives_a_kill(void)
{
	struct error err = ERROR_INIT;
	struct trace *trace;

	start();
	CHECK_EQ(store_open_file(&store, path, 0, &err), STATUS_OK);
	store_metadata(&store, "program", "x");
	store.ledger.recorded = 1000;
	add_block(0, 1000);
	store_checkpoint(&store);
	store_metadata(&store, "late", "y");
	store_checkpoint(&store);
	/* As a killed collector leaves it: no index, no trailer. */
	CHECK_EQ(trace_open(path, &trace, &err), STATUS_OK);
	CHECK(trace->repaired);
	CHECK_EQ(trace->row_counts[TABLE_SPANS], 1000);
	CHECK_EQ(trace->ledger.recorded, 1000);
	CHECK_EQ(trace->metadata_count, 2);
	CHECK_STR(trace_metadata(trace, "program"), "x");
	CHECK_STR(trace_metadata(trace, "late"), "y");
	trace_close(trace);
	store_release(&store);
}

static void test_failed_write(void)
{
	struct error err = ERROR_INIT;

	start();
	/* Everything can be opened for writing there, and nothing written. */
	if (store_open_file(&store, "/dev/full", 0, &err) != STATUS_OK) {
		CHECK(strstr(err.message, "/dev/full"));
	} else {
		add_block(0, 1000);
		CHECK(store.failure[0]);
		CHECK_EQ(store.rows_skipped, 1000);
	}
	store_release(&store);
}

static void test_steps(void)
{
	struct step_watch watch = { 0 };
	unsigned outliers = 0;

	for (unsigned i = 0; i < 500; i++)
		outliers += step_watch_add(&watch, 1000000 + i % 7 * 20000);
	CHECK_EQ(outliers, 0);
	CHECK(step_watch_add(&watch, 5000000));
	CHECK(!step_watch_add(&watch, 1100000));
	/* The first steps of a run are slow, and nothing is known yet to judge them by. */
	memset(&watch, 0, sizeof watch);
	CHECK(!step_watch_add(&watch, 5000000));
	CHECK(!step_watch_add(&watch, 500000000));
}

static void test_output_name(void)
{
	struct error err = ERROR_INIT;
	char name[256];

	setenv("RANK", "3", 1);
	CHECK_EQ(output_name("a-{rank}-{pid}-{name}.tacho", "/usr/bin/train", 42, name, sizeof name,
			 &err),
		STATUS_OK);
	CHECK_STR(name, "a-3-42-train.tacho");
	CHECK_EQ(output_name("", "train", 42, name, sizeof name, &err), STATUS_OK);
	CHECK(strncmp(name, "train-rank3-", 12) == 0);
	setenv("RANK", "../../etc", 1);
	CHECK_EQ(output_name("{rank}", "train", 42, name, sizeof name, &err), STATUS_OK);
	CHECK(!strchr(name, '/'));
	unsetenv("RANK");
	CHECK_EQ(output_name("{what}", "train", 42, name, sizeof name, &err), STATUS_USAGE);
	CHECK(strstr(err.message, "{what}"));
	CHECK_EQ(output_name("{name}{name}", "0123456789", 42, name, 16, &err), STATUS_USAGE);
}

static const struct unit_test tests[] = {
	UNIT(test_flight_keeps_the_past),
	UNIT(test_flight_is_bounded_by_bytes),
	UNIT(test_size_limit),
	UNIT(test_checkpoint_survives_a_kill),
	UNIT(test_failed_write),
	UNIT(test_steps),
	UNIT(test_output_name),
};

int main(int argc, char **argv)
{
	int status;

	if (!mkdtemp(folder))
		return 2;
	snprintf(path, sizeof path, "%s/t.tacho", folder);
	status = unit_main(tests, sizeof tests / sizeof *tests, argc, argv);
	unlink(path);
	rmdir(folder);
	return status;
}
