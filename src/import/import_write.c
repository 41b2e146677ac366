// SPDX-License-Identifier: MIT OR Apache-2.0
/* From rows to blocks: each track is sorted by start, nested by a sweep with a stack, and written
 * in the order its spans end. A span that crosses the end of the one around it cannot nest; it goes
 * into a block with explicit times beside the nested ones. */
#include "import/import_sink_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writing {
	struct import_sink *sink;
	struct trace_writer writer;
	struct block_codec *codec;
	struct span_builder nested, loose;
	struct buffer raw, encoded;
	uint32_t track;
	uint64_t *child_sums;
	const struct import_row **stack;
	size_t depth, capacity;
	uint64_t crossing;
	struct error *err;
};

static int write_spans(struct writing *writing, struct span_builder *builder)
{
	struct block_header header = { .table = TABLE_SPANS,
		.track = writing->track,
		.rows = builder->count,
		.time_min_ns = builder->time_min_ns,
		.time_max_ns = builder->time_max_ns,
		.busy_ns = builder->busy_ns };
	int status;

	if (builder->count == 0)
		return STATUS_OK;
	buffer_reset(&writing->raw);
	buffer_reset(&writing->encoded);
	status = span_builder_encode(builder, &writing->raw);
	if (status == STATUS_OK)
		status = block_encode(writing->codec, &header, writing->raw.data,
			writing->raw.length, &writing->encoded);
	builder->count = 0;
	builder->arg_count = 0;
	if (status != STATUS_OK)
		return error_set(
			writing->err, status, "cannot encode a block: %s", status_text(status));
	return trace_writer_block(&writing->writer, &header, writing->encoded.data,
		writing->encoded.length, writing->err);
}

/* Many arguments fill a block before many rows do. */
static bool is_full(const struct span_builder *builder)
{
	return builder->count >= BLOCK_ROWS_TARGET || builder->arg_count >= SPANS_ARGS_MAX / 2;
}

static int add_args(
	struct writing *writing, struct span_builder *builder, const struct import_row *row)
{
	const struct import_sink *sink = writing->sink;
	const struct import_shape *shape;
	const uint32_t *words;

	if (row->shape == IMPORT_NO_SHAPE)
		return STATUS_OK;
	shape = &sink->shapes[row->shape];
	words = import_words(sink, row->words);
	for (uint32_t i = 0; i < shape->count; i++) {
		uint8_t type = sink->shape_types[shape->first + i];
		uint64_t value = *words++;

		if (type == (ARG_INTEGER | IMPORT_NARROW))
			value = (uint64_t)(int64_t)(int32_t)value;
		else if (!(type & IMPORT_NARROW))
			value |= (uint64_t)*words++ << 32;
		if (span_builder_add_arg(builder, builder->count - 1,
			    sink->shape_keys[shape->first + i],
			    (enum arg_type)(type & ~IMPORT_NARROW), value))
			return error_set(writing->err, STATUS_NOMEM, "out of memory");
	}
	return STATUS_OK;
}

static uint64_t row_start(const struct writing *writing, const struct import_row *row)
{
	return (uint64_t)row->start_ns - (uint64_t)writing->sink->first_ns;
}

static int add_loose(struct writing *writing, const struct import_row *row)
{
	struct span_builder *loose = &writing->loose;
	uint64_t start = row_start(writing, row);
	int status = STATUS_OK;

	if (loose->count == 0)
		status = span_builder_start(loose, NULL, 0);
	if (status == STATUS_OK)
		status = span_builder_add_explicit(
			loose, row->name, start, start + row->duration_ns);
	if (status != STATUS_OK)
		return error_set(writing->err, status, "out of memory");
	status = add_args(writing, loose, row);
	if (status == STATUS_OK && is_full(loose))
		status = write_spans(writing, loose);
	return status;
}

/* The innermost open span ends. */
static int pop(struct writing *writing)
{
	struct span_builder *nested = &writing->nested;
	size_t top = writing->depth - 1;
	const struct import_row *row = writing->stack[top];
	uint64_t start = row_start(writing, row), children = writing->child_sums[top];
	int status = STATUS_OK;

	if (nested->count == 0)
		status = span_builder_start(nested, writing->child_sums, (uint32_t)writing->depth);
	if (status == STATUS_OK)
		status = span_builder_add_nested(nested, row->name, (uint32_t)top, start,
			start + row->duration_ns, row->duration_ns - children);
	if (status != STATUS_OK)
		return error_set(writing->err, status, "out of memory");
	status = add_args(writing, nested, row);
	writing->depth = top;
	if (top)
		writing->child_sums[top - 1] += row->duration_ns;
	if (status == STATUS_OK && is_full(nested))
		status = write_spans(writing, nested);
	return status;
}

