// SPDX-License-Identifier: MIT OR Apache-2.0
/* Records of a thread that are not scopes: arguments, counters, marks, links, explicit spans,
 * stacks, memory. The records come from a foreign process; sizes were checked by the caller against
 * the sub-buffer, here they are checked against the kind. */
#include "collect/process_reader.h"

#include "base/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAPS_LINE 512

static const uint8_t least_units[SHM_KINDS] = {
	[SHM_COUNTER_INT] = 2,
	[SHM_COUNTER_DOUBLE] = 2,
	[SHM_ASYNC_BEGIN] = 2,
	[SHM_ASYNC_END] = 2,
	[SHM_FLOW] = 2,
	[SHM_SPAN] = 3,
	[SHM_ALLOC] = 2,
	[SHM_FREE] = 2,
	[SHM_MARK] = 2,
};

void stream_arg(struct stream *stream, uint32_t key, enum arg_type type, uint64_t value, bool add)
{
	size_t first;

	if (stream->depth == 0)
		return;
	first = stream->stack[stream->depth - 1].first_arg;
	for (size_t i = first; add && i < stream->arg_count; i++) {
		struct span_arg *arg = &stream->args[i];
		double sum, more;

		if (arg->key != key || arg->type != type)
			continue;
		if (type == ARG_INTEGER) {
			arg->value += value;
			return;
		}
		memcpy(&sum, &arg->value, sizeof sum);
		memcpy(&more, &value, sizeof more);
		sum += more;
		memcpy(&arg->value, &sum, sizeof sum);
		return;
	}
	if (array_grow((void **)&stream->args, &stream->arg_capacity, stream->arg_count + 1,
		    sizeof *stream->args) != STATUS_OK) {
		stream->recording->store.rows_skipped++;
		return;
	}
	stream->args[stream->arg_count++] =
		(struct span_arg){ .key = key, .type = (uint8_t)type, .value = value };
}

static uint32_t key_string(struct stream *stream, uint32_t id)
{
	struct recording *recording = stream->recording;
	uint32_t name = names_reader_name(stream->process->names, recording, id);

	return (uint32_t)recording->store.dict.names.cells[NAMES_NAME][name];
}

/* An argument belongs to the innermost scope; those of a skipped scope go with it. */
static void feed_arg(struct stream *stream, const uint64_t *record, uint64_t head)
{
	uint32_t kind = shm_head_kind(head), text;
	size_t room = (size_t)(shm_head_units(head) - 1) * 16;
	bool add = shm_head_small(head) == 1;
	uint32_t key = key_string(stream, shm_head_name(head));

	if (stream->skipped_depth)
		return;
	if (kind == SHM_ARG_INT)
		stream_arg(stream, key, ARG_INTEGER, record[1], add);
	else if (kind == SHM_ARG_DOUBLE)
		stream_arg(stream, key, ARG_DOUBLE, record[1], add);
	else if (record[1] > room)
		stream->recording->bad_records++;
	else if (trace_dict_string(&stream->recording->store.dict, (const char *)(record + 2),
			 (size_t)record[1], &text) == STATUS_OK)
		stream_arg(stream, key, ARG_STRING, text, false);
}

static const char *const dtype_names[] = { "?", "float32", "float64", "float16", "bfloat16", "int8",
	"uint8", "int16", "int32", "int64", "bool", "float8_e4m3", "float8_e5m2", "complex64",
	"complex128" };

/* Shapes as "[[64,256],[256]]" and dtypes as "float32,float32". */
static void feed_tensors(struct stream *stream, const uint64_t *record, uint64_t head)
{
	static const uint32_t dtype_count = sizeof dtype_names / sizeof *dtype_names;
	const uint64_t *at = record + 2, *end = record + (size_t)shm_head_units(head) * 2;
	struct trace_dict *dict = &stream->recording->store.dict;
	struct buffer shapes, dtypes;
	uint32_t key, text;

	buffer_init(&shapes);
	buffer_init(&dtypes);
	buffer_byte(&shapes, '[');
	for (uint64_t i = 0; i < record[1] && at < end; i++) {
		uint64_t tensor = *at++, dimensions = tensor >> 8 & 0xff;
		uint32_t dtype = (uint32_t)(tensor & 0xff);

		if (dimensions > (uint64_t)(end - at))
			break;
		buffer_text(&shapes, i ? ",[" : "[");
		for (uint64_t d = 0; d < dimensions; d++)
			buffer_printf(&shapes, "%s%" PRId64, d ? "," : "", (int64_t)*at++);
		buffer_byte(&shapes, ']');
		buffer_printf(&dtypes, "%s%s", i ? "," : "",
			dtype_names[dtype < dtype_count ? dtype : 0]);
	}
	buffer_byte(&shapes, ']');
	if (buffer_ok(&shapes) && buffer_ok(&dtypes) && !stream->skipped_depth) {
		if (!trace_dict_string(dict, "shapes", 6, &key) &&
			!trace_dict_string(dict, (char *)shapes.data, shapes.length, &text))
			stream_arg(stream, key, ARG_STRING, text, false);
		if (dtypes.length && !trace_dict_string(dict, "dtypes", 6, &key) &&
			!trace_dict_string(dict, (char *)dtypes.data, dtypes.length, &text))
			stream_arg(stream, key, ARG_STRING, text, false);
	}
	buffer_release(&shapes);
	buffer_release(&dtypes);
}

