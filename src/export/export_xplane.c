// SPDX-License-Identifier: MIT OR Apache-2.0
/* XPlane, as TensorBoard's profile plugin reads it. Threads and everything else of a process are
 * lines of the plane /host:CPU, streams of device N those of /device:GPU:N. Steps are marked as
 * roots and correlation ids are stats on both sides, which is what the plugin groups by.
 *
 * The output is one file, or a log folder in which it gets the place where the plugin looks:
 * FOLDER/plugins/profile/RUN/HOST.xplane.pb. */
#include "base/array.h"
#include "base/wire.h"
#include "export/export_flows.h"
#include "export/export_sink.h"
#include "export/xplane_path.h"
#include "export/xplane_plane.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACE_HOSTNAMES 4
#define PLANE_BYTES_MAX ((size_t)INT32_MAX) /* no reader of protobuf takes a longer message */

struct mark {
	uint64_t time_ns;
	uint32_t name;
};

struct xplane_export {
	const struct trace *trace;
	struct export_sink sink;
	struct xplane plane;
	struct export_flows flows;
	struct buffer *lanes; /* events of the track being read, by lane */
	size_t lane_count, lane_capacity;
	struct mark *marks;
	size_t mark_count, mark_capacity;
	uint64_t *devices; /* by track: number of its device + 1, or 0 */
	uint64_t plane_count;
	uint64_t line_count; /* of further lanes and marks, whose numbers follow those of the tracks
			      */
};

/* "GPU 0 stream 7", "cuda:1": the number behind the first word that names a device. */
static uint64_t device_in_name(const char *name, bool *ret_found)
{
	static const char *const words[] = { "gpu", "cuda", "device" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		const char *at = strcasestr(name, words[i]);

		if (!at)
			continue;
		at += strlen(words[i]);
		at += strspn(at, " :#");
		if (isdigit((unsigned char)*at)) {
			*ret_found = true;
			return strtoull(at, NULL, 10);
		}
	}
	return 0;
}

/* PyTorch files the streams of a device under a process whose number is the device's. */
static bool only_devices(const struct trace *trace, uint32_t process)
{
	for (uint32_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].process == process && trace->tracks[i].kind == TRACK_THREAD)
			return false;
	return trace->tracks[process].kind == TRACK_PROCESS;
}

static int number_devices(struct xplane_export *export)
{
	const struct trace *trace = export->trace;

	export->devices = calloc((size_t)trace->track_count + 1, sizeof *export->devices);
	if (!export->devices)
		return STATUS_NOMEM;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct trace_track *track = &trace->tracks[i];
		bool found = false;
		uint64_t number;

		if (track->kind != TRACK_DEVICE)
			continue;
		number = device_in_name(track->name, &found);
		if (!found)
			number = device_in_name(trace->tracks[track->parent].name, &found);
		if (!found && only_devices(trace, track->process))
			number = trace->tracks[track->process].os_id;
		export->devices[i] = number + 1;
	}
	return STATUS_OK;
}

/* The number of a step, or false when the span is none. */
static bool step_of(const struct trace *trace, const struct export_span *span, uint64_t *ret_number)
{
	static const char torch[] = "ProfilerStep#";
	const struct trace_name *name = &trace->names[span->name];

	if (trace->tracks[span->track].kind != TRACK_THREAD)
		return false;
	if (strncmp(name->name, torch, sizeof torch - 1) == 0) {
		*ret_number = strtoull(name->name + sizeof torch - 1, NULL, 10);
		return true;
	}
	if (strcmp(name->category, "step") != 0)
		return false;
	for (size_t i = 0; i < span->arg_count; i++)
		if (span->args[i].type == ARG_INTEGER &&
			strcmp(export_string(trace, span->args[i].key), "step") == 0) {
			*ret_number = span->args[i].value;
			return true;
		}
	return false;
}

/* Numbers out of the text of an argument: 3, or [128,1,1]. */
static void put_triple(struct buffer *text, const char *token, const char *value)
{
	buffer_printf(text, " %s:", token);
	for (; *value; value++)
		if (isdigit((unsigned char)*value) || *value == ',')
			buffer_byte(text, (uint8_t)*value);
}

