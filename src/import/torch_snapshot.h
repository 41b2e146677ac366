/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared by the two halves of the PyTorch memory snapshot: the history of events and the state at
 * the end. */
#pragma once

#include "import/event_args.h"
#include "import/pickle_reader.h"

struct torch_device {
	uint32_t track, pool, segment_pool;
	bool made;
	struct id_map live; /* address -> 1: allocated by the events so far */
	int64_t first_ns;
};

#define TORCH_DEVICES_MAX 1024

struct torch_snapshot {
	struct import_sink *sink;
	struct pickle_reader reader;
	struct event_args args;
	struct buffer text;
	struct torch_device *devices; /* TORCH_DEVICES_MAX */
	uint32_t process;
	bool has_process;
	int64_t first_ns, last_ns;
	uint32_t *frames;
	size_t frame_capacity;
};

/* Negative numbers and those beyond the table have no device: NULL with *ret_status set. */
struct torch_device *torch_device(struct torch_snapshot *snapshot, int64_t number, int *ret_status);

/* Every entry of a dict as an argument, but for the keys in `except` (ends with NULL). */
void torch_arguments(struct torch_snapshot *snapshot, const struct pickle_value *dict,
	const char *const *except);
/* The stack of "frames", innermost first. *ret_has is false when there are none. */
int torch_stack(struct torch_snapshot *snapshot, const struct pickle_value *frames, bool *ret_has,
	uint32_t *ret_stack) MUST_USE;
int64_t torch_integer(const struct pickle_value *dict, const char *key, int64_t otherwise);

/* device_traces, and external_annotations. */
int torch_history_read(struct torch_snapshot *snapshot, const struct pickle_value *traces) MUST_USE;
int torch_history_annotations(
	struct torch_snapshot *snapshot, const struct pickle_value *annotations) MUST_USE;
/* segments with their blocks; after the history. */
int torch_segments_read(
	struct torch_snapshot *snapshot, const struct pickle_value *segments) MUST_USE;
