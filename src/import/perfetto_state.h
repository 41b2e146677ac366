/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a sequence of Perfetto packets has said before: interned texts, defaults, whether anything
 * was lost on the way. Interned things become strings and stacks of the sink at once, so a
 * reference can lead to a text and never to another reference. */
#pragma once

#include "base/id_map.h"
#include "base/wire.h"
#include "import/import_sink.h"

enum perfetto_table {
	INTERNED_CATEGORY,
	INTERNED_NAME,
	INTERNED_ANNOTATION,
	INTERNED_TEXT,
	INTERNED_FUNCTION,
	INTERNED_LOCATION,
	INTERNED_FRAME,
	INTERNED_STACK, /* value: a stack + 1; of all others: a string */
	INTERNED_TABLES
};

struct perfetto_sequence {
	uint32_t id;
	bool started; /* its state was cleared once, so that it is complete since */
	bool has_clock, has_track, has_thread;
	uint32_t clock;       /* default clock */
	uint64_t track;       /* default track */
	int32_t pid, tid;     /* of the old thread_descriptor */
	int64_t reference_us; /* of the same */
	uint64_t extra_tracks[8], extra_double_tracks[8];
	unsigned extra_count, extra_double_count;
	struct id_map interned[INTERNED_TABLES];
	size_t entry_count;     /* in all of them */
	struct id_map counters; /* track -> last value of one that counts up */
};

struct perfetto_sequences {
	struct import_sink *sink;
	struct perfetto_sequence **items; /* pointers: a sequence is lent while others are added */
	size_t count, capacity;
	struct id_map ids;
	uint64_t unresolved; /* references to nothing */
	uint32_t *frames;
	size_t frame_capacity;
};

void perfetto_sequences_init(struct perfetto_sequences *sequences, struct import_sink *sink);
void perfetto_sequences_release(struct perfetto_sequences *sequences);
/* NULL when out of memory. */
struct perfetto_sequence *perfetto_sequence(struct perfetto_sequences *sequences, uint32_t id);

void perfetto_sequence_clear(
	struct perfetto_sequences *sequences, struct perfetto_sequence *sequence);
/* TracePacketDefaults. */
int perfetto_sequence_defaults(struct perfetto_sequence *sequence, struct reader bytes) MUST_USE;
/* InternedData. */
int perfetto_sequence_intern(struct perfetto_sequences *sequences,
	struct perfetto_sequence *sequence, struct reader bytes) MUST_USE;
/* The string (or stack) of an id; 0 and counted when it was never told. */
uint32_t perfetto_interned(struct perfetto_sequences *sequences,
	const struct perfetto_sequence *sequence, enum perfetto_table table, uint64_t id);
/* A place in a program as "function (file:line)". */
enum perfetto_location_kind { LOCATION_SOURCE, LOCATION_FRAME };
int perfetto_location(struct perfetto_sequences *sequences, struct reader bytes,
	enum perfetto_location_kind kind, uint32_t *ret_string) MUST_USE;
/* An interned Callstack, whose frames are ids; the stack has the innermost first. */
int perfetto_stack(struct perfetto_sequences *sequences, const struct perfetto_sequence *sequence,
	struct reader callstack, uint32_t *ret_stack) MUST_USE;
/* A TrackEvent.Callstack, which has its texts inside. */
int perfetto_inline_stack(struct perfetto_sequences *sequences, struct reader callstack,
	uint32_t *ret_stack) MUST_USE;
