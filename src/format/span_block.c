// SPDX-License-Identifier: MIT OR Apache-2.0
/* Encoding and decoding of span blocks; the layout is drawn in span_block.h. */
#include "format/span_block.h"

#include "base/array.h"
#include "base/id_map.h"
#include "format/block.h"
#include "format/column.h"

#include <stdlib.h>
#include <string.h>

void span_builder_init(struct span_builder *builder, enum spans_layout layout)
{
	memset(builder, 0, sizeof *builder);
	builder->layout = layout;
}

void span_builder_release(struct span_builder *builder)
{
	free(builder->first);
	free(builder->second);
	free(builder->name);
	free(builder->depth);
	free(builder->carried);
	free(builder->args);
	span_builder_init(builder, builder->layout);
}

int span_builder_start(
	struct span_builder *builder, const uint64_t *child_sums, uint32_t open_count)
{
	size_t capacity = builder->carried_capacity;

	if (array_grow((void **)&builder->carried, &capacity, open_count, sizeof(uint64_t)))
		return STATUS_NOMEM;
	builder->carried_capacity = (uint32_t)capacity;
	if (open_count)
		memcpy(builder->carried, child_sums, open_count * sizeof(uint64_t));
	builder->carried_count = open_count;
	builder->base_ns = builder->last_end_ns;
	builder->base_depth = builder->last_depth;
	builder->count = 0;
	builder->arg_count = 0;
	builder->time_min_ns = UINT64_MAX;
	builder->time_max_ns = 0;
	builder->busy_ns = 0;
	return STATUS_OK;
}

static int span_builder_grow(struct span_builder *builder)
{
	uint32_t capacity = builder->capacity ? builder->capacity * 2 : 256;
	uint64_t *first = realloc(builder->first, capacity * sizeof *first);
	uint64_t *second;
	uint32_t *name, *depth;

	if (!first)
		return STATUS_NOMEM;
	builder->first = first;
	second = realloc(builder->second, capacity * sizeof *second);
	if (!second)
		return STATUS_NOMEM;
	builder->second = second;
	name = realloc(builder->name, capacity * sizeof *name);
	if (!name)
		return STATUS_NOMEM;
	builder->name = name;
	depth = realloc(builder->depth, capacity * sizeof *depth);
	if (!depth)
		return STATUS_NOMEM;
	builder->depth = depth;
	builder->capacity = capacity;
	return STATUS_OK;
}

static int span_builder_put(struct span_builder *builder, uint32_t name, uint32_t depth,
	uint64_t first, uint64_t second)
{
	uint32_t row = builder->count;

	if (row == builder->capacity && span_builder_grow(builder) != STATUS_OK)
		return STATUS_NOMEM;
	builder->name[row] = name;
	builder->depth[row] = depth;
	builder->first[row] = first;
	builder->second[row] = second;
	builder->count = row + 1;
	return STATUS_OK;
}

int span_builder_add_nested(struct span_builder *builder, uint32_t name, uint32_t depth,
	uint64_t start_ns, uint64_t end_ns, uint64_t self_ns)
{
	bool parent = builder->last_depth == depth + 1;
	uint64_t gap = (parent ? end_ns : start_ns) - builder->last_end_ns;
	int status = span_builder_put(builder, name, depth, gap, self_ns);

	if (status != STATUS_OK)
		return status;
	builder->last_end_ns = end_ns;
	builder->last_depth = depth;
	if (start_ns < builder->time_min_ns)
		builder->time_min_ns = start_ns;
	builder->time_max_ns = end_ns;
	if (depth == 0)
		builder->busy_ns += end_ns - start_ns;
	return STATUS_OK;
}

int span_builder_add_explicit(
	struct span_builder *builder, uint32_t name, uint64_t start_ns, uint64_t end_ns)
{
	int status = span_builder_put(builder, name, 0, start_ns, end_ns - start_ns);

	if (status != STATUS_OK)
		return status;
	if (start_ns < builder->time_min_ns)
		builder->time_min_ns = start_ns;
	if (end_ns > builder->time_max_ns)
		builder->time_max_ns = end_ns;
	builder->busy_ns += end_ns - start_ns;
	return STATUS_OK;
}

