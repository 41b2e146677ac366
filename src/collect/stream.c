// SPDX-License-Identifier: MIT OR Apache-2.0
/* A thread's records become spans: a stack of open scopes, closed in order, self time on the way.
 *
 *   stack        what is open, outermost first
 *   child_sums   time of ended children of each of them
 *   args         arguments of open scopes, innermost last; they find their row when it closes */
#include "collect/process_reader.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct stream *stream_new(struct process_reader *process, uint32_t track)
{
	struct stream *stream = calloc(1, sizeof *stream);

	if (!stream)
		return NULL;
	stream->recording = process->recording;
	stream->process = process;
	stream->track = track;
	span_builder_init(&stream->builder, SPANS_NESTED);
	return stream;
}

void stream_free(struct stream *stream)
{
	if (!stream)
		return;
	span_builder_release(&stream->builder);
	free(stream->stack);
	free(stream->child_sums);
	free(stream->args);
	free(stream);
}

void stream_flush(struct stream *stream)
{
	store_spans(&stream->recording->store, stream->track, &stream->builder);
}

/* Moves the arguments of the scope on top of the stack to the row it just got. */
static void place_args(struct stream *stream, size_t first)
{
	for (size_t i = first; i < stream->arg_count; i++)
		if (span_builder_add_arg(&stream->builder, stream->builder.count - 1,
			    stream->args[i].key, (enum arg_type)stream->args[i].type,
			    stream->args[i].value) != STATUS_OK)
			stream->recording->store.rows_skipped++;
	stream->arg_count = first;
}

static void close_top(struct stream *stream, uint64_t end_ns)
{
	size_t top = stream->depth - 1;
	const struct open_scope *scope = &stream->stack[top];
	uint64_t duration = end_ns - scope->start_ns;
	struct recording *recording = stream->recording;

	if (stream->builder.count == 0) {
		if (span_builder_start(&stream->builder, stream->child_sums,
			    (uint32_t)stream->depth) != STATUS_OK)
			recording->store.rows_skipped++;
		stream->oldest_ns = end_ns;
	}
	if (scope->kind == SHM_STEP) {
		stream_arg(stream, recording->step_key, ARG_INTEGER, scope->number, false);
		if (recording->on_step)
			recording->on_step(recording->on_step_context, scope->number, duration);
	}
	if (span_builder_add_nested(&stream->builder, scope->name, (uint32_t)top, scope->start_ns,
		    end_ns, duration - stream->child_sums[top]) == STATUS_OK)
		place_args(stream, scope->first_arg);
	else
		recording->store.rows_skipped++;
	stream->scope_depth -= scope->kind == SHM_BEGIN;
	stream->depth = top;
	if (top)
		stream->child_sums[top - 1] += duration;
	if (stream->builder.count >= BLOCK_ROWS_TARGET)
		stream_flush(stream);
}

static void open_scope(
	struct stream *stream, uint32_t kind, uint32_t name, uint64_t start_ns, uint64_t number)
{
	if (stream->depth >= SPANS_DEPTH_MAX - 2) {
		stream->skipped_depth += kind == SHM_BEGIN;
		stream->recording->deep++;
		return;
	}
	if (stream->depth == stream->capacity) {
		size_t capacity = stream->capacity;

		if (array_grow((void **)&stream->child_sums, &capacity, stream->depth + 1,
			    sizeof *stream->child_sums) ||
			array_grow((void **)&stream->stack, &stream->capacity, stream->depth + 1,
				sizeof *stream->stack)) {
			stream->skipped_depth += kind == SHM_BEGIN;
			return;
		}
	}
	stream->stack[stream->depth] = (struct open_scope){ .start_ns = start_ns,
		.name = name,
		.kind = kind,
		.first_arg = stream->arg_count,
		.number = number };
	stream->child_sums[stream->depth] = 0;
	stream->depth++;
	stream->scope_depth += kind == SHM_BEGIN;
}

