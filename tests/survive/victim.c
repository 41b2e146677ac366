// SPDX-License-Identifier: MIT OR Apache-2.0
/* A program to be recorded and maltreated: victim MODE [ARGUMENT...]. The modes of one thread and
 * one process are here; those with threads, processes and odd names in the files beside it. */
#define _GNU_SOURCE
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct published *publish(const char *path)
{
	static struct published nowhere;
	int fd = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
	void *memory = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof nowhere) == 0)
		memory = mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return memory == MAP_FAILED ? &nowhere : memory;
}

long number(int argc, char **argv, int index, long fallback)
{
	return index < argc ? atol(argv[index]) : fallback;
}

void nap_us(long us)
{
	const struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void scopes(long count, const char *name)
{
	for (long i = 0; i < count; i++) {
		tacho_begin(name);
		tacho_end();
	}
}

/* COUNT [US]: scopes named "work" */
static int run_scopes(int argc, char **argv)
{
	long count = number(argc, argv, 0, 1000), us = number(argc, argv, 1, 0);

	for (long i = 0; i < count; i++) {
		TACHO_SCOPE("work");
		if (us)
			nap_us(us);
	}
	return 0;
}

/* FILE: for ever; after each end the number of scopes that have ended is published. */
static int run_publish(int argc, char **argv)
{
	struct published *shared = publish(argc ? argv[0] : NULL);

	while (!shared->other) {
		TACHO_BEGIN("outer");
		for (int i = 0; i < 3; i++) {
			TACHO_BEGIN("inner");
			tacho_arg_int("i", i);
			TACHO_END();
			shared->ended++;
		}
		TACHO_END();
		shared->ended++;
		if (shared->ended % 4096 == 0)
			nap_us(100);
	}
	return 0;
}

/* FILE SECONDS: as fast as it goes, five deep; `produced` counts what was begun. */
static int run_saturate(int argc, char **argv)
{
	struct published *shared = publish(argc ? argv[0] : NULL);
	double until = seconds() + (double)number(argc, argv, 1, 2);

	while (seconds() < until)
		for (int round = 0; round < 1000; round++) {
			for (int depth = 0; depth < 5; depth++)
				TACHO_BEGIN("deep");
			for (int leaf = 0; leaf < 5; leaf++) {
				TACHO_BEGIN("leaf");
				TACHO_END();
			}
			for (int depth = 0; depth < 5; depth++)
				TACHO_END();
			shared->produced += 10;
		}
	return 0;
}

/* FILE SECONDS [MOST]: steps, phases and deep nesting as fast as they go. */
static int run_saturate_steps(int argc, char **argv)
{
	struct published *shared = publish(argc ? argv[0] : NULL);
	double until = seconds() + (double)number(argc, argv, 1, 1);
	uint64_t step = 0, most = (uint64_t)number(argc, argv, 2, LONG_MAX);

	while (seconds() < until && shared->produced < most)
		for (int round = 0; round < 100; round++) {
			tacho_step(step++);
			for (int phase = 0; phase < 3; phase++) {
				tacho_phase(phase == 1 ? "backward" : "forward");
				for (int depth = 0; depth < 100; depth++)
					TACHO_BEGIN("deep");
				tacho_phase("inside");
				for (int depth = 0; depth < 100; depth++)
					TACHO_END();
			}
			tacho_phase(NULL);
			shared->produced += 1 + 3 * 102;
		}
	tacho_step_end();
	return 0;
}

static struct published *storm_shared;

static void on_storm(int signal)
{
	(void)signal;
	if (!tacho_on())
		return;
	TACHO_BEGIN("handler");
	TACHO_BEGIN("handler inner");
	TACHO_END();
	TACHO_END();
	storm_shared->other += 2;
}

/* FILE SECONDS: scopes in the program and in a handler of a 10 kHz timer */
static int run_storm(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_storm, .sa_flags = SA_RESTART };
	struct itimerval timer = { .it_interval.tv_usec = 100, .it_value.tv_usec = 100 },
			 none = { 0 };
	double until = seconds() + (double)number(argc, argv, 1, 2);
	sigset_t set;

	storm_shared = publish(argc ? argv[0] : NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (seconds() < until)
		for (int i = 0; i < 100; i++) {
			TACHO_BEGIN("outer");
			TACHO_BEGIN("inner");
			tacho_arg_int("i", i);
			TACHO_END();
			TACHO_END();
			storm_shared->produced += 2;
		}
	setitimer(ITIMER_REAL, &none, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return 0;
}

/* RATE SECONDS [PATH]: about RATE scopes a second; ends early when PATH exists */
static int run_pace(int argc, char **argv)
{
	long rate = number(argc, argv, 0, 50000), done = 0;
	double start = seconds(), length = (double)number(argc, argv, 1, 6);

	while (seconds() < start + length && !(argc > 2 && access(argv[2], F_OK) == 0)) {
		for (; (double)done < (seconds() - start) * (double)rate; done++) {
			TACHO_SCOPE("paced");
		}
		nap_us(1000);
	}
	return 0;
}

/* STEPS US [SLOW]: steps with two phases each; step SLOW takes 20 times as long */
static int run_steps(int argc, char **argv)
{
	long count = number(argc, argv, 0, 20), us = number(argc, argv, 1, 1000);
	long slow = number(argc, argv, 2, -1);

	for (long i = 0; i < count; i++) {
		tacho_step((uint64_t)i);
		tacho_phase("forward");
		scopes(3, "layer");
		nap_us(i == slow ? us * 20 : us);
		tacho_phase("backward");
		scopes(2, "gradient");
	}
	tacho_step_end();
	return 0;
}

/* Recording only in windows; what is named "not" must not be in the trace. */
static int run_windows(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (int i = 0; i < 5; i++) {
		tacho_begin("cut by the stop");
		scopes(10, "in");
		tacho_stop();
		tacho_end();
		scopes(10, "not");
		if (tacho_start(NULL) != TACHO_OK)
			return 1;
		scopes(1, "again");
	}
	return 0;
}

static int run_open(int argc, char **argv)
{
	(void)argc, (void)argv;
	tacho_begin("left open");
	scopes(5, "inside");
	tacho_begin("left open too");
	return 0;
}

static int run_unbalanced(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (int i = 0; i < 50; i++) {
		scopes(2, "fine");
		tacho_end();
		tacho_end();
	}
	return 0;
}

/* Copies stdin to stdout, says something on stderr, ends with STATUS. */
static int run_echo(int argc, char **argv)
{
	char bytes[4096];
	ssize_t got;

	tacho_begin("echo");
	while ((got = read(STDIN_FILENO, bytes, sizeof bytes)) > 0)
		if (write(STDOUT_FILENO, bytes, (size_t)got) != got)
			return 99;
	(void)!write(STDERR_FILENO, "err\0or\n", 7);
	tacho_end();
	return (int)number(argc, argv, 0, 0);
}

/* NUMBER: dies by a signal, with scopes behind it and one open */
static int run_die(int argc, char **argv)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	scopes(100, "before");
	tacho_begin("at death");
	if (number(argc, argv, 0, SIGSEGV) == SIGSEGV)
		*(volatile int *)(uintptr_t)strlen(argv[0]) = 1;
	raise((int)number(argc, argv, 0, SIGSEGV));
	return 0;
}

static volatile sig_atomic_t signals_seen, last_signal;

static void on_count(int signal)
{
	signals_seen++;
	last_signal = signal;
}

/* FILE SECONDS: records until a signal has come, waits a little for a second one, and tells */
static int run_signals(int argc, char **argv)
{
	struct published *shared = publish(argc ? argv[0] : NULL);
	double until = seconds() + (double)number(argc, argv, 1, 20);
	struct sigaction action = { .sa_handler = on_count };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	while (!signals_seen && seconds() < until) {
		scopes(10, "waiting");
		shared->ended += 10;
		nap_us(2000);
	}
	for (int i = 0; i < 150; i++)
		nap_us(2000);
	shared->produced = (uint64_t)signals_seen;
	shared->other = (uint64_t)last_signal;
	printf("%d signals, the last %d\n", (int)signals_seen, (int)last_signal);
	return 33;
}

static int run_close_all(int argc, char **argv)
{
	(void)argc, (void)argv;
	scopes(10, "before");
	if (syscall(SYS_close_range, 0u, ~0u, 0u) != 0)
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
	/* Enough for new sub-buffers and new names after the descriptors are gone. */
	for (int i = 0; i < 200; i++) {
		char name[32];

		snprintf(name, sizeof name, "name %d", i);
		scopes(1000, name);
	}
	return 7;
}

/* COUNT: opens descriptors before it records, and checks afterwards that they are what they were.
 */
static int run_open_many(int argc, char **argv)
{
	int count = (int)number(argc, argv, 0, 100), bad = 0;

	for (int fd = 0; fd < count; fd++)
		dup2(STDERR_FILENO, fd);
	for (int fd = 0; fd < count; fd++)
		bad += fcntl(fd, F_GETFD) < 0;
	scopes(100000, "work");
	for (int fd = 0; fd < count; fd++)
		bad += fcntl(fd, F_GETFD) < 0;
	for (int fd = count; fd < count + 100; fd++)
		bad += fcntl(fd, F_GETFD) >= 0;
	return bad ? 1 : 0;
}

/* Says what tacho_status() says, before and after some scopes. */
static int run_status(int argc, char **argv)
{
	(void)argc, (void)argv;
	printf("%d %s\n", (int)tacho_status(), tacho_status_text());
	scopes(1000, "work");
	printf("%d %s\n", (int)tacho_status(), tacho_status_text());
	errno = 4242;
	scopes(100000, "work");
	tacho_mark("mark");
	tacho_counter_int("counter", "things", 1);
	tacho_flush(1000);
	return errno == 4242 ? 0 : 1;
}

static volatile sig_atomic_t child_signals;

static void on_child(int signal)
{
	(void)signal;
	child_signals++;
}

/* OUTPUT [KEY=VALUE...]: records itself with tacho_start(); OUTPUT "-" leaves it to TACHO_ENABLED.
 */
static int run_self(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_child };
	struct tacho_options options = TACHO_OPTIONS_INIT;
	int status = 0;
	pid_t child;

	sigaction(SIGCHLD, &action, NULL);
	options.output = argc ? argv[0] : NULL;
	options.set = (const char *const *)argv + 1;
	options.set_count = argc > 1 ? (size_t)argc - 1 : 0;
	if (!argc || strcmp(argv[0], "-") != 0)
		status = tacho_start(&options);
	scopes(1000, "self");
	child = waitpid(-1, NULL, WNOHANG);
	printf("start %d, state %d, wait %d %s, SIGCHLD %d: %s\n", status, (int)tacho_status(),
		(int)child, child < 0 && errno == ECHILD ? "ECHILD" : "?", (int)child_signals,
		tacho_status_text());
	return 0;
}

