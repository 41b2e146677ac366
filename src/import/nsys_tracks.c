// SPDX-License-Identifier: MIT OR Apache-2.0
/* Global ids to tracks. */
#include "import/nsys_tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

void nsys_tracks_init(struct nsys_tracks *tracks, struct import_sink *sink)
{
	memset(tracks, 0, sizeof *tracks);
	tracks->sink = sink;
}

void nsys_tracks_release(struct nsys_tracks *tracks)
{
	id_map_release(&tracks->processes);
	id_map_release(&tracks->threads);
	id_map_release(&tracks->others);
	id_map_release(&tracks->process_names);
	id_map_release(&tracks->thread_names);
}

/* A new track under `parent`, put into `map`; a known name takes the place of `name`. */
static int add_track(struct nsys_tracks *tracks, struct id_map *map, uint64_t key,
	const struct id_map *names, uint32_t parent, enum track_kind kind, uint64_t os_id,
	const char *name, const char *unit, uint32_t *ret_track)
{
	uint64_t string;
	int status = import_sink_track(tracks->sink, parent, kind, os_id, name, unit, ret_track);

	if (status == STATUS_OK && names && id_map_get(names, key, &string) && string)
		import_sink_track_name(tracks->sink, *ret_track, (uint32_t)string);
	return status == STATUS_OK ? id_map_put(map, key, *ret_track) : status;
}

int nsys_tracks_process(struct nsys_tracks *tracks, int64_t global_id, uint32_t *ret_track)
{
	/* The upper bits tell machines apart. */
	uint64_t key = (uint64_t)global_id >> 24 << 24, found;
	char name[40];

	if (id_map_get(&tracks->processes, key, &found)) {
		*ret_track = (uint32_t)found;
		return STATUS_OK;
	}
	snprintf(name, sizeof name, "process %" PRIu64, nsys_pid(global_id));
	return add_track(tracks, &tracks->processes, key, &tracks->process_names, 0, TRACK_PROCESS,
		nsys_pid(global_id), name, "", ret_track);
}

int nsys_tracks_thread(struct nsys_tracks *tracks, int64_t global_id, uint32_t *ret_track)
{
	uint64_t found;
	uint32_t process;
	char name[40];
	int status;

	if (id_map_get(&tracks->threads, (uint64_t)global_id, &found)) {
		*ret_track = (uint32_t)found;
		return STATUS_OK;
	}
	status = nsys_tracks_process(tracks, global_id, &process);
	if (status != STATUS_OK)
		return status;
	snprintf(name, sizeof name, "thread %" PRIu64, (uint64_t)global_id & 0xffffff);
	return add_track(tracks, &tracks->threads, (uint64_t)global_id, &tracks->thread_names,
		process, TRACK_THREAD, (uint64_t)global_id & 0xffffff, name, "", ret_track);
}

int nsys_tracks_stream(struct nsys_tracks *tracks, const struct nsys_stream *stream,
	const char *suffix, uint32_t *ret_track)
{
	uint64_t key =
		XXH3_64bits_withSeed(stream, sizeof *stream, XXH3_64bits(suffix, strlen(suffix)));
	uint64_t found;
	uint32_t process = 0;
	char name[160], row[40];
	int status = STATUS_OK;

	if (id_map_get(&tracks->others, key, &found)) {
		*ret_track = (uint32_t)found;
		return STATUS_OK;
	}
	if (stream->global_pid)
		status = nsys_tracks_process(tracks, stream->global_pid, &process);
	if (status != STATUS_OK)
		return status;
	/* All ones stand for "no stream": work that concerns the whole context. */
	if (stream->stream < 0 || stream->stream == UINT32_MAX)
		snprintf(row, sizeof row, "context %" PRId64, stream->context);
	else
		snprintf(row, sizeof row, "stream %" PRId64, stream->stream);
	snprintf(name, sizeof name, "GPU %" PRId64 " %s%s%s", stream->device, row,
		*suffix ? " " : "", suffix);
	return add_track(tracks, &tracks->others, key, NULL, process,
		*suffix ? TRACK_OTHER : TRACK_DEVICE, (uint64_t)stream->stream, name, "",
		ret_track);
}

int nsys_tracks_other(struct nsys_tracks *tracks, int64_t global_pid, enum track_kind kind,
	const char *name, const char *unit, uint32_t *ret_track)
{
	uint64_t key =
		XXH3_64bits_withSeed(name, strlen(name), ((uint64_t)global_pid >> 24) * 8 + kind);
	uint64_t found;
	uint32_t process = 0;
	int status = STATUS_OK;

	if (id_map_get(&tracks->others, key, &found)) {
		*ret_track = (uint32_t)found;
		return STATUS_OK;
	}
	if (global_pid)
		status = nsys_tracks_process(tracks, global_pid, &process);
	if (status != STATUS_OK)
		return status;
	return add_track(
		tracks, &tracks->others, key, NULL, process, kind, 0, name, unit, ret_track);
}
