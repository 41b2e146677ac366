/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The spans of a track as begins and ends, in the order of time and properly nested: what formats
 * with a stack per track want. A trace stores scopes in the order they ended, and spans with times
 * of their own in any order; here both are put in order block by block, so that memory follows the
 * size of a block and the depth of scopes, not the length of the trace. (Spans with times of their
 * own: the number of blocks that overlap in time.)
 *
 * Spans that overlap without nesting are dealt out to lanes. Lane 0 is the track itself. */
#pragma once

#include "export/export_walk.h"

struct export_slice {
	struct export_span span;
	uint32_t lane;
	uint64_t quiet_ns; /* from its start to here nothing else begins or ends inside it */
};

/* A negative status of any of these ends the walk and is returned as it is. Every begin of a lane
 * has its end, the inner ones first, and times of a lane never go back. */
struct export_slice_calls {
	int (*begin)(void *context, const struct export_slice *slice);
	int (*end)(void *context, uint32_t track, uint32_t lane, uint64_t time_ns);
	/* Points in time with arguments, in the order of the file; may be NULL. */
	int (*instant)(void *context, const struct export_span *span);
};

/* Call once before export_slices(): the spans are read twice, and the progress shall know. */
void export_slices_prepare(struct export_walk *walk);
/* All spans of one track that touch the window and pass the filter. */
int export_slices(struct export_walk *walk, uint32_t track, const struct export_slice_calls *calls,
	void *context, struct error *err) MUST_USE;
/* True when the track has spans in the window's blocks. */
bool export_slices_any(const struct export_walk *walk, uint32_t track);

/* The same reading loop over one track only, and over one of its blocks. */
int export_walk_track(struct export_walk *walk, uint32_t track, bool parents_first,
	int (*each)(void *context, const struct export_span *span), void *context,
	struct error *err) MUST_USE;