/* The launch as the plugin's table of kernels shows it. What a trace does not tell is left out. */
static void put_kernel_details(
	struct xplane_export *export, struct buffer *events, const struct export_span *span)
{
	static const struct {
		const char *key, *token;
	} known[] = {
		{ "registers per thread", "regs" },
		{ "shared memory", "dynamic_shared" },
		{ "grid", "grid" },
		{ "block", "block" },
		{ "est. achieved occupancy %", "occ_pct" },
	};
	struct buffer text = { 0 };

	buffer_text(&text, "static_shared:0");
	for (size_t i = 0; i < span->arg_count; i++)
		for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
			const struct span_arg *arg = &span->args[i];

			if (strcmp(export_string(export->trace, arg->key), known[k].key) != 0)
				continue;
			if (arg->type == ARG_INTEGER)
				buffer_printf(&text, " %s:%llu", known[k].token,
					(unsigned long long)arg->value);
			else if (arg->type != ARG_DOUBLE)
				put_triple(&text, known[k].token,
					export_string(export->trace, arg->value));
		}
	buffer_byte(&text, 0);
	if (buffer_ok(&text))
		xplane_stat_text(
			&export->plane, events, XPLANE_KERNEL_DETAILS, (const char *)text.data);
	buffer_release(&text);
}

static void put_memcpy_details(
	struct xplane_export *export, struct buffer *events, const struct export_span *span)
{
	char text[64];

	for (size_t i = 0; i < span->arg_count; i++)
		if (span->args[i].type == ARG_INTEGER &&
			strcmp(export_string(export->trace, span->args[i].key), "bytes") == 0) {
			snprintf(text, sizeof text, "size:%llu",
				(unsigned long long)span->args[i].value);
			xplane_stat_text(&export->plane, events, XPLANE_MEMCPY_DETAILS, text);
			return;
		}
}

static void put_device_stats(
	struct xplane_export *export, struct buffer *events, const struct export_span *span)
{
	const char *category = export->trace->names[span->name].category;

	if (strcmp(category, "kernel") == 0)
		put_kernel_details(export, events, span);
	else if (strstr(category, "memcpy"))
		put_memcpy_details(export, events, span);
}

static struct buffer *lane_of(struct xplane_export *export, uint32_t lane)
{
	while (export->lane_count <= lane) {
		if (array_grow((void **)&export->lanes, &export->lane_capacity,
			    export->lane_count + 1, sizeof *export->lanes) != STATUS_OK)
			return NULL;
		buffer_init(&export->lanes[export->lane_count++]);
	}
	return &export->lanes[lane];
}

/* Launches that no span took, as events without length: they stand where they happened, inside the
 * span that they belong to. */
static void put_launches(struct xplane_export *export, struct buffer *events, uint64_t until_ns)
{
	struct export_flows *flows = &export->flows;

	for (; flows->next < flows->track_end; flows->next++) {
		struct flow_link *link = &flows->links[flows->next];
		size_t opened;

		if (link->time_ns >= until_ns)
			return;
		if (link->taken || !link->correlation || !link->source)
			continue;
		link->taken = true;
		opened = xplane_event(&export->plane, events, link->name, link->time_ns, 0);
		xplane_stat(&export->plane, events, XPLANE_CORRELATION, link->id);
		xplane_event_end(events, opened);
	}
}

/* PyTorch's events name their correlation themselves. */
static bool correlation_arg(
	const struct trace *trace, const struct export_span *span, uint64_t *ret_id)
{
	for (size_t i = 0; i < span->arg_count; i++)
		if (span->args[i].type == ARG_INTEGER &&
			strcmp(export_string(trace, span->args[i].key), "correlation") == 0) {
			*ret_id = span->args[i].value;
			return true;
		}
	return false;
}

/* The first correlation that the slice alone holds. */
static const struct flow_link *correlation_of(
	struct xplane_export *export, const struct export_slice *slice)
{
	struct export_flows *flows = &export->flows;

	for (size_t i = flows->next; i < flows->track_end; i++) {
		struct flow_link *link = &flows->links[i];

		if (link->time_ns != slice->span.start_ns && link->time_ns >= slice->quiet_ns)
			break;
		if (link->time_ns < slice->span.start_ns || link->taken || !link->correlation)
			continue;
		link->taken = true;
		return link;
	}
	return NULL;
}