int span_builder_add_arg(struct span_builder *builder, uint32_t row, uint32_t key,
	enum arg_type type, uint64_t value)
{
	if (row >= builder->count)
		return STATUS_USAGE;
	if (builder->arg_count >= SPANS_ARGS_MAX)
		return STATUS_LIMIT;
	if (array_grow((void **)&builder->args, &builder->arg_capacity, builder->arg_count + 1,
		    sizeof *builder->args))
		return STATUS_NOMEM;
	builder->args[builder->arg_count++] =
		(struct span_arg){ .row = row, .key = key, .type = (uint8_t)type, .value = value };
	return STATUS_OK;
}

/* Replaces the names by numbers into a list of the names used, which it appends to `out`. */
static int encode_names(const struct span_builder *builder, struct buffer *out)
{
	enum { SLOTS_MIN = 256 };
	uint32_t slots = SLOTS_MIN, used = 0;
	uint32_t *table, *list, *numbers;
	int status = STATUS_NOMEM;

	while (slots < builder->count * 2)
		slots *= 2;
	table = calloc(slots, sizeof *table);
	list = malloc((builder->count + 1) * sizeof *list);
	numbers = malloc((builder->count + 1) * sizeof *numbers);
	if (!table || !list || !numbers)
		goto out;
	for (uint32_t i = 0; i < builder->count; i++) {
		uint32_t name = builder->name[i];
		uint32_t slot = (name * 0x9e3779b1u) & (slots - 1);

		while (table[slot] && list[table[slot] - 1] != name)
			slot = (slot + 1) & (slots - 1);
		if (!table[slot]) {
			list[used++] = name;
			table[slot] = used;
		}
		numbers[i] = table[slot] - 1;
	}
	buffer_u32(out, used);
	column_put_u32(out, list, used);
	column_put_u32(out, numbers, builder->count);
	status = STATUS_OK;
out:
	free(table);
	free(list);
	free(numbers);
	return status;
}

/* Sorts arguments by `place` of each, stably: values of one key on one row keep their order. */
static int sort_by_place(struct span_builder *builder, const uint32_t *place, uint32_t places)
{
	size_t *starts = calloc((size_t)places + 1, sizeof *starts);
	struct span_arg *sorted = calloc(builder->arg_capacity, sizeof *sorted);

	if (!starts || !sorted) {
		free(starts);
		free(sorted);
		return STATUS_NOMEM;
	}
	for (size_t i = 0; i < builder->arg_count; i++)
		starts[place[i] + 1]++;
	for (uint32_t i = 0; i < places; i++)
		starts[i + 1] += starts[i];
	for (size_t i = 0; i < builder->arg_count; i++)
		sorted[starts[place[i]]++] = builder->args[i];
	free(starts);
	free(builder->args);
	builder->args = sorted;
	return STATUS_OK;
}

/* Numbers the pairs of key and type in the order in which they appear. */
static int number_keys(const struct span_builder *builder, uint32_t *place, uint32_t *ret_count)
{
	struct id_map pairs;
	uint32_t count = 0;
	int status = STATUS_OK;

	id_map_init(&pairs);
	for (size_t i = 0; status == STATUS_OK && i < builder->arg_count; i++) {
		uint64_t pair = (uint64_t)builder->args[i].key << 8 | builder->args[i].type, number;

		if (!id_map_get(&pairs, pair, &number)) {
			number = count++;
			status = id_map_put(&pairs, pair, number);
		}
		place[i] = (uint32_t)number;
	}
	id_map_release(&pairs);
	*ret_count = count;
	return status;
}

