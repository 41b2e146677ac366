// SPDX-License-Identifier: MIT OR Apache-2.0
/* Calibration: a child loads libtacho.so, records in a session of its own while this process
 * collects, and reports the fastest of many short blocks: the cost itself, without what else the
 * machine was doing. */
#include "cli/calibrate.h"

#include "base/clock.h"
#include "base/settings.h"
#include "collect/collector.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <tacho/version.h>
#include <unistd.h>

#define BLOCK_SCOPES 400
#define BLOCK_EVENTS 50
#define BLOCKS       2000
#define BLOCKS_QUICK 600

/* libtacho.so beside the tool (bin/../lib, also lib64 and multiarch), or by the loader's own rules.
 */
static void *load_library(void)
{
	static const char *const places[] = { "/../lib/libtacho.so.0", "/../lib64/libtacho.so.0",
		"/../lib/x86_64-linux-gnu/libtacho.so.0",
		"/../lib/aarch64-linux-gnu/libtacho.so.0" };
	char path[PATH_MAX + 64];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
	void *library = NULL;
	char *slash;

	if (length > 0) {
		path[length] = 0;
		slash = strrchr(path, '/');
		for (size_t i = 0; slash && !library && i < sizeof places / sizeof *places; i++) {
			snprintf(slash, 64, "%s", places[i]);
			library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		}
	}
	return library ? library : dlopen("libtacho.so.0", RTLD_NOW | RTLD_LOCAL);
}

struct entry_points {
	uint32_t (*name)(const char *, const char *);
	void (*begin)(uint32_t);
	void (*end)(void);
	void (*counter)(const char *, const char *, int64_t);
	int (*flush)(uint64_t);
	const uint32_t **flag;
};

static bool find_entry_points(struct entry_points *at)
{
	void *library = load_library();

	if (!library)
		return false;
	*(void **)&at->name = dlsym(library, "tacho_name");
	*(void **)&at->begin = dlsym(library, "tacho_begin_id");
	*(void **)&at->end = dlsym(library, "tacho_end_scope");
	*(void **)&at->counter = dlsym(library, "tacho_counter_int");
	*(void **)&at->flush = dlsym(library, "tacho_flush");
	*(void **)&at->flag = dlsym(library, "tacho_switch");
	return at->name && at->begin && at->end && at->counter && at->flush && at->flag;
}

static double min_of(double a, double b)
{
	return a < b ? a : b;
}

static double floor_block(void)
{
	static uint64_t room[BLOCK_SCOPES * 4];
	uint64_t start = clock_mono_ns();

	for (int i = 0; i < BLOCK_SCOPES; i++) {
		room[4 * i] = 1;
		room[4 * i + 1] = clock_hardware();
		room[4 * i + 2] = 2;
		room[4 * i + 3] = clock_hardware();
	}
	__asm__ volatile("" : : "r"(room) : "memory");
	return (double)(clock_mono_ns() - start) / BLOCK_SCOPES;
}

static double scope_block(const struct entry_points *at, uint32_t id)
{
	uint64_t start = clock_mono_ns();

	for (int i = 0; i < BLOCK_SCOPES; i++) {
		at->begin(id);
		at->end();
	}
	return (double)(clock_mono_ns() - start) / BLOCK_SCOPES;
}

static double event_block(const struct entry_points *at)
{
	uint64_t start = clock_mono_ns();

	for (int i = 0; i < BLOCK_EVENTS; i++)
		at->counter("calibration", "", i);
	return (double)(clock_mono_ns() - start) / BLOCK_EVENTS;
}

/* What the header's inline check costs in a program: the flag through its pointer. */
static double disabled_block(const struct entry_points *at)
{
	static const uint32_t off;
	const uint32_t *flag = &off;
	uint64_t start = clock_mono_ns();

	(void)at;
	for (int i = 0; i < BLOCK_SCOPES * 8; i++) {
		const uint32_t *seen = __atomic_load_n(&flag, __ATOMIC_RELAXED);

		if (__builtin_expect(__atomic_load_n(seen, __ATOMIC_RELAXED) != 0, 0))
			_exit(1);
		__asm__ volatile("" : : "r"(&flag) : "memory");
		if (__builtin_expect(__atomic_load_n(seen, __ATOMIC_RELAXED) != 0, 0))
			_exit(1);
		__asm__ volatile("" : : "r"(&flag) : "memory");
	}
	return (double)(clock_mono_ns() - start) / (BLOCK_SCOPES * 8);
}

static void measure_in_child(int report, int blocks)
{
	struct calibration best = {
		.scope_ns = 1e9, .event_ns = 1e9, .disabled_ns = 1e9, .floor_ns = 1e9
	};
	struct entry_points at;
	uint32_t id;

	if (!find_entry_points(&at))
		_exit(3);
	id = at.name("calibration", "");
	for (int i = 0; i < blocks; i++) {
		best.floor_ns = min_of(best.floor_ns, floor_block());
		best.scope_ns = min_of(best.scope_ns, scope_block(&at, id));
		if (i % 8 == 0) {
			best.event_ns = min_of(best.event_ns, event_block(&at));
			best.disabled_ns = min_of(best.disabled_ns, disabled_block(&at));
		}
		/* Let the collector keep up: a full pool would measure dropping. */
		if (i % 100 == 99)
			usleep(2000);
	}
	at.flush(1000000000);
	best.produced = (uint64_t)blocks * BLOCK_SCOPES + (uint64_t)(blocks + 7) / 8 * BLOCK_EVENTS;
	(void)!write(report, &best, sizeof best);
	_exit(0);
}

