/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The collector: takes events of all processes of a session out of shared memory, samples the
 * machine, writes the trace or keeps the past for a dump. One thread, driven by collector_tick().
 */
#pragma once

#include "base/error.h"
#include "base/settings.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct collector;

/* Makes the session folder; nothing is recorded yet. */
int collector_new(const struct settings *settings, struct collector **ret_collector,
	struct error *err) MUST_USE;
/* Stops without finishing and frees everything. NULL is fine. */
void collector_free(struct collector *collector);

/* What TACHO_SESSION is to be set to. */
const char *collector_folder(const struct collector *collector);

/* Opens the output for a program that runs as `root`; recording begins. `program` is its name,
 * `command` its whole command line or NULL when that is not to be stored. */
int collector_start(struct collector *collector, pid_t root, const char *program,
	const char *command, struct error *err) MUST_USE;
const char *collector_output(const struct collector *collector);

/* Does what is due. Returns the nanoseconds until it wants to be called again. */
uint64_t collector_tick(struct collector *collector);
/* Becomes readable when somebody asks for something; -1 when there is no control socket. */
int collector_control_fd(const struct collector *collector);
/* The recording reached its `duration`: collector_finish() is due, the program may go on. */
bool collector_is_over(const struct collector *collector);

/* Flight recorder: writes the past `last_ns` (0: all that is kept) to `path`, or beside the output
 * with the reason in its name when `path` is NULL. */
int collector_dump(struct collector *collector, uint64_t last_ns, const char *path,
	const char *reason, char *ret_path, size_t path_bytes, struct error *err) MUST_USE;

/* What the recording came to. */
struct collector_summary {
	char output[1024];
	uint64_t bytes, scopes, events, dropped, skipped;
	uint32_t processes, dumps;
	double collector_cpu_s, overhead_percent; /* negative: not known */
	char failure[256];                        /* why something is missing, or "" */
};

/* Cost of one scope and one other event on this machine, for the statement of overhead. */
struct collector_cost {
	double scope_ns, event_ns; /* 0: not known */
	double program_cpu_s;      /* 0: not known; the wall time is used */
};

/* The program has ended, or the recording has: takes over what is left and closes what is open, as
 * of now. */
void collector_stop(struct collector *collector);
/* Stops, if that has not been done, and writes the end of the file. */
int collector_finish(struct collector *collector, const struct collector_cost *cost,
	struct collector_summary *ret_summary, struct error *err) MUST_USE;
/* Events so far, to decide whether a calibration is worth while. */
uint64_t collector_events(const struct collector *collector);
