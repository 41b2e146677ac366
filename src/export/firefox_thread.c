// SPDX-License-Identifier: MIT OR Apache-2.0
/* Threads of a Firefox profile, version 48 of its processed format. */
#include "export/firefox_thread.h"

#include "base/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACKS_MAX 1000000u /* beyond them a scope counts for the one around it */

enum sample_column { SAMPLE_STACK, SAMPLE_TIME, SAMPLE_WEIGHT };
enum marker_column {
	MARKER_DATA,
	MARKER_NAME,
	MARKER_START,
	MARKER_END,
	MARKER_PHASE,
	MARKER_CATEGORY
};
enum marker_phase { PHASE_INSTANT = 0, PHASE_INTERVAL = 1 };

void firefox_time(struct json_writer *json, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRIu64 ".%06u", ns / 1000000, (unsigned)(ns % 1000000));
	json_raw(json, text);
}

static int check(const struct firefox_thread *thread)
{
	return thread->json->failed ? STATUS_IO : STATUS_OK;
}

static int string_number(struct firefox_thread *thread, uint32_t string, uint32_t *ret_number)
{
	uint64_t number = thread->string_count;

	if (!id_map_get(&thread->string_ids, string, &number)) {
		if (array_grow((void **)&thread->strings, &thread->string_capacity,
			    thread->string_count + 1, sizeof *thread->strings) ||
			id_map_put(&thread->string_ids, string, number))
			return STATUS_NOMEM;
		thread->strings[thread->string_count++] = string;
	}
	*ret_number = (uint32_t)number;
	return STATUS_OK;
}

static int frame_number(
	struct firefox_thread *thread, uint32_t string, uint32_t category, uint32_t *ret_frame)
{
	uint64_t key = (uint64_t)category << 32 | string, number = thread->frame_count;
	uint32_t text;

	if (!id_map_get(&thread->frame_ids, key, &number)) {
		if (string_number(thread, string, &text) ||
			array_grow((void **)&thread->frames, &thread->frame_capacity,
				thread->frame_count + 1, sizeof *thread->frames) ||
			id_map_put(&thread->frame_ids, key, number))
			return STATUS_NOMEM;
		thread->frames[thread->frame_count++] =
			(struct firefox_frame){ .string = text, .category = category };
	}
	*ret_frame = (uint32_t)number;
	return STATUS_OK;
}

/* `prefix` and the result are a stack's number + 1; 0 is no stack. */
static int stack_number(
	struct firefox_thread *thread, uint32_t prefix, uint32_t frame, uint32_t *ret_stack)
{
	uint64_t key = (uint64_t)prefix << 32 | frame, number = thread->stack_count;

	if (!id_map_get(&thread->stack_ids, key, &number)) {
		if (thread->stack_count >= STACKS_MAX && prefix) {
			*ret_stack = prefix;
			return STATUS_OK;
		}
		if (array_grow((void **)&thread->stacks, &thread->stack_capacity,
			    thread->stack_count + 1, sizeof *thread->stacks) ||
			id_map_put(&thread->stack_ids, key, number))
			return STATUS_NOMEM;
		thread->stacks[thread->stack_count++] =
			(struct firefox_stack){ .prefix = prefix, .frame = frame };
	}
	*ret_stack = (uint32_t)number + 1;
	return STATUS_OK;
}

/* Something begins or ends: what was open until now is a sample. */
static void put_piece(struct firefox_thread *thread, uint64_t now_ns)
{
	if (thread->open_count && now_ns > thread->last_ns) {
		thread->count++;
		if (thread->column == SAMPLE_STACK)
			json_u64(thread->json, thread->open[thread->open_count - 1] - 1);
		else if (thread->column == SAMPLE_TIME)
			firefox_time(thread->json, thread->last_ns);
		else
			firefox_time(thread->json, now_ns - thread->last_ns);
	}
	thread->last_ns = now_ns;
}

static int begin_slice(void *context, const struct export_slice *slice)
{
	struct firefox_thread *thread = context;
	const struct export_span *span = &slice->span;
	uint32_t above = thread->open_count ? thread->open[thread->open_count - 1] : 0, frame;

	if (slice->lane || span->layout != SPANS_NESTED)
		return STATUS_OK;
	put_piece(thread, span->start_ns);
	if (array_grow((void **)&thread->open, &thread->open_capacity, thread->open_count + 1,
		    sizeof *thread->open) ||
		frame_number(thread, thread->trace->names[span->name].name_string,
			thread->categories[span->name], &frame) ||
		stack_number(thread, above, frame, &thread->open[thread->open_count]))
		return STATUS_NOMEM;
	thread->open_count++;
	return check(thread);
}

static int end_slice(void *context, uint32_t track, uint32_t lane, uint64_t time_ns)
{
	struct firefox_thread *thread = context;

	(void)track;
	if (lane || !thread->open_count)
		return STATUS_OK;
	put_piece(thread, time_ns);
	thread->open_count--;
	return check(thread);
}

