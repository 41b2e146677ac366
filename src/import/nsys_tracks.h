/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tracks of an Nsight Systems file, found by the numbers that its rows carry. A global id holds the
 * machine, the process (24 bits) and the thread (24 bits). */
#pragma once

#include "base/id_map.h"
#include "import/nsys_file.h"

struct nsys_tracks {
	struct import_sink *sink;
	struct id_map processes, threads, others;  /* key -> track */
	struct id_map process_names, thread_names; /* global id -> string */
};

static inline uint64_t nsys_pid(int64_t global_id)
{
	return (uint64_t)global_id >> 24 & 0xffffff;
}

void nsys_tracks_init(struct nsys_tracks *tracks, struct import_sink *sink);
void nsys_tracks_release(struct nsys_tracks *tracks);

int nsys_tracks_process(
	struct nsys_tracks *tracks, int64_t global_id, uint32_t *ret_track) MUST_USE;
int nsys_tracks_thread(struct nsys_tracks *tracks, int64_t global_id, uint32_t *ret_track) MUST_USE;

/* A stream of a context of a device in a process. */
struct nsys_stream {
	int64_t global_pid, device, context, stream;
};
/* The stream itself, or a row beside it for what is no work on the device: `suffix` is then its
 * name's end. */
int nsys_tracks_stream(struct nsys_tracks *tracks, const struct nsys_stream *stream,
	const char *suffix, uint32_t *ret_track) MUST_USE;
/* Any other row, by its name, of a process or (global_pid 0) of the machine. */
int nsys_tracks_other(struct nsys_tracks *tracks, int64_t global_pid, enum track_kind kind,
	const char *name, const char *unit, uint32_t *ret_track) MUST_USE;
