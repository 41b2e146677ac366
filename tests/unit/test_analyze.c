// SPDX-License-Identifier: MIT OR Apache-2.0
/* Analyses of small traces whose every number is known by hand. */
#include "analyze/analyze.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/trace_maker.h"
#include "tests/unit/unit.h"

/*  time     0   100       200       300       400       500        600
 *  main         [step 7              ][step 8            ]
 *                [forward ][back    ]  [forward     ]
 *                  [op]                  [op][op]
 *  worker   [load                                      ]
 *  stream 1        [k   ][k  ]             [k ]
 *  stream 2           [memcpy]                     [memcpy]
 */
enum { STEP, FORWARD, BACK, OP, LOAD, KERNEL, MEMCPY };

static void make_sample(struct maker *maker)
{
	static const struct maker_span worker[] = { { LOAD, 0, 0, 500 } };
	static const struct maker_span first[] = { { KERNEL, 0, 120, 160 }, { KERNEL, 0, 160, 200 },
		{ KERNEL, 0, 380, 400 } };
	static const struct maker_span second[] = { { MEMCPY, 0, 150, 220 },
		{ MEMCPY, 0, 450, 500 } };
	static const struct maker_span main_spans[] = {
		{ OP, 2, 120, 150 },
		{ FORWARD, 1, 110, 200 },
		{ BACK, 1, 200, 290 },
		{ STEP, 0, 100, 300 },
		{ OP, 2, 330, 350 },
		{ OP, 2, 350, 380 },
		{ FORWARD, 1, 310, 400 },
		{ STEP, 0, 300, 450 },
	};
	uint32_t process, id, step_key, bytes_key, counter, machine;

	maker_open(maker);
	machine = maker_track(maker, 0, TRACK_MACHINE, "host");
	process = maker_track(maker, machine, TRACK_PROCESS, "train");
	maker_name(maker, "step", "step");
	maker_name(maker, "forward", "phase");
	maker_name(maker, "backward", "phase");
	maker_name(maker, "conv2d", "op");
	maker_name(maker, "load", "");
	maker_name(maker, "sgemm", "kernel");
	maker_name(maker, "copy", "memcpy");
	maker_name(maker, "never used", "op");
	step_key = maker_string(maker, "step");
	bytes_key = maker_string(maker, "bytes");
	{
		struct span_arg numbers[] = { { 3, step_key, ARG_INTEGER, 7 },
			{ 7, step_key, ARG_INTEGER, 8 }, { 0, bytes_key, ARG_INTEGER, 5 } };
		struct span_arg bytes[] = { { 0, bytes_key, ARG_INTEGER, 1000 },
			{ 1, bytes_key, ARG_INTEGER, 999 }, { 1, bytes_key, ARG_INTEGER, 24 } };

		id = maker_track(maker, process, TRACK_THREAD, "main");
		maker_spans(maker, id, SPANS_NESTED, main_spans, 8, numbers, 3, 3);
		id = maker_track(maker, process, TRACK_THREAD, "worker");
		maker_spans(maker, id, SPANS_NESTED, worker, 1, NULL, 0, 3);
		id = maker_track(maker, process, TRACK_DEVICE, "stream 1");
		maker_spans(maker, id, SPANS_EXPLICIT, first, 3, NULL, 0, 2);
		id = maker_track(maker, process, TRACK_DEVICE, "stream 2");
		maker_spans(maker, id, SPANS_EXPLICIT, second, 2, bytes, 3, 100);
	}
	counter = maker_track(maker, process, TRACK_COUNTER, "rss");
	id = maker_track(maker, machine, TRACK_COUNTER, "load average");
	{
		double half = 0.5, two = 2;
		uint64_t half_bits, two_bits;

		memcpy(&half_bits, &half, 8);
		memcpy(&two_bits, &two, 8);
		uint64_t rows[] = { counter, 100, COUNTER_INTEGER, 1000, id, 100, COUNTER_DOUBLE,
			half_bits, counter, 300, COUNTER_INTEGER, (uint64_t)-200, counter, 200,
			COUNTER_INTEGER, 4000, id, 300, COUNTER_DOUBLE, two_bits };

		maker_rows(maker, TABLE_COUNTERS, rows, 5);
	}
	maker_finish(maker);
}

