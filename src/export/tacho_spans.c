// SPDX-License-Identifier: MIT OR Apache-2.0
/* Spans of a rewritten trace. Spans that cross the window's edge are cut there, so that an analysis
 * of the new file finds what an analysis of the window finds. */
#include "base/array.h"
#include "export/tacho_rewriter.h"

#include <string.h>

int tacho_spans_flush(struct tacho_rewriter *rewriter)
{
	struct span_builder *builder = &rewriter->builder;
	struct block_header header = { .table = TABLE_SPANS,
		.track = rewriter->track,
		.rows = builder->count,
		.time_min_ns = builder->time_min_ns,
		.time_max_ns = builder->time_max_ns,
		.busy_ns = builder->busy_ns };
	int status;

	if (!rewriter->building || builder->count == 0)
		return STATUS_OK;
	buffer_reset(&rewriter->raw);
	buffer_reset(&rewriter->encoded);
	status = span_builder_encode(builder, &rewriter->raw);
	if (status == STATUS_OK)
		status = block_encode(rewriter->writer.codec, &header, rewriter->raw.data,
			rewriter->raw.length, &rewriter->encoded);
	if (status != STATUS_OK)
		return error_set(
			rewriter->err, status, "cannot encode spans: %s", status_text(status));
	builder->count = 0;
	builder->arg_count = 0;
	status = trace_writer_dict(&rewriter->writer, &rewriter->dict, rewriter->err);
	if (status == STATUS_OK)
		status = trace_writer_block(&rewriter->writer, &header, rewriter->encoded.data,
			rewriter->encoded.length, rewriter->err);
	return status;
}

/* Begins a block that is told the sums of the scopes still open. */
static int start_block(struct tacho_rewriter *rewriter)
{
	size_t open = rewriter->sum_count;
	int status;

	while (open > 1 && rewriter->sums[open - 1] == 0)
		open--;
	if (rewriter->builder.layout != SPANS_NESTED)
		open = 0;
	/* sums[0] is of scopes without a parent: nobody asks for it. */
	status = span_builder_start(&rewriter->builder, open ? rewriter->sums + 1 : NULL,
		open ? (uint32_t)(open - 1) : 0);
	if (status != STATUS_OK)
		return error_set(rewriter->err, status, "out of memory for spans");
	return STATUS_OK;
}

static int restart_block(struct tacho_rewriter *rewriter)
{
	int status = tacho_spans_flush(rewriter);

	return status == STATUS_OK ? start_block(rewriter) : status;
}

static int change_track(struct tacho_rewriter *rewriter, uint32_t track, enum spans_layout layout)
{
	int status = tacho_spans_flush(rewriter);

	if (status != STATUS_OK)
		return status;
	span_builder_release(&rewriter->builder);
	span_builder_init(&rewriter->builder, layout);
	rewriter->track = track;
	rewriter->building = true;
	rewriter->sum_count = 0;
	return start_block(rewriter);
}

static int reserve_depth(struct tacho_rewriter *rewriter, uint32_t depth)
{
	size_t need = (size_t)depth + 2;

	if (need <= rewriter->sum_count)
		return STATUS_OK;
	if (array_grow((void **)&rewriter->sums, &rewriter->sum_capacity, need,
		    sizeof *rewriter->sums))
		return error_set(rewriter->err, STATUS_NOMEM, "out of memory for spans");
	memset(rewriter->sums + rewriter->sum_count, 0,
		(need - rewriter->sum_count) * sizeof *rewriter->sums);
	rewriter->sum_count = need;
	return STATUS_OK;
}

/* A reader adds up the children it has seen. Where the span before was left out (damaged, or
 * outside the window) that sum is wrong, and a new block with the right one begins. */
static int add_nested(struct tacho_rewriter *rewriter, uint32_t name, uint32_t depth,
	uint64_t start_ns, uint64_t end_ns, uint64_t self_ns)
{
	uint64_t duration = end_ns - start_ns, *children;
	int status = reserve_depth(rewriter, depth);

	if (status != STATUS_OK)
		return status;
	children = &rewriter->sums[depth + 1];
	if (self_ns == UINT64_MAX)
		self_ns = duration > *children ? duration - *children : 0;
	if (*children != duration - self_ns || rewriter->builder.count >= BLOCK_ROWS_TARGET) {
		*children = duration - self_ns;
		status = restart_block(rewriter);
		if (status != STATUS_OK)
			return status;
	}
	*children = 0;
	rewriter->sums[depth] += duration;
	return span_builder_add_nested(&rewriter->builder, name, depth, start_ns, end_ns, self_ns);
}

static int add_args(struct tacho_rewriter *rewriter, const struct export_span *span)
{
	uint32_t row = rewriter->builder.count - 1;

	for (size_t i = 0; i < span->arg_count; i++) {
		const struct span_arg *arg = &span->args[i];
		uint64_t value = arg->value;
		uint32_t key, text;
		int status = tacho_rewriter_string(rewriter, arg->key, &key);

		if (status == STATUS_OK && (arg->type == ARG_STRING || arg->type == ARG_JSON)) {
			status = tacho_rewriter_string(rewriter, value, &text);
			value = text;
		}
		if (status == STATUS_OK)
			status = span_builder_add_arg(
				&rewriter->builder, row, key, (enum arg_type)arg->type, value);
		if (status != STATUS_OK)
			return error_set(rewriter->err, status, "out of memory for arguments");
	}
	return STATUS_OK;
}

int tacho_spans_add(void *context, const struct export_span *span)
{
	struct tacho_rewriter *rewriter = context;
	const struct trace_window *window = &rewriter->options->window;
	uint64_t start = span->start_ns, end = start + span->duration_ns, self = span->self_ns;
	/* A scope alone, without those around and in it, has no place in a nest. */
	enum spans_layout layout = rewriter->options->filter ? SPANS_EXPLICIT : span->layout;
	uint32_t name, track = rewriter->track_base + span->track;
	int status = tacho_rewriter_name(rewriter, span->name, &name);

	if (start < window->from_ns || (window->until_ns && end > window->until_ns)) {
		start = start < window->from_ns ? window->from_ns : start;
		end = window->until_ns && end > window->until_ns ? window->until_ns : end;
		self = UINT64_MAX; /* what is left of it follows from the children */
	}
	start += rewriter->shift_ns - window->from_ns;
	end += rewriter->shift_ns - window->from_ns;
	if (status == STATUS_OK && (!rewriter->building || rewriter->track != track ||
					   rewriter->builder.layout != layout))
		status = change_track(rewriter, track, layout);
	if (status != STATUS_OK)
		return status;
	if (layout == SPANS_NESTED) {
		status = add_nested(rewriter, name, span->depth, start, end, self);
	} else {
		if (rewriter->builder.count >= BLOCK_ROWS_TARGET)
			status = restart_block(rewriter);
		if (status == STATUS_OK)
			status = span_builder_add_explicit(&rewriter->builder, name, start, end);
	}
	if (status != STATUS_OK)
		return rewriter->err->message[0]
			       ? status
			       : error_set(rewriter->err, status, "out of memory for spans");
	return add_args(rewriter, span);
}