/* Ends the innermost scope and the phases and steps inside it. */
static void end_scope(struct stream *stream, uint64_t now_ns)
{
	bool more = true;

	if (stream->skipped_depth) {
		stream->skipped_depth--;
		return;
	}
	if (stream->scope_depth == 0) {
		stream->recording->unmatched_ends++;
		return;
	}
	while (more) {
		more = stream->stack[stream->depth - 1].kind != SHM_BEGIN;
		close_top(stream, now_ns);
	}
}

static bool top_is(const struct stream *stream, uint32_t kind)
{
	return stream->depth && stream->stack[stream->depth - 1].kind == kind;
}

void stream_close_all(struct stream *stream, uint64_t end_ns, bool torn)
{
	if (end_ns < stream->last_ns)
		end_ns = stream->last_ns;
	while (stream->depth) {
		/* A phase or step that runs to the end of its thread ends there by rule. */
		if (torn && top_is(stream, SHM_BEGIN))
			stream->recording->open_at_end++;
		close_top(stream, end_ns);
	}
	stream->skipped_depth = 0;
	stream->last_ns = end_ns;
}

/* Scopes that were open when recording was switched off end there. One that slipped in behind the
 * switch ends when recording is switched on again. */
static void pass_switches(struct stream *stream, uint64_t ticks)
{
	struct recording *recording = stream->recording;

	while (stream->switch_next < recording->switch_count &&
		recording->switch_ticks[stream->switch_next] < ticks) {
		uint64_t at = recording->switch_ticks[stream->switch_next++];

		if (at >= stream->last_ticks)
			stream_close_all(stream, clock_sync_ns(&recording->clock, at), false);
	}
}

static void feed_scope(struct stream *stream, const uint64_t *record, uint64_t head)
{
	struct recording *recording = stream->recording;
	uint32_t kind = shm_head_kind(head), id = shm_head_name(head);
	uint64_t ticks = record[1], now;

	if (stream->switch_next < recording->switch_count)
		pass_switches(stream, ticks);
	now = clock_sync_ns(&recording->clock, ticks);
	if (now < stream->last_ns)
		now = stream->last_ns;
	stream->last_ns = now;
	stream->last_ticks = ticks;
	if (kind == SHM_BEGIN) {
		recording->scopes++;
		open_scope(stream, kind, names_reader_name(stream->process->names, recording, id),
			now, 0);
	} else if (kind == SHM_END) {
		end_scope(stream, now);
	} else if (kind == SHM_PHASE) {
		if (top_is(stream, SHM_PHASE))
			close_top(stream, now);
		recording->scopes += id != 0;
		if (id)
			open_scope(stream, kind,
				names_reader_name(stream->process->names, recording, id), now, 0);
	} else {
		bool only_end = shm_head_small(head) != 0;

		while (top_is(stream, SHM_PHASE))
			close_top(stream, now);
		if (top_is(stream, SHM_STEP))
			close_top(stream, now);
		recording->scopes += !only_end;
		if (!only_end)
			open_scope(stream, kind, recording->step_name, now, record[2]);
	}
}

void stream_feed(struct stream *stream, const uint8_t *bytes, size_t count)
{
	const uint8_t *end = bytes + count;

	while (bytes < end) {
		const uint64_t *record = (const uint64_t *)(const void *)bytes;
		uint64_t head = record[0];
		uint32_t kind = shm_head_kind(head);
		size_t size = (size_t)shm_head_units(head) * 16;

		if (size == 0 || size > (size_t)(end - bytes) || kind == SHM_PAD ||
			kind >= SHM_KINDS || (kind == SHM_STEP && size < 32)) {
			/* Where one record makes no sense the next cannot be found. */
			stream->recording->bad_records++;
			return;
		}
		if (kind <= SHM_STEP) {
			feed_scope(stream, record, head);
		} else if (kind == SHM_LOST_ENDS) {
			uint64_t lost = size >= 32 ? record[2] : 0;
			uint64_t open = stream->scope_depth + stream->skipped_depth;

			lost = lost < open ? lost : open;
			stream->recording->lost_ends += lost;
			for (; lost; lost--)
				feed_scope(stream, record, shm_head(SHM_END, 1, 0, 0));
		} else {
			stream_event(stream, record, head);
		}
		bytes += size;
	}
}