static int put_scope_column(struct firefox_thread *thread, int column)
{
	static const struct export_slice_calls calls = { begin_slice, end_slice, NULL };

	thread->column = column;
	thread->open_count = 0;
	thread->count = 0;
	if (thread->trace->tracks[thread->track].kind != TRACK_THREAD)
		return STATUS_OK;
	return export_slices(thread->walk, thread->track, &calls, thread, thread->err);
}

static int put_sample_column(struct firefox_thread *thread, int column,
	const struct export_sample *samples, size_t count)
{
	thread->count = count;
	for (size_t i = 0; i < count; i++) {
		size_t depth;
		const uint32_t *frames = trace_stack(thread->trace, samples[i].stack, &depth);
		uint32_t stack = 0, frame;

		if (column == SAMPLE_TIME)
			firefox_time(thread->json, samples[i].time_ns);
		else if (column == SAMPLE_WEIGHT)
			json_u64(thread->json, 1);
		if (column != SAMPLE_STACK)
			continue;
		for (size_t f = frames ? depth : 0; f > 0; f--)
			if (frame_number(thread, frames[f - 1], 0, &frame) ||
				stack_number(thread, stack, frame, &stack))
				return STATUS_NOMEM;
		if (stack)
			json_u64(thread->json, stack - 1);
		else
			json_null(thread->json);
	}
	return check(thread);
}

static int put_samples(
	struct firefox_thread *thread, const struct export_sample *samples, size_t count)
{
	static const char *const names[] = { "stack", "time", "weight" };
	struct json_writer *json = thread->json;
	int status = STATUS_OK;

	json_key(json, "samples");
	json_object(json);
	for (int i = SAMPLE_STACK; i <= SAMPLE_WEIGHT && status == STATUS_OK; i++) {
		json_key(json, names[i]);
		json_array(json);
		status = samples ? put_sample_column(thread, i, samples, count)
				 : put_scope_column(thread, i);
		json_array_end(json);
	}
	json_key_string(json, "weightType", samples ? "samples" : "tracing-ms");
	json_key_u64(json, "length", thread->count);
	json_object_end(json);
	return status;
}

/* The payload names its schema; arguments are members beside it. */
static int put_payload(struct firefox_thread *thread, const struct export_span *span)
{
	struct json_writer *json = thread->json;

	json_object(json);
	json_key_string(json, "type", "tacho");
	for (size_t i = 0; i < span->arg_count; i++) {
		const struct span_arg *arg = &span->args[i];
		const char *key = export_string(thread->trace, arg->key);
		double real;

		if (id_map_put(thread->keys, arg->key, arg->type) != STATUS_OK)
			return STATUS_NOMEM;
		/* "type" is the payload's own. */
		json_key(json, strcmp(key, "type") == 0 ? "type_" : key);
		memcpy(&real, &arg->value, sizeof real);
		if (arg->type == ARG_INTEGER)
			json_i64(json, (int64_t)arg->value);
		else if (arg->type == ARG_DOUBLE)
			json_double(json, real);
		else
			json_string(json, export_string(thread->trace, arg->value));
	}
	json_object_end(json);
	return check(thread);
}

static int put_marker(void *context, const struct export_span *span)
{
	struct firefox_thread *thread = context;
	struct json_writer *json = thread->json;
	bool instant = span->layout == SPANS_INSTANT;
	uint32_t string;

	thread->count++;
	switch ((enum marker_column)thread->column) {
	case MARKER_DATA:
		return put_payload(thread, span);
	case MARKER_NAME:
		if (string_number(thread, thread->trace->names[span->name].name_string, &string))
			return STATUS_NOMEM;
		json_u64(json, string);
		break;
	case MARKER_START:
		firefox_time(json, span->start_ns);
		break;
	case MARKER_END:
		if (instant)
			json_null(json);
		else
			firefox_time(json, span->start_ns + span->duration_ns);
		break;
	case MARKER_PHASE:
		json_u64(json, instant ? PHASE_INSTANT : PHASE_INTERVAL);
		break;
	case MARKER_CATEGORY:
		json_u64(json, thread->categories[span->name]);
		break;
	}
	return check(thread);
}

static int put_markers(struct firefox_thread *thread)
{
	static const char *const names[] = { "data", "name", "startTime", "endTime", "phase",
		"category" };
	struct json_writer *json = thread->json;
	int status = STATUS_OK;

	json_key(json, "markers");
	json_object(json);
	for (int i = MARKER_DATA; i <= MARKER_CATEGORY && status == STATUS_OK; i++) {
		struct export_result before = thread->walk->result;

		thread->column = i;
		thread->count = 0;
		json_key(json, names[i]);
		json_array(json);
		status = export_walk_track(
			thread->walk, thread->track, false, put_marker, thread, thread->err);
		for (size_t m = 0; m < thread->mark_count && status == STATUS_OK; m++) {
			struct export_span mark = { .name = thread->marks[m].name,
				.layout = SPANS_INSTANT,
				.start_ns = thread->marks[m].time_ns };

			status = put_marker(thread, &mark);
		}
		json_array_end(json);
		/* Each span counts once. */
		if (i != MARKER_DATA)
			thread->walk->result = before;
	}
	json_key_u64(json, "length", thread->count);
	json_object_end(json);
	return status;
}