static struct trace *open_fine(const struct maker *maker)
{
	struct error err = ERROR_INIT;
	struct trace *trace = NULL;

	CHECK_EQ(trace_open(maker->path, &trace, &err), STATUS_OK);
	CHECK(trace && !trace->repaired);
	return trace;
}

static const struct analyze_stats *group(const struct analyze_groups *groups, const char *name)
{
	static const struct analyze_stats none;

	for (size_t i = 0; i < groups->count; i++)
		if (strcmp(groups->items[i].name, name) == 0)
			return &groups->items[i].stats;
	return &none;
}

static struct analyze_spans spans_of(
	const struct trace *trace, const struct analyze_options *options)
{
	struct analyze_spans result = { 0 };
	struct error err = ERROR_INIT;

	CHECK_EQ(analyze_spans(trace, options, &result, &err), STATUS_OK);
	return result;
}

static void sample_by_hand(void)
{
	struct analyze_options options = { 0 };
	const struct analyze_stats *stats;
	struct analyze_spans result;
	struct maker maker;
	struct trace *trace;

	make_sample(&maker);
	trace = open_fine(&maker);
	result = spans_of(trace, &options);
	CHECK_EQ(result.span_count, 14);
	CHECK_EQ(result.wall_ns, 500);
	CHECK_EQ(result.damaged_blocks, 0);
	CHECK_EQ(result.names.count, 7);
	stats = group(&result.names, "step");
	CHECK_EQ(stats->count, 2);
	CHECK_EQ(stats->total_ns, 350);
	CHECK_EQ(stats->self_ns, 20 + 60);
	CHECK_EQ(stats->min_ns, 150);
	CHECK_EQ(stats->max_ns, 200);
	CHECK_NEAR(stats->mean_ns, 175, 1e-9);
	CHECK_NEAR(stats->sd_ns, 35.35533905932738, 1e-9);
	CHECK_EQ(stats->p50_ns, 150);
	CHECK_EQ(stats->p90_ns, 200);
	CHECK(!stats->sketch);
	stats = group(&result.names, "conv2d");
	CHECK_EQ(stats->count, 3);
	CHECK_EQ(stats->total_ns, 80);
	CHECK_EQ(stats->self_ns, 80);
	stats = group(&result.names, "forward");
	CHECK_EQ(stats->self_ns, 180 - 80);
	CHECK_NEAR(stats->share, 100 / (80.0 + 100 + 90 + 80 + 500 + 100 + 120), 1e-12);
	CHECK_STR(result.names.items[0].name, "load");
	CHECK_STR(result.names.items[0].category, "");
	CHECK_EQ(result.tracks.count, 4);
	stats = group(&result.tracks, "main");
	CHECK_EQ(stats->count, 8);
	CHECK_EQ(stats->total_ns, 350 + 180 + 90 + 80);
	CHECK_EQ(stats->self_ns, 350);
	CHECK_EQ(group(&result.tracks, "stream 2")->total_ns, 120);
	CHECK_EQ(result.categories.count, 6);
	CHECK_EQ(group(&result.categories, "phase")->count, 3);
	CHECK_EQ(group(&result.categories, "phase")->self_ns, 190);
	CHECK_EQ(group(&result.categories, "")->total_ns, 500);
	CHECK_EQ(result.kernel_count, 3);
	CHECK_EQ(result.kernel_time_ns, 100);
	CHECK_EQ(result.memcpy_bytes, 1024);
	CHECK_EQ(result.op_count, 3);
	CHECK_EQ(result.gpu_busy_ns, 100 + 20 + 50);
	analyze_spans_release(&result);
	trace_close(trace);
	maker_remove(&maker);
}

