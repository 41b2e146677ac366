// SPDX-License-Identifier: MIT OR Apache-2.0
/* The forest of tracks: made sound, whatever the file says. */
#include "base/array.h"
#include "trace/trace_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void mend_texts(struct trace *trace)
{
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		struct trace_track *track = &trace->tracks[i];

		wrong += !track->name || !track->unit;
		track->name = track->name ? track->name : "?";
		track->unit = track->unit ? track->unit : "";
	}
	if (wrong)
		trace_note_repaired(
			trace, wrong, "tracks without a string", "tracks", "shown as \"?\"");
}

/* A program may name its threads while it runs; the newest name is a fact "track.N.name". */
static void apply_names(struct trace *trace)
{
	for (size_t i = 0; i < trace->metadata_count; i++) {
		const struct trace_pair *pair = &trace->metadata[i];
		uint32_t id;
		int end = 0;

		if (sscanf(pair->key, "track.%" SCNu32 ".name%n", &id, &end) == 1 && end &&
			!pair->key[end] && id < trace->track_count && pair->value[0])
			trace->tracks[id].name = pair->value;
	}
}

static void mend_parents(struct trace *trace)
{
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].parent >= trace->track_count) {
			trace->tracks[i].parent = i;
			wrong++;
		}
	if (wrong)
		trace_note_repaired(trace, wrong, "tracks without a parent", "tracks",
			"shown as roots of their own");
}

/* Cuts rings. Each walk goes up to where an earlier one has been, so all together are linear;
 * meeting the walk's own mark means a ring. `mark` is zeroed memory, one per track. */
static void cut_rings(struct trace *trace, uint32_t *mark)
{
	uint64_t rings = 0;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		uint32_t at = i;

		while (mark[at] == 0) {
			uint32_t parent = trace->tracks[at].parent;

			mark[at] = i + 1;
			if (mark[parent] == i + 1 && parent != at) {
				trace->tracks[at].parent = at;
				rings++;
			}
			at = trace->tracks[at].parent;
		}
	}
	if (rings)
		trace_note_repaired(trace, rings, "tracks that are their own ancestors", "tracks",
			"shown as roots of their own");
}

/* The process of a track is its nearest ancestor (or itself) that is a process or the machine, else
 * its root. UINT32_MAX while it is not known. */
static void find_processes(struct trace *trace)
{
	for (uint32_t i = 0; i < trace->track_count; i++)
		trace->tracks[i].process = UINT32_MAX;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct trace_track *top = &trace->tracks[i];
		uint32_t process;

		while (top->process == UINT32_MAX && top->parent != top->id &&
			top->kind != TRACK_PROCESS && top->kind != TRACK_MACHINE)
			top = &trace->tracks[top->parent];
		process = top->process == UINT32_MAX ? top->id : top->process;
		for (struct trace_track *at = &trace->tracks[i]; at->process == UINT32_MAX;
			at = &trace->tracks[at->parent]) {
			at->process = process;
			if (at == top)
				break;
		}
	}
}

static int add_lost_track(struct trace *trace, size_t *capacity)
{
	uint32_t id = trace->track_count;

	if (array_grow((void **)&trace->tracks, capacity, (size_t)id + 1, sizeof *trace->tracks))
		return STATUS_NOMEM;
	trace->tracks[id] = (struct trace_track){
		.id = id, .parent = id, .kind = TRACK_OTHER, .name = "?", .unit = "", .process = id
	};
	trace->track_count++;
	trace->lost_track = id;
	return STATUS_OK;
}

int trace_tracks_finish(struct trace *trace, size_t *capacity, bool lost)
{
	uint32_t *mark = calloc((size_t)trace->track_count + 1, sizeof *mark);
	uint64_t wrong = 0;
	int status = STATUS_OK;

	if (!mark)
		return STATUS_NOMEM;
	for (size_t i = 0; i < trace->block_count; i++)
		wrong += trace->blocks[i].table == TABLE_SPANS &&
			 trace->blocks[i].track >= trace->track_count;
	mend_texts(trace);
	apply_names(trace);
	mend_parents(trace);
	cut_rings(trace, mark);
	free(mark);
	find_processes(trace);
	if (lost || wrong)
		status = add_lost_track(trace, capacity);
	if (status != STATUS_OK || wrong == 0)
		return status;
	for (size_t i = 0; i < trace->block_count; i++)
		if (trace->blocks[i].table == TABLE_SPANS &&
			trace->blocks[i].track >= trace->lost_track)
			trace->blocks[i].track = trace->lost_track;
	trace_note_repaired(trace, wrong, "span blocks of an unknown track", "tracks",
		"their spans are shown under the track \"?\"");
	return STATUS_OK;
}