/* FILE: goes on after the recording ended, with calls that do not ask tacho_on() first. */
static int run_outlive(int argc, char **argv)
{
	double until = seconds() + 3;
	int status;

	{
		TACHO_SCOPE("across the end");
		for (status = (int)tacho_status(); status == TACHO_RECORDING && seconds() < until;
			status = (int)tacho_status()) {
			scopes(10, "work");
			nap_us(1000);
		}
		tacho_thread_name("late");
		tacho_metadata("late", "yes");
		tacho_step(1);
	}
	for (int i = 0; i < 100; i++) {
		tacho_thread_name("later");
		tacho_step((uint64_t)i);
		scopes(100, "late");
	}
	(void)argc, (void)argv;
	return status == TACHO_RECORDING ? 1 : 42;
}

static const struct mode modes[] = {
	{ "scopes", run_scopes },
	{ "publish", run_publish },
	{ "saturate", run_saturate },
	{ "saturate_steps", run_saturate_steps },
	{ "storm", run_storm },
	{ "pace", run_pace },
	{ "steps", run_steps },
	{ "windows", run_windows },
	{ "open", run_open },
	{ "unbalanced", run_unbalanced },
	{ "echo", run_echo },
	{ "die", run_die },
	{ "signals", run_signals },
	{ "close_all", run_close_all },
	{ "open_many", run_open_many },
	{ "status", run_status },
	{ "self", run_self },
	{ "outlive", run_outlive },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	const struct mode *const tables[] = { modes, thread_modes, process_modes, name_modes };

	for (size_t t = 0; argc > 1 && t < 4; t++)
		for (const struct mode *mode = tables[t]; mode->name; mode++)
			if (strcmp(mode->name, argv[1]) == 0) {
				int status = mode->run(argc - 2, argv + 2);

				fflush(NULL);
				return status;
			}
	fprintf(stderr, "usage: victim MODE [ARGUMENT...]\n");
	return 2;
}
