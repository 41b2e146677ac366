/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One plane of an XSpace, the format of TensorBoard's profile plugin: lines of events whose names,
 * and whose keys and texts of stats, are numbers into tables of the plane. A plane is one protobuf
 * message whose length comes first, so it is built in memory. */
#pragma once

#include "export/export_walk.h"

/* Keys that the plugin's tools look for. */
enum xplane_key {
	XPLANE_ROOT,
	XPLANE_STEP_NUM,
	XPLANE_CORRELATION,
	XPLANE_KERNEL_DETAILS,
	XPLANE_MEMCPY_DETAILS,
	XPLANE_START_TIME,
	XPLANE_STOP_TIME,
	XPLANE_KEYS
};

struct xplane {
	const struct trace *trace;
	struct buffer out; /* lines so far */
	bool *names;       /* numbers of names in use */
	bool *strings;     /* numbers of strings in use as key or text */
	bool keys[XPLANE_KEYS];
};

int xplane_init(struct xplane *plane, const struct trace *trace) MUST_USE;
void xplane_release(struct xplane *plane);
/* Appends the plane to `out` as a field of the XSpace and empties it for the next. */
void xplane_finish(struct xplane *plane, uint64_t id, const char *name, struct buffer *out);

/* A line of events that are there already. */
void xplane_line(struct xplane *plane, uint64_t id, const char *name, const struct buffer *events);
/* Stats of the plane itself. */
void xplane_fact(struct xplane *plane, enum xplane_key key, uint64_t value);

/* Events go to a buffer of their line, by start. Between begin and end come its stats. */
size_t xplane_event(struct xplane *plane, struct buffer *events, uint32_t name, uint64_t start_ns,
	uint64_t duration_ns);
void xplane_event_end(struct buffer *events, size_t opened);
void xplane_stat(struct xplane *plane, struct buffer *events, enum xplane_key key, uint64_t value);
void xplane_stat_text(
	struct xplane *plane, struct buffer *events, enum xplane_key key, const char *text);
void xplane_stat_arg(struct xplane *plane, struct buffer *events, const struct span_arg *arg);
