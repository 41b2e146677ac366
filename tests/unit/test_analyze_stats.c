// SPDX-License-Identifier: MIT OR Apache-2.0
/* Percentiles, deviations and their merging. */
#include "analyze/analyze_stats.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
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

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(sketch_is_within_one_percent),
		UNIT(deviation_keeps_its_digits),
		UNIT(exactly_at_the_border),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
