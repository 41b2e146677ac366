// SPDX-License-Identifier: MIT OR Apache-2.0
/* What the allocator did, event by event. An event is an instant with all that is said of it, an
 * allocation or a free where it is one, and a stack sample where it has frames. */
#include "import/torch_snapshot.h"

#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANNOTATIONS_MAX 4096 /* open at a time */

struct torch_open {
	const struct pickle_value *name;
	int64_t start_ns, device;
};

static bool action_is(const struct pickle_value *event, const char *word)
{
	return pickle_is(pickle_get(event, "action"), word);
}

static bool time_of(const struct pickle_value *event, int64_t *ret_ns)
{
	const struct pickle_value *time = pickle_get(event, "time_us");

	if (!time || time->kind != PICKLE_INTEGER || time->integer > INT64_MAX / 2000 ||
		time->integer < 0)
		return false;
	*ret_ns = time->integer * 1000;
	return true;
}

static int add_allocation(struct torch_snapshot *snapshot, struct torch_device *device,
	const struct pickle_value *event, int64_t time_ns)
{
	uint64_t address = (uint64_t)torch_integer(event, "addr", 0), was;
	uint64_t bytes = (uint64_t)torch_integer(event, "size", 0);
	bool segment = action_is(event, "segment_alloc") || action_is(event, "segment_map");
	bool segment_end = action_is(event, "segment_free") || action_is(event, "segment_unmap");
	uint32_t pool = segment || segment_end ? device->segment_pool : device->pool;

	if (action_is(event, "alloc")) {
		int status = id_map_put(&device->live, address, 1);

		return status == STATUS_OK
			       ? import_sink_allocation(snapshot->sink, device->track, time_ns,
					 address, bytes, pool, ALLOCATION_DEVICE)
			       : status;
	}
	if (segment)
		return import_sink_allocation(snapshot->sink, device->track, time_ns, address,
			bytes, pool, ALLOCATION_DEVICE);
	/* A free is requested first and done when the streams that used the block are through. */
	if (action_is(event, "free_completed"))
		id_map_take(&device->live, address, &was);
	else if (!segment_end)
		return STATUS_OK;
	return import_sink_allocation(snapshot->sink, device->track, time_ns, address, 0, pool,
		ALLOCATION_DEVICE | ALLOCATION_FREE);
}

static int read_event(struct torch_snapshot *snapshot, struct torch_device *device,
	const struct pickle_value *event)
{
	static const char *const except[] = { "action", "time_us", "frames", NULL };
	const struct pickle_value *action = pickle_get(event, "action");
	const char *name = action && action->kind == PICKLE_TEXT ? action->text : "?";
	uint32_t name_id, stack;
	int64_t time_ns;
	bool has_stack;
	int status;

	if (!time_of(event, &time_ns) || !event_time_ok(snapshot->sink, time_ns)) {
		import_sink_skip(snapshot->sink, "events without a time", "left out");
		return STATUS_OK;
	}
	if (time_ns < device->first_ns)
		device->first_ns = time_ns;
	if (time_ns < snapshot->first_ns)
		snapshot->first_ns = time_ns;
	if (time_ns > snapshot->last_ns)
		snapshot->last_ns = time_ns;
	event_args_reset(&snapshot->args);
	torch_arguments(snapshot, event, except);
	status = import_sink_name(snapshot->sink, name, strlen(name), "cuda_memory", 11, &name_id);
	if (status == STATUS_OK)
		status = event_instant(&snapshot->args, device->track, name_id, time_ns);
	if (status == STATUS_OK)
		status = add_allocation(snapshot, device, event, time_ns);
	if (status == STATUS_OK)
		status = torch_stack(snapshot, pickle_get(event, "frames"), &has_stack, &stack);
	if (status == STATUS_OK && has_stack)
		status = import_sink_sample(snapshot->sink, device->track, time_ns, stack);
	return status;
}

int torch_history_read(struct torch_snapshot *snapshot, const struct pickle_value *traces)
{
	int status = STATUS_OK;

	for (uint32_t d = 0; status == STATUS_OK && d < pickle_count(traces); d++) {
		const struct pickle_value *trace = &traces->list->items[d];
		struct torch_device *device;

		/* Most machines have fewer devices than the list has places. */
		if (pickle_count(trace) == 0)
			continue;
		device = torch_device(snapshot, d, &status);
		for (uint32_t i = 0; device && status == STATUS_OK && i < trace->list->count; i++) {
			if (trace->list->items[i].kind == PICKLE_DICT)
				status = read_event(snapshot, device, &trace->list->items[i]);
			else
				import_sink_skip(
					snapshot->sink, "events that are no dict", "left out");
		}
	}
	return status;
}