static void steps_by_hand(void)
{
	struct analyze_options options = { 0 };
	struct analyze_spans result;
	struct maker maker;
	struct trace *trace;

	make_sample(&maker);
	trace = open_fine(&maker);
	result = spans_of(trace, &options);
	CHECK(result.steps_recorded);
	if (!CHECK_EQ(result.step_count, 2) || !CHECK_EQ(result.phase_count, 3))
		goto out;
	CHECK_EQ(result.steps[0].number, 7);
	CHECK_EQ(result.steps[1].number, 8);
	CHECK_EQ(result.steps[0].start_ns, 100);
	CHECK_EQ(result.steps[1].duration_ns, 150);
	CHECK_EQ(result.steps[0].track, 2);
	CHECK_EQ(result.steps[0].first_phase, 0);
	CHECK_EQ(result.steps[0].phase_count, 2);
	CHECK_EQ(result.steps[1].first_phase, 2);
	CHECK_EQ(result.steps[1].phase_count, 1);
	CHECK_STR(result.phases[0].name, "forward");
	CHECK_STR(result.phases[1].name, "backward");
	CHECK_EQ(result.phases[1].start_ns, 200);
	CHECK_EQ(result.phases[2].duration_ns, 90);
	CHECK_EQ(result.step_stats.count, 2);
	CHECK_EQ(result.step_stats.total_ns, 350);
	CHECK_EQ(result.step_stats.self_ns, 20 + 60);
	CHECK_EQ(result.phase_groups.count, 2);
	CHECK_EQ(group(&result.phase_groups, "forward")->total_ns, 180);
	CHECK_EQ(group(&result.phase_groups, "forward")->self_ns, 100);
	CHECK_EQ(group(&result.phase_groups, "backward")->count, 1);
out:
	analyze_spans_release(&result);
	trace_close(trace);
	maker_remove(&maker);
}

/* A step inside a step is none; a phase outside all steps belongs to none; numbers may be missing.
 */
static void odd_steps(void)
{
	static const struct maker_span spans[] = { { 1, 0, 10, 20 }, { 0, 1, 110, 150 },
		{ 0, 0, 100, 200 }, { 1, 1, 310, 320 }, { 0, 0, 300, 400 } };
	static const struct maker_span other[] = { { 1, 0, 330, 340 } };
	struct analyze_options options = { 0 };
	struct analyze_spans result;
	struct maker maker;
	struct trace *trace;
	uint32_t track;

	maker_open(&maker);
	maker_name(&maker, "iteration", "step");
	maker_name(&maker, "forward", "phase");
	track = maker_track(&maker, 0, TRACK_THREAD, "main");
	maker_spans(&maker, track, SPANS_NESTED, spans, 5, NULL, 0, 100);
	/* A phase of another thread during the last step. */
	track = maker_track(&maker, 0, TRACK_THREAD, "worker");
	maker_spans(&maker, track, SPANS_NESTED, other, 1, NULL, 0, 100);
	maker_finish(&maker);
	trace = open_fine(&maker);
	result = spans_of(trace, &options);
	CHECK_EQ(result.step_count, 2);
	CHECK_EQ(result.steps[0].number, 0);
	CHECK_EQ(result.steps[1].number, 1);
	CHECK_EQ(result.steps[0].start_ns, 100);
	CHECK_EQ(result.steps[0].phase_count, 0);
	CHECK_EQ(result.steps[1].phase_count, 1);
	CHECK_EQ(result.phase_count, 3);
	CHECK_EQ(result.phases[result.steps[1].first_phase].start_ns, 310);
	CHECK_EQ(group(&result.names, "iteration")->count, 3);
	analyze_spans_release(&result);
	trace_close(trace);
	maker_remove(&maker);
}

static void without_steps(void)
{
	static const struct maker_span spans[] = { { 0, 0, 10, 20 }, { 1, 0, 30, 70 } };
	struct analyze_options options = { 0 };
	struct analyze_spans result;
	struct maker maker;
	struct trace *trace;
	uint32_t track;

	maker_open(&maker);
	maker_name(&maker, "load", "phase");
	maker_name(&maker, "work", "");
	track = maker_track(&maker, 0, TRACK_THREAD, "main");
	maker_spans(&maker, track, SPANS_NESTED, spans, 2, NULL, 0, 100);
	maker_finish(&maker);
	trace = open_fine(&maker);
	result = spans_of(trace, &options);
	CHECK(!result.steps_recorded);
	CHECK_EQ(result.step_count, 1);
	CHECK_EQ(result.steps[0].number, 0);
	CHECK_EQ(result.steps[0].duration_ns, 70);
	CHECK_EQ(result.steps[0].phase_count, 1);
	CHECK_EQ(result.step_stats.total_ns, 70);
	CHECK_EQ(result.gpu_busy_ns, 0);
	analyze_spans_release(&result);
	trace_close(trace);
	maker_remove(&maker);
}

