// SPDX-License-Identifier: MIT OR Apache-2.0
/* Dictionaries of a rewritten trace. Only what the copied rows use is taken over, so a small window
 * of a large trace is a small file; tracks are taken over whole and keep their numbers. */
#include "export/tacho_rewriter.h"

#include <stdlib.h>
#include <string.h>

static int copy_tracks(struct tacho_rewriter *rewriter)
{
	const struct trace *trace = rewriter->trace;
	uint32_t base = rewriter->track_base;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct trace_track *track = &trace->tracks[i];
		uint32_t name, unit, id;

		if (trace_dict_string(&rewriter->dict, track->name, strlen(track->name), &name) ||
			trace_dict_string(
				&rewriter->dict, track->unit, strlen(track->unit), &unit) ||
			trace_dict_track(&rewriter->dict, base + track->parent, track->kind,
				track->os_id, name, unit, &id))
			return STATUS_NOMEM;
	}
	return STATUS_OK;
}

int tacho_rewriter_init(
	struct tacho_rewriter *rewriter, const struct export_options *options, struct error *err)
{
	memset(rewriter, 0, sizeof *rewriter);
	rewriter->options = options;
	rewriter->err = err;
	rewriter->writer.fd = -1;
	span_builder_init(&rewriter->builder, SPANS_NESTED);
	if (trace_dict_init(&rewriter->dict) == STATUS_OK)
		return STATUS_OK;
	tacho_rewriter_release(rewriter);
	return error_set(err, STATUS_NOMEM, "out of memory");
}

static void forget_trace(struct tacho_rewriter *rewriter)
{
	free(rewriter->strings);
	free(rewriter->names);
	free(rewriter->stacks);
	rewriter->strings = rewriter->names = rewriter->stacks = NULL;
}

int tacho_rewriter_take(
	struct tacho_rewriter *rewriter, const struct trace *trace, uint64_t shift_ns)
{
	forget_trace(rewriter);
	rewriter->trace = trace;
	rewriter->shift_ns = shift_ns;
	rewriter->track_base = (uint32_t)rewriter->dict.tracks.count;
	rewriter->strings = calloc(trace->strings.count + 1, sizeof(uint32_t));
	rewriter->names = calloc((size_t)trace->name_count + 1, sizeof(uint32_t));
	rewriter->stacks = calloc(trace->stack_count + 1, sizeof(uint32_t));
	if (!rewriter->strings || !rewriter->names || !rewriter->stacks ||
		copy_tracks(rewriter) != STATUS_OK)
		return error_set(rewriter->err, STATUS_NOMEM, "out of memory");
	return STATUS_OK;
}

void tacho_rewriter_release(struct tacho_rewriter *rewriter)
{
	trace_writer_release(&rewriter->writer);
	trace_dict_release(&rewriter->dict);
	span_builder_release(&rewriter->builder);
	table_rows_release(&rewriter->rows);
	buffer_release(&rewriter->raw);
	buffer_release(&rewriter->encoded);
	forget_trace(rewriter);
	free(rewriter->sums);
}

int tacho_rewriter_string(struct tacho_rewriter *rewriter, uint64_t old, uint32_t *ret_new)
{
	const struct string_table *strings = &rewriter->trace->strings;

	/* A number that is no string reads as "" in the old file: so it does in the new one. */
	if (old >= strings->count) {
		*ret_new = 0;
		return STATUS_OK;
	}
	if (!rewriter->strings[old]) {
		uint32_t id;

		if (trace_dict_string(&rewriter->dict, strings->entries[old].text,
			    strings->entries[old].length, &id) != STATUS_OK)
			return error_set(rewriter->err, STATUS_NOMEM, "out of memory for strings");
		rewriter->strings[old] = id + 1;
	}
	*ret_new = rewriter->strings[old] - 1;
	return STATUS_OK;
}

int tacho_rewriter_name(struct tacho_rewriter *rewriter, uint64_t old, uint32_t *ret_new)
{
	/* Beyond the last is the number of a name that a damaged row made up: it becomes "". */
	if (old > rewriter->trace->name_count)
		old = rewriter->trace->name_count;
	if (!rewriter->names[old]) {
		const struct trace_name none = { 0 };
		const struct trace_name *name =
			old < rewriter->trace->name_count ? &rewriter->trace->names[old] : &none;
		uint32_t text = 0, category = 0, id;

		if (tacho_rewriter_string(rewriter, name->name_string, &text) ||
			tacho_rewriter_string(rewriter, name->category_string, &category) ||
			trace_dict_name(&rewriter->dict, text, category, &id))
			return error_set(rewriter->err, STATUS_NOMEM, "out of memory for names");
		rewriter->names[old] = id + 1;
	}
	*ret_new = rewriter->names[old] - 1;
	return STATUS_OK;
}

int tacho_rewriter_stack(struct tacho_rewriter *rewriter, uint64_t old, uint32_t *ret_new)
{
	size_t count = 0;
	const uint32_t *frames = NULL;
	uint32_t *fresh;
	int status = STATUS_OK;

	if (old < rewriter->trace->stack_count && rewriter->stacks[old]) {
		*ret_new = rewriter->stacks[old] - 1;
		return STATUS_OK;
	}
	if (old <= UINT32_MAX)
		frames = trace_stack(rewriter->trace, (uint32_t)old, &count);
	count = frames ? count : 0;
	fresh = malloc((count + 1) * sizeof *fresh);
	if (!fresh)
		return error_set(rewriter->err, STATUS_NOMEM, "out of memory for stacks");
	for (size_t i = 0; i < count && status == STATUS_OK; i++)
		status = tacho_rewriter_string(rewriter, frames[i], &fresh[i]);
	if (status == STATUS_OK)
		status = trace_dict_stack(&rewriter->dict, fresh, count, ret_new);
	free(fresh);
	if (status == STATUS_OK && old < rewriter->trace->stack_count)
		rewriter->stacks[old] = *ret_new + 1;
	return status;
}
