// SPDX-License-Identifier: MIT OR Apache-2.0
/* The victim's modes with threads. */
#define _GNU_SOURCE
#include "victim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static atomic_int stop_asked;

static void *together(void *unused)
{
	(void)unused;
	scopes(10, "thread work");
	pthread_barrier_wait(&barrier);
	scopes(10, "thread work");
	return NULL;
}

/* COUNT: that many threads at once, 20 scopes each */
static int run_threads(int argc, char **argv)
{
	long count = number(argc, argv, 0, 500);
	pthread_t *threads = calloc((size_t)count, sizeof *threads);
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_barrier_init(&barrier, NULL, (unsigned)count);
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], &small, together, NULL) != 0) {
			fprintf(stderr, "no thread %ld\n", i);
			return 3;
		}
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}

static void *brief(void *argument)
{
	scopes((long)(intptr_t)argument, "brief");
	return NULL;
}

/* COUNT SCOPES US: threads one after the other, with a pause after each hundred */
static int run_threads_in_turn(int argc, char **argv)
{
	long count = number(argc, argv, 0, 5000), each = number(argc, argv, 1, 4);

	for (long i = 0; i < count; i++) {
		pthread_t thread;

		if (i % 100 == 0)
			nap_us(number(argc, argv, 2, 0));
		if (pthread_create(&thread, NULL, brief, (void *)(intptr_t)each) != 0)
			return 3;
		pthread_join(thread, NULL);
	}
	return 0;
}

static void *busy(void *argument)
{
	volatile uint64_t *count = argument;

	while (!atomic_load(&stop_asked)) {
		char name[32];

		snprintf(name, sizeof name, "busy %d", (int)(*count / 2 % 200));
		TACHO_BEGIN("busy");
		tacho_begin(name);
		tacho_end();
		TACHO_END();
		*count += 2;
	}
	return NULL;
}

/* FILE FORKS: forks while three threads record; each child records too. `produced` counts the
 * threads' scopes, `ended` those of the children. */
static int run_fork_threads(int argc, char **argv)
{
	struct published *shared = publish(argc ? argv[0] : NULL);
	long forks = number(argc, argv, 1, 100);
	uint64_t counts[3] = { 0 };
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, busy, &counts[i]);
	for (long i = 0; i < forks; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			char name[32];

			snprintf(name, sizeof name, "child name %ld", i % 10);
			scopes(2, "child");
			scopes(1, name);
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
			return 4;
		shared->ended += 3;
	}
	atomic_store(&stop_asked, 1);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		shared->produced += counts[i];
	}
	return 0;
}

static void *restarting(void *argument)
{
	volatile uint64_t *count = argument;

	while (!atomic_load(&stop_asked)) {
		if (tacho_on()) {
			TACHO_SCOPE("restarted");
			*count += 1;
		}
		if (*count % 64 == 0)
			nap_us(50);
	}
	return NULL;
}

/* DURATION ROUNDS: records itself again and again, as the recordings end, with threads at work */
static int run_restart(int argc, char **argv)
{
	const char *set[] = { argc ? argv[0] : "duration=300ms", "output=restart-{time}.tacho",
		"counters=off" };
	struct tacho_options options = TACHO_OPTIONS_INIT;
	uint64_t counts[4] = { 0 };
	pthread_t threads[4];
	int failed = 0;

	options.set = set;
	options.set_count = 3;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, restarting, &counts[i]);
	for (long round = 0; round < number(argc, argv, 1, 3); round++) {
		failed += tacho_start(&options) != TACHO_OK;
		for (int i = 0; i < 5000 && tacho_status() == TACHO_RECORDING; i++)
			nap_us(2000);
	}
	atomic_store(&stop_asked, 1);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return failed;
}

const struct mode thread_modes[] = {
	{ "threads", run_threads },
	{ "threads_in_turn", run_threads_in_turn },
	{ "fork_threads", run_fork_threads },
	{ "restart", run_restart },
	{ NULL, NULL },
};
