/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* TrackEvent: slices, instants, counters, flows. */
#pragma once

#include "import/perfetto_args.h"
#include "import/perfetto_tracks.h"
#include "import/slice_stack.h"

struct perfetto_events {
	struct import_sink *sink;
	struct event_args args;
	struct perfetto_args annotations;
	struct perfetto_sequences *sequences;
	struct perfetto_tracks *tracks;
	struct slice_stack slices;
	struct id_map flows; /* id -> 1: has begun */
	uint32_t flow_name;
	int64_t last_ns;
	bool any;
	struct buffer text;
};

int perfetto_events_init(struct perfetto_events *events, struct import_sink *sink,
	struct perfetto_sequences *sequences, struct perfetto_tracks *tracks) MUST_USE;
void perfetto_events_release(struct perfetto_events *events);
int perfetto_events_finish(struct perfetto_events *events) MUST_USE;

/* STATUS_FORMAT: the packet is damaged, and nothing of it was kept. */
int perfetto_events_read(struct perfetto_events *events, struct perfetto_sequence *sequence,
	struct reader bytes, int64_t time_ns) MUST_USE;