/* A throw-away session: a flight recorder that is never dumped, no counters. */
static int quiet_settings(struct settings *settings, struct error *err)
{
	int status;

	settings_init(settings);
	status = settings_set(settings, "counters", "off", SETTING_FROM_COMMAND_LINE, err);
	if (status == STATUS_OK)
		status = settings_set(settings, "last", "1s", SETTING_FROM_COMMAND_LINE, err);
	if (status == STATUS_OK)
		status = settings_set(
			settings, "output", "/dev/null", SETTING_FROM_COMMAND_LINE, err);
	return status;
}

static int collect_child(struct collector *collector, int report, pid_t child,
	struct calibration *ret_calibration, struct error *err)
{
	struct pollfd ready = { .fd = report, .events = POLLIN };
	uint64_t until = clock_mono_ns() + UINT64_C(10000000000);
	ssize_t got = 0;
	int status;

	while (clock_mono_ns() < until) {
		uint64_t wait = collector_tick(collector);

		if (poll(&ready, 1, (int)(wait / 1000000)) > 0) {
			got = read(report, ret_calibration, sizeof *ret_calibration);
			break;
		}
	}
	if (got != (ssize_t)sizeof *ret_calibration)
		kill(child, SIGKILL);
	waitpid(child, &status, 0);
	for (int i = 0; i < 3; i++)
		(void)collector_tick(collector);
	ret_calibration->recorded = collector_events(collector);
	if (got != (ssize_t)sizeof *ret_calibration)
		return error_set(err, STATUS_NOTFOUND,
			WIFEXITED(status) && WEXITSTATUS(status) == 3
				? "libtacho.so was not found beside the tool"
				: "the measuring process did not answer");
	return STATUS_OK;
}

int calibrate(bool quick, struct calibration *ret_calibration, struct error *err)
{
	static struct settings settings;
	struct collector *collector = NULL;
	int report[2], status = quiet_settings(&settings, err);
	pid_t child;

	if (status == STATUS_OK)
		status = collector_new(&settings, &collector, err);
	if (status != STATUS_OK)
		return status;
	if (pipe(report) != 0) {
		collector_free(collector);
		return error_set_errno(err, STATUS_IO, "no pipe");
	}
	/* The child must find recording on as soon as it loads the library. */
	status = collector_start(collector, getpid(), "calibration", NULL, err);
	child = status == STATUS_OK ? fork() : -1;
	if (child == 0) {
		close(report[0]);
		setenv("TACHO_SESSION", collector_folder(collector), 1);
		measure_in_child(report[1], quick ? BLOCKS_QUICK : BLOCKS);
	}
	close(report[1]);
	if (child > 0)
		status = collect_child(collector, report[0], child, ret_calibration, err);
	else if (status == STATUS_OK)
		status = error_set_errno(err, STATUS_IO, "cannot start a process");
	close(report[0]);
	collector_free(collector);
	return status;
}

/* One file per machine and version; a change of either makes it void. */
static bool cache_path(char *path, size_t bytes)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct utsname about;
	uint32_t hash = 2166136261u;
	const char *facts[] = { TACHO_VERSION, about.release, about.machine, about.nodename };

	if (uname(&about) != 0 || (!(cache && cache[0]) && !(home && home[0])))
		return false;
	for (size_t i = 0; i < 4; i++)
		for (const char *at = facts[i]; *at; at++)
			hash = (hash ^ (uint8_t)*at) * 16777619u;
	if (cache && cache[0])
		snprintf(path, bytes, "%s", cache);
	else
		snprintf(path, bytes, "%s/.cache", home);
	mkdir(path, 0700);
	snprintf(path + strlen(path), bytes - strlen(path), "/tacho");
	mkdir(path, 0700);
	snprintf(path + strlen(path), bytes - strlen(path), "/calibration-%08x", hash);
	return true;
}

void calibrate_store(const struct calibration *calibration)
{
	char path[PATH_MAX], temporary[PATH_MAX + 32];
	FILE *file;

	if (!cache_path(path, sizeof path))
		return;
	snprintf(temporary, sizeof temporary, "%s.%d.tmp", path, (int)getpid());
	file = fopen(temporary, "we");
	if (!file)
		return;
	fprintf(file, "%.3f %.3f %.3f %.3f\n", calibration->scope_ns, calibration->event_ns,
		calibration->disabled_ns, calibration->floor_ns);
	if (fclose(file) != 0 || rename(temporary, path) != 0)
		unlink(temporary);
}

int calibrate_cached(struct calibration *ret_calibration, struct error *err)
{
	char path[PATH_MAX];
	FILE *file = cache_path(path, sizeof path) ? fopen(path, "re") : NULL;
	int fields = 0, status;

	memset(ret_calibration, 0, sizeof *ret_calibration);
	if (file) {
		fields = fscanf(file, "%lf %lf %lf %lf", &ret_calibration->scope_ns,
			&ret_calibration->event_ns, &ret_calibration->disabled_ns,
			&ret_calibration->floor_ns);
		fclose(file);
	}
	if (fields == 4 && ret_calibration->scope_ns > 0 && ret_calibration->scope_ns < 1e6)
		return STATUS_OK;
	status = calibrate(true, ret_calibration, err);
	if (status == STATUS_OK)
		calibrate_store(ret_calibration);
	return status;
}
