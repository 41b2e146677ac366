/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A line that says how far long work has come: percent and time left. It is written to a terminal
 * only, by the caller's leave, at most ten times a second, and erased at the end. The work may
 * report from several threads. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
	int fd; /* -1: nothing is shown */
	const char *label;
	uint64_t start_ns;
	_Atomic uint64_t next_ns; /* when the line may be written again */
	_Atomic bool shown;
};

/* `fd` is the terminal, or -1 to show nothing. `label` ("reading") must outlive it. */
void progress_init(struct progress *progress, int fd, const char *label);
/* `done` of `total` units; total 0 shows no percent. Has the shape of analyze_options.progress. */
void progress_report(void *progress, uint64_t done, uint64_t total);
/* Erases the line, when there is one. */
void progress_end(struct progress *progress);