static int annotation_track(
	struct torch_snapshot *snapshot, struct id_map *tracks, int64_t device, uint32_t *ret_track)
{
	struct torch_device *owner;
	uint64_t found;
	char name[48];
	int status = STATUS_OK;

	if (id_map_get(tracks, (uint64_t)device, &found)) {
		*ret_track = (uint32_t)found;
		return STATUS_OK;
	}
	owner = torch_device(snapshot, device, &status);
	if (status != STATUS_OK)
		return status;
	snprintf(name, sizeof name, "cuda:%lld annotations", (long long)device);
	status = import_sink_track(
		snapshot->sink, owner ? snapshot->process : 0, TRACK_OTHER, 0, name, "", ret_track);
	return status == STATUS_OK ? id_map_put(tracks, (uint64_t)device, *ret_track) : status;
}

/* The newest open annotation of this name, or -1. */
static int find_open(
	const struct torch_open *open, int count, const struct pickle_value *name, int64_t device)
{
	for (int i = count - 1; i >= 0; i--)
		if (open[i].device == device && pickle_is(name, open[i].name->text))
			return i;
	return -1;
}

/* One annotation: START opens, END closes the newest of its name, anything else is an instant. */
static int read_annotation(struct torch_snapshot *snapshot, const struct pickle_value *note,
	uint32_t track, struct torch_open *open, int *count)
{
	static const char *const except[] = { "name", "stage", "time_us", NULL };
	const struct pickle_value *name = pickle_get(note, "name"),
				  *stage = pickle_get(note, "stage");
	int64_t time_ns, device = torch_integer(note, "device", 0);
	bool start = pickle_is(stage, "START");
	uint32_t name_id;
	int status, found;

	if (!name || name->kind != PICKLE_TEXT || !time_of(note, &time_ns)) {
		import_sink_skip(snapshot->sink, "annotations without name or time", "left out");
		return STATUS_OK;
	}
	if (start && *count < ANNOTATIONS_MAX) {
		open[(*count)++] =
			(struct torch_open){ .name = name, .start_ns = time_ns, .device = device };
		return STATUS_OK;
	}
	status = import_sink_name(
		snapshot->sink, name->text, name->length, "user_annotation", 15, &name_id);
	if (status != STATUS_OK)
		return status;
	event_args_reset(&snapshot->args);
	torch_arguments(snapshot, note, except);
	found = pickle_is(stage, "END") ? find_open(open, *count, name, device) : -1;
	if (found >= 0) {
		status = event_span(&snapshot->args, track, name_id, open[found].start_ns, time_ns);
		memmove(open + found, open + found + 1, (size_t)(--*count - found) * sizeof *open);
		return status;
	}
	ledger_add(import_sink_ledger(snapshot->sink), 1, "annotations without a partner", "import",
		"kept as instants");
	return event_instant(&snapshot->args, track, name_id, time_ns);
}

int torch_history_annotations(
	struct torch_snapshot *snapshot, const struct pickle_value *annotations)
{
	struct torch_open *open = calloc(ANNOTATIONS_MAX, sizeof *open);
	struct id_map tracks;
	int count = 0, status = open ? STATUS_OK : STATUS_NOMEM;

	id_map_init(&tracks);
	for (uint32_t i = 0; status == STATUS_OK && i < pickle_count(annotations); i++) {
		const struct pickle_value *note = &annotations->list->items[i];
		uint32_t track;

		if (note->kind != PICKLE_DICT) {
			import_sink_skip(snapshot->sink, "events that are no dict", "left out");
			continue;
		}
		status = annotation_track(
			snapshot, &tracks, torch_integer(note, "device", 0), &track);
		if (status == STATUS_OK)
			status = read_annotation(snapshot, note, track, open, &count);
	}
	if (count)
		ledger_add(import_sink_ledger(snapshot->sink), (uint64_t)count,
			"annotations without an end", "import", "left out");
	id_map_release(&tracks);
	free(open);
	return status;
}
