// SPDX-License-Identifier: MIT OR Apache-2.0
/* Span blocks against a plain list of spans: random nesting cut into blocks at any row, arguments
 * of every kind, explicit times, and payloads that lie. */
#include "format/span_block.h"

#include "format/block.h"
#include "format/column.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#define DEPTH 40u
#define NAMES 300u

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct plain_span {
	uint64_t start_ns, end_ns, self_ns;
	uint32_t name, depth;
	uint64_t children_ns[DEPTH]; /* of the scopes still open after it */
	uint32_t open;
};

/* Scopes in the order they end, some of no duration, some deep, with idle time between. */
static void make_spans(struct plain_span *spans, uint32_t count, uint64_t from_ns)
{
	struct {
		uint64_t start, children;
		uint32_t name;
	} open[DEPTH];
	uint32_t depth = 0, done = 0;
	uint64_t now = from_ns;

	while (done < count) {
		uint64_t dice = random_next();

		now += (dice & 0xf0) ? (dice >> 20) % 5000
				     : (dice & 0x100 ? 0 : (dice >> 20) % 100000000);
		if (depth == 0 || (depth < DEPTH && dice % 100 < 52)) {
			open[depth].start = now;
			open[depth].children = 0;
			open[depth++].name = (uint32_t)(random_next() % NAMES);
			continue;
		}
		depth--;
		spans[done] = (struct plain_span){ .start_ns = open[depth].start,
			.end_ns = now,
			.self_ns = now - open[depth].start - open[depth].children,
			.name = open[depth].name,
			.depth = depth,
			.open = depth };
		if (depth)
			open[depth - 1].children += now - open[depth].start;
		for (uint32_t i = 0; i < depth; i++)
			spans[done].children_ns[i] = open[i].children;
		done++;
	}
}

static void check_block(struct span_batch *batch, struct span_builder *builder,
	const struct plain_span *spans, uint32_t count)
{
	struct buffer payload;
	struct error err = ERROR_INIT;
	uint32_t wrong = 0;
	uint64_t min = UINT64_MAX, max = 0, busy = 0;

	buffer_init(&payload);
	for (uint32_t i = 0; i < count; i++) {
		CHECK_EQ(span_builder_add_nested(builder, spans[i].name, spans[i].depth,
				 spans[i].start_ns, spans[i].end_ns, spans[i].self_ns),
			STATUS_OK);
		min = spans[i].start_ns < min ? spans[i].start_ns : min;
		max = spans[i].end_ns > max ? spans[i].end_ns : max;
		busy += spans[i].depth == 0 ? spans[i].end_ns - spans[i].start_ns : 0;
	}
	CHECK_EQ(builder->time_min_ns, min);
	CHECK_EQ(builder->time_max_ns, max);
	CHECK_EQ(builder->busy_ns, busy);
	CHECK_EQ(span_builder_encode(builder, &payload), STATUS_OK);
	if (!CHECK_EQ(span_batch_decode(batch, &payload, count, NAMES, false, &err), STATUS_OK))
		goto out;
	CHECK_EQ(batch->count, count);
	CHECK_EQ(batch->layout, SPANS_NESTED);
	for (uint32_t i = 0; i < count; i++)
		wrong += batch->start_ns[i] != spans[i].start_ns ||
			 batch->duration_ns[i] != spans[i].end_ns - spans[i].start_ns ||
			 batch->self_ns[i] != spans[i].self_ns || batch->name[i] != spans[i].name ||
			 batch->depth[i] != spans[i].depth;
	CHECK_EQ(wrong, 0);
out:
	buffer_release(&payload);
}

static void nested_there_and_back(void)
{
	enum { COUNT = 20000 };
	struct plain_span *spans = malloc(COUNT * sizeof *spans);
	struct span_builder builder;
	struct span_batch batch;

	make_spans(spans, COUNT, 12345);
	span_batch_init(&batch);
	span_builder_init(&builder, SPANS_NESTED);
	for (uint32_t at = 0; at < COUNT;) {
		uint32_t count = 1 + (uint32_t)(random_next() % (random_next() % 4 ? 50 : 3000));

		count = count < COUNT - at ? count : COUNT - at;
		CHECK_EQ(span_builder_start(&builder, at ? spans[at - 1].children_ns : NULL,
				 at ? spans[at - 1].open : 0),
			STATUS_OK);
		check_block(&batch, &builder, spans + at, count);
		at += count;
	}
	span_builder_release(&builder);
	span_batch_release(&batch);
	free(spans);
}

