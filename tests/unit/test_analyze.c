// SPDX-License-Identifier: MIT OR Apache-2.0
/* Analyses: a small trace whose every number is known by hand, a large random one against plain
 * loops over the same spans, windows, filters, percentiles, and any number of threads. */
#include "analyze/analyze.h"

#include "analyze/analyze_stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test_trace_maker.h"
#include "tests/unit/unit.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

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
	maker_finish(&maker);
	trace = open_fine(&maker);
	result = spans_of(trace, &options);
	CHECK_EQ(result.step_count, 2);
	CHECK_EQ(result.steps[0].number, 0);
	CHECK_EQ(result.steps[1].number, 1);
	CHECK_EQ(result.steps[0].start_ns, 100);
	CHECK_EQ(result.steps[0].phase_count, 0);
	CHECK_EQ(result.steps[1].phase_count, 1);
	CHECK_EQ(result.phase_count, 2);
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

/* Random traces. */
#define TRACKS 5u
#define NAMES  40u
#define ROWS   60000u
#define DEPTH  6u

struct random_track {
	struct maker_span *spans;
	uint64_t *self_ns;
	uint32_t *parent; /* row of the parent; UINT32_MAX: none */
};

static void make_track(struct random_track *track)
{
	struct maker_span open[DEPTH];
	uint32_t depth = 0, done = 0, waiting[DEPTH] = { 0 };
	uint64_t now = random_next() % 1000;

	track->spans = calloc(ROWS, sizeof *track->spans);
	track->self_ns = calloc(ROWS, sizeof *track->self_ns);
	track->parent = malloc(ROWS * sizeof *track->parent);
	memset(track->parent, 0xff, ROWS * sizeof *track->parent);
	while (done < ROWS) {
		uint64_t dice = random_next();
		bool closing = ROWS - done <= depth;

		now += (dice >> 20) % (dice & 0x80 ? 50 : 20000);
		if (!closing && (depth == 0 || (depth < DEPTH && (dice & 1)))) {
			/* `waiting` is the first ended row whose parent may be the scope at a
			 * depth. */
			waiting[depth] = done;
			open[depth] = (struct maker_span){ .name = (uint32_t)(dice >> 40) % NAMES,
				.depth = depth,
				.start_ns = now };
			depth++;
			continue;
		}
		depth--;
		open[depth].end_ns = now;
		track->spans[done] = open[depth];
		track->self_ns[done] = now - open[depth].start_ns;
		for (uint32_t i = waiting[depth]; i < done; i++)
			if (track->spans[i].depth == depth + 1) {
				track->parent[i] = done;
				track->self_ns[done] -=
					track->spans[i].end_ns - track->spans[i].start_ns;
			}
		done++;
	}
}

static void make_random(struct maker *maker, struct random_track tracks[TRACKS])
{
	char text[32];

	maker_open(maker);
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(text, sizeof text, "name %u", i);
		maker_name(maker, text, i % 3 ? i % 3 == 1 ? "op" : "kernel" : "");
	}
	for (uint32_t i = 0; i < TRACKS; i++)
		maker_track(maker, i, TRACK_THREAD, i ? "worker" : "main");
	for (uint32_t i = 0; i < TRACKS; i++) {
		make_track(&tracks[i]);
		maker_spans(maker, i, SPANS_NESTED, tracks[i].spans, ROWS, NULL, 0, 700 + 911 * i);
	}
	maker_finish(maker);
}

