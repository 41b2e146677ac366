/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Links of a trace as flows between slices. A link is put on the slice that it belongs to where
 * that is safe: readers follow the order of time, and a target that begins before its source would
 * turn the arrow round. All other links are left to the exporter, as points in time that carry the
 * flow. */
#pragma once

#include "export/export_slices.h"

struct flow_link {
	uint32_t track, name;
	uint64_t time_ns, id;
	uint64_t flow; /* a number of its own in the whole trace */
	bool correlation;
	bool source, target; /* neither: a step in between */
	bool taken;          /* put on a slice */
};

struct export_flows {
	const struct trace *trace;
	bool per_process;
	struct flow_link *links; /* by track, then by time */
	size_t count, capacity;
	size_t next, track_end; /* of the track being written */
	uint64_t *found, *found_ended;
	size_t found_count, found_ended_count, found_capacity, ended_capacity;
	struct id_map *sources; /* flow -> time of its source */
};

/* Reads the links of the walk, if there are not too many to be held in memory. */
int export_flows_init(
	struct export_flows *flows, struct export_walk *walk, struct error *err) MUST_USE;
void export_flows_release(struct export_flows *flows);
/* Ids of recorded flows are one process's own. Those of imported traces hold in their whole file,
 * that is, below their machine: a launch and its kernel may be filed under different processes. */
bool export_flows_per_process(const struct trace *trace);
/* The track within which the ids of a track's links hold. */
uint32_t export_flow_group(const struct trace *trace, bool per_process, uint32_t track);
/* What a row of the table of links means. */
struct flow_link export_flow_of(const struct trace *trace, bool per_process, const uint64_t *row);
/* The slices that follow are of this track. */
void export_flows_track(struct export_flows *flows, uint32_t track);
/* Fills found and found_ended with the flows of a slice; the slices of a track come by time. */
int export_flows_take(struct export_flows *flows, const struct export_slice *slice) MUST_USE;
