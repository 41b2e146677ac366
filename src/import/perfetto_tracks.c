// SPDX-License-Identifier: MIT OR Apache-2.0
/* TrackDescriptor { uuid 1, name 2, process 3, thread 4, parent_uuid 5, counter 8, static_name 10,
 * description 14 } and ProcessTree. */
#include "import/perfetto_tracks.h"

#include "base/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

void perfetto_tracks_init(struct perfetto_tracks *tracks, struct import_sink *sink)
{
	memset(tracks, 0, sizeof *tracks);
	tracks->sink = sink;
}

void perfetto_tracks_release(struct perfetto_tracks *tracks)
{
	free(tracks->items);
	id_map_release(&tracks->uuids);
	id_map_release(&tracks->processes);
	id_map_release(&tracks->threads);
	id_map_release(&tracks->process_names);
	id_map_release(&tracks->thread_names);
}

static uint64_t thread_key(int32_t pid, int32_t tid)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

int perfetto_tracks_find(
	struct perfetto_tracks *tracks, uint64_t uuid, struct perfetto_track **ret_track)
{
	uint64_t place;
	char name[40];
	int status;

	if (!id_map_get(&tracks->uuids, uuid, &place)) {
		uint32_t track;

		snprintf(name, sizeof name, "track %" PRIu64, uuid);
		place = tracks->count;
		status = import_sink_track(
			tracks->sink, 0, TRACK_ASYNC, 0, uuid ? name : "default track", "", &track);
		if (status == STATUS_OK)
			status = array_grow((void **)&tracks->items, &tracks->capacity,
				tracks->count + 1, sizeof *tracks->items);
		if (status == STATUS_OK)
			status = id_map_put(&tracks->uuids, uuid, place);
		if (status != STATUS_OK)
			return status;
		import_sink_reserve(tracks->sink, sizeof *tracks->items + 96);
		if (import_sink_room(tracks->sink) == 0)
			return STATUS_LIMIT;
		tracks->items[tracks->count++] = (struct perfetto_track){
			.track = track, .uuid = uuid, .kind = TRACK_ASYNC, .multiplier = 1
		};
	}
	*ret_track = &tracks->items[place];
	return STATUS_OK;
}

static int set_name(struct perfetto_tracks *tracks, uint32_t track, const struct reader *text)
{
	uint32_t string;
	int status = import_sink_string(
		tracks->sink, (const char *)text->at, reader_left(text), &string);

	if (status == STATUS_OK && string)
		import_sink_track_name(tracks->sink, track, string);
	return status;
}

static int keep_fact(struct perfetto_tracks *tracks, const struct perfetto_track *track,
	const char *what, const struct reader *text)
{
	char key[64];

	snprintf(key, sizeof key, "perfetto.%s.%u", what, track->track);
	return import_sink_metadata(tracks->sink, key, (const char *)text->at, reader_left(text));
}

/* ProcessDescriptor { pid 1, cmdline 2, process_name 6, process_labels 8 } */
static int describe_process(
	struct perfetto_tracks *tracks, struct perfetto_track *track, struct reader bytes)
{
	struct wire_field field;
	int status = STATUS_OK, more = 0;

	track->kind = TRACK_PROCESS;
	while (status == STATUS_OK && (more = wire_next(&bytes, &field)) == 1) {
		if (field.field == 1 && field.type == WIRE_VARINT)
			track->pid = (int32_t)field.number;
		else if (field.type != WIRE_BYTES)
			continue;
		else if (field.field == 6)
			status = set_name(tracks, track->track, &field.bytes);
		else if (field.field == 2)
			status = keep_fact(tracks, track, "cmdline", &field.bytes);
		else if (field.field == 8)
			status = keep_fact(tracks, track, "label", &field.bytes);
	}
	if (status == STATUS_OK && more < 0)
		status = more;
	return status == STATUS_OK
		       ? id_map_put(&tracks->processes, (uint32_t)track->pid, track->track)
		       : status;
}

/* ThreadDescriptor { pid 1, tid 2, thread_name 5 } */
static int describe_thread(
	struct perfetto_tracks *tracks, struct perfetto_track *track, struct reader bytes)
{
	struct wire_field field;
	int status = STATUS_OK, more = 0;