static int begin_slice(void *context, const struct export_slice *slice)
{
	struct xplane_export *export = context;
	const struct export_span *span = &slice->span;
	struct buffer *events = lane_of(export, slice->lane);
	const struct flow_link *link;
	uint64_t number, id;
	size_t opened;

	if (!events)
		return STATUS_NOMEM;
	if (slice->lane == 0)
		put_launches(export, events, span->start_ns);
	link = correlation_of(export, slice);
	opened =
		xplane_event(&export->plane, events, span->name, span->start_ns, span->duration_ns);
	if (step_of(export->trace, span, &number)) {
		xplane_stat(&export->plane, events, XPLANE_ROOT, 1);
		xplane_stat(&export->plane, events, XPLANE_STEP_NUM, number);
	}
	if (link || correlation_arg(export->trace, span, &id))
		xplane_stat(&export->plane, events, XPLANE_CORRELATION, link ? link->id : id);
	if (export->devices[span->track])
		put_device_stats(export, events, span);
	for (size_t i = 0; i < span->arg_count; i++)
		xplane_stat_arg(&export->plane, events, &span->args[i]);
	xplane_event_end(events, opened);
	if (events->length > PLANE_BYTES_MAX)
		return STATUS_LIMIT;
	return buffer_ok(events) ? STATUS_OK : STATUS_NOMEM;
}

static int end_slice(void *context, uint32_t track, uint32_t lane, uint64_t time_ns)
{
	(void)context, (void)track, (void)lane, (void)time_ns;
	return STATUS_OK;
}

static int keep_mark(struct xplane_export *export, uint64_t time_ns, uint64_t name)
{
	if (array_grow((void **)&export->marks, &export->mark_capacity, export->mark_count + 1,
		    sizeof *export->marks) != STATUS_OK)
		return STATUS_NOMEM;
	export->marks[export->mark_count++] =
		(struct mark){ .time_ns = time_ns, .name = (uint32_t)name };
	return STATUS_OK;
}

static int keep_mark_row(void *context, const uint64_t *row)
{
	return keep_mark(context, row[MARKS_TIME], row[MARKS_NAME]);
}

static int keep_instant(void *context, const struct export_span *span)
{
	return keep_mark(context, span->start_ns, span->name);
}

/* Viewers take 32 bits of a line's number. */
static uint64_t further_line(struct xplane_export *export)
{
	return (uint64_t) export->trace->track_count + ++export->line_count;
}

static int put_track(
	struct xplane_export *export, struct export_walk *walk, uint32_t id, struct error *err)
{
	static const struct export_slice_calls calls = { begin_slice, end_slice, keep_instant };
	const struct trace_track *track = &export->trace->tracks[id];
	const struct trace_track *process = &export->trace->tracks[track->process];
	const char *name = track->name[0] ? track->name : track_kind_name(track->kind);
	char text[512];
	int status;

	for (size_t i = 0; i < export->lane_count; i++)
		buffer_reset(&export->lanes[i]);
	export_flows_track(&export->flows, id);
	status = export_slices(walk, id, &calls, export, err);
	if (status == STATUS_OK && export->lane_count)
		put_launches(export, &export->lanes[0], UINT64_MAX);
	for (size_t i = 0; i < export->lane_count && status == STATUS_OK; i++) {
		if (!export->lanes[i].length)
			continue;
		snprintf(text, sizeof text, "%s%s%s",
			track->kind == TRACK_DEVICE ? "" : process->name,
			track->kind == TRACK_DEVICE ? "" : "/", name);
		if (i)
			snprintf(text + strlen(text), sizeof text - strlen(text), " (%zu)", i + 1);
		xplane_line(&export->plane, i ? further_line(export) : (uint64_t)id + 1, text,
			&export->lanes[i]);
		if (export->plane.out.length > PLANE_BYTES_MAX)
			status = STATUS_LIMIT;
	}
	return status;
}

static int end_plane(struct xplane_export *export, const char *name)
{
	xplane_finish(&export->plane, ++export->plane_count, name, &export->sink.out);
	return export_sink_spill(&export->sink);
}

