// SPDX-License-Identifier: MIT OR Apache-2.0
/* Analyses of large random traces against plain loops over the same spans, with and without a
 * window, by any number of threads. */
#include "analyze/analyze.h"

#include "analyze/analyze_stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/trace_maker.h"
#include "tests/unit/unit.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static struct trace *open_fine(const struct maker *maker)
{
	struct error err = ERROR_INIT;
	struct trace *trace = NULL;

	CHECK_EQ(trace_open(maker->path, &trace, &err), STATUS_OK);
	CHECK(trace && !trace->repaired);
	return trace;
}

static struct analyze_spans spans_of(
	const struct trace *trace, const struct analyze_options *options)
{
	struct analyze_spans result = { 0 };
	struct error err = ERROR_INIT;

	CHECK_EQ(analyze_spans(trace, options, &result, &err), STATUS_OK);
	return result;
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

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(random_against_plain_loops),
		UNIT(random_tree),
		UNIT(any_number_of_threads),
		UNIT(device_union),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
