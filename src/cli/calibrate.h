/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What an event costs on this machine: measured through the real library with a real collector,
 * kept in the user's cache for this CPU, kernel and version. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct calibration {
	double scope_ns;    /* begin and end of a scope */
	double event_ns;    /* a counter value */
	double disabled_ns; /* a scope while nothing is recorded */
	double floor_ns;    /* two readings of the clock and two stores of 16 bytes */
	uint64_t produced, recorded, dropped; /* of the measurement itself */
};

/* Measures: about 50 ms when `quick`. STATUS_NOTFOUND when libtacho.so is not beside the tool. */
int calibrate(bool quick, struct calibration *ret_calibration, struct error *err) MUST_USE;
/* From the cache, else measured and put there. */
int calibrate_cached(struct calibration *ret_calibration, struct error *err) MUST_USE;
void calibrate_store(const struct calibration *calibration);