static void explicit_there_and_back(void)
{
	enum { COUNT = 5000 };
	uint64_t start[COUNT], end[COUNT];
	struct span_builder builder;
	struct span_batch batch;
	struct buffer payload;
	struct error err = ERROR_INIT;
	uint32_t wrong = 0;

	span_builder_init(&builder, SPANS_EXPLICIT);
	span_batch_init(&batch);
	buffer_init(&payload);
	CHECK_EQ(span_builder_start(&builder, NULL, 0), STATUS_OK);
	for (uint32_t i = 0; i < COUNT; i++) {
		start[i] = random_next() >> 20;
		end[i] = start[i] + (random_next() >> (20 + random_next() % 40));
		CHECK_EQ(span_builder_add_explicit(&builder, i % 7, start[i], end[i]), STATUS_OK);
	}
	CHECK_EQ(span_builder_encode(&builder, &payload), STATUS_OK);
	CHECK_EQ(span_batch_decode(&batch, &payload, COUNT, 7, true, &err), STATUS_OK);
	CHECK_EQ(batch.layout, SPANS_EXPLICIT);
	CHECK_EQ(batch.dictionary_count, 7);
	for (uint32_t i = 0; i < batch.count; i++)
		wrong += batch.start_ns[i] != start[i] ||
			 batch.duration_ns[i] != end[i] - start[i] ||
			 batch.self_ns[i] != end[i] - start[i] || batch.name[i] != i % 7 ||
			 batch.depth[i] != 0;
	CHECK_EQ(wrong, 0);
	span_builder_release(&builder);
	span_batch_release(&batch);
	buffer_release(&payload);
}

/* A scope whose children are lost, but not its grandchildren: it has none as far as the block goes.
 */
static void a_lost_level(void)
{
	struct span_builder builder;
	struct span_batch batch;
	struct buffer payload;
	struct error err = ERROR_INIT;

	span_builder_init(&builder, SPANS_NESTED);
	span_batch_init(&batch);
	buffer_init(&payload);
	CHECK_EQ(span_builder_start(&builder, NULL, 0), STATUS_OK);
	CHECK_EQ(span_builder_add_nested(&builder, 0, 2, 100, 110, 10), STATUS_OK);
	CHECK_EQ(span_builder_add_nested(&builder, 1, 0, 50, 300, 250), STATUS_OK);
	CHECK_EQ(span_builder_add_nested(&builder, 2, 3, 310, 320, 10), STATUS_OK);
	CHECK_EQ(span_builder_encode(&builder, &payload), STATUS_OK);
	CHECK_EQ(span_batch_decode(&batch, &payload, 3, 3, false, &err), STATUS_OK);
	CHECK_EQ(batch.start_ns[1], 50);
	CHECK_EQ(batch.duration_ns[1], 250);
	CHECK_EQ(batch.self_ns[1], 250);
	CHECK_EQ(batch.start_ns[2], 310);
	span_builder_release(&builder);
	span_batch_release(&batch);
	buffer_release(&payload);
}

/* Keys: 10 on every row, 20 on some, 30 twice on one row, 40 of two types. */
static void add_args(struct span_builder *builder, uint32_t row)
{
	double real = row * 0.1;
	uint64_t bits;

	memcpy(&bits, &real, sizeof bits);
	CHECK_EQ(span_builder_add_arg(builder, row, 10, ARG_INTEGER, row * 3), STATUS_OK);
	if (row % 5 == 2)
		CHECK_EQ(span_builder_add_arg(builder, row, 20, ARG_DOUBLE, bits), STATUS_OK);
	if (row == 7) {
		CHECK_EQ(span_builder_add_arg(builder, row, 30, ARG_INTEGER, 1), STATUS_OK);
		CHECK_EQ(span_builder_add_arg(builder, row, 30, ARG_INTEGER, 2), STATUS_OK);
	}
	if (row % 2)
		CHECK_EQ(span_builder_add_arg(builder, row, 40, ARG_STRING, row), STATUS_OK);
	else
		CHECK_EQ(span_builder_add_arg(builder, row, 40, ARG_INTEGER, (uint64_t)-1),
			STATUS_OK);
}