static void free_random(struct random_track tracks[TRACKS])
{
	for (uint32_t i = 0; i < TRACKS; i++) {
		free(tracks[i].spans);
		free(tracks[i].self_ns);
		free(tracks[i].parent);
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The part of a span in a window; false: it does not touch it. */
static bool clip(const struct maker_span *span, uint64_t from, uint64_t until, uint64_t *ret_ns)
{
	uint64_t start = span->start_ns < from ? from : span->start_ns;
	uint64_t end = span->end_ns > until ? until : span->end_ns;

	*ret_ns = end > start ? end - start : 0;
	return span->end_ns >= from && span->start_ns < until;
}

/* Statistics of one name or track the plain way: every span looked at, two passes. */
static void check_group(const struct analyze_groups *groups, uint32_t id, bool by_name,
	struct random_track tracks[TRACKS], uint64_t from, uint64_t until)
{
	uint64_t *durations = malloc(TRACKS * ROWS * sizeof *durations);
	uint64_t total = 0, self = 0, part, child;
	size_t count = 0;
	double squares = 0, mean;
	const struct analyze_stats *stats = NULL;

	for (uint32_t t = 0; t < TRACKS; t++) {
		uint64_t *inner = calloc(ROWS, sizeof *inner);

		for (uint32_t i = 0; i < ROWS; i++)
			if (tracks[t].parent[i] != UINT32_MAX) {
				clip(&tracks[t].spans[i], from, until, &child);
				inner[tracks[t].parent[i]] += child;
			}
		for (uint32_t i = 0; i < ROWS; i++) {
			if ((by_name ? tracks[t].spans[i].name : t) != id ||
				!clip(&tracks[t].spans[i], from, until, &part))
				continue;
			durations[count++] = part;
			total += part;
			self += part - inner[i];
		}
		free(inner);
	}
	for (size_t i = 0; i < groups->count; i++)
		if (groups->items[i].id == id)
			stats = &groups->items[i].stats;
	if (!stats) {
		CHECK_EQ(count, 0);
		free(durations);
		return;
	}
	qsort(durations, count, sizeof *durations, compare_u64);
	mean = (double)total / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += ((double)durations[i] - mean) * ((double)durations[i] - mean);
	CHECK_EQ(stats->count, count);
	CHECK_EQ(stats->total_ns, total);
	CHECK_EQ(stats->self_ns, self);
	CHECK_EQ(stats->min_ns, durations[0]);
	CHECK_EQ(stats->max_ns, durations[count - 1]);
	CHECK_NEAR(stats->mean_ns, mean, 1e-6);
	CHECK_NEAR(stats->sd_ns, count > 1 ? sqrt(squares / (double)(count - 1)) : 0, 1e-3);
	CHECK_EQ(stats->sketch, count > STATS_EXACT_MAX);
	CHECK_NEAR(stats->p50_ns, durations[(count * 50 + 99) / 100 - 1],
		stats->sketch ? 0.01 * (double)durations[(count * 50 + 99) / 100 - 1] : 0);
	CHECK_NEAR(stats->p99_ns, durations[(count * 99 + 99) / 100 - 1],
		stats->sketch ? 0.01 * (double)durations[(count * 99 + 99) / 100 - 1] : 0);
	free(durations);
}

static void random_against_plain_loops(void)
{
	struct random_track tracks[TRACKS];
	struct maker maker;
	struct trace *trace;

	make_random(&maker, tracks);
	trace = open_fine(&maker);
	for (int window = 0; window < 3; window++) {
		struct analyze_options options = { .threads = 3 };
		struct analyze_spans result;

		if (window)
			options.window =
				(struct trace_window){ trace->span_ns / 4 * (uint64_t)window,
					trace->span_ns / 4 * (uint64_t)window +
						trace->span_ns / (window == 1 ? 2 : 997) };
		result = spans_of(trace, &options);
		for (uint32_t i = 0; i < NAMES; i++)
			check_group(&result.names, i, true, tracks, options.window.from_ns,
				window ? options.window.until_ns : UINT64_MAX);
		for (uint32_t i = 0; i < TRACKS; i++)
			check_group(&result.tracks, i, false, tracks, options.window.from_ns,
				window ? options.window.until_ns : UINT64_MAX);
		if (!window)
			CHECK_EQ(result.span_count, TRACKS * ROWS);
		analyze_spans_release(&result);
	}
	trace_close(trace);
	maker_remove(&maker);
	free_random(tracks);
}

/* Sums of the tree by name are those of the spans. */
static void check_tree_sums(const struct trace *trace, const struct analyze_options *options)
{
	struct error err = ERROR_INIT;
	struct analyze_spans spans = spans_of(trace, options);
	struct analyze_tree tree;

	CHECK_EQ(analyze_tree(trace, options, &tree, &err), STATUS_OK);
	for (size_t g = 0; g < spans.names.count; g++) {
		uint64_t count = 0, total = 0, self = 0;

		for (size_t i = 1; i < tree.count; i++) {
			if (tree.nodes[i].name != spans.names.items[g].id)
				continue;
			count += tree.nodes[i].count;
			total += tree.nodes[i].total_ns;
			self += tree.nodes[i].self_ns;
		}
		CHECK_EQ(count, spans.names.items[g].stats.count);
		CHECK_EQ(total, spans.names.items[g].stats.total_ns);
		CHECK_EQ(self, spans.names.items[g].stats.self_ns);
	}
	/* A node's total is its self time and its children's totals. */
	for (size_t i = 0; i < tree.count; i++) {
		uint64_t sum = tree.nodes[i].self_ns;
		uint64_t before = UINT64_MAX;

		for (uint32_t c = tree.nodes[i].child; c; c = tree.nodes[c].sibling) {
			CHECK_EQ(tree.nodes[c].parent, i);
			CHECK(tree.nodes[c].total_ns <= before);
			before = tree.nodes[c].total_ns;
			sum += before;
		}
		if (!CHECK_EQ(sum, tree.nodes[i].total_ns))
			break;
	}
	analyze_tree_release(&tree);
	analyze_spans_release(&spans);
}

static void random_tree(void)
{
	struct analyze_options options = { .threads = 4 };
	struct random_track tracks[TRACKS];
	struct maker maker;
	struct trace *trace;

	make_random(&maker, tracks);
	trace = open_fine(&maker);
	check_tree_sums(trace, &options);
	options.window = (struct trace_window){ trace->span_ns / 3, trace->span_ns / 2 };
	check_tree_sums(trace, &options);
	trace_close(trace);
	maker_remove(&maker);
	free_random(tracks);
}

static bool same_groups(const struct analyze_groups *a, const struct analyze_groups *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct analyze_stats *x = &a->items[i].stats, *y = &b->items[i].stats;

		if (a->items[i].id != b->items[i].id || x->count != y->count ||
			x->total_ns != y->total_ns || x->self_ns != y->self_ns ||
			x->min_ns != y->min_ns || x->max_ns != y->max_ns ||
			memcmp(&x->sd_ns, &y->sd_ns, sizeof x->sd_ns) != 0 ||
			x->p50_ns != y->p50_ns || x->p90_ns != y->p90_ns ||
			x->p99_ns != y->p99_ns || x->sketch != y->sketch ||
			memcmp(&x->share, &y->share, sizeof x->share) != 0)
			return false;
	}
	return true;
}

static void any_number_of_threads(void)
{
	struct random_track tracks[TRACKS];
	struct error err = ERROR_INIT;
	struct maker maker;
	struct trace *trace;

	make_random(&maker, tracks);
	trace = open_fine(&maker);
	for (int window = 0; window < 2; window++) {
		struct analyze_options options = { .threads = 1 };
		struct analyze_spans one, four;
		struct analyze_tree tree_one, tree_four;

		if (window)
			options.window = (struct trace_window){ 1000000, trace->span_ns - 1000000 };
		one = spans_of(trace, &options);
		CHECK_EQ(analyze_tree(trace, &options, &tree_one, &err), STATUS_OK);
		options.threads = 4;
		four = spans_of(trace, &options);
		CHECK_EQ(analyze_tree(trace, &options, &tree_four, &err), STATUS_OK);
		CHECK(same_groups(&one.names, &four.names));
		CHECK(same_groups(&one.tracks, &four.tracks));
		CHECK(same_groups(&one.categories, &four.categories));
		CHECK_EQ(tree_one.count, tree_four.count);
		CHECK(tree_one.count == tree_four.count &&
			memcmp(tree_one.nodes, tree_four.nodes,
				tree_one.count * sizeof *tree_one.nodes) == 0);
		analyze_spans_release(&one);
		analyze_spans_release(&four);
		analyze_tree_release(&tree_one);
		analyze_tree_release(&tree_four);
	}
	trace_close(trace);
	maker_remove(&maker);
	free_random(tracks);
}

/* Many device blocks that overlap, on several streams, against a plain sweep. */
static void device_union(void)
{
	enum { STREAMS = 4, SPANS = 3000 };
	struct maker_span *all = malloc(STREAMS * SPANS * sizeof *all);
	struct analyze_options options = { 0 };
	struct analyze_spans result;
	uint64_t busy = 0, horizon = 0;
	uint8_t *covered;
	struct maker maker;
	struct trace *trace;

	maker_open(&maker);
	maker_name(&maker, "k", "kernel");
	for (uint32_t s = 0; s < STREAMS; s++) {
		uint64_t now = 0;

		maker_track(&maker, s, TRACK_DEVICE, "stream");
		for (uint32_t i = 0; i < SPANS; i++) {
			/* Not in order of start, as activity buffers arrive. */
			now += random_next() % 300;
			all[s * SPANS + i] =
				(struct maker_span){ .start_ns = now + random_next() % 500 };
			all[s * SPANS + i].end_ns =
				all[s * SPANS + i].start_ns + random_next() % 90;
			if (all[s * SPANS + i].end_ns > horizon)
				horizon = all[s * SPANS + i].end_ns;
		}
		maker_spans(&maker, s, SPANS_EXPLICIT, all + s * SPANS, SPANS, NULL, 0, 37 + s);
	}
	maker_finish(&maker);
	trace = open_fine(&maker);
	covered = calloc(horizon + 1, 1);
	for (size_t i = 0; i < STREAMS * SPANS; i++)
		memset(covered + all[i].start_ns, 1, all[i].end_ns - all[i].start_ns);
	for (uint64_t i = 0; i < horizon; i++)
		busy += covered[i];
	result = spans_of(trace, &options);
	CHECK_EQ(result.gpu_busy_ns, busy);
	CHECK_EQ(result.kernel_count, STREAMS * SPANS);
	analyze_spans_release(&result);
	free(covered);
	free(all);
	trace_close(trace);
	maker_remove(&maker);
}

static void sketch_is_within_one_percent(void)
{
	double worst = 0;

	for (int distribution = 0; distribution < 4; distribution++) {
		enum { COUNT = 50000 };
		uint64_t *values = malloc(COUNT * sizeof *values);
		struct analyze_stats stats;
		struct stats_acc acc;

		stats_acc_init(&acc);
		for (int i = 0; i < COUNT; i++) {
			uint64_t dice = random_next();

			values[i] = distribution == 0   ? dice % 200
				    : distribution == 1 ? 1000000000 + dice % 1000
				    : distribution == 2
					    ? dice >> (dice % 64)
					    : (uint64_t)exp((double)(dice % 4000) / 100);
			CHECK_EQ(stats_acc_add(&acc, values[i], 0), STATUS_OK);
		}
		qsort(values, COUNT, sizeof *values, compare_u64);
		stats_acc_finish(&acc, &stats);
		CHECK(stats.sketch);
		for (int p = 0; p < 3; p++) {
			uint64_t exact = values[COUNT * (p == 0 ? 50 : p == 1 ? 90 : 99) / 100 - 1];
			uint64_t got = p == 0 ? stats.p50_ns : p == 1 ? stats.p90_ns : stats.p99_ns;
			double off = fabs((double)got - (double)exact) / ((double)exact + 1e-9);

			worst = exact && off > worst ? off : worst;
		}
		stats_acc_release(&acc);
		free(values);
	}
	CHECK(worst <= 0.01);
	/* Every value on its own: no bucket is wider than it may be. */
	for (uint64_t value = 1; value < UINT64_MAX / 3; value += 1 + value / 50)
		CHECK(stats_bucket(value) < STATS_BUCKETS &&
			stats_bucket(value + value / 32 + 2) > stats_bucket(value));
	CHECK_EQ(stats_bucket(UINT64_MAX), STATS_BUCKETS - 1);
	CHECK_EQ(stats_bucket(0), 0);
}

static void deviation_keeps_its_digits(void)
{
	struct stats_acc acc, half;
	struct analyze_stats stats;

	stats_acc_init(&acc);
	stats_acc_init(&half);
	/* A second, give or take one nanosecond, a million times: variance 2/3. */
	for (uint64_t i = 0; i < 999999; i++)
		CHECK_EQ(stats_acc_add(i % 2 ? &acc : &half, 1000000000000 + i % 3, 0), STATUS_OK);
	CHECK_EQ(stats_acc_merge(&acc, &half), STATUS_OK);
	stats_acc_finish(&acc, &stats);
	CHECK_EQ(stats.count, 999999);
	CHECK_NEAR(stats.sd_ns, sqrt(2.0 / 3.0 * 999999 / 999998), 1e-9);
	stats_acc_release(&acc);
	stats_acc_release(&half);
}

static void exactly_at_the_border(void)
{
	for (uint64_t count = STATS_EXACT_MAX; count <= STATS_EXACT_MAX + 1; count++) {
		struct stats_acc acc, other;
		struct analyze_stats stats;

		stats_acc_init(&acc);
		stats_acc_init(&other);
		for (uint64_t i = 0; i < count; i++)
			CHECK_EQ(stats_acc_add(i < 3000 ? &acc : &other, i * 1000, 0), STATUS_OK);
		CHECK_EQ(stats_acc_merge(&acc, &other), STATUS_OK);
		stats_acc_finish(&acc, &stats);
		CHECK_EQ(stats.sketch, count > STATS_EXACT_MAX);
		CHECK_EQ(stats.count, count);
		CHECK_NEAR(stats.p50_ns, 4999000, stats.sketch ? 50000 : 0);
		stats_acc_release(&acc);
		stats_acc_release(&other);
	}
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
		UNIT(window_by_hand),
		UNIT(filter_by_hand),
		UNIT(tree_by_hand),
		UNIT(counters_by_hand),
		UNIT(random_against_plain_loops),
		UNIT(random_tree),
		UNIT(any_number_of_threads),
		UNIT(device_union),
		UNIT(sketch_is_within_one_percent),
		UNIT(deviation_keeps_its_digits),
		UNIT(exactly_at_the_border),
		UNIT(damaged_blocks_are_counted),
		UNIT(an_empty_trace),
		UNIT(progress_reaches_the_end),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
