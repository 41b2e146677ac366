// SPDX-License-Identifier: MIT OR Apache-2.0
/* Sums, sketches and percentiles. */
#include "analyze/analyze_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATS_ARENA_MAX ((size_t)8 << 30)

void stats_acc_init(struct stats_acc *acc)
{
	memset(acc, 0, sizeof *acc);
	acc->min_ns = UINT64_MAX;
}

void stats_acc_release(struct stats_acc *acc)
{
	free(acc->buckets);
	free(acc->samples);
	stats_acc_init(acc);
}

/* Moves the first `count` kept durations to buckets. */
static int to_buckets(struct stats_acc *acc, uint64_t count)
{
	acc->buckets = calloc(STATS_BUCKETS, sizeof *acc->buckets);
	if (!acc->buckets)
		return STATUS_NOMEM;
	for (uint64_t i = 0; i < count; i++)
		acc->buckets[stats_bucket(acc->samples[i])]++;
	free(acc->samples);
	acc->samples = NULL;
	acc->sample_capacity = 0;
	return STATUS_OK;
}

int stats_acc_widen(struct stats_acc *acc)
{
	return acc->buckets ? STATUS_OK : to_buckets(acc, acc->count);
}

static int reserve_samples(struct stats_acc *acc, uint64_t need)
{
	uint32_t capacity = acc->sample_capacity ? acc->sample_capacity : 4;
	uint64_t *samples;

	if (need <= acc->sample_capacity)
		return STATUS_OK;
	while (capacity < need)
		capacity *= 2;
	samples = realloc(acc->samples, capacity * sizeof *samples);
	if (!samples)
		return STATUS_NOMEM;
	acc->samples = samples;
	acc->sample_capacity = capacity;
	return STATUS_OK;
}

int stats_acc_keep(struct stats_acc *acc, uint64_t duration_ns)
{
	if (acc->count > STATS_EXACT_MAX) {
		if (to_buckets(acc, acc->count - 1) != STATUS_OK)
			return STATUS_NOMEM;
		acc->buckets[stats_bucket(duration_ns)]++;
		return STATUS_OK;
	}
	if (reserve_samples(acc, acc->count) != STATUS_OK)
		return STATUS_NOMEM;
	acc->samples[acc->count - 1] = duration_ns;
	return STATUS_OK;
}

