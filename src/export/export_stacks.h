/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What flame graphs are made of: every distinct stack with how often and how long. It comes from
 * the stack samples of a trace, or from its scopes: then a stack is a path of names, and its time
 * is that outside deeper scopes. */
#pragma once

#include "export/export_walk.h"

struct export_stack {
	const uint32_t *frames; /* string numbers, outermost first; EXPORT_OTHER: "(other)" */
	size_t count;
	uint64_t hits;    /* samples, or scopes that ended */
	uint64_t self_ns; /* 0 for samples: the distance between them is not time spent */
};

#define EXPORT_OTHER UINT32_MAX

/* Samples when options->table says so, or when it says nothing and the trace has some. */
bool export_stacks_sampled(const struct trace *trace, const struct export_options *options);
/* Calls `each` for every stack; its result other than STATUS_OK ends the walk. Memory is that of
 * the call tree: bounded by distinct paths, at most a million. */
int export_stacks(const struct trace *trace, const struct export_options *options,
	int (*each)(void *context, const struct export_stack *stack), void *context,
	struct export_result *ret_result, struct error *err) MUST_USE;
/* The text of a frame. */
const char *export_frame(const struct trace *trace, uint32_t frame);
