// SPDX-License-Identifier: MIT OR Apache-2.0
/* Perfetto's own format: a stream of packets with track events.
 *
 *   process, thread          tracks of the system, under their numbers
 *   device, remote, async    tracks of their process; spans that overlap lie on further tracks of
 *                            the same name, which the viewer shows as one
 *   counters                 counter tracks with their unit
 *   links                    flows (export_flows.h)
 *
 * Packets of a track are in the order of time; tracks follow each other. */
#include "base/id_map.h"
#include "base/wire.h"
#include "export/export_flows.h"
#include "export/perfetto_fields.h"
#include "export/perfetto_writer.h"

#include <stdlib.h>
#include <string.h>

#define SYNTHETIC_ID 0x40000000u /* Linux numbers processes and threads below 2^22 */

struct perfetto_export {
	const struct trace *trace;
	struct perfetto_writer writer;
	struct export_flows flows;
	uint64_t *os_ids;     /* by track: pid or tid as written */
	uint32_t track_lanes; /* of the track being written: lanes that are described */
};

/* 0 is no track. */
static uint64_t uuid_of(uint32_t track, uint32_t lane)
{
	return (uint64_t)lane << 32 | ((uint64_t)track + 1);
}

/* Numbers of the system, each once in its process; 0 is the kernel's idle task to Perfetto. */
static int number_tracks(struct perfetto_export *export)
{
	const struct trace *trace = export->trace;
	struct id_map used;
	int status = STATUS_OK;

	export->os_ids = calloc((size_t)trace->track_count + 1, sizeof *export->os_ids);
	if (!export->os_ids)
		return STATUS_NOMEM;
	id_map_init(&used);
	for (uint32_t i = 0; i < trace->track_count && status == STATUS_OK; i++) {
		const struct trace_track *track = &trace->tracks[i];
		bool thread = track->kind == TRACK_THREAD;
		uint64_t key = (thread ? 1u : 0) | track->os_id << 1, before;

		if (track->kind != TRACK_PROCESS && !thread)
			continue;
		export->os_ids[i] = SYNTHETIC_ID + i;
		if (track->os_id == 0 || track->os_id >= SYNTHETIC_ID ||
			id_map_get(&used, key, &before))
			continue;
		export->os_ids[i] = track->os_id;
		status = id_map_put(&used, key, i);
	}
	id_map_release(&used);
	return status;
}

static void put_unit(struct buffer *out, const char *unit)
{
	size_t opened = wire_open(out, DESCRIPTOR_COUNTER);

	if (strcmp(unit, "bytes") == 0)
		wire_u64(out, COUNTER_UNIT, UNIT_SIZE_BYTES);
	else if (strcmp(unit, "ns") == 0)
		wire_u64(out, COUNTER_UNIT, UNIT_TIME_NS);
	else if (strcmp(unit, "count") == 0)
		wire_u64(out, COUNTER_UNIT, UNIT_COUNT);
	else if (unit[0])
		wire_text(out, COUNTER_UNIT_NAME, unit);
	wire_close(out, opened);
}

static void put_process(struct perfetto_export *export, const struct trace_track *track)
{
	struct buffer *out = &export->writer.sink->out;
	size_t opened = wire_open(out, DESCRIPTOR_PROCESS);

	wire_u64(out, PROCESS_PID, export->os_ids[track->id]);
	wire_text(out, PROCESS_NAME, track->name);
	wire_close(out, opened);
}

static void put_thread(struct perfetto_export *export, const struct trace_track *track)
{
	struct buffer *out = &export->writer.sink->out;
	size_t opened = wire_open(out, DESCRIPTOR_THREAD);

	wire_u64(out, THREAD_PID, export->os_ids[track->process]);
	wire_u64(out, THREAD_TID, export->os_ids[track->id]);
	wire_text(out, THREAD_NAME, track->name);
	wire_close(out, opened);
}