static void feed_counter(struct stream *stream, const uint64_t *record, uint64_t head, uint64_t now)
{
	struct recording *recording = stream->recording;
	bool real = shm_head_kind(head) == SHM_COUNTER_DOUBLE;
	uint32_t name, unit, track;

	names_reader_strings(stream->process->names, recording, shm_head_name(head), &name, &unit);
	track = process_reader_counter(stream->process, name, unit, shm_head_name(head));
	uint64_t row[] = { [COUNTERS_TRACK] = track,
		[COUNTERS_TIME] = now,
		[COUNTERS_KIND] = real ? COUNTER_DOUBLE : COUNTER_INTEGER,
		[COUNTERS_VALUE] = record[2] };

	recording_row(recording, TABLE_COUNTERS,
		real ? &recording->real_counters : &recording->counters, row);
}

static void add_link(struct stream *stream, uint32_t track, uint64_t now, uint64_t id,
	enum link_kind kind, uint32_t name)
{
	uint64_t row[] = { [LINKS_TRACK] = track,
		[LINKS_TIME] = now,
		[LINKS_ID] = id,
		[LINKS_KIND] = kind,
		[LINKS_NAME] = name };

	recording_row(stream->recording, TABLE_LINKS, &stream->recording->links, row);
}

/* The process's track for explicit spans under a key, made when new. */
static struct explicit_track *explicit_track(
	struct process_reader *process, uint64_t key, enum track_kind kind, uint32_t name)
{
	struct trace_dict *dict = &process->recording->store.dict;
	struct explicit_track *track;
	uint64_t at;
	uint32_t id;

	if (id_map_get(&process->track_ids, key, &at))
		return &process->tracks[at];
	if (trace_dict_track(dict, process->track, kind, 0, name, 0, &id) ||
		array_grow((void **)&process->tracks, &process->track_capacity,
			process->track_count + 1, sizeof *process->tracks) ||
		id_map_put(&process->track_ids, key, process->track_count))
		return NULL;
	track = &process->tracks[process->track_count++];
	memset(track, 0, sizeof *track);
	track->track = id;
	span_builder_init(&track->builder, SPANS_EXPLICIT);
	return track;
}

static void add_explicit(struct stream *stream, struct explicit_track *track, uint32_t name,
	uint64_t start_ns, uint64_t end_ns)
{
	struct recording *recording = stream->recording;

	if (!track) {
		recording->store.rows_skipped++;
		return;
	}
	if (end_ns < start_ns) {
		recording->clipped_spans++;
		end_ns = start_ns;
	}
	if (track->builder.count == 0) {
		(void)!span_builder_start(&track->builder, NULL, 0);
		track->oldest_ns = stream->last_ns;
	}
	if (span_builder_add_explicit(&track->builder, name, start_ns, end_ns) != STATUS_OK)
		recording->store.rows_skipped++;
	if (track->builder.count >= BLOCK_ROWS_TARGET)
		store_spans(&recording->store, track->track, &track->builder);
}

static uint64_t from_clock(const struct recording *recording, uint32_t clock, uint64_t time)
{
	if (clock == 2)
		return clock_sync_ns(&recording->clock, time);
	return clock == 1 ? clock_sync_from_real(&recording->clock, time)
			  : clock_sync_from_mono(&recording->clock, time);
}