/* Points in time with arguments are kept in blocks of spans, but they are none. */
static void instants_are_not_spans(void)
{
	static const struct maker_span points[] = { { 0, 0, 10, 10 }, { 0, 0, 20, 20 } };
	static const struct maker_span spans[] = { { 0, 0, 5, 25 } };
	struct analyze_options options = { 0 };
	struct analyze_spans result;
	struct maker maker;
	struct trace *trace;
	uint32_t track;

	maker_open(&maker);
	maker_name(&maker, "x", "kernel");
	track = maker_track(&maker, 0, TRACK_DEVICE, "stream");
	maker_spans(&maker, track, SPANS_INSTANT, points, 2, NULL, 0, 100);
	maker_spans(&maker, track, SPANS_EXPLICIT, spans, 1, NULL, 0, 100);
	maker_finish(&maker);
	trace = open_fine(&maker);
	for (int window = 0; window < 2; window++) {
		options.window.until_ns = window ? 22 : 0;
		result = spans_of(trace, &options);
		CHECK_EQ(result.span_count, 1);
		CHECK_EQ(result.kernel_count, 1);
		CHECK_EQ(result.gpu_busy_ns, window ? 17 : 20);
		analyze_spans_release(&result);
	}
	trace_close(trace);
	maker_remove(&maker);
}

static void window_by_hand(void)
{
	struct analyze_options options = { .window = { 140, 340 } };
	struct analyze_spans result;
	struct maker maker;
	struct trace *trace;

	make_sample(&maker);
	trace = open_fine(&maker);
	result = spans_of(trace, &options);
	CHECK_EQ(result.wall_ns, 200);
	CHECK_EQ(group(&result.names, "step")->total_ns, 160 + 40);
	CHECK_EQ(group(&result.names, "step")->self_ns, 10 + 10);
	CHECK_EQ(group(&result.names, "forward")->total_ns, 60 + 30);
	CHECK_EQ(group(&result.names, "forward")->self_ns, 50 + 20);
	CHECK_EQ(group(&result.names, "backward")->total_ns, 90);
	CHECK_EQ(group(&result.names, "conv2d")->count, 2);
	CHECK_EQ(group(&result.names, "conv2d")->total_ns, 10 + 10);
	CHECK_EQ(group(&result.names, "load")->total_ns, 200);
	CHECK_EQ(group(&result.tracks, "main")->self_ns, 200);
	CHECK_EQ(result.kernel_count, 2);
	CHECK_EQ(result.kernel_time_ns, 20 + 40);
	CHECK_EQ(result.memcpy_bytes, 1000);
	CHECK_EQ(result.gpu_busy_ns, 80);
	CHECK_EQ(result.step_count, 2);
	CHECK_EQ(result.steps[0].start_ns, 140);
	CHECK_EQ(result.steps[0].duration_ns, 160);
	CHECK_EQ(result.steps[0].number, 7);
	CHECK_EQ(result.steps[1].duration_ns, 40);
	analyze_spans_release(&result);
	/* Behind the end there is nothing. */
	options.window = (struct trace_window){ 10000, 20000 };
	result = spans_of(trace, &options);
	CHECK_EQ(result.span_count, 0);
	CHECK_EQ(result.wall_ns, 0);
	CHECK_EQ(result.names.count, 0);
	analyze_spans_release(&result);
	trace_close(trace);
	maker_remove(&maker);
}

/* A scope that never ended leaves its children behind: they are nobody's on the next track. */
static void open_scopes_do_not_leak(void)
{
	static const struct maker_span first[] = { { 0, 1, 130, 150 } },
				       second[] = { { 1, 0, 90, 400 } };
	struct analyze_options options = { .window = { 120, 0 }, .threads = 1 };
	struct analyze_spans result;
	struct maker maker;
	struct trace *trace;

	maker_open(&maker);
	maker_name(&maker, "inner", "");
	maker_name(&maker, "outer", "");
	maker_spans(&maker, maker_track(&maker, 0, TRACK_THREAD, "a"), SPANS_NESTED, first, 1, NULL,
		0, 9);
	maker_spans(&maker, maker_track(&maker, 0, TRACK_THREAD, "b"), SPANS_NESTED, second, 1,
		NULL, 0, 9);
	maker_finish(&maker);
	trace = open_fine(&maker);
	result = spans_of(trace, &options);
	CHECK_EQ(group(&result.names, "outer")->total_ns, 280);
	CHECK_EQ(group(&result.names, "outer")->self_ns, 280);
	analyze_spans_release(&result);
	trace_close(trace);
	maker_remove(&maker);
}

