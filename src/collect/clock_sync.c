// SPDX-License-Identifier: MIT OR Apache-2.0
/* Piecewise linear conversion of ticks; see clock_sync.h. */
#include "collect/clock_sync.h"

#include <string.h>

#define FIRST_INTERVAL_NS 2000000u /* long enough for a rate that is good to some 30 ppm */
#define LONG_INTERVAL_NS  500000000u

static struct clock_segment *newest(struct clock_sync *sync)
{
	return &sync->segments[(sync->count - 1) % CLOCK_SEGMENTS];
}

static void push(struct clock_sync *sync, uint64_t ticks, uint64_t ns, double ns_per_tick)
{
	sync->count++;
	*newest(sync) = (struct clock_segment){
		.ticks = ticks, .ns = ns, .scale = (uint64_t)(ns_per_tick * 4294967296.0 + 0.5)
	};
}

void clock_sync_init(struct clock_sync *sync, enum clock_kind kind)
{
	struct clock_anchor second;
	double rate = 1;

	memset(sync, 0, sizeof *sync);
	sync->kind = kind;
	clock_take_anchor(kind, 1, &sync->first);
	if (kind != CLOCK_KIND_MONOTONIC) {
		const struct timespec nap = { .tv_nsec = FIRST_INTERVAL_NS };

		nanosleep(&nap, NULL);
		clock_take_anchor(kind, 1, &second);
		if (second.ticks > sync->first.ticks)
			rate = (double)(second.mono_ns - sync->first.mono_ns) /
			       (double)(second.ticks - sync->first.ticks);
	}
	sync->first.error_ns = (uint64_t)((double)sync->first.error_ns * rate) + 1;
	sync->last = sync->first;
	sync->worst_ns = kind == CLOCK_KIND_MONOTONIC ? 0 : sync->first.error_ns;
	push(sync, sync->first.ticks, 0, rate);
	sync->next_ns = sync->first.mono_ns + 5 * FIRST_INTERVAL_NS;
}

/* A new line from where the old one is now, at the rate measured since the start, bent so that it
 * meets the true time when the next anchor is due. */
void clock_sync_update(struct clock_sync *sync, uint64_t now_mono_ns)
{
	struct clock_anchor anchor;
	uint64_t elapsed, line_ns, distance;
	double rate, error, interval;

	if (now_mono_ns < sync->next_ns || sync->kind == CLOCK_KIND_MONOTONIC)
		return;
	elapsed = now_mono_ns - sync->first.mono_ns;
	interval = elapsed < LONG_INTERVAL_NS ? (double)elapsed : LONG_INTERVAL_NS;
	sync->next_ns = now_mono_ns + (uint64_t)interval;
	clock_take_anchor(sync->kind, (double)newest(sync)->scale / 4294967296.0, &anchor);
	if (anchor.ticks <= newest(sync)->ticks)
		return;
	line_ns = clock_sync_ns(sync, anchor.ticks);
	error = (double)(int64_t)(anchor.mono_ns - sync->first.mono_ns - line_ns);
	distance = (uint64_t)(error < 0 ? -error : error) + anchor.error_ns;
	if (distance > sync->worst_ns)
		sync->worst_ns = distance;
	rate = (double)(anchor.mono_ns - sync->first.mono_ns) /
	       (double)(anchor.ticks - sync->first.ticks);
	/* Never bend by more than half, so that time always moves forward. */
	error = error > interval / 2 ? interval / 2 : error < -interval / 2 ? -interval / 2 : error;
	push(sync, anchor.ticks, line_ns, rate * (1 + error / interval));
	sync->last = anchor;
	sync->anchors++;
}

uint64_t clock_sync_ns_slow(const struct clock_sync *sync, uint64_t ticks)
{
	uint32_t kept = sync->count < CLOCK_SEGMENTS ? sync->count : CLOCK_SEGMENTS;
	const struct clock_segment *segment = &sync->segments[0];
	uint64_t before;

	for (uint32_t i = 1; i <= kept; i++) {
		segment = &sync->segments[(sync->count - i) % CLOCK_SEGMENTS];
		if (ticks >= segment->ticks)
			return segment->ns +
			       (uint64_t)(((unsigned __int128)(ticks - segment->ticks) *
						  segment->scale) >>
					  32);
	}
	before = (uint64_t)(((unsigned __int128)(segment->ticks - ticks) * segment->scale) >> 32);
	return before < segment->ns ? segment->ns - before : 0;
}

uint64_t clock_sync_from_mono(const struct clock_sync *sync, uint64_t mono_ns)
{
	return mono_ns > sync->first.mono_ns ? mono_ns - sync->first.mono_ns : 0;
}

uint64_t clock_sync_from_real(const struct clock_sync *sync, uint64_t real_ns)
{
	/* By the newest anchor: the wall clock may have been set since the start. */
	return clock_sync_from_mono(sync, sync->last.mono_ns + (real_ns - sync->last.real_ns));
}
