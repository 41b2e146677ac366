/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A small trace with one of everything, the same each time: two processes, threads, a device
 * stream, steps with phases, arguments, counters, marks, flows, correlations, allocations, stack
 * samples and a ledger. tests/data/v1/small.tacho is this trace as format version 1 stored it. */
#pragma once

#include "base/error.h"

#include <stdint.h>

enum sample_track {
	SAMPLE_MACHINE,
	SAMPLE_TRAIN,
	SAMPLE_MAIN,
	SAMPLE_LOADER,
	SAMPLE_STREAM,
	SAMPLE_REQUESTS,
	SAMPLE_RSS,
	SAMPLE_LOSS,
	SAMPLE_WORKER,
	SAMPLE_WORKER_MAIN,
	SAMPLE_CPU,
	SAMPLE_TRACKS
};

#define SAMPLE_STEPS     8u
#define SAMPLE_SLOW_STEP 5u
#define SAMPLE_SPANS     89u /* all that sample_trace_write() writes */
#define SAMPLE_MATMULS   (2 * SAMPLE_STEPS)
#define SAMPLE_STEP_NS   10000000u
#define SAMPLE_SLOW_NS   25000000u
#define SAMPLE_START_NS  1700000000000000000u

/* Name of a span that is not UTF-8, and of one that CSV must quote. */
#define SAMPLE_BAD_NAME   "bad \xff name"
#define SAMPLE_QUOTE_NAME "say \"hi\", twice\nor more"

int sample_trace_write(const char *path, struct error *err) MUST_USE;