static void filter_by_hand(void)
{
	struct analyze_options options = { .filter = "WARD" };
	struct analyze_spans result;
	struct maker maker;
	struct trace *trace;

	make_sample(&maker);
	trace = open_fine(&maker);
	result = spans_of(trace, &options);
	CHECK_EQ(result.names.count, 2);
	CHECK_EQ(result.span_count, 3);
	CHECK_EQ(group(&result.names, "forward")->self_ns, 100);
	CHECK_EQ(group(&result.tracks, "main")->count, 3);
	CHECK_EQ(result.tracks.count, 1);
	CHECK_EQ(result.step_count, 2);
	CHECK_EQ(result.memcpy_bytes, 0);
	CHECK_EQ(result.gpu_busy_ns, 0);
	analyze_spans_release(&result);
	options.filter = "nothing of that name";
	result = spans_of(trace, &options);
	CHECK_EQ(result.span_count, 0);
	analyze_spans_release(&result);
	trace_close(trace);
	maker_remove(&maker);
}

/* The node that a path of names leads to, or 0. */
static uint32_t walk(const struct trace *trace, const struct analyze_tree *tree, const char **path)
{
	uint32_t node = 0;

	for (; *path; path++) {
		node = tree->nodes[node].child;
		while (node && strcmp(trace->names[tree->nodes[node].name].name, *path) != 0)
			node = tree->nodes[node].sibling;
		if (!node)
			return 0;
	}
	return node;
}

#define PATH(...) ((const char *[]){ __VA_ARGS__, NULL })

static void tree_by_hand(void)
{
	struct analyze_options options = { 0 };
	struct error err = ERROR_INIT;
	struct analyze_tree tree;
	struct maker maker;
	struct trace *trace;
	uint32_t node;

	make_sample(&maker);
	trace = open_fine(&maker);
	CHECK_EQ(analyze_tree(trace, &options, &tree, &err), STATUS_OK);
	CHECK_EQ(tree.count, 6);
	CHECK(!tree.cut);
	CHECK_EQ(tree.nodes[0].total_ns, 850);
	CHECK_EQ(tree.nodes[0].count, 3);
	CHECK_EQ(tree.nodes[tree.nodes[0].child].name, LOAD);
	node = walk(trace, &tree, PATH("step"));
	CHECK_EQ(tree.nodes[node].count, 2);
	CHECK_EQ(tree.nodes[node].total_ns, 350);
	CHECK_EQ(tree.nodes[node].self_ns, 80);
	CHECK_EQ(tree.nodes[tree.nodes[node].child].name, FORWARD);
	CHECK_EQ(tree.nodes[tree.nodes[node].child].parent, node);
	node = walk(trace, &tree, PATH("step", "forward", "conv2d"));
	CHECK_EQ(tree.nodes[node].count, 3);
	CHECK_EQ(tree.nodes[node].total_ns, 80);
	CHECK_EQ(tree.nodes[node].child, 0);
	CHECK(walk(trace, &tree, PATH("step", "backward")) != 0);
	CHECK_EQ(walk(trace, &tree, PATH("forward")), 0);
	analyze_tree_release(&tree);
	options.window = (struct trace_window){ 140, 340 };
	CHECK_EQ(analyze_tree(trace, &options, &tree, &err), STATUS_OK);
	node = walk(trace, &tree, PATH("step"));
	CHECK_EQ(tree.nodes[node].total_ns, 200);
	CHECK_EQ(tree.nodes[node].self_ns, 20);
	node = walk(trace, &tree, PATH("step", "forward"));
	CHECK_EQ(tree.nodes[node].self_ns, 70);
	analyze_tree_release(&tree);
	options = (struct analyze_options){ .filter = "conv2d" };
	CHECK_EQ(analyze_tree(trace, &options, &tree, &err), STATUS_OK);
	CHECK_EQ(tree.count, 2);
	CHECK_EQ(tree.nodes[1].total_ns, 80);
	analyze_tree_release(&tree);
	trace_close(trace);
	maker_remove(&maker);
}

/* Scopes of no duration at one moment are siblings, and a scope whose parent is missing hangs on
 * the next one that contains it. */