	track->kind = TRACK_THREAD;
	while (status == STATUS_OK && (more = wire_next(&bytes, &field)) == 1) {
		if (field.field == 1 && field.type == WIRE_VARINT)
			track->pid = (int32_t)field.number;
		else if (field.field == 2 && field.type == WIRE_VARINT)
			track->tid = (int32_t)field.number;
		else if (field.field == 5 && field.type == WIRE_BYTES)
			status = set_name(tracks, track->track, &field.bytes);
	}
	if (status == STATUS_OK && more < 0)
		status = more;
	return status == STATUS_OK ? id_map_put(&tracks->threads,
					     thread_key(track->pid, track->tid), track->track)
				   : status;
}

/* CounterDescriptor { type 1, unit 3, unit_multiplier 4, is_incremental 5, unit_name 6 } */
static int describe_counter(
	struct perfetto_tracks *tracks, struct perfetto_track *track, struct reader bytes)
{
	static const char *const units[] = { "", "ns", "count", "bytes" };
	struct wire_field field;
	uint32_t unit = 0;
	int status = STATUS_OK, more = 0;

	track->kind = TRACK_COUNTER;
	while (status == STATUS_OK && (more = wire_next(&bytes, &field)) == 1) {
		if (field.field == 6 && field.type == WIRE_BYTES)
			status = import_sink_string(tracks->sink, (const char *)field.bytes.at,
				reader_left(&field.bytes), &unit);
		else if (field.type != WIRE_VARINT)
			continue;
		else if (field.field == 3 && field.number < 4 && !unit)
			status = import_sink_string(tracks->sink, units[field.number],
				strlen(units[field.number]), &unit);
		else if (field.field == 4)
			track->multiplier = field.number ? (int64_t)field.number : 1;
		else if (field.field == 5)
			track->incremental = field.number != 0;
	}
	if (unit)
		import_sink_track_unit(tracks->sink, track->track, unit);
	return status == STATUS_OK ? more : status;
}

static int describe_field(struct perfetto_tracks *tracks, struct perfetto_track *track,
	const struct wire_field *field)
{
	switch (field->field) {
	case 2:
	case 10:
	case 13:
		return set_name(tracks, track->track, &field->bytes);
	case 3:
		return describe_process(tracks, track, field->bytes);
	case 4:
		return describe_thread(tracks, track, field->bytes);
	case 8:
		return describe_counter(tracks, track, field->bytes);
	case 14:
		return keep_fact(tracks, track, "description", &field->bytes);
	default:
		return STATUS_OK;
	}
}

int perfetto_tracks_describe(struct perfetto_tracks *tracks, struct reader bytes)
{
	struct reader again = bytes;
	struct perfetto_track *track;
	struct wire_field field;
	uint64_t uuid = 0, parent = 0;
	bool has_parent = false;
	int status, more;

	while ((more = wire_next(&again, &field)) == 1) {
		if (field.field == 1 && field.type == WIRE_VARINT) {
			uuid = field.number;
		} else if (field.field == 5 && field.type == WIRE_VARINT) {
			parent = field.number;
			has_parent = true;
		}
	}
	status = more == 0 ? perfetto_tracks_find(tracks, uuid, &track) : more;
	if (status != STATUS_OK)
		return status;
	track->described = true;
	if (has_parent) {
		track->parent = parent;
		track->has_parent = true;
	}
	while (status == STATUS_OK && wire_next(&bytes, &field) == 1)
		if (field.type == WIRE_BYTES)
			status = describe_field(tracks, track, &field);
	return status;
}

/* Thread { tid 1, name 2, tgid 3 } and Process { pid 1, cmdline 3 } of a ProcessTree. */
static int tree_entry(struct perfetto_tracks *tracks, struct reader bytes, bool thread)
{
	struct wire_field field;
	struct reader name;
	int32_t id = 0, group = 0;
	uint32_t string;
	int status, more;

	reader_init(&name, NULL, 0);
	while ((more = wire_next(&bytes, &field)) == 1) {
		if (field.field == 1 && field.type == WIRE_VARINT)
			id = (int32_t)field.number;
		else if (field.field == 3 && field.type == WIRE_VARINT)
			group = (int32_t)field.number;
		else if (field.field == (thread ? 2 : 3) && field.type == WIRE_BYTES &&
			 !reader_left(&name))
			name = field.bytes;
	}
	if (more < 0 || !reader_left(&name))
		return more;
	status = import_sink_string(
		tracks->sink, (const char *)name.at, reader_left(&name), &string);
	if (status != STATUS_OK)
		return status;
	return thread ? id_map_put(&tracks->thread_names, thread_key(group, id), string)
		      : id_map_put(&tracks->process_names, (uint32_t)id, string);
}