static void feed_span(struct stream *stream, const uint64_t *record, uint64_t head)
{
	struct recording *recording = stream->recording;
	struct process_reader *process = stream->process;
	uint32_t track_id = (uint32_t)record[4], name, category, clock = shm_head_small(head);
	uint64_t start = from_clock(recording, clock, record[1]);
	uint64_t end = from_clock(recording, clock, record[2]);
	const char *kind_text;
	enum track_kind kind = TRACK_OTHER;
	struct explicit_track *track;

	names_reader_strings(process->names, recording, track_id, &name, &category);
	kind_text = string_table_borrow(&recording->store.dict.strings, category);
	if (strcmp(kind_text, "track:device") == 0)
		kind = TRACK_DEVICE;
	else if (strcmp(kind_text, "track:remote") == 0)
		kind = TRACK_REMOTE;
	track = explicit_track(process, track_id, kind, name);
	recording->scopes++;
	recording->clipped_spans += start == 0 && end == 0;
	add_explicit(stream, track,
		names_reader_name(process->names, recording, shm_head_name(head)), start, end);
	if (record[3] && track)
		add_link(stream, track->track, start, record[3], LINK_CORRELATION, 0);
}

static void add_async(struct stream *stream, uint32_t id, uint64_t start_ns, uint64_t end_ns)
{
	struct process_reader *process = stream->process;
	uint32_t name, category;

	names_reader_strings(process->names, stream->recording, id, &name, &category);
	add_explicit(stream, explicit_track(process, UINT64_C(1) << 40 | id, TRACK_ASYNC, name),
		names_reader_name(process->names, stream->recording, id), start_ns, end_ns);
}

/* Begin and end may come from two threads, and threads are drained one after the other: an end can
 * be seen before its begin, and then waits for it. */
static void feed_async(struct stream *stream, const uint64_t *record, uint64_t head, uint64_t now)
{
	struct recording *recording = stream->recording;
	struct process_reader *process = stream->process;
	bool begins = shm_head_kind(head) == SHM_ASYNC_BEGIN;
	uint32_t id = shm_head_name(head);
	uint64_t key = record[2] * 0x9e3779b97f4a7c15u ^ (uint64_t)id << 17, other;

	recording->scopes += begins;
	if (begins && id_map_take(&process->early_async, key, &other))
		add_async(stream, id, now, other);
	else if (!begins && id_map_take(&process->open_async, key, &other))
		add_async(stream, id, other, now);
	else if (id_map_put(begins ? &process->open_async : &process->early_async, key, now) !=
		 STATUS_OK)
		recording->store.rows_skipped++;
}

/* "libfoo.so+0x1234" for a program counter, by the process's map; asked once per address. */
static uint32_t frame_string(struct process_reader *process, uint64_t address)
{
	char path[64], line[MAPS_LINE], text[MAPS_LINE + 32];
	uint64_t found, start, end, offset;
	uint32_t id = 0;
	FILE *maps;

	if (id_map_get(&process->frame_ids, address, &found))
		return (uint32_t)found;
	snprintf(text, sizeof text, "0x%" PRIx64, address);
	snprintf(path, sizeof path, "/proc/%d/maps", (int)process->pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof line, maps)) {
		int name_at = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &start, &end,
			    &offset, &name_at) < 3 ||
			address < start || address >= end)
			continue;
		line[strcspn(line, "\n")] = 0;
		if (name_at && line[name_at] == '/')
			snprintf(text, sizeof text, "%s+0x%" PRIx64,
				strrchr(line + name_at, '/') + 1, address - start + offset);
		break;
	}
	if (maps)
		fclose(maps);
	if (trace_dict_string(&process->recording->store.dict, text, strlen(text), &id) ==
		STATUS_OK)
		(void)!id_map_put(&process->frame_ids, address, id);
	return id;
}

static void feed_stack(struct stream *stream, const uint64_t *record, uint64_t head, uint64_t now)
{
	struct recording *recording = stream->recording;
	bool by_name = shm_head_kind(head) == SHM_STACK_NAMES;
	size_t count = shm_head_small(head), room = (size_t)(shm_head_units(head) - 1) * 16;
	uint32_t frames[1024], stack, ids[4];

	if (count * (by_name ? 4 : 8) > room) {
		recording->bad_records++;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (by_name) {
			memcpy(ids, (const uint8_t *)(record + 2) + i * 4, 4);
			frames[i] = key_string(stream, ids[0]);
		} else {
			frames[i] = frame_string(stream->process, record[2 + i]);
		}
	}
	if (trace_dict_stack(&recording->store.dict, frames, count, &stack) != STATUS_OK) {
		recording->store.rows_skipped++;
		return;
	}
	uint64_t row[] = {
		[SAMPLES_TRACK] = stream->track, [SAMPLES_TIME] = now, [SAMPLES_STACK] = stack
	};

	recording_row(recording, TABLE_SAMPLES, &recording->samples, row);
}

