/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a plane of an XPlane file says once for all of its events: names of events and of stats.
 * Bytes are borrowed from the plane being read. */
#pragma once

#include "base/id_map.h"
#include "base/wire.h"
#include "import/event_args.h"

/* Stats that mean something to us; they are kept as arguments like all others. */
enum xplane_known {
	XPLANE_OTHER,
	XPLANE_CORRELATION,
	XPLANE_STEP_NUM,
	XPLANE_PRODUCER_TYPE,
	XPLANE_PRODUCER,
	XPLANE_CONSUMER_TYPE,
	XPLANE_CONSUMER,
	XPLANE_MEMCPY_DETAILS,
	XPLANE_MEMSET_DETAILS,
	XPLANE_PROCESS_ID,
	XPLANE_START_TIME,
	XPLANE_KNOWN
};

struct xplane_stat_name {
	uint32_t name; /* string */
	enum xplane_known known;
};

struct xplane_event_name {
	uint32_t name; /* string */
	uint32_t display;
	bool has_display, has_more; /* more: stats, metadata or children */
	struct reader bytes;        /* the whole description */
};

struct xplane_meta {
	struct import_sink *sink;
	struct id_map event_ids, stat_ids; /* id -> index */
	struct xplane_event_name *events;
	size_t event_count, event_capacity;
	struct xplane_stat_name *stats;
	size_t stat_count, stat_capacity;
	uint64_t unresolved; /* references to nothing */
};

/* The values of known stats of one event. */
struct xplane_values {
	bool has[XPLANE_KNOWN];
	uint64_t value[XPLANE_KNOWN];
};

void xplane_meta_init(struct xplane_meta *meta, struct import_sink *sink);
void xplane_meta_release(struct xplane_meta *meta);
void xplane_meta_reset(struct xplane_meta *meta);

/* An entry of the map event_metadata or stat_metadata of a plane. */
int xplane_meta_event(struct xplane_meta *meta, struct reader entry) MUST_USE;
int xplane_meta_stat(struct xplane_meta *meta, struct reader entry) MUST_USE;

/* NULL when the id was never described. */
const struct xplane_event_name *xplane_meta_find(const struct xplane_meta *meta, uint64_t id);

/* Adds an XStat as an argument, and notes it in `values` when it is a known one. */
int xplane_meta_add(struct xplane_meta *meta, struct reader stat, struct event_args *args,
	struct xplane_values *values) MUST_USE;
/* Adds what the description of an event says beyond its name. */
int xplane_meta_describe(struct xplane_meta *meta, const struct xplane_event_name *event,
	struct event_args *args, struct xplane_values *values) MUST_USE;