int stats_acc_merge(struct stats_acc *acc, const struct stats_acc *from)
{
	uint64_t count = acc->count + from->count;

	if (from->count == 0)
		return STATUS_OK;
	if (count > STATS_EXACT_MAX || acc->buckets || from->buckets) {
		if (stats_acc_widen(acc) != STATUS_OK)
			return STATUS_NOMEM;
		for (uint32_t i = 0; from->buckets && i < STATS_BUCKETS; i++)
			acc->buckets[i] += from->buckets[i];
		for (uint64_t i = 0; !from->buckets && i < from->count; i++)
			acc->buckets[stats_bucket(from->samples[i])]++;
	} else {
		if (reserve_samples(acc, count) != STATUS_OK)
			return STATUS_NOMEM;
		memcpy(acc->samples + acc->count, from->samples,
			from->count * sizeof *acc->samples);
	}
	acc->count = count;
	acc->total_ns += from->total_ns;
	acc->self_ns += from->self_ns;
	acc->min_ns = from->min_ns < acc->min_ns ? from->min_ns : acc->min_ns;
	acc->max_ns = from->max_ns > acc->max_ns ? from->max_ns : acc->max_ns;
	acc->squares += from->squares;
	return STATUS_OK;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The smallest duration that at least `percent` of all do not exceed. */
static uint64_t percentile(const struct stats_acc *acc, unsigned percent)
{
	uint64_t rank = (uint64_t)(((unsigned __int128)acc->count * percent + 99) / 100), seen = 0;
	uint32_t bucket = 0, shift;
	uint64_t middle;

	if (!acc->buckets)
		return acc->samples[rank - 1];
	for (; bucket < STATS_BUCKETS - 1; bucket++) {
		seen += acc->buckets[bucket];
		if (seen >= rank)
			break;
	}
	if (bucket < 128)
		return bucket;
	shift = bucket / 64 - 1;
	middle = ((uint64_t)(bucket - shift * 64) << shift) + (1ull << shift) / 2;
	middle = middle < acc->min_ns ? acc->min_ns : middle;
	return middle > acc->max_ns ? acc->max_ns : middle;
}

/* Squares and total are exact and their difference is taken as whole numbers: no digits cancel.
 * With total = q * count + r the sum of squared distances from the mean is
 * squares - total * q - total * r / count. */
static double deviation(const struct stats_acc *acc)
{
	uint64_t q, r;
	unsigned __int128 whole;
	double sum;

	if (acc->count < 2)
		return 0;
	q = acc->total_ns / acc->count;
	r = acc->total_ns % acc->count;
	whole = acc->squares - (unsigned __int128)acc->total_ns * q;
	/* total * r / count, cut the same way so that only the last part is a fraction */
	whole -= (unsigned __int128)q * r;
	sum = (double)whole - (double)r * (double)r / (double)acc->count;
	return sum > 0 ? sqrt(sum / (double)(acc->count - 1)) : 0;
}

void stats_acc_finish(struct stats_acc *acc, struct analyze_stats *ret_stats)
{
	struct analyze_stats *stats = ret_stats;

	memset(stats, 0, sizeof *stats);
	if (acc->count == 0)
		return;
	if (!acc->buckets)
		qsort(acc->samples, acc->count, sizeof *acc->samples, compare_u64);
	stats->count = acc->count;
	stats->total_ns = acc->total_ns;
	stats->self_ns = acc->self_ns;
	stats->min_ns = acc->min_ns;
	stats->max_ns = acc->max_ns;
	stats->mean_ns = (double)acc->total_ns / (double)acc->count;
	stats->sd_ns = deviation(acc);
	stats->p50_ns = percentile(acc, 50);
	stats->p90_ns = percentile(acc, 90);
	stats->p99_ns = percentile(acc, 99);
	stats->sketch = acc->buckets != NULL;
}

int stats_set_init(struct stats_set *set, uint32_t limit)
{
	set->limit = limit;
	arena_init(&set->arena, STATS_ARENA_MAX);
	set->by_id = calloc((size_t)limit + 1, sizeof(struct stats_acc *));
	return set->by_id ? STATUS_OK : STATUS_NOMEM;
}

void stats_set_release(struct stats_set *set)
{
	for (uint32_t i = 0; set->by_id && i < set->limit; i++)
		if (set->by_id[i])
			stats_acc_release(set->by_id[i]);
	free(set->by_id);
	set->by_id = NULL;
	arena_release(&set->arena);
}

struct stats_acc *stats_set_make(struct stats_set *set, uint32_t id)
{
	struct stats_acc *acc = arena_alloc(&set->arena, sizeof *acc);

	if (!acc)
		return NULL;
	stats_acc_init(acc);
	set->by_id[id] = acc;
	return acc;
}

int stats_set_merge(struct stats_set *set, const struct stats_set *from)
{
	for (uint32_t i = 0; i < from->limit; i++) {
		struct stats_acc *acc;

		if (!from->by_id[i])
			continue;
		acc = stats_set_at(set, i);
		if (!acc || stats_acc_merge(acc, from->by_id[i]) != STATUS_OK)
			return STATUS_NOMEM;
	}
	return STATUS_OK;
}

static int compare_groups(const void *a, const void *b)
{
	const struct analyze_group *x = a, *y = b;

	if (x->stats.total_ns != y->stats.total_ns)
		return x->stats.total_ns > y->stats.total_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

int stats_set_groups(struct stats_set *set, struct analyze_groups *ret_groups)
{
	struct analyze_groups groups = { 0 };

	for (uint32_t i = 0; i < set->limit; i++)
		groups.count += set->by_id[i] && set->by_id[i]->count;
	groups.items = calloc(groups.count + 1, sizeof *groups.items);
	if (!groups.items)
		return STATUS_NOMEM;
	groups.count = 0;
	for (uint32_t i = 0; i < set->limit; i++) {
		struct analyze_group *group = &groups.items[groups.count];

		if (!set->by_id[i] || !set->by_id[i]->count)
			continue;
		group->name = group->category = "";
		group->id = i;
		stats_acc_finish(set->by_id[i], &group->stats);
		groups.count++;
	}
	qsort(groups.items, groups.count, sizeof *groups.items, compare_groups);
	stats_groups_share(&groups);
	*ret_groups = groups;
	return STATUS_OK;
}

void stats_groups_share(struct analyze_groups *groups)
{
	double sum = 0;

	for (size_t i = 0; i < groups->count; i++)
		sum += (double)groups->items[i].stats.self_ns;
	for (size_t i = 0; i < groups->count; i++)
		groups->items[i].stats.share =
			sum > 0 ? (double)groups->items[i].stats.self_ns / sum : 0;
}