/* A track, or a further lane of one. */
static int put_descriptor(struct perfetto_export *export, uint32_t id, uint32_t lane)
{
	const struct trace_track *track = &export->trace->tracks[id];
	const struct trace_track *process = &export->trace->tracks[track->process];
	struct buffer *out = &export->writer.sink->out;
	size_t packet = perfetto_writer_packet(&export->writer);
	size_t opened = wire_open(out, PACKET_DESCRIPTOR);
	const struct trace_track *parent = &export->trace->tracks[track->parent];

	wire_u64(out, DESCRIPTOR_UUID, uuid_of(id, lane));
	if (lane && track->kind == TRACK_THREAD)
		wire_u64(out, DESCRIPTOR_PARENT, uuid_of(id, 0));
	else if (track->kind != TRACK_PROCESS && parent->kind != TRACK_MACHINE && parent != track)
		wire_u64(out, DESCRIPTOR_PARENT, uuid_of(parent->id, 0));
	if (track->kind == TRACK_PROCESS && lane == 0)
		put_process(export, track);
	else if (track->kind == TRACK_THREAD && lane == 0 && process->kind == TRACK_PROCESS)
		put_thread(export, track);
	else
		wire_text(out, DESCRIPTOR_NAME,
			track->name[0] ? track->name : track_kind_name(track->kind));
	if (track->kind == TRACK_COUNTER && lane == 0)
		put_unit(out, track->unit);
	wire_close(out, opened);
	wire_close(out, packet);
	return export_sink_spill(export->writer.sink);
}

/* Parents first: a descriptor comes before those that refer to it. */
static int put_descriptors(struct perfetto_export *export)
{
	const struct trace *trace = export->trace;
	int status = STATUS_OK;

	for (int round = 0; round < 3; round++)
		for (uint32_t i = 0; i < trace->track_count && status == STATUS_OK; i++) {
			enum track_kind kind = trace->tracks[i].kind;
			int wanted = kind == TRACK_PROCESS ? 0 : kind == TRACK_COUNTER ? 2 : 1;

			if (wanted == round)
				status = put_descriptor(export, i, 0);
		}
	return status;
}

static int begin_slice(void *context, const struct export_slice *slice)
{
	struct perfetto_export *export = context;
	const struct export_span *span = &slice->span;
	struct perfetto_event event = { .type = PERFETTO_BEGIN,
		.time_ns = span->start_ns,
		.uuid = uuid_of(span->track, slice->lane),
		.name = span->name,
		.args = span->args,
		.arg_count = span->arg_count };
	int status = STATUS_OK;

	for (; export->track_lanes <= slice->lane && status == STATUS_OK; export->track_lanes++)
		status = put_descriptor(export, span->track, export->track_lanes);
	if (status == STATUS_OK && export->flows.next < export->flows.track_end) {
		status = export_flows_take(&export->flows, slice);
		event.flows = export->flows.found;
		event.flow_count = export->flows.found_count;
		event.ended_flows = export->flows.found_ended;
		event.ended_flow_count = export->flows.found_ended_count;
	}
	return status == STATUS_OK ? perfetto_writer_event(&export->writer, &event) : status;
}

static int end_slice(void *context, uint32_t track, uint32_t lane, uint64_t time_ns)
{
	struct perfetto_export *export = context;
	struct perfetto_event event = { .type = PERFETTO_END,
		.time_ns = time_ns,
		.uuid = uuid_of(track, lane),
		.name = PERFETTO_NO_NAME };

	return perfetto_writer_event(&export->writer, &event);
}

static int put_instant(void *context, const struct export_span *span)
{
	struct perfetto_export *export = context;
	struct perfetto_event event = { .type = PERFETTO_INSTANT,
		.time_ns = span->start_ns,
		.uuid = uuid_of(span->track, 0),
		.name = span->name,
		.args = span->args,
		.arg_count = span->arg_count };

	return perfetto_writer_event(&export->writer, &event);
}

static int put_mark(void *context, const uint64_t *row)
{
	struct perfetto_export *export = context;
	struct perfetto_event event = { .type = PERFETTO_INSTANT,
		.time_ns = row[MARKS_TIME],
		.uuid = uuid_of((uint32_t)row[MARKS_TRACK], 0),
		.name = (uint32_t)row[MARKS_NAME] };

	return perfetto_writer_event(&export->writer, &event);
}