static void feed_memory(struct stream *stream, const uint64_t *record, uint64_t head, uint64_t now)
{
	bool freed = shm_head_kind(head) == SHM_FREE;
	uint64_t row[] = { [ALLOCATIONS_TRACK] = stream->track,
		[ALLOCATIONS_TIME] = now,
		[ALLOCATIONS_ADDRESS] = record[2],
		[ALLOCATIONS_BYTES] = freed ? 0 : record[3],
		[ALLOCATIONS_POOL] = names_reader_name(
			stream->process->names, stream->recording, shm_head_name(head)),
		[ALLOCATIONS_KIND] = (freed ? ALLOCATION_FREE : 0) |
				     (shm_head_small(head) ? ALLOCATION_DEVICE : 0) };

	recording_row(stream->recording, TABLE_ALLOCATIONS, &stream->recording->allocations, row);
}

static void feed_text(struct stream *stream, const uint64_t *record, uint64_t head)
{
	struct recording *recording = stream->recording;
	struct trace_dict *dict = &recording->store.dict;
	uint32_t name, category;
	char key[300];

	names_reader_strings(
		stream->process->names, recording, shm_head_name(head), &name, &category);
	if (shm_head_kind(head) == SHM_THREAD_NAME) {
		/* Tracks are only added to; the name goes in as a fact that readers prefer. */
		snprintf(key, sizeof key, "track.%u.name", stream->track);
		store_metadata(&recording->store, key, string_table_borrow(&dict->strings, name));
		return;
	}
	if (record[1] > (uint64_t)(shm_head_units(head) - 1) * 16) {
		recording->bad_records++;
		return;
	}
	snprintf(key, sizeof key, "user.%s", string_table_borrow(&dict->strings, name));
	store_metadata_n(&recording->store, key, (const char *)(record + 2), (size_t)record[1]);
}

void stream_event(struct stream *stream, const uint64_t *record, uint64_t head)
{
	struct recording *recording = stream->recording;
	uint32_t kind = shm_head_kind(head), name = shm_head_name(head);
	uint64_t now = stream->last_ns;
	bool timed = kind >= SHM_MARK && kind != SHM_CORRELATE && kind != SHM_SPAN &&
		     kind != SHM_THREAD_NAME && kind != SHM_METADATA;

	if (shm_head_units(head) < least_units[kind]) {
		recording->bad_records++;
		return;
	}
	recording->events += kind != SHM_SPAN && kind != SHM_ASYNC_BEGIN && kind != SHM_ASYNC_END;
	if (timed) {
		now = clock_sync_ns(&recording->clock, record[1]);
		if (now < stream->last_ns)
			now = stream->last_ns;
		stream->last_ns = now;
	}
	switch ((enum shm_record_kind)kind) {
	case SHM_ARG_INT:
	case SHM_ARG_DOUBLE:
	case SHM_ARG_STRING:
		feed_arg(stream, record, head);
		break;
	case SHM_TENSORS:
		feed_tensors(stream, record, head);
		break;
	case SHM_MARK: {
		uint64_t row[] = { [MARKS_TRACK] = stream->track,
			[MARKS_TIME] = now,
			[MARKS_NAME] = names_reader_name(stream->process->names, recording, name) };

		recording_row(recording, TABLE_MARKS, &recording->marks, row);
		break;
	}
	case SHM_COUNTER_INT:
	case SHM_COUNTER_DOUBLE:
		feed_counter(stream, record, head, now);
		break;
	case SHM_ASYNC_BEGIN:
	case SHM_ASYNC_END:
		feed_async(stream, record, head, now);
		break;
	case SHM_FLOW:
		add_link(stream, stream->track, now, record[2],
			(enum link_kind)(
				shm_head_small(head) < LINK_CORRELATION ? shm_head_small(head) : 0),
			names_reader_name(stream->process->names, recording, name));
		break;
	case SHM_CORRELATE:
		add_link(stream, stream->track, now, record[1], LINK_CORRELATION, 0);
		break;
	case SHM_SPAN:
		feed_span(stream, record, head);
		break;
	case SHM_STACK_NAMES:
	case SHM_STACK_PCS:
		feed_stack(stream, record, head, now);
		break;
	case SHM_ALLOC:
	case SHM_FREE:
		feed_memory(stream, record, head, now);
		break;
	case SHM_THREAD_NAME:
	case SHM_METADATA:
		feed_text(stream, record, head);
		break;
	default:
		recording->bad_records++;
		break;
	}
}