int perfetto_tracks_tree(struct perfetto_tracks *tracks, struct reader bytes)
{
	struct wire_field field;
	int status = STATUS_OK, more = 0;

	while (status == STATUS_OK && (more = wire_next(&bytes, &field)) == 1)
		if ((field.field == 1 || field.field == 2) && field.type == WIRE_BYTES)
			status = tree_entry(tracks, field.bytes, field.field == 2);
	return status == STATUS_OK ? more : status;
}

static int need_process(struct perfetto_tracks *tracks, int32_t pid, uint32_t *ret_track)
{
	uint64_t found;
	char name[32];
	int status;

	if (id_map_get(&tracks->processes, (uint32_t)pid, &found)) {
		*ret_track = (uint32_t)found;
		return STATUS_OK;
	}
	snprintf(name, sizeof name, "process %" PRId32, pid);
	status = import_sink_track(
		tracks->sink, 0, TRACK_PROCESS, (uint32_t)pid, name, "", ret_track);
	if (status == STATUS_OK && id_map_get(&tracks->process_names, (uint32_t)pid, &found))
		import_sink_track_name(tracks->sink, *ret_track, (uint32_t)found);
	return status == STATUS_OK ? id_map_put(&tracks->processes, (uint32_t)pid, *ret_track)
				   : status;
}

int perfetto_tracks_thread(
	struct perfetto_tracks *tracks, int32_t pid, int32_t tid, uint32_t *ret_track)
{
	uint64_t key = thread_key(pid, tid), found;
	uint32_t process;
	char name[32];
	int status;

	if (id_map_get(&tracks->threads, key, &found)) {
		*ret_track = (uint32_t)found;
		return STATUS_OK;
	}
	status = need_process(tracks, pid, &process);
	if (status != STATUS_OK)
		return status;
	snprintf(name, sizeof name, "thread %" PRId32, tid);
	status = import_sink_track(
		tracks->sink, process, TRACK_THREAD, (uint32_t)tid, name, "", ret_track);
	if (status == STATUS_OK && id_map_get(&tracks->thread_names, key, &found))
		import_sink_track_name(tracks->sink, *ret_track, (uint32_t)found);
	return status == STATUS_OK ? id_map_put(&tracks->threads, key, *ret_track) : status;
}

/* Whether following parents from here comes to an end. */
static bool has_root(const struct perfetto_tracks *tracks, const struct perfetto_track *track)
{
	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		uint64_t place;

		if (!track->has_parent || !id_map_get(&tracks->uuids, track->parent, &place))
			return true;
		track = &tracks->items[place];
	}
	return false;
}

static int place_track(struct perfetto_tracks *tracks, struct perfetto_track *track)
{
	uint64_t os_id = track->kind == TRACK_PROCESS  ? (uint32_t)track->pid
			 : track->kind == TRACK_THREAD ? (uint32_t)track->tid
						       : 0;
	uint32_t parent = 0;
	uint64_t place;
	int status = STATUS_OK;

	if (track->has_parent && !has_root(tracks, track)) {
		tracks->loops++;
		track->has_parent = false;
	}
	if (track->kind == TRACK_ASYNC && track->device)
		track->kind = TRACK_DEVICE;
	if (track->kind == TRACK_PROCESS)
		parent = 0;
	else if (track->kind == TRACK_THREAD)
		status = need_process(tracks, track->pid, &parent);
	else if (track->has_parent && id_map_get(&tracks->uuids, track->parent, &place))
		parent = tracks->items[place].track;
	if (status != STATUS_OK)
		return status;
	import_sink_track_place(tracks->sink, track->track, parent, os_id);
	import_sink_track_kind(tracks->sink, track->track, track->kind);
	return STATUS_OK;
}

int perfetto_tracks_finish(struct perfetto_tracks *tracks)
{
	int status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < tracks->count; i++)
		status = place_track(tracks, &tracks->items[i]);
	if (tracks->loops)
		ledger_add(import_sink_ledger(tracks->sink), tracks->loops,
			"tracks that are their own ancestors", "import",
			"put beside the processes");
	return status;
}
