/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From ticks to nanoseconds of the trace. Anchors against CLOCK_MONOTONIC are taken again and
 * again; between them the conversion is a straight line, each line starting where the last one
 * ended, so time never jumps and an event converted once would convert to the same again. */
#pragma once

#include "base/clock.h"

#define CLOCK_SEGMENTS 64u

struct clock_segment {
	uint64_t ticks, ns;
	uint64_t scale; /* nanoseconds per tick, 32.32 fixed point */
};

struct clock_sync {
	enum clock_kind kind;
	struct clock_anchor first, last;
	struct clock_segment segments[CLOCK_SEGMENTS]; /* ring */
	uint32_t count;
	uint64_t next_ns;  /* CLOCK_MONOTONIC time of the next anchor */
	uint64_t worst_ns; /* largest distance between line and anchor seen, plus the anchor's error
			    */
	uint32_t anchors;
};

void clock_sync_init(struct clock_sync *sync, enum clock_kind kind);
/* Takes an anchor when one is due; call often. The first takes a few milliseconds. */
void clock_sync_update(struct clock_sync *sync, uint64_t now_mono_ns);
uint64_t clock_sync_ns_slow(const struct clock_sync *sync, uint64_t ticks);

/* Nanoseconds since the trace's start; before it 0. */
static inline uint64_t clock_sync_ns(const struct clock_sync *sync, uint64_t ticks)
{
	const struct clock_segment *now = &sync->segments[(sync->count - 1) % CLOCK_SEGMENTS];

	if (__builtin_expect(ticks < now->ticks, 0))
		return clock_sync_ns_slow(sync, ticks);
	return now->ns + (uint64_t)(((unsigned __int128)(ticks - now->ticks) * now->scale) >> 32);
}

/* The same from system clocks. */
uint64_t clock_sync_from_mono(const struct clock_sync *sync, uint64_t mono_ns);
uint64_t clock_sync_from_real(const struct clock_sync *sync, uint64_t real_ns);