static void check_args(const struct span_batch *batch, uint32_t rows)
{
	uint32_t counts[41][ARG_TYPES] = { 0 }, wrong = 0;

	for (size_t i = 0; i < batch->arg_count; i++) {
		const struct span_arg *arg = &batch->args[i];

		if (!CHECK(arg->key <= 40 && arg->type < ARG_TYPES && arg->row < rows))
			return;
		counts[arg->key][arg->type]++;
		wrong += arg->key == 10 && arg->value != arg->row * 3;
		wrong += arg->key == 20 && arg->row % 5 != 2;
		/* Two values of one key stay in the order they were added. */
		wrong += arg->key == 30 && (arg->row != 7 || arg->value != counts[30][ARG_INTEGER]);
		wrong += arg->type == ARG_STRING && (arg->value != arg->row || arg->row % 2 == 0);
		wrong += arg->key == 40 && arg->type == ARG_INTEGER && arg->value != UINT64_MAX;
	}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(counts[10][ARG_INTEGER], rows);
	CHECK_EQ(counts[20][ARG_DOUBLE], rows / 5);
	CHECK_EQ(counts[30][ARG_INTEGER], 2);
	CHECK_EQ(counts[40][ARG_STRING], rows / 2);
	CHECK_EQ(counts[40][ARG_INTEGER], rows / 2);
}

static void args_there_and_back(void)
{
	enum { ROWS = 1000 };
	struct span_builder builder;
	struct span_batch batch;
	struct buffer payload;
	struct error err = ERROR_INIT;

	span_builder_init(&builder, SPANS_NESTED);
	span_batch_init(&batch);
	buffer_init(&payload);
	CHECK_EQ(span_builder_start(&builder, NULL, 0), STATUS_OK);
	for (uint32_t i = 0; i < ROWS; i++) {
		CHECK_EQ(span_builder_add_nested(&builder, 0, 0, i * 10, i * 10 + 5, 5), STATUS_OK);
		add_args(&builder, i);
	}
	CHECK_EQ(span_builder_encode(&builder, &payload), STATUS_OK);
	CHECK_EQ(span_batch_decode(&batch, &payload, ROWS, 1, true, &err), STATUS_OK);
	check_args(&batch, ROWS);
	CHECK_EQ(span_builder_add_arg(&builder, ROWS, 10, ARG_INTEGER, 1), STATUS_USAGE);
	CHECK_EQ(span_batch_decode(&batch, &payload, ROWS, 1, false, &err), STATUS_OK);
	CHECK_EQ(batch.arg_count, 0);
	/* The next block does not inherit them. */
	CHECK_EQ(span_builder_start(&builder, NULL, 0), STATUS_OK);
	CHECK_EQ(builder.arg_count, 0);
	span_builder_release(&builder);
	span_batch_release(&batch);
	buffer_release(&payload);
}

/* A payload written by hand, so that each field can lie. */
struct lie {
	uint32_t layout, base_depth, carried, used, name, number, depth, keys, key_count;
	uint8_t type, dense;
	uint64_t start, duration;
};

static void put_lie(const struct lie *lie, uint32_t rows, struct buffer *out)
{
	uint64_t values[4] = { lie->start, lie->start, lie->start, lie->start };
	uint32_t small[4];

	buffer_reset(out);
	buffer_u32(out, lie->layout);
	buffer_u32(out, lie->base_depth);
	buffer_u64(out, 1000);
	buffer_u32(out, lie->carried);
	buffer_u32(out, lie->used);
	column_put_u32(out, &lie->name, 1);
	for (int i = 0; i < 4; i++)
		small[i] = lie->number;
	column_put_u32(out, small, rows);
	for (int i = 0; i < 4; i++)
		small[i] = lie->depth;
	column_put_u32(out, small, rows);
	column_put(out, values, rows, COLUMN_PLAIN);
	for (int i = 0; i < 4; i++)
		values[i] = lie->duration;
	column_put(out, values, rows, COLUMN_PLAIN);
	buffer_u32(out, lie->keys);
	if (lie->keys) {
		buffer_u32(out, 5);
		buffer_byte(out, lie->type);
		buffer_byte(out, lie->dense);
		buffer_u32(out, lie->key_count);
		buffer_append(out, "\0\0\0\0", 4); /* rows and values: all zero, no bytes */
	}
}

static int decode_lie(const struct lie *lie)
{
	struct span_batch batch;
	struct buffer payload;
	struct error err = ERROR_INIT;
	int status;

	span_batch_init(&batch);
	buffer_init(&payload);
	put_lie(lie, 4, &payload);
	status = span_batch_decode(&batch, &payload, 4, 10, true, &err);
	CHECK(status == STATUS_OK || (err.message[0] && batch.count == 0));
	span_batch_release(&batch);
	buffer_release(&payload);
	return status;
}

