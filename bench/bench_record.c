// SPDX-License-Identifier: MIT OR Apache-2.0
/* What recording costs, from inside a program: scopes through libtacho.so against two clock
 * readings and two stores, and against a pair of LTTng-UST tracepoints, in alternating short blocks
 * of one run. Figures are the first percentile over the blocks: the cost itself, not what else the
 * machine did. bench_record cost            prints "bench ..." lines; run it under `tacho record`
 *   bench_record rate R S        R scopes per second for S seconds; prints how many
 *   bench_record flood S         as many as it can, nested three deep, for S seconds; prints how
 * many bench_record random N ARGS   N scopes of 50 names, random nesting to depth 5, a few us each;
 * ARGS 1: three integer arguments each */
#include <tacho/tacho.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HAVE_LTTNG
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "bench_lttng_tp.h"
#endif

#if defined(__x86_64__)
#define read_clock() __builtin_ia32_rdtsc()
#else
#define read_clock() tacho_now()
#endif

#define BLOCKS 3000
#define PAIRS  200

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double first_percentile(double *values, size_t count)
{
	qsort(values, count, sizeof *values, compare);
	return values[count / 100];
}

/* As in a ring: the same kind of memory that the recorder writes to. */
static double block_floor(void)
{
	static uint64_t room[PAIRS * 4];
	uint64_t start = now_ns();

	for (int i = 0; i < PAIRS; i++) {
		room[4 * i] = 1;
		room[4 * i + 1] = read_clock();
		room[4 * i + 2] = 2;
		room[4 * i + 3] = read_clock();
	}
	__asm__ volatile("" : : "r"(room) : "memory");
	return (double)(now_ns() - start) / PAIRS;
}

static double block_scope(void)
{
	uint64_t start = now_ns();

	for (int i = 0; i < PAIRS; i++) {
		TACHO_BEGIN("scope");
		TACHO_END();
	}
	return (double)(now_ns() - start) / PAIRS;
}

static double block_named(void)
{
	uint64_t start = now_ns();

	for (int i = 0; i < PAIRS; i++) {
		tacho_begin("a name looked up each time");
		tacho_end();
	}
	return (double)(now_ns() - start) / PAIRS;
}

static double block_arg(void)
{
	uint64_t start = now_ns();

	TACHO_BEGIN("with arguments");
	for (int i = 0; i < PAIRS; i++)
		TACHO_ARG_INT("index", i);
	TACHO_END();
	return (double)(now_ns() - start) / PAIRS;
}

static double block_lttng(void)
{
#ifdef HAVE_LTTNG
	uint64_t start = now_ns();

	for (uint32_t i = 0; i < PAIRS; i++) {
		lttng_ust_tracepoint(tacho_bench, scope_begin, i);
		lttng_ust_tracepoint(tacho_bench, scope_end, i);
	}
	return (double)(now_ns() - start) / PAIRS;
#else
	return 0;
#endif
}

static double block_disabled(void)
{
	uint64_t start;
	double ns;

	tacho_stop();
	start = now_ns();
	for (int i = 0; i < PAIRS * 20; i++) {
		TACHO_BEGIN("disabled");
		TACHO_END();
		__asm__ volatile("" : : : "memory");
	}
	ns = (double)(now_ns() - start) / (PAIRS * 20);
	tacho_start(NULL);
	return ns;
}

struct pair {
	pthread_barrier_t barrier;
	double *values;
};

static void *second_thread(void *context)
{
	struct pair *pair = context;

	for (int i = 0; i < BLOCKS; i++) {
		pthread_barrier_wait(&pair->barrier);
		(void)block_scope();
	}
	return NULL;
}

/* Both threads begin each block together. */
static double two_threads(void)
{
	static double values[BLOCKS];
	struct pair pair = { .values = values };
	pthread_t other;

	pthread_barrier_init(&pair.barrier, NULL, 2);
	pthread_create(&other, NULL, second_thread, &pair);
	for (int i = 0; i < BLOCKS; i++) {
		pthread_barrier_wait(&pair.barrier);
		values[i] = block_scope();
	}
	pthread_join(other, NULL);
	return first_percentile(values, BLOCKS);
}

