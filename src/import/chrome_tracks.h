/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The rows of a Chrome trace: (pid, tid) to tracks, their names, spans that come as two events, and
 * counters. */
#pragma once

#include "base/id_map.h"
#include "import/chrome_event.h"

struct chrome_open; /* a begin that waits for its end */

struct chrome_tracks {
	struct import_sink *sink;
	struct id_map processes, threads, counters, asyncs; /* hash of tokens -> track */
	struct id_map opens; /* key -> index + 1 of the newest begin */
	struct chrome_open *open;
	size_t open_count, open_capacity;
	uint8_t *flags; /* per track: enum chrome_track_flags */
	size_t flag_capacity;
	uint64_t last_key; /* of the event before: most events stay on their track */
	uint32_t last_track;
	bool has_last;
	struct buffer scratch;
	uint64_t unmatched;
};

void chrome_tracks_init(struct chrome_tracks *tracks, struct import_sink *sink);
void chrome_tracks_release(struct chrome_tracks *tracks);

/* The track of the event's pid and tid, made when new. Missing ones are taken as 0. */
int chrome_tracks_find(struct chrome_tracks *tracks, const struct chrome_event *event,
	uint32_t *ret_track) MUST_USE;
/* Notes what kind of spans a track has: a row of GPU work is a device. */
void chrome_tracks_note(
	struct chrome_tracks *tracks, uint32_t track, const struct json_slice *category);
/* process_name, thread_name and their like. */
int chrome_tracks_metadata(struct chrome_tracks *tracks, const struct chrome_event *event) MUST_USE;
/* B/E nest on a thread; b/e and S/F belong together by category and id. */
int chrome_tracks_pair(struct chrome_tracks *tracks, const struct chrome_event *event,
	uint32_t track, uint32_t name, int64_t time_ns, const struct import_args *args) MUST_USE;
int chrome_tracks_counter(struct chrome_tracks *tracks, const struct chrome_event *event,
	uint32_t track, int64_t time_ns, const struct import_args *args) MUST_USE;
/* Kinds of tracks, and begins that never ended. */
int chrome_tracks_finish(struct chrome_tracks *tracks) MUST_USE;