/* By key and type, then by row. */
static int sort_args(struct span_builder *builder)
{
	uint32_t *place = malloc(builder->arg_count * sizeof *place), places;
	bool sorted = true;
	int status = place ? STATUS_OK : STATUS_NOMEM;

	for (size_t i = 1; i < builder->arg_count && sorted; i++)
		sorted = builder->args[i - 1].row <= builder->args[i].row;
	if (status == STATUS_OK && !sorted) {
		for (size_t i = 0; i < builder->arg_count; i++)
			place[i] = builder->args[i].row;
		status = sort_by_place(builder, place, builder->count);
	}
	if (status == STATUS_OK)
		status = number_keys(builder, place, &places);
	if (status == STATUS_OK)
		status = sort_by_place(builder, place, places);
	free(place);
	return status;
}

static enum column_transform arg_transform(unsigned type)
{
	return type == ARG_DOUBLE ? COLUMN_XOR : COLUMN_DELTA;
}

/* One key: its rows, unless it has exactly one value for each row, and its values. */
static void encode_key(const struct span_builder *builder, const struct span_arg *args,
	size_t count, uint32_t *rows, uint64_t *values, struct buffer *out)
{
	bool dense = count == builder->count;

	for (size_t i = 0; i < count; i++) {
		rows[i] = i ? args[i].row - args[i - 1].row : args[i].row;
		values[i] = args[i].value;
		dense = dense && args[i].row == i;
	}
	buffer_u32(out, args[0].key);
	buffer_byte(out, args[0].type);
	buffer_byte(out, dense);
	buffer_u32(out, (uint32_t)count);
	if (!dense)
		column_put_u32(out, rows, count);
	column_put(out, values, count, arg_transform(args[0].type));
}

static int encode_args(struct span_builder *builder, struct buffer *out)
{
	uint32_t keys = 0, *rows;
	uint64_t *values;
	size_t keys_at = out->length;
	int status;

	buffer_u32(out, 0);
	if (builder->arg_count == 0)
		return STATUS_OK;
	status = sort_args(builder);
	if (status != STATUS_OK)
		return status;
	rows = malloc(builder->arg_count * sizeof *rows);
	values = malloc(builder->arg_count * sizeof *values);
	if (!rows || !values) {
		free(rows);
		free(values);
		return STATUS_NOMEM;
	}
	for (size_t i = 0, end; i < builder->arg_count; i = end) {
		const struct span_arg *first = &builder->args[i];

		for (end = i + 1; end < builder->arg_count &&
				  builder->args[end].key == first->key &&
				  builder->args[end].type == first->type;)
			end++;
		encode_key(builder, first, end - i, rows, values, out);
		keys++;
	}
	free(rows);
	free(values);
	if (buffer_ok(out))
		for (int i = 0; i < 4; i++)
			out->data[keys_at + (size_t)i] = (uint8_t)(keys >> (8 * i));
	return STATUS_OK;
}

int span_builder_encode(struct span_builder *builder, struct buffer *out)
{
	int status;

	buffer_u32(out, builder->layout);
	buffer_u32(out, builder->base_depth);
	buffer_u64(out, builder->base_ns);
	buffer_u32(out, builder->carried_count);
	for (uint32_t i = 0; i < builder->carried_count; i++)
		buffer_u64(out, builder->carried[i]);
	status = encode_names(builder, out);
	if (status != STATUS_OK)
		return status;
	column_put_u32(out, builder->depth, builder->count);
	column_put(out, builder->first, builder->count,
		builder->layout == SPANS_NESTED ? COLUMN_PLAIN : COLUMN_DELTA);
	column_put(out, builder->second, builder->count, COLUMN_PLAIN);
	status = encode_args(builder, out);
	if (status != STATUS_OK)
		return status;
	return buffer_ok(out) ? STATUS_OK : STATUS_NOMEM;
}

void span_batch_init(struct span_batch *batch)
{
	memset(batch, 0, sizeof *batch);
}

void span_batch_release(struct span_batch *batch)
{
	free(batch->start_ns);
	free(batch->duration_ns);
	free(batch->self_ns);
	free(batch->name);
	free(batch->depth);
	free(batch->args);
	free(batch->dictionary);
	free(batch->sums);
	free(batch->scratch);
	free(batch->scratch_rows);
	span_batch_init(batch);
}