static int push(struct writing *writing, const struct import_row *row)
{
	if (writing->depth == writing->capacity) {
		size_t capacity = writing->capacity ? writing->capacity * 2 : 64;
		uint64_t *sums = realloc(writing->child_sums, capacity * sizeof *sums);
		const struct import_row **stack;

		if (!sums)
			return error_set(writing->err, STATUS_NOMEM, "out of memory");
		writing->child_sums = sums;
		stack = realloc((void *)writing->stack, capacity * sizeof(struct import_row *));
		if (!stack)
			return error_set(writing->err, STATUS_NOMEM, "out of memory");
		writing->stack = stack;
		writing->capacity = capacity;
	}
	writing->child_sums[writing->depth] = 0;
	writing->stack[writing->depth++] = row;
	return STATUS_OK;
}

static int64_t row_end(const struct import_row *row)
{
	return row->start_ns + (int64_t)row->duration_ns;
}

static int sweep_row(struct writing *writing, const struct import_row *row)
{
	int status = STATUS_OK;

	while (status == STATUS_OK && writing->depth &&
		row_end(writing->stack[writing->depth - 1]) <= row->start_ns)
		status = pop(writing);
	if (status != STATUS_OK)
		return status;
	if (writing->depth >= SPANS_DEPTH_MAX - 2 ||
		(writing->depth && row_end(row) > row_end(writing->stack[writing->depth - 1]))) {
		writing->crossing++;
		return add_loose(writing, row);
	}
	return push(writing, row);
}

/* Earlier first; of two that start together the longer is around the other; else by arrival. */
static bool comes_first(const struct import_row *a, const struct import_row *b)
{
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns
					  : a->duration_ns >= b->duration_ns;
}

/* Merges the sorted runs [from, middle) and [middle, until) of `order` through `room`. */
static void merge(const struct import_row *rows, uint32_t *order, uint32_t *room, size_t from,
	size_t middle, size_t until)
{
	size_t a = 0, b = middle, out = from, left = middle - from;

	memcpy(room, order + from, left * sizeof *room);
	while (a < left && b < until)
		order[out++] =
			comes_first(&rows[room[a]], &rows[order[b]]) ? room[a++] : order[b++];
	while (a < left)
		order[out++] = room[a++];
}

/* Natural merge sort: foreign files are mostly in order already, in a few long runs. */
static int sort_rows(const struct import_rows *rows, uint32_t **ret_order)
{
	uint32_t *order = malloc((rows->count + 1) * sizeof *order);
	uint32_t *room = malloc((rows->count + 1) * sizeof *room);
	size_t *ends = malloc((rows->count + 2) * sizeof *ends), runs = 0;

	if (!order || !room || !ends || rows->count > UINT32_MAX) {
		free(order);
		free(room);
		free(ends);
		return STATUS_NOMEM;
	}
	for (size_t i = 0; i < rows->count; i++) {
		order[i] = (uint32_t)i;
		if (i + 1 == rows->count || !comes_first(&rows->items[i], &rows->items[i + 1]))
			ends[runs++] = i + 1;
	}
	while (runs > 1) {
		size_t kept = 0, from = 0;

		for (size_t r = 0; r < runs; r += 2) {
			size_t until = r + 1 < runs ? ends[r + 1] : ends[r];

			if (r + 1 < runs)
				merge(rows->items, order, room, from, ends[r], until);
			ends[kept++] = until;
			from = until;
		}
		runs = kept;
	}
	free(room);
	free(ends);
	*ret_order = order;
	return STATUS_OK;
}

static int write_instants(struct writing *writing, const struct import_rows *rows)
{
	struct span_builder builder;
	uint32_t *order;
	int status = sort_rows(rows, &order);

	if (status != STATUS_OK)
		return error_set(writing->err, status, "out of memory");
	span_builder_init(&builder, SPANS_INSTANT);
	for (size_t i = 0; status == STATUS_OK && i < rows->count; i++) {
		const struct import_row *row = &rows->items[order[i]];
		uint64_t start = row_start(writing, row);

		if (builder.count == 0)
			status = span_builder_start(&builder, NULL, 0);
		if (status == STATUS_OK)
			status = span_builder_add_explicit(&builder, row->name, start, start);
		if (status == STATUS_OK)
			status = add_args(writing, &builder, row);
		if (status == STATUS_OK && is_full(&builder))
			status = write_spans(writing, &builder);
	}
	if (status == STATUS_OK)
		status = write_spans(writing, &builder);
	span_builder_release(&builder);
	free(order);
	return status;
}