static int run_cost(void)
{
	static double bare[BLOCKS], scope[BLOCKS], named[BLOCKS], arg[BLOCKS], lttng[BLOCKS],
		off[BLOCKS];
	double floor_ns, scope_ns, pair_ns, lttng_ns;

	for (int i = 0; i < BLOCKS; i++) {
		bare[i] = block_floor();
		scope[i] = block_scope();
		named[i] = block_named();
		arg[i] = block_arg();
		lttng[i] = block_lttng();
		off[i] = block_disabled();
		if (i % 50 == 0)
			tacho_flush(100000000);
	}
	floor_ns = first_percentile(bare, BLOCKS);
	scope_ns = first_percentile(scope, BLOCKS);
	lttng_ns = first_percentile(lttng, BLOCKS);
	printf("bench record.scope %.1f ns peer floor %.1f ns ratio %.2f\n", scope_ns, floor_ns,
		scope_ns / floor_ns);
	if (lttng_ns > 0)
		printf("bench record.scope_lttng %.1f ns peer lttng-ust %.1f ns ratio %.3f\n",
			scope_ns, lttng_ns, scope_ns / lttng_ns);
	else
		printf("# no LTTng-UST here: its figure is left out\n");
	printf("bench record.scope_named %.1f ns\n", first_percentile(named, BLOCKS));
	printf("bench record.argument %.1f ns\n", first_percentile(arg, BLOCKS));
	printf("bench record.disabled %.2f ns\n", first_percentile(off, BLOCKS));
	pair_ns = two_threads();
	printf("bench record.two_threads %.1f ns peer one-thread %.1f ns ratio %.2f\n", pair_ns,
		scope_ns, pair_ns / scope_ns);
	return 0;
}

static int run_rate(double rate, double seconds)
{
	uint64_t start = now_ns(), done = 0, elapsed;

	while ((elapsed = now_ns() - start) < (uint64_t)(seconds * 1e9)) {
		uint64_t wanted = (uint64_t)((double)elapsed * rate / 1e9);

		for (; done < wanted; done++) {
			TACHO_BEGIN("paced");
			TACHO_END();
		}
	}
	printf("%llu\n", (unsigned long long)done);
	return 0;
}

static int run_flood(double seconds)
{
	uint64_t start = now_ns(), done = 0;

	while (now_ns() - start < (uint64_t)(seconds * 1e9))
		for (int i = 0; i < 1000; i++, done += 3) {
			TACHO_BEGIN("outer");
			TACHO_BEGIN("middle");
			TACHO_BEGIN("inner");
			TACHO_END();
			TACHO_END();
			TACHO_END();
		}
	printf("%llu\n", (unsigned long long)done);
	return 0;
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void wait_ns(uint64_t ns)
{
	uint64_t until = now_ns() + ns;

	while (now_ns() < until)
		;
}

static int run_random(uint64_t count, int with_args)
{
	uint64_t state = 88172645463325252u, index = 0;
	uint32_t names[50];
	unsigned depth = 0;

	for (unsigned i = 0; i < 50; i++) {
		char name[32];

		snprintf(name, sizeof name, "operation number %u", i);
		names[i] = tacho_name(name, "op");
	}
	while (index < count || depth) {
		if (depth == 5 || index == count || (depth && random_next(&state) % 2)) {
			tacho_end();
			depth--;
		} else {
			tacho_begin_id(names[random_next(&state) % 50]);
			depth++;
			if (with_args) {
				TACHO_ARG_INT("step", (int64_t)(index / 1000));
				TACHO_ARG_INT("index", (int64_t)index);
				TACHO_ARG_INT("size", (int64_t)(random_next(&state) % 4096 * 64));
			}
			index++;
		}
		wait_ns(random_next(&state) % 2000);
	}
	printf("%llu\n", (unsigned long long)count);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "cost") == 0)
		return run_cost();
	if (argc == 4 && strcmp(argv[1], "rate") == 0)
		return run_rate(atof(argv[2]), atof(argv[3]));
	if (argc == 3 && strcmp(argv[1], "flood") == 0)
		return run_flood(atof(argv[2]));
	if (argc == 4 && strcmp(argv[1], "random") == 0)
		return run_random(strtoull(argv[2], NULL, 10), atoi(argv[3]));
	fprintf(stderr, "usage: bench_record cost | rate R S | flood S | random N ARGS\n");
	return 2;
}
