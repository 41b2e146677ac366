/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Links of a trace as flows of a Perfetto trace. A flow is drawn between slices, so a link is put
 * on the slice that it belongs to where that is safe: readers follow the order of time, and a
 * target that begins before its source would turn the arrow round. All other links become points in
 * time that carry the flow. */
#pragma once

#include "export/export_slices.h"

struct flow_link {
	uint32_t track, name;
	uint64_t time_ns, flow;
	bool source, target; /* neither: a step in between */
	bool taken;          /* put on a slice */
};

struct perfetto_flows {
	const struct trace *trace;
	struct flow_link *links; /* by track, then by time */
	size_t count, capacity;
	size_t next, track_end; /* of the track being written */
	uint64_t *found, *found_ended;
	size_t found_count, found_ended_count, found_capacity, ended_capacity;
	struct id_map *sources; /* flow -> time of its source */
};

/* Reads the links of the walk, if there are not too many to be held in memory. */
int perfetto_flows_init(
	struct perfetto_flows *flows, struct export_walk *walk, struct error *err) MUST_USE;
void perfetto_flows_release(struct perfetto_flows *flows);
/* What a row of the table of links means. */
struct flow_link perfetto_flow_of(const struct trace *trace, const uint64_t *row);
/* The slices that follow are of this track. */
void perfetto_flows_track(struct perfetto_flows *flows, uint32_t track);
/* Fills found and found_ended with the flows of a slice; the slices of a track come by time. */
int perfetto_flows_take(struct perfetto_flows *flows, const struct export_slice *slice) MUST_USE;