static void lies_are_refused(void)
{
	static const struct lie truth = {
		.used = 1, .layout = SPANS_EXPLICIT, .start = 50, .duration = 5
	};
	struct lie lie = truth;

	CHECK_EQ(decode_lie(&lie), STATUS_OK);
	lie.layout = SPANS_INSTANT + 1;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie = truth, lie.carried = 1u << 20;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie = truth, lie.used = 5;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie = truth, lie.name = 10;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie = truth, lie.number = 1;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie = truth, lie.start = UINT64_MAX - 4;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie = truth, lie.depth = SPANS_DEPTH_MAX;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie.layout = SPANS_NESTED;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie.depth = UINT32_MAX;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie = truth, lie.layout = SPANS_NESTED, lie.duration = UINT64_MAX;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie = truth, lie.layout = SPANS_NESTED, lie.base_depth = UINT32_MAX;
	CHECK_EQ(decode_lie(&lie), STATUS_OK);
}

static void lying_arguments_are_refused(void)
{
	static const struct lie truth = {
		.used = 1, .layout = SPANS_EXPLICIT, .keys = 1, .key_count = 4, .dense = 1
	};
	struct lie lie = truth;

	CHECK_EQ(decode_lie(&lie), STATUS_OK);
	lie.key_count = 3;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie = truth, lie.type = ARG_TYPES;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie = truth, lie.keys = 1000;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	/* Four million values that cost no byte are the most a block may ask for. */
	lie = truth, lie.dense = 0, lie.key_count = SPANS_ARGS_MAX;
	CHECK_EQ(decode_lie(&lie), STATUS_OK);
	lie.key_count++;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
	lie.key_count = UINT32_MAX;
	CHECK_EQ(decode_lie(&lie), STATUS_FORMAT);
}

/* Every cut of a real payload, and bytes flipped: an error or spans, never a wrong access. */
static void damaged_payloads(void)
{
	enum { ROWS = 60 };
	struct plain_span *spans = malloc(ROWS * sizeof *spans);
	struct span_builder builder;
	struct span_batch batch;
	struct buffer payload;
	struct error err = ERROR_INIT;

	make_spans(spans, ROWS, 0);
	span_builder_init(&builder, SPANS_NESTED);
	span_batch_init(&batch);
	buffer_init(&payload);
	CHECK_EQ(span_builder_start(&builder, NULL, 0), STATUS_OK);
	for (uint32_t i = 0; i < ROWS; i++) {
		CHECK_EQ(span_builder_add_nested(&builder, spans[i].name, spans[i].depth,
				 spans[i].start_ns, spans[i].end_ns, spans[i].self_ns),
			STATUS_OK);
		add_args(&builder, i);
	}
	CHECK_EQ(span_builder_encode(&builder, &payload), STATUS_OK);
	for (size_t cut = 0; cut < payload.length; cut++) {
		struct buffer part = { .data = malloc(cut + 1), .length = cut };

		memcpy(part.data, payload.data, cut);
		CHECK_EQ(span_batch_decode(&batch, &part, ROWS, NAMES, true, &err), STATUS_FORMAT);
		free(part.data);
	}
	for (size_t i = 0; i < payload.length * 8; i++) {
		int status;

		payload.data[i / 8] ^= (uint8_t)(1u << i % 8);
		status = span_batch_decode(&batch, &payload, ROWS, NAMES, true, &err);
		CHECK(status == STATUS_OK || status == STATUS_FORMAT);
		for (uint32_t row = 0; status == STATUS_OK && row < ROWS; row++)
			if (batch.name[row] >= NAMES || batch.depth[row] >= SPANS_DEPTH_MAX ||
				batch.start_ns[row] + batch.duration_ns[row] < batch.start_ns[row])
				CHECK(!"a row that cannot be");
		payload.data[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	span_builder_release(&builder);
	span_batch_release(&batch);
	buffer_release(&payload);
	free(spans);
}

static void empty_block(void)
{
	struct span_builder builder;
	struct span_batch batch;
	struct buffer payload;
	struct error err = ERROR_INIT;

	span_builder_init(&builder, SPANS_NESTED);
	span_batch_init(&batch);
	buffer_init(&payload);
	CHECK_EQ(span_builder_start(&builder, NULL, 0), STATUS_OK);
	CHECK_EQ(span_builder_encode(&builder, &payload), STATUS_OK);
	CHECK_EQ(span_batch_decode(&batch, &payload, 0, 0, true, &err), STATUS_OK);
	CHECK_EQ(batch.count, 0);
	CHECK_EQ(span_batch_decode(&batch, &payload, BLOCK_ROWS_MAX + 1, 0, true, &err),
		STATUS_FORMAT);
	span_builder_release(&builder);
	span_batch_release(&batch);
	buffer_release(&payload);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(nested_there_and_back),
		UNIT(explicit_there_and_back),
		UNIT(a_lost_level),
		UNIT(args_there_and_back),
		UNIT(lies_are_refused),
		UNIT(lying_arguments_are_refused),
		UNIT(damaged_payloads),
		UNIT(empty_block),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