static int grow_u64(uint64_t **items, size_t count)
{
	uint64_t *memory = realloc(*items, (count + 1) * sizeof *memory);

	if (!memory)
		return STATUS_NOMEM;
	*items = memory;
	return STATUS_OK;
}

static int grow_u32(uint32_t **items, size_t count)
{
	uint32_t *memory = realloc(*items, (count + 1) * sizeof *memory);

	if (!memory)
		return STATUS_NOMEM;
	*items = memory;
	return STATUS_OK;
}

static int span_batch_reserve(struct span_batch *batch, uint32_t rows)
{
	if (!batch->sums) {
		batch->sums = malloc((SPANS_DEPTH_MAX + 2) * sizeof *batch->sums);
		if (!batch->sums)
			return STATUS_NOMEM;
	}
	if (rows <= batch->capacity)
		return STATUS_OK;
	if (grow_u64(&batch->start_ns, rows) || grow_u64(&batch->duration_ns, rows) ||
		grow_u64(&batch->self_ns, rows) || grow_u32(&batch->name, rows) ||
		grow_u32(&batch->depth, rows))
		return STATUS_NOMEM;
	batch->capacity = rows;
	return STATUS_OK;
}

static int decode_names(
	struct span_batch *batch, uint32_t rows, uint32_t name_limit, struct reader *in)
{
	uint32_t used = reader_u32(in), wrong = 0;

	if (in->failed || used > rows)
		return STATUS_FORMAT;
	if (used > batch->dictionary_capacity) {
		if (grow_u32(&batch->dictionary, used))
			return STATUS_NOMEM;
		batch->dictionary_capacity = used;
	}
	if (column_get_u32(in, batch->dictionary, used))
		return STATUS_FORMAT;
	batch->dictionary_count = used;
	for (uint32_t i = 0; i < used; i++)
		wrong |= batch->dictionary[i] >= name_limit;
	if (wrong || column_get_u32(in, batch->name, rows))
		return STATUS_FORMAT;
	for (uint32_t i = 0; i < rows; i++) {
		if (batch->name[i] >= used)
			return STATUS_FORMAT;
		batch->name[i] = batch->dictionary[batch->name[i]];
	}
	return STATUS_OK;
}

/* Rebuilds start and duration from gap and self; see span_block.h. */
static int rebuild_nested(
	struct span_batch *batch, uint32_t rows, uint64_t base_ns, uint32_t base_depth)
{
	uint64_t *restrict sums = batch->sums;
	uint64_t end = base_ns, wrong = 0;
	uint32_t before = base_depth;

	for (uint32_t i = 0; i < rows; i++) {
		uint32_t depth = batch->depth[i];
		uint64_t gap = batch->start_ns[i];
		uint64_t duration = batch->self_ns[i] + sums[depth + 1];
		bool parent = before == depth + 1;

		wrong |= duration < batch->self_ns[i];
		end += gap + (parent ? 0 : duration);
		wrong |= duration > end;
		sums[depth + 1] = 0;
		sums[depth] += duration;
		batch->duration_ns[i] = duration;
		batch->start_ns[i] = end - duration;
		before = depth;
	}
	return wrong ? STATUS_FORMAT : STATUS_OK;
}

static int decode_nested(struct span_batch *batch, uint32_t rows, uint64_t base_ns,
	uint32_t base_depth, uint32_t carried, const uint8_t *sums, struct reader *in)
{
	uint32_t deepest = carried;
	struct reader sum_reader;

	if (column_get(in, batch->start_ns, rows) || column_get(in, batch->self_ns, rows))
		return STATUS_FORMAT;
	for (uint32_t i = 0; i < rows; i++)
		deepest = batch->depth[i] > deepest ? batch->depth[i] : deepest;
	if (deepest >= SPANS_DEPTH_MAX)
		return STATUS_FORMAT;
	memset(batch->sums, 0, (deepest + 2) * sizeof *batch->sums);
	/* The children of the open scope at depth d are at depth d + 1. */
	reader_init(&sum_reader, sums, (size_t)carried * 8);
	for (uint32_t i = 0; i < carried; i++)
		batch->sums[i + 1] = reader_u64(&sum_reader);
	return rebuild_nested(batch, rows, base_ns, base_depth);
}

