/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Notices a step that takes far longer than the steps before it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STEP_WATCH_WINDOW 128u
#define STEP_WATCH_LEAST  20u

struct step_watch {
	uint64_t durations[STEP_WATCH_WINDOW]; /* ring */
	uint64_t count;
};

/* Takes a step in; true when it is an outlier: beyond the median of the window by eight median
 * absolute deviations and by half the median, once there are STEP_WATCH_LEAST steps to judge by. */
bool step_watch_add(struct step_watch *watch, uint64_t duration_ns);
