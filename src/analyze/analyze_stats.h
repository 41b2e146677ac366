/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Statistics gathered in one pass, in pieces that merge: the result does not depend on how spans
 * were dealt out to threads. Sums are whole numbers, so nothing is rounded on the way.
 *
 * Durations are kept one by one up to STATS_EXACT_MAX; beyond that in buckets that are 1/64 of a
 * power of two wide:
 *
 *   duration   0 1 2 ... 127 | 128-129 130-131 ... 254-255 | 256-259 ...
 *   bucket     0 1 2 ... 127 |     128     129 ...     191 |     192 ...
 *
 * The middle of a bucket is off by at most 1/128 of any duration in it. */
#pragma once

#include "analyze/analyze.h"

#define STATS_EXACT_MAX 10000u
#define STATS_BUCKETS   3776u

struct stats_acc {
	uint64_t count, total_ns, self_ns;
	uint64_t min_ns, max_ns;
	unsigned __int128 squares;
	uint64_t *buckets; /* NULL while the durations are kept one by one */
	uint64_t *samples;
	uint32_t sample_capacity;
};

void stats_acc_init(struct stats_acc *acc);
void stats_acc_release(struct stats_acc *acc);

static inline uint32_t stats_bucket(uint64_t duration_ns)
{
	unsigned shift = 57u - (unsigned)__builtin_clzll(duration_ns | 64);

	return shift * 64 + (uint32_t)(duration_ns >> shift);
}

/* Keeps one duration whose place in the sums is already counted (acc->count includes it). */
int stats_acc_keep(struct stats_acc *acc, uint64_t duration_ns) MUST_USE;
/* Turns to buckets now; for a caller that knows that many durations are coming. */
int stats_acc_widen(struct stats_acc *acc) MUST_USE;

static inline int stats_acc_add(struct stats_acc *acc, uint64_t duration_ns, uint64_t self_ns)
{
	acc->count++;
	acc->total_ns += duration_ns;
	acc->self_ns += self_ns;
	acc->min_ns = duration_ns < acc->min_ns ? duration_ns : acc->min_ns;
	acc->max_ns = duration_ns > acc->max_ns ? duration_ns : acc->max_ns;
	acc->squares += (unsigned __int128)duration_ns * duration_ns;
	if (__builtin_expect(acc->buckets != NULL, 1)) {
		acc->buckets[stats_bucket(duration_ns)]++;
		return STATUS_OK;
	}
	return stats_acc_keep(acc, duration_ns);
}

/* Adds all of `from`, which stays as it is. */
int stats_acc_merge(struct stats_acc *acc, const struct stats_acc *from) MUST_USE;
/* Everything but the share. Sorts the durations that are kept. */
void stats_acc_finish(struct stats_acc *acc, struct analyze_stats *ret_stats);

/* Accumulators by number, made when first used: a million names of which few occur cost 8 bytes
 * each. */
struct stats_set {
	struct stats_acc **by_id;
	uint32_t limit;
	struct arena arena;
};
int stats_set_init(struct stats_set *set, uint32_t limit) MUST_USE;
void stats_set_release(struct stats_set *set);
/* The accumulator of a number below the limit, or NULL when out of memory. */
struct stats_acc *stats_set_make(struct stats_set *set, uint32_t id);
static inline struct stats_acc *stats_set_at(struct stats_set *set, uint32_t id)
{
	struct stats_acc *acc = set->by_id[id];

	return __builtin_expect(acc != NULL, 1) ? acc : stats_set_make(set, id);
}
int stats_set_merge(struct stats_set *set, const struct stats_set *from) MUST_USE;

/* Groups of all accumulators that counted something, largest total first; names are left to the
 * caller. */
int stats_set_groups(struct stats_set *set, struct analyze_groups *ret_groups) MUST_USE;
/* Sets the shares, from the self times. */
void stats_groups_share(struct analyze_groups *groups);