static int write_track(struct writing *writing, uint32_t track)
{
	const struct import_track *rows = &writing->sink->tracks[track];
	uint32_t *order;
	int status = sort_rows(&rows->spans, &order);

	if (status != STATUS_OK)
		return error_set(writing->err, status, "out of memory");
	writing->track = track;
	/* Times of another track must not leak into this one's first gap. */
	writing->nested.last_end_ns = 0;
	writing->nested.last_depth = 0;
	for (size_t i = 0; status == STATUS_OK && i < rows->spans.count; i++)
		status = sweep_row(writing, &rows->spans.items[order[i]]);
	while (status == STATUS_OK && writing->depth)
		status = pop(writing);
	free(order);
	if (status == STATUS_OK)
		status = write_spans(writing, &writing->nested);
	if (status == STATUS_OK)
		status = write_spans(writing, &writing->loose);
	if (status == STATUS_OK && rows->instants.count)
		status = write_instants(writing, &rows->instants);
	return status;
}

static int write_plain(struct writing *writing, enum block_table table, struct table_rows *rows)
{
	uint64_t *time;

	if (rows->count == 0)
		return STATUS_OK;
	time = rows->cells[table_schema(table)->time_column];
	for (size_t i = 0; i < rows->count; i++)
		time[i] -= (uint64_t)writing->sink->first_ns;
	return trace_writer_rows(&writing->writer, table, rows, writing->err);
}

static int write_facts(struct writing *writing, const char *format_name)
{
	struct import_sink *sink = writing->sink;
	const char *format = sink->format ? sink->format : format_name;
	char text[32];

	snprintf(text, sizeof text, "%" PRId64, sink->first_ns);
	if (import_sink_metadata(sink, "source", format, strlen(format)) ||
		import_sink_metadata(sink, "import.first_ns", text, strlen(text)))
		return error_set(writing->err, STATUS_NOMEM, "out of memory");
	return STATUS_OK;
}

static int write_all(struct writing *writing, const char *format_name)
{
	struct import_sink *sink = writing->sink;
	int status = write_facts(writing, format_name);

	if (status == STATUS_OK)
		status = trace_writer_dict(&writing->writer, &sink->dict, writing->err);
	for (uint32_t i = 0; status == STATUS_OK && i < sink->track_count; i++)
		status = write_track(writing, i);
	if (status == STATUS_OK)
		status = write_plain(writing, TABLE_COUNTERS, &sink->counters);
	if (status == STATUS_OK)
		status = write_plain(writing, TABLE_COUNTERS, &sink->real_counters);
	if (status == STATUS_OK)
		status = write_plain(writing, TABLE_LINKS, &sink->links);
	if (status == STATUS_OK)
		status = write_plain(writing, TABLE_SAMPLES, &sink->samples);
	if (status == STATUS_OK)
		status = write_plain(writing, TABLE_ALLOCATIONS, &sink->allocations);
	if (status == STATUS_OK)
		status = trace_writer_rows(
			&writing->writer, TABLE_METADATA, &sink->metadata, writing->err);
	if (writing->crossing)
		ledger_add(&sink->ledger, writing->crossing, "spans that cross the end of another",
			"import", "kept with their times; their self time is their whole time");
	if (status == STATUS_OK)
		status = trace_writer_ledger(
			&writing->writer, &sink->dict, &sink->ledger, writing->err);
	return status;
}

int import_sink_finish(
	struct import_sink *sink, const char *path, const char *format_name, struct error *err)
{
	struct writing writing = { .sink = sink, .err = err };
	struct file_header header = { .version = FORMAT_VERSION };
	int status;

	if (sink->first_ns == INT64_MAX)
		sink->first_ns = 0;
	if (sink->has_epoch)
		header.start_unix_ns = (uint64_t)(sink->epoch_ns + sink->first_ns);
	for (size_t i = 0; i < sink->track_count; i++)
		sink->ledger.recorded +=
			sink->tracks[i].spans.count + sink->tracks[i].instants.count;
	sink->ledger.recorded += sink->counters.count + sink->real_counters.count +
				 sink->links.count + sink->samples.count + sink->allocations.count;
	sink->ledger.produced = sink->ledger.recorded + sink->ledger.skipped;
	status = trace_writer_open(&writing.writer, path, false, &header, err);
	if (status != STATUS_OK)
		return status;
	span_builder_init(&writing.nested, SPANS_NESTED);
	span_builder_init(&writing.loose, SPANS_EXPLICIT);
	writing.codec = block_codec_new();
	status = writing.codec ? write_all(&writing, format_name)
			       : error_set(err, STATUS_NOMEM, "out of memory");
	if (status == STATUS_OK)
		status = trace_writer_finish(&writing.writer, err);
	else
		trace_writer_release(&writing.writer);
	span_builder_release(&writing.nested);
	span_builder_release(&writing.loose);
	buffer_release(&writing.raw);
	buffer_release(&writing.encoded);
	block_codec_free(writing.codec);
	free(writing.child_sums);
	free(writing.stack);
	return status;
}
