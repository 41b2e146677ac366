// SPDX-License-Identifier: MIT OR Apache-2.0
/* PyTorch's CUDA memory snapshot (torch.cuda.memory._dump_snapshot): a pickle with the allocator's
 * history and its state. This file reads the state; torch_history.c the history. */
#include "import/torch_snapshot.h"

#include "base/array.h"
#include "format/span_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_MAX_BYTES (1u << 20) /* of one value that has no column */
#define FRAMES_MAX     4096u

int64_t torch_integer(const struct pickle_value *dict, const char *key, int64_t otherwise)
{
	const struct pickle_value *value = pickle_get(dict, key);

	return value && value->kind == PICKLE_INTEGER ? value->integer : otherwise;
}

static int add_device(struct torch_snapshot *snapshot, struct torch_device *device, int64_t number)
{
	char name[48];
	int status = STATUS_OK;

	if (!snapshot->has_process)
		status = import_sink_track(
			snapshot->sink, 0, TRACK_PROCESS, 0, "PyTorch", "", &snapshot->process);
	snapshot->has_process = status == STATUS_OK;
	snprintf(name, sizeof name, "cuda:%" PRId64 " memory", number);
	if (status == STATUS_OK)
		status = import_sink_track(snapshot->sink, snapshot->process, TRACK_OTHER,
			(uint64_t)number, name, "", &device->track);
	snprintf(name, sizeof name, "cuda:%" PRId64, number);
	if (status == STATUS_OK)
		status = import_sink_name(
			snapshot->sink, name, strlen(name), "pool", 4, &device->pool);
	snprintf(name, sizeof name, "cuda:%" PRId64 " segments", number);
	if (status == STATUS_OK)
		status = import_sink_name(
			snapshot->sink, name, strlen(name), "pool", 4, &device->segment_pool);
	device->first_ns = INT64_MAX;
	device->made = status == STATUS_OK;
	return status;
}

struct torch_device *torch_device(struct torch_snapshot *snapshot, int64_t number, int *ret_status)
{
	struct torch_device *device;

	*ret_status = STATUS_OK;
	if (number < 0 || number >= TORCH_DEVICES_MAX) {
		import_sink_skip(snapshot->sink, "events of an impossible device", "left out");
		return NULL;
	}
	device = &snapshot->devices[number];
	if (!device->made)
		*ret_status = add_device(snapshot, device, number);
	return *ret_status == STATUS_OK ? device : NULL;
}

static void add_argument(
	struct torch_snapshot *snapshot, uint32_t key, const struct pickle_value *value)
{
	struct event_args *args = &snapshot->args;
	struct json_writer json;

	switch (value->kind) {
	case PICKLE_INTEGER:
		event_args_add(args, key, ARG_INTEGER, (uint64_t)value->integer);
		return;
	case PICKLE_DOUBLE:
		event_args_double(args, key, value->number);
		return;
	case PICKLE_TEXT:
	case PICKLE_BIG:
		event_args_add(
			args, key, ARG_STRING, event_args_key(args, value->text, value->length));
		return;
	case PICKLE_BYTES:
		event_args_bytes(args, key, value->text, value->length);
		return;
	default:
		break;
	}
	json_writer_init(&json, NULL, NULL);
	pickle_json(value, JSON_MAX_BYTES, &json);
	if (json_writer_finish(&json) == 0)
		event_args_json(args, key, (char *)json.out.data, json.out.length);
	else
		args->status = STATUS_NOMEM;
	json_writer_release(&json);
}

void torch_arguments(
	struct torch_snapshot *snapshot, const struct pickle_value *dict, const char *const *except)
{
	for (uint32_t i = 0; i + 1 < dict->list->count; i += 2) {
		const struct pickle_value *key = &dict->list->items[i];
		bool wanted = key->kind == PICKLE_TEXT;

		for (size_t e = 0; wanted && except[e]; e++)
			wanted = !pickle_is(key, except[e]);
		if (wanted)
			add_argument(snapshot,
				event_args_key(&snapshot->args, key->text, key->length), &key[1]);
	}
}

/* "name (file:line)" */
static int frame_string(
	struct torch_snapshot *snapshot, const struct pickle_value *frame, uint32_t *ret_id)
{
	const struct pickle_value *name = pickle_get(frame, "name");
	const struct pickle_value *file = pickle_get(frame, "filename");
	struct buffer *text = &snapshot->text;