/* A column with the same value in every row. */
static void put_same(
	struct firefox_thread *thread, const char *name, const char *value, size_t count)
{
	json_key(thread->json, name);
	json_array(thread->json);
	for (size_t i = 0; i < count; i++)
		json_raw(thread->json, value);
	json_array_end(thread->json);
}

static void put_numbers(struct firefox_thread *thread, const char *name, const void *first,
	size_t stride, size_t count)
{
	json_key(thread->json, name);
	json_array(thread->json);
	for (size_t i = 0; i < count; i++)
		json_u64(thread->json, *(const uint32_t *)((const char *)first + i * stride));
	json_array_end(thread->json);
}

static void put_stack_table(struct firefox_thread *thread)
{
	struct json_writer *json = thread->json;
	size_t count = thread->stack_count;

	json_key(json, "stackTable");
	json_object(json);
	if (count)
		put_numbers(
			thread, "frame", &thread->stacks[0].frame, sizeof *thread->stacks, count);
	else
		put_same(thread, "frame", "", 0);
	json_key(json, "prefix");
	json_array(json);
	for (size_t i = 0; i < count; i++) {
		if (thread->stacks[i].prefix)
			json_u64(json, thread->stacks[i].prefix - 1);
		else
			json_null(json);
	}
	json_array_end(json);
	json_key(json, "category");
	json_array(json);
	for (size_t i = 0; i < count; i++)
		json_u64(json, thread->frames[thread->stacks[i].frame].category);
	json_array_end(json);
	put_same(thread, "subcategory", "0", count);
	json_key_u64(json, "length", count);
	json_object_end(json);
}

/* A function and a frame per name. */
static void put_frame_tables(struct firefox_thread *thread)
{
	static const char *const none[] = { "nativeSymbol", "innerWindowID", "implementation",
		"line", "column" };
	struct json_writer *json = thread->json;
	size_t count = thread->frame_count;
	struct firefox_frame nothing = { 0 };
	const struct firefox_frame *first = count ? thread->frames : &nothing;

	json_key(json, "frameTable");
	json_object(json);
	put_same(thread, "address", "-1", count);
	put_same(thread, "inlineDepth", "0", count);
	put_numbers(thread, "category", &first->category, sizeof *first, count);
	put_same(thread, "subcategory", "0", count);
	json_key(json, "func");
	json_array(json);
	for (size_t i = 0; i < count; i++)
		json_u64(json, i);
	json_array_end(json);
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		put_same(thread, none[i], "null", count);
	json_key_u64(json, "length", count);
	json_object_end(json);

	json_key(json, "funcTable");
	json_object(json);
	put_numbers(thread, "name", &first->string, sizeof *first, count);
	put_same(thread, "isJS", "false", count);
	put_same(thread, "relevantForJS", "false", count);
	put_same(thread, "resource", "-1", count);
	put_same(thread, "fileName", "null", count);
	put_same(thread, "lineNumber", "null", count);
	put_same(thread, "columnNumber", "null", count);
	json_key_u64(json, "length", count);
	json_object_end(json);
}

static void put_empty_table(
	struct firefox_thread *thread, const char *name, const char *const *columns, size_t count)
{
	json_key(thread->json, name);
	json_object(thread->json);
	for (size_t i = 0; i < count; i++)
		put_same(thread, columns[i], "", 0);
	json_key_u64(thread->json, "length", 0);
	json_object_end(thread->json);
}

static void put_tables(struct firefox_thread *thread)
{
	static const char *const resources[] = { "lib", "name", "host", "type" };
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize" };
	struct json_writer *json = thread->json;

	put_stack_table(thread);
	put_frame_tables(thread);
	put_empty_table(thread, "resourceTable", resources, 4);
	put_empty_table(thread, "nativeSymbols", symbols, 4);
	json_key(json, "stringArray");
	json_array(json);
	for (size_t i = 0; i < thread->string_count; i++)
		json_string(json, export_string(thread->trace, thread->strings[i]));
	json_array_end(json);
}

int firefox_thread_write(
	struct firefox_thread *thread, const struct export_sample *samples, size_t sample_count)
{
	struct export_result before = thread->walk->result;
	int status = put_samples(thread, samples, sample_count);

	thread->walk->result = before;
	if (status == STATUS_OK)
		status = put_markers(thread);
	put_tables(thread);
	return status;
}

void firefox_thread_release(struct firefox_thread *thread)
{
	id_map_release(&thread->string_ids);
	id_map_release(&thread->frame_ids);
	id_map_release(&thread->stack_ids);
	free(thread->strings);
	free(thread->frames);
	free(thread->stacks);
	free(thread->open);
	memset(thread, 0, sizeof *thread);
}