static void odd_trees(void)
{
	static const struct maker_span spans[] = { { 0, 1, 10, 10 }, { 1, 1, 10, 10 },
		{ 2, 0, 5, 20 }, { 1, 2, 40, 50 }, { 2, 0, 30, 60 }, { 0, 3, 70, 80 } };
	struct analyze_options options = { 0 };
	struct error err = ERROR_INIT;
	struct analyze_tree tree;
	struct maker maker;
	struct trace *trace;

	maker_open(&maker);
	maker_name(&maker, "a", "");
	maker_name(&maker, "b", "");
	maker_name(&maker, "c", "");
	maker_spans(&maker, maker_track(&maker, 0, TRACK_THREAD, "t"), SPANS_NESTED, spans, 6, NULL,
		0, 2);
	maker_finish(&maker);
	trace = open_fine(&maker);
	CHECK_EQ(analyze_tree(trace, &options, &tree, &err), STATUS_OK);
	CHECK_EQ(tree.count, 5);
	CHECK(walk(trace, &tree, PATH("c", "a")) != 0);
	CHECK_EQ(tree.nodes[walk(trace, &tree, PATH("c", "b"))].count, 2);
	CHECK_EQ(tree.nodes[walk(trace, &tree, PATH("a"))].total_ns, 10);
	analyze_tree_release(&tree);
	trace_close(trace);
	maker_remove(&maker);
}

/* More paths than the tree may have: what is beyond is kept as "(other)", nothing is lost. */
static void a_tree_too_large(void)
{
	enum { PATHS = 1010000 };
	struct maker_span *spans = malloc(PATHS * sizeof *spans);
	struct analyze_options options = { 0 };
	struct error err = ERROR_INIT;
	struct analyze_tree tree;
	struct analyze_spans result;
	uint64_t count = 0, total = 0;
	struct maker maker;
	struct trace *trace;
	char text[32];

	maker_open(&maker);
	for (uint32_t i = 0; i < PATHS; i++) {
		snprintf(text, sizeof text, "%u", i);
		spans[i] =
			(struct maker_span){ maker_name(&maker, text, ""), 0, i * 10, i * 10 + 5 };
	}
	maker_spans(&maker, maker_track(&maker, 0, TRACK_THREAD, "t"), SPANS_NESTED, spans, PATHS,
		NULL, 0, 65536);
	maker_finish(&maker);
	free(spans);
	trace = open_fine(&maker);
	CHECK_EQ(analyze_tree(trace, &options, &tree, &err), STATUS_OK);
	CHECK(tree.cut);
	CHECK_EQ(tree.count, 1000001);
	for (size_t i = 1; i < tree.count; i++) {
		count += tree.nodes[i].count;
		total += tree.nodes[i].total_ns;
	}
	CHECK_EQ(count, PATHS);
	CHECK_EQ(total, PATHS * 5);
	CHECK_EQ(tree.nodes[tree.nodes[0].child].name, UINT32_MAX);
	analyze_tree_release(&tree);
	/* A million names are as many groups. */
	result = spans_of(trace, &options);
	CHECK_EQ(result.names.count, PATHS);
	analyze_spans_release(&result);
	trace_close(trace);
	maker_remove(&maker);
}

static void counters_by_hand(void)
{
	struct analyze_options options = { 0 };
	struct error err = ERROR_INIT;
	struct analyze_counters counters;
	struct maker maker;
	struct trace *trace;

	make_sample(&maker);
	trace = open_fine(&maker);
	CHECK_EQ(analyze_counters(trace, &options, &counters, &err), STATUS_OK);
	if (!CHECK_EQ(counters.count, 2))
		return;
	CHECK_STR(counters.items[0].name, "rss");
	CHECK_STR(counters.items[0].unit, "B");
	CHECK_STR(counters.items[0].process, "train");
	CHECK(counters.items[0].integer);
	CHECK_EQ(counters.items[0].count, 3);
	CHECK_NEAR(counters.items[0].min, -200, 0);
	CHECK_NEAR(counters.items[0].max, 4000, 0);
	CHECK_NEAR(counters.items[0].mean, 1600, 1e-9);
	CHECK_NEAR(counters.items[0].first, 1000, 0);
	CHECK_NEAR(counters.items[0].last, -200, 0);
	CHECK_STR(counters.items[1].process, "machine");
	CHECK(!counters.items[1].integer);
	CHECK_NEAR(counters.items[1].mean, 1.25, 1e-12);
	analyze_counters_release(&counters);
	options.window = (struct trace_window){ 150, 300 };
	CHECK_EQ(analyze_counters(trace, &options, &counters, &err), STATUS_OK);
	CHECK_EQ(counters.count, 1);
	CHECK_NEAR(counters.items[0].last, 4000, 0);
	analyze_counters_release(&counters);
	trace_close(trace);
	maker_remove(&maker);
}