	buffer_reset(text);
	if (name && name->kind == PICKLE_TEXT)
		buffer_append(text, name->text, name->length);
	else
		buffer_text(text, "?");
	/* Frames of C++ without symbols have "??" and 0. */
	if (file && file->kind == PICKLE_TEXT && file->length && !pickle_is(file, "??")) {
		buffer_text(text, " (");
		buffer_append(text, file->text, file->length);
		buffer_printf(text, ":%" PRId64 ")", torch_integer(frame, "line", 0));
	}
	if (!buffer_ok(text))
		return STATUS_NOMEM;
	return import_sink_string(snapshot->sink, (char *)text->data, text->length, ret_id);
}

int torch_stack(struct torch_snapshot *snapshot, const struct pickle_value *frames, bool *ret_has,
	uint32_t *ret_stack)
{
	uint32_t count = pickle_count(frames), used = 0;
	int status;

	*ret_has = false;
	count = count < FRAMES_MAX ? count : FRAMES_MAX;
	if (!count)
		return STATUS_OK;
	status = array_grow((void **)&snapshot->frames, &snapshot->frame_capacity, count,
		sizeof *snapshot->frames);
	for (uint32_t i = 0; status == STATUS_OK && i < count; i++)
		if (frames->list->items[i].kind == PICKLE_DICT)
			status = frame_string(
				snapshot, &frames->list->items[i], &snapshot->frames[used++]);
	if (status == STATUS_OK)
		status = trace_dict_stack(
			import_sink_dict(snapshot->sink), snapshot->frames, used, ret_stack);
	*ret_has = status == STATUS_OK;
	return status;
}

/* A block that is in use but was allocated before the history begins belongs to its start. */
static int hold_block(struct torch_snapshot *snapshot, struct torch_device *device,
	const struct pickle_value *block)
{
	uint64_t address = (uint64_t)torch_integer(block, "address", 0), known;
	const struct pickle_value *state = pickle_get(block, "state");

	if (!pickle_is(state, "active_allocated") && !pickle_is(state, "active_pending_free"))
		return STATUS_OK;
	if (id_map_get(&device->live, address, &known))
		return STATUS_OK;
	return import_sink_allocation(snapshot->sink, device->track,
		device->first_ns != INT64_MAX ? device->first_ns : snapshot->first_ns, address,
		(uint64_t)torch_integer(block, "size", 0), device->pool, ALLOCATION_DEVICE);
}

static int read_block(struct torch_snapshot *snapshot, struct torch_device *device,
	const struct pickle_value *block, int64_t segment_address)
{
	static const char *const except[] = { "state", NULL };
	const struct pickle_value *state = pickle_get(block, "state");
	const char *text = state && state->kind == PICKLE_TEXT ? state->text : "?";
	uint32_t name;
	int status;

	event_args_reset(&snapshot->args);
	torch_arguments(snapshot, block, except);
	event_args_integer(&snapshot->args, "segment", segment_address);
	status = import_sink_name(
		snapshot->sink, text, strlen(text), "cuda_memory_block", 17, &name);
	if (status == STATUS_OK)
		status = event_instant(&snapshot->args, device->track, name, snapshot->last_ns);
	return status == STATUS_OK ? hold_block(snapshot, device, block) : status;
}

static int read_segment(struct torch_snapshot *snapshot, const struct pickle_value *segment)
{
	static const char *const except[] = { "blocks", "device", NULL };
	const struct pickle_value *blocks = pickle_get(segment, "blocks");
	int64_t address = torch_integer(segment, "address", 0);
	struct torch_device *device;
	uint32_t name;
	int status;

	device = torch_device(snapshot, torch_integer(segment, "device", 0), &status);
	if (!device)
		return status;
	event_args_reset(&snapshot->args);
	torch_arguments(snapshot, segment, except);
	status = import_sink_name(snapshot->sink, "segment", 7, "cuda_memory_segment", 19, &name);
	if (status == STATUS_OK)
		status = event_instant(&snapshot->args, device->track, name, snapshot->last_ns);
	for (uint32_t i = 0; status == STATUS_OK && i < pickle_count(blocks); i++) {
		const struct pickle_value *block = &blocks->list->items[i];

		if (block->kind != PICKLE_DICT) {
			import_sink_skip(snapshot->sink, "blocks that are no dict", "left out");
			continue;
		}
		status = read_block(snapshot, device, block, address);
	}
	return status;
}

