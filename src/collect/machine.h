/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counters of the machine, of a process tree and of each process in it, read by the collector from
 * /proc and /sys. What a machine does not have is left out; machine_missing() says what and why. */
#pragma once

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

struct machine_sampler;

enum machine_value {
	MACHINE_INTEGER,
	MACHINE_DOUBLE,
};

struct machine_sample {
	pid_t pid;        /* the process it belongs to; 0: the machine; -1: the whole tree */
	const char *name; /* "cpu", "rss", "disk.read", ...; static or owned by the sampler */
	const char *
		unit; /* "%", "bytes", "bytes/s", "1/s", "count", "MHz", "celsius", "J", "W", ... */
	enum machine_value kind;
	int64_t integer;
	double real;
};

typedef void machine_sink(void *context, const struct machine_sample *sample);

/* A sampler for the tree under `root`; files that are read every tick are kept open. */
int machine_sampler_new(
	pid_t root, struct machine_sampler **ret_sampler, struct error *err) MUST_USE;
void machine_sampler_free(struct machine_sampler *sampler);

/* Reads everything once at CLOCK_MONOTONIC time `now_ns` and hands each value to `sink`. Rates are
 * against the previous call; the first call gives none. */
void machine_sampler_tick(
	struct machine_sampler *sampler, uint64_t now_ns, machine_sink *sink, void *context);

/* Calls back once per kind of counter that this machine does not offer ("rapl", "no powercap"). */
void machine_missing(const struct machine_sampler *sampler,
	void (*each)(void *context, const char *what, const char *why), void *context);