/* A damaged block is left out and counted; the others are all there. */
static void damaged_blocks_are_counted(void)
{
	struct analyze_options options = { 0 };
	struct analyze_spans result;
	struct error err = ERROR_INIT;
	struct analyze_tree tree;
	struct maker maker;
	struct trace *trace;
	uint64_t offset = 0;
	FILE *file;

	make_sample(&maker);
	trace = open_fine(&maker);
	for (size_t i = 0; i < trace->block_count; i++)
		if (trace->blocks[i].table == TABLE_SPANS && trace->blocks[i].rows == 3 && !offset)
			offset = trace->blocks[i].offset;
	file = fopen(maker.path, "r+b");
	fseek(file, (long)offset + BLOCK_HEADER_BYTES + 2, SEEK_SET);
	fputs("xyz", file);
	fclose(file);
	result = spans_of(trace, &options);
	CHECK_EQ(result.damaged_blocks, 1);
	CHECK_EQ(result.span_count, 11);
	CHECK_EQ(group(&result.names, "step")->self_ns, 80);
	analyze_spans_release(&result);
	CHECK_EQ(analyze_tree(trace, &options, &tree, &err), STATUS_OK);
	CHECK_EQ(tree.damaged_blocks, 1);
	analyze_tree_release(&tree);
	trace_close(trace);
	maker_remove(&maker);
}

static void an_empty_trace(void)
{
	struct analyze_options options = { 0 };
	struct error err = ERROR_INIT;
	struct analyze_spans result;
	struct analyze_tree tree;
	struct analyze_counters counters;
	struct maker maker;
	struct trace *trace;

	maker_open(&maker);
	maker_finish(&maker);
	trace = open_fine(&maker);
	result = spans_of(trace, &options);
	CHECK_EQ(result.span_count, 0);
	CHECK_EQ(result.step_count, 1);
	analyze_spans_release(&result);
	CHECK_EQ(analyze_tree(trace, &options, &tree, &err), STATUS_OK);
	CHECK_EQ(tree.count, 1);
	analyze_tree_release(&tree);
	CHECK_EQ(analyze_counters(trace, &options, &counters, &err), STATUS_OK);
	CHECK_EQ(counters.count, 0);
	analyze_counters_release(&counters);
	trace_close(trace);
	maker_remove(&maker);
}

struct progress {
	_Atomic uint64_t calls, most, total;
};

static void on_progress(void *context, uint64_t done, uint64_t total)
{
	struct progress *progress = context;

	progress->calls++;
	progress->total = total;
	if (done > progress->most)
		progress->most = done;
}

static void progress_reaches_the_end(void)
{
	struct progress progress = { 0 };
	struct analyze_options options = {
		.threads = 2, .progress = on_progress, .progress_context = &progress
	};
	struct analyze_spans result;
	struct maker maker;
	struct trace *trace;

	make_sample(&maker);
	trace = open_fine(&maker);
	result = spans_of(trace, &options);
	CHECK(progress.calls > 0);
	CHECK_EQ(progress.total, 14);
	CHECK_EQ(progress.most, 14);
	analyze_spans_release(&result);
	trace_close(trace);
	maker_remove(&maker);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(sample_by_hand),
		UNIT(steps_by_hand),
		UNIT(odd_steps),
		UNIT(without_steps),
		UNIT(instants_are_not_spans),
		UNIT(window_by_hand),
		UNIT(open_scopes_do_not_leak),
		UNIT(filter_by_hand),
		UNIT(tree_by_hand),
		UNIT(odd_trees),
		UNIT(a_tree_too_large),
		UNIT(counters_by_hand),
		UNIT(damaged_blocks_are_counted),
		UNIT(an_empty_trace),
		UNIT(progress_reaches_the_end),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