int torch_segments_read(struct torch_snapshot *snapshot, const struct pickle_value *segments)
{
	int status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < pickle_count(segments); i++) {
		if (segments->list->items[i].kind == PICKLE_DICT)
			status = read_segment(snapshot, &segments->list->items[i]);
		else
			import_sink_skip(snapshot->sink, "segments that are no dict", "left out");
	}
	return status;
}

/* Whatever else the snapshot says. */
static int keep_rest(struct torch_snapshot *snapshot, const struct pickle_value *root)
{
	static const char *const read[] = { "segments", "device_traces", "external_annotations" };
	int status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i + 1 < root->list->count; i += 2) {
		const struct pickle_value *key = &root->list->items[i];
		struct json_writer json;
		bool wanted = key->kind == PICKLE_TEXT;
		char name[128];

		for (size_t r = 0; wanted && r < sizeof read / sizeof read[0]; r++)
			wanted = !pickle_is(key, read[r]);
		if (!wanted)
			continue;
		snprintf(name, sizeof name, "torch.%.100s", key->text);
		json_writer_init(&json, NULL, NULL);
		pickle_json(&key[1], JSON_MAX_BYTES, &json);
		status = json_writer_finish(&json) < 0
				 ? STATUS_NOMEM
				 : import_sink_metadata(snapshot->sink, name, (char *)json.out.data,
					   json.out.length);
		json_writer_release(&json);
	}
	return status;
}

static int read_snapshot(struct torch_snapshot *snapshot, const struct pickle_value *root)
{
	int status = torch_history_read(snapshot, pickle_get(root, "device_traces"));

	if (snapshot->first_ns == INT64_MAX)
		snapshot->first_ns = snapshot->last_ns = 0; /* no history was recorded */
	if (status == STATUS_OK)
		status = torch_history_annotations(
			snapshot, pickle_get(root, "external_annotations"));
	if (status == STATUS_OK)
		status = torch_segments_read(snapshot, pickle_get(root, "segments"));
	if (status == STATUS_OK)
		status = keep_rest(snapshot, root);
	if (snapshot->first_ns)
		import_sink_epoch(snapshot->sink, 0);
	return status;
}

static int load(struct torch_snapshot *snapshot, struct error *err)
{
	struct pickle_value root;
	int status = pickle_reader_load(&snapshot->reader, &root, err);

	if (status != STATUS_OK)
		return status;
	if (root.kind != PICKLE_DICT ||
		(!pickle_get(&root, "segments") && !pickle_get(&root, "device_traces")))
		return error_set_at(err, STATUS_FORMAT, snapshot->reader.op_offset,
			"a pickle, but no memory snapshot: it has no segments or device_traces");
	import_sink_reserve(snapshot->sink, (int64_t)pickle_reader_bytes(&snapshot->reader));
	status = read_snapshot(snapshot, &root);
	return status == STATUS_OK ? STATUS_OK : event_fail(err, status);
}

static int run_torch_memory(
	struct import_source *source, struct import_sink *sink, struct error *err)
{
	struct torch_snapshot *snapshot = calloc(1, sizeof *snapshot);
	int status;

	if (snapshot)
		snapshot->devices = calloc(TORCH_DEVICES_MAX, sizeof *snapshot->devices);
	if (!snapshot || !snapshot->devices) {
		free(snapshot);
		return error_set(err, STATUS_NOMEM, "out of memory");
	}
	snapshot->sink = sink;
	snapshot->first_ns = INT64_MAX;
	event_args_init(&snapshot->args, sink);
	buffer_init(&snapshot->text);
	pickle_reader_init(&snapshot->reader, source, import_sink_room(sink));
	status = load(snapshot, err);
	event_args_finish(&snapshot->args);
	pickle_reader_release(&snapshot->reader);
	for (size_t i = 0; i < TORCH_DEVICES_MAX; i++)
		id_map_release(&snapshot->devices[i].live);
	free(snapshot->devices);
	free(snapshot->frames);
	buffer_release(&snapshot->text);
	free(snapshot);
	return status;
}

static int detect_torch_memory(const uint8_t *head, size_t count)
{
	if (count < 3 || head[0] != 0x80 || head[1] < 2 || head[1] > 5)
		return 0;
	return memmem(head, count, "segments", 8) || memmem(head, count, "device_traces", 13) ? 90
											      : 60;
}

const struct importer import_torch_memory = {
	.name = "torch_memory",
	.summary = "PyTorch CUDA memory snapshot (pickle)",
	.version = 1,
	.detect = detect_torch_memory,
	.run = run_torch_memory,
};