static int decode_explicit(struct span_batch *batch, uint32_t rows, struct reader *in)
{
	uint64_t wrong = 0, sum;

	if (column_get(in, batch->start_ns, rows) || column_get(in, batch->duration_ns, rows))
		return STATUS_FORMAT;
	for (uint32_t i = 0; i < rows; i++) {
		wrong |= __builtin_add_overflow(batch->start_ns[i], batch->duration_ns[i], &sum);
		wrong |= batch->depth[i] >= SPANS_DEPTH_MAX;
		batch->self_ns[i] = batch->duration_ns[i];
	}
	return wrong ? STATUS_FORMAT : STATUS_OK;
}

static int decode_key(struct span_batch *batch, uint32_t rows, struct reader *in)
{
	uint32_t key = reader_u32(in), count, row = 0;
	uint8_t type = reader_byte(in), dense = reader_byte(in);

	count = reader_u32(in);
	if (in->failed || type >= ARG_TYPES || count > SPANS_ARGS_MAX - batch->arg_count ||
		(dense && count != rows))
		return STATUS_FORMAT;
	if (count > batch->scratch_capacity) {
		if (grow_u64(&batch->scratch, count) || grow_u32(&batch->scratch_rows, count))
			return STATUS_NOMEM;
		batch->scratch_capacity = count;
	}
	if ((!dense && column_get_u32(in, batch->scratch_rows, count)) ||
		column_get(in, batch->scratch, count))
		return STATUS_FORMAT;
	if (array_grow((void **)&batch->args, &batch->arg_capacity, batch->arg_count + count,
		    sizeof *batch->args))
		return STATUS_NOMEM;
	for (uint32_t i = 0; i < count; i++) {
		row = dense ? i : row + batch->scratch_rows[i];
		if (row >= rows)
			return STATUS_FORMAT;
		batch->args[batch->arg_count++] = (struct span_arg){
			.row = row, .key = key, .type = type, .value = batch->scratch[i]
		};
	}
	return STATUS_OK;
}

int span_batch_decode(struct span_batch *batch, const struct buffer *payload, uint32_t rows,
	uint32_t name_limit, bool with_args, struct error *err)
{
	struct reader in;
	uint32_t layout, base_depth, carried, keys;
	uint64_t base_ns;
	const uint8_t *sums;
	int status;

	reader_init(&in, payload->data, payload->length);
	layout = reader_u32(&in);
	base_depth = reader_u32(&in);
	base_ns = reader_u64(&in);
	carried = reader_u32(&in);
	sums = carried < SPANS_DEPTH_MAX ? reader_bytes(&in, (size_t)carried * 8) : NULL;
	batch->count = 0;
	batch->arg_count = 0;
	if (!sums || layout > SPANS_INSTANT || rows > BLOCK_ROWS_MAX)
		return error_set(err, STATUS_FORMAT, "spans block has an impossible head");
	batch->layout = (enum spans_layout)layout;
	status = span_batch_reserve(batch, rows);
	if (status == STATUS_OK)
		status = decode_names(batch, rows, name_limit, &in);
	if (status == STATUS_OK)
		status = column_get_u32(&in, batch->depth, rows);
	if (status == STATUS_OK)
		status = layout == SPANS_NESTED ? decode_nested(batch, rows, base_ns, base_depth,
							  carried, sums, &in)
						: decode_explicit(batch, rows, &in);
	keys = with_args && status == STATUS_OK ? reader_u32(&in) : 0;
	for (uint32_t i = 0; status == STATUS_OK && i < keys && !in.failed; i++)
		status = decode_key(batch, rows, &in);
	if (status == STATUS_OK && in.failed)
		status = STATUS_FORMAT;
	if (status != STATUS_OK)
		return error_set(err, status, "spans block: %s", status_text(status));
	batch->count = rows;
	return STATUS_OK;
}
