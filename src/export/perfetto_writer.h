/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Packets of a Perfetto trace. All belong to one sequence, so that names, categories, and the keys
 * and texts of arguments are written once and then known by number. Times are those of
 * CLOCK_MONOTONIC on the recording machine. */
#pragma once

#include "export/export_sink.h"
#include "export/export_walk.h"

enum perfetto_type {
	PERFETTO_BEGIN = 1,
	PERFETTO_END = 2,
	PERFETTO_INSTANT = 3,
	PERFETTO_COUNTER = 4,
};

#define PERFETTO_NO_NAME UINT32_MAX

struct perfetto_event {
	enum perfetto_type type;
	uint64_t time_ns; /* from the trace's start */
	uint64_t uuid;    /* of the track */
	uint32_t name;    /* number of a name, or PERFETTO_NO_NAME */
	const struct span_arg *args;
	size_t arg_count;
	const uint64_t *flows; /* that begin or go on here */
	size_t flow_count;
	const uint64_t *ended_flows;
	size_t ended_flow_count;
	const uint64_t *counter; /* row of the table of counters */
};

struct perfetto_writer {
	const struct trace *trace;
	struct export_sink *sink;
	struct buffer scratch;
	bool *names;                     /* written already, by number of the name */
	bool *categories, *keys, *texts; /* by number of the string */
};

/* Writes the packets that every trace begins with: the clocks, and the defaults of the sequence. */
int perfetto_writer_init(struct perfetto_writer *writer, const struct trace *trace,
	struct export_sink *sink) MUST_USE;
void perfetto_writer_release(struct perfetto_writer *writer);
int perfetto_writer_event(
	struct perfetto_writer *writer, const struct perfetto_event *event) MUST_USE;
/* Begins a packet of the sequence; its content follows, then wire_close(). */
size_t perfetto_writer_packet(struct perfetto_writer *writer);
/* A point in time on a track of its own that holds metadata and ledger. */
int perfetto_writer_facts(
	struct perfetto_writer *writer, uint64_t uuid, uint64_t damaged_blocks) MUST_USE;
