/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tracks of a Perfetto trace by their uuid. A track may be described after its first event, by
 * several writers, and may name any other as its parent; where it belongs is settled at the end. */
#pragma once

#include "base/id_map.h"
#include "base/wire.h"
#include "import/import_sink.h"

struct perfetto_track {
	uint32_t track; /* of the sink */
	uint64_t uuid, parent;
	int32_t pid, tid;
	enum track_kind kind;
	bool described, has_parent, incremental;
	bool device;        /* has work of a device */
	int64_t multiplier; /* of a counter's values */
};

struct perfetto_tracks {
	struct import_sink *sink;
	struct perfetto_track *items;
	size_t count, capacity;
	struct id_map uuids;                       /* uuid -> place */
	struct id_map processes, threads;          /* pid, pid << 32 | tid -> track of the sink */
	struct id_map process_names, thread_names; /* the same -> string */
	uint64_t loops;
};

void perfetto_tracks_init(struct perfetto_tracks *tracks, struct import_sink *sink);
void perfetto_tracks_release(struct perfetto_tracks *tracks);

/* The track of a uuid, made when new. Lent until the next call. */
int perfetto_tracks_find(
	struct perfetto_tracks *tracks, uint64_t uuid, struct perfetto_track **ret_track) MUST_USE;
/* TrackDescriptor. */
int perfetto_tracks_describe(struct perfetto_tracks *tracks, struct reader bytes) MUST_USE;
/* ProcessTree. */
int perfetto_tracks_tree(struct perfetto_tracks *tracks, struct reader bytes) MUST_USE;
/* A thread by its numbers, for packets that name no track. */
int perfetto_tracks_thread(
	struct perfetto_tracks *tracks, int32_t pid, int32_t tid, uint32_t *ret_track) MUST_USE;
/* Parents, names of threads and processes. */
int perfetto_tracks_finish(struct perfetto_tracks *tracks) MUST_USE;