static int compare_marks(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int put_marks(struct xplane_export *export, struct export_walk *walk, struct error *err)
{
	struct buffer events = { 0 };
	int status = export_walk_rows(walk, TABLE_MARKS, keep_mark_row, export, err);

	if (status != STATUS_OK || !export->mark_count)
		return status;
	qsort(export->marks, export->mark_count, sizeof *export->marks, compare_marks);
	for (size_t i = 0; i < export->mark_count; i++)
		xplane_event_end(
			&events, xplane_event(&export->plane, &events, export->marks[i].name,
					 export->marks[i].time_ns, 0));
	xplane_line(&export->plane, (uint64_t) export->trace->track_count + 1, "marks", &events);
	if (!buffer_ok(&events))
		status = STATUS_NOMEM;
	buffer_release(&events);
	return status;
}

/* The tracks of one plane: of device `device` - 1, or of the host for 0. */
static int put_tracks(
	struct xplane_export *export, struct export_walk *walk, uint64_t device, struct error *err)
{
	int status = STATUS_OK;

	for (uint32_t i = 0; i < export->trace->track_count && status == STATUS_OK; i++)
		if (export->devices[i] == device)
			status = put_track(export, walk, i, err);
	return status;
}

/* Planes of devices by number, each once. */
static int put_devices(struct xplane_export *export, struct export_walk *walk, struct error *err)
{
	uint64_t done = 0;
	int status = STATUS_OK;

	while (status == STATUS_OK) {
		uint64_t next = UINT64_MAX;
		char name[48];

		for (uint32_t i = 0; i < export->trace->track_count; i++)
			if (export->devices[i] > done && export->devices[i] < next)
				next = export->devices[i];
		if (next == UINT64_MAX)
			break;
		status = put_tracks(export, walk, next, err);
		snprintf(name, sizeof name, "/device:GPU:%llu", (unsigned long long)next - 1);
		if (status == STATUS_OK)
			status = end_plane(export, name);
		done = next;
	}
	return status;
}

static int put_space(struct xplane_export *export, struct export_walk *walk, struct error *err)
{
	const struct trace *trace = export->trace;
	int status = export_flows_init(&export->flows, walk, err);

	export_slices_prepare(walk);
	if (status == STATUS_OK)
		status = put_devices(export, walk, err);
	if (status == STATUS_OK)
		status = put_tracks(export, walk, 0, err);
	if (status == STATUS_OK)
		status = put_marks(export, walk, err);
	if (status == STATUS_OK)
		status = end_plane(export, "/host:CPU");
	if (status == STATUS_OK) {
		xplane_fact(&export->plane, XPLANE_START_TIME, trace->header.start_unix_ns);
		xplane_fact(&export->plane, XPLANE_STOP_TIME,
			trace->header.start_unix_ns + trace->span_ns);
		status = end_plane(export, "Task Environment");
	}
	wire_text(&export->sink.out, SPACE_HOSTNAMES, xplane_host(trace));
	if (status == STATUS_LIMIT && !err->message[0])
		error_set(err, status,
			"a plane of more than 2 GiB, which no reader of protobuf takes; cut a window "
			"out with --from and --until");
	export_flows_release(&export->flows);
	return status;
}

static void export_release(struct xplane_export *export)
{
	for (size_t i = 0; i < export->lane_count; i++)
		buffer_release(&export->lanes[i]);
	xplane_release(&export->plane);
	free(export->lanes);
	free(export->marks);
	free(export->devices);
}

static int run_xplane(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct xplane_export export = { .trace = trace };
	struct export_options placed = *options;
	struct export_walk walk;
	char *path = NULL;
	int status = xplane_path(trace, options->path, &path, err);

	if (status != STATUS_OK)
		return status;
	placed.path = path;
	status = export_walk_init(&walk, trace, options, err);
	if (status != STATUS_OK)
		goto out;
	status = export_sink_open(&export.sink, &placed, false, err);
	if (status == STATUS_OK) {
		status = number_devices(&export);
		if (status == STATUS_OK)
			status = xplane_init(&export.plane, trace);
		if (status == STATUS_OK)
			status = put_space(&export, &walk, err);
		status = export_sink_finish(&export.sink, status, err);
	}
	*ret_result = walk.result;
	export_release(&export);
	export_walk_release(&walk);
out:
	free(path);
	return status;
}

const struct exporter export_xplane = {
	.name = "xplane",
	.summary = "a profile for TensorBoard: one file, or a log folder",
	.extensions = ".xplane.pb",
	.run = run_xplane,
};