static int put_counter(void *context, const uint64_t *row)
{
	struct perfetto_export *export = context;
	struct perfetto_event event = { .type = PERFETTO_COUNTER,
		.time_ns = row[COUNTERS_TIME],
		.uuid = uuid_of((uint32_t)row[COUNTERS_TRACK], 0),
		.name = PERFETTO_NO_NAME,
		.counter = row };

	return perfetto_writer_event(&export->writer, &event);
}

static int put_flow(struct perfetto_export *export, const struct flow_link *link)
{
	struct perfetto_event event = { .type = PERFETTO_INSTANT,
		.time_ns = link->time_ns,
		.uuid = uuid_of(link->track, 0),
		.name = link->name };

	if (link->target) {
		event.ended_flows = &link->flow;
		event.ended_flow_count = 1;
	} else {
		event.flows = &link->flow;
		event.flow_count = 1;
	}
	return perfetto_writer_event(&export->writer, &event);
}

static int put_link(void *context, const uint64_t *row)
{
	struct perfetto_export *export = context;
	struct flow_link link = export_flow_of(export->trace, export->flows.per_process, row);

	return put_flow(export, &link);
}

/* Links that no slice took; not those that lead from nowhere. */
static int put_links(struct perfetto_export *export, struct export_walk *walk, struct error *err)
{
	int status = STATUS_OK;
	uint64_t source_ns;

	if (!export->flows.sources)
		return export_walk_rows(walk, TABLE_LINKS, put_link, export, err);
	for (size_t i = 0; i < export->flows.count && status == STATUS_OK; i++)
		if (!export->flows.links[i].taken &&
			id_map_get(export->flows.sources, export->flows.links[i].flow, &source_ns))
			status = put_flow(export, &export->flows.links[i]);
	return status;
}

static int put_all(struct perfetto_export *export, struct export_walk *walk, struct error *err)
{
	static const struct export_slice_calls calls = { begin_slice, end_slice, put_instant };
	int status = export_flows_init(&export->flows, walk, err);

	if (status == STATUS_OK)
		status = put_descriptors(export);
	export_slices_prepare(walk);
	for (uint32_t i = 0; i < export->trace->track_count && status == STATUS_OK; i++) {
		export->track_lanes = 1;
		export_flows_track(&export->flows, i);
		status = export_slices(walk, i, &calls, export, err);
	}
	if (status == STATUS_OK)
		status = export_walk_rows(walk, TABLE_COUNTERS, put_counter, export, err);
	if (status == STATUS_OK)
		status = export_walk_rows(walk, TABLE_MARKS, put_mark, export, err);
	if (status == STATUS_OK)
		status = put_links(export, walk, err);
	if (status == STATUS_OK)
		status = perfetto_writer_facts(&export->writer,
			uuid_of(export->trace->track_count, 0), walk->result.damaged_blocks);
	export_flows_release(&export->flows);
	return status;
}

static int run_perfetto(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct perfetto_export export = { .trace = trace };
	struct export_sink sink;
	struct export_walk walk;
	int status = export_walk_init(&walk, trace, options, err);

	if (status != STATUS_OK)
		return status;
	status = export_sink_open(&sink, options, false, err);
	if (status == STATUS_OK) {
		status = number_tracks(&export);
		if (status == STATUS_OK)
			status = perfetto_writer_init(&export.writer, trace, &sink);
		if (status == STATUS_OK) {
			status = put_all(&export, &walk, err);
			perfetto_writer_release(&export.writer);
		}
		status = export_sink_finish(&sink, status, err);
	}
	*ret_result = walk.result;
	free(export.os_ids);
	export_walk_release(&walk);
	return status;
}

const struct exporter export_perfetto = {
	.name = "perfetto",
	.summary = "Perfetto's own format, for ui.perfetto.dev and its trace processor",
	.extensions = ".perfetto-trace .pftrace",
	.run = run_perfetto,
};
