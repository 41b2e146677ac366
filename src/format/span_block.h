/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Blocks of the spans table. Two layouts:
 *
 * SPANS_NESTED: scopes of one thread in the order they ended. What is stored per scope is what its
 * neighbours do not already tell:
 *   self    the scope's time outside its children; with the children's sum it gives the duration
 *   gap     of a scope without children: its start minus the end of the scope before;
 *           of one with children: its end minus the end of its last child
 * A scope has children exactly when the scope before it in the block is one level deeper.
 * The sums of children of scopes still open at the block's start are in the block, so that each
 * block can be read alone.
 *
 * SPANS_EXPLICIT: spans with their own times (device streams, async spans): start, duration.
 *
 * SPANS_INSTANT: points in time with arguments, laid out like SPANS_EXPLICIT with durations of 0.
 *
 *   payload: u8 layout   u8[3] 0   u32 previous depth   u64 base time (end of the scope before)
 *            u32 carried, then that many u64: time of ended children of open scopes, depth 0 first
 *            u32 names used, column of name ids, column of numbers into them (u32 each)
 *            column depth, column gap or start, column self or duration
 *            u32 keys, each: u32 key string, u8 type, u8 dense, u32 values,
 *                            [column of rows, unless dense: value i belongs to row i], column
 * values */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "base/reader.h"

#include <stdbool.h>
#include <stdint.h>

enum spans_layout { SPANS_NESTED = 0, SPANS_EXPLICIT = 1, SPANS_INSTANT = 2 };

enum arg_type {
	ARG_INTEGER = 0,
	ARG_DOUBLE = 1, /* bits of the double */
	ARG_STRING = 2, /* string id */
	ARG_JSON = 3,   /* string id of a JSON value kept as it was written */
	ARG_TYPES
};

#define SPANS_DEPTH_MAX (1u << 16)
#define SPANS_ARGS_MAX \
	(4u << 20) /* in one block: zero columns cost no bytes, so a count needs a bound */

/* Spans being gathered for a block. */
struct span_builder {
	enum spans_layout layout;
	uint32_t count, capacity;
	uint64_t *first;  /* gap or start */
	uint64_t *second; /* self or duration */
	uint32_t *name, *depth;
	uint64_t base_ns, last_end_ns;
	uint32_t base_depth, last_depth;
	uint64_t *carried;
	uint32_t carried_count, carried_capacity;
	uint64_t time_min_ns, time_max_ns, busy_ns;
	struct span_arg *args;
	size_t arg_count, arg_capacity;
};

struct span_arg {
	uint32_t row;
	uint32_t key;
	uint8_t type;
	uint64_t value;
};

void span_builder_init(struct span_builder *builder, enum spans_layout layout);
void span_builder_release(struct span_builder *builder);

/* Begins a new block: nested builders are told the sums of ended children of the scopes that are
 * open now, outermost first. */
int span_builder_start(
	struct span_builder *builder, const uint64_t *child_sums, uint32_t open_count) MUST_USE;
/* A scope that ended: times in nanoseconds, self = duration minus that of its children. */
int span_builder_add_nested(struct span_builder *builder, uint32_t name, uint32_t depth,
	uint64_t start_ns, uint64_t end_ns, uint64_t self_ns) MUST_USE;
int span_builder_add_explicit(
	struct span_builder *builder, uint32_t name, uint64_t start_ns, uint64_t end_ns) MUST_USE;
/* An argument of row `row` (builder->count - 1 for the span just added). STATUS_LIMIT when the
 * block holds SPANS_ARGS_MAX already. */
int span_builder_add_arg(struct span_builder *builder, uint32_t row, uint32_t key,
	enum arg_type type, uint64_t value) MUST_USE;
/* Appends the payload to `out`. */
int span_builder_encode(struct span_builder *builder, struct buffer *out) MUST_USE;

/* A decoded block. Arrays belong to the batch and are reused by the next decode. */
struct span_batch {
	enum spans_layout layout;
	uint32_t count, capacity;
	uint64_t *start_ns, *duration_ns, *self_ns;
	uint32_t *name, *depth;
	struct span_arg *args; /* grouped by key; only when asked for */
	size_t arg_count, arg_capacity;
	uint32_t *dictionary;
	uint32_t dictionary_capacity;
	uint64_t *sums;
	uint64_t *scratch;
	uint32_t *scratch_rows;
	uint32_t scratch_capacity;
	uint32_t dictionary_count; /* names of this block: dictionary[0 .. dictionary_count) */
};

void span_batch_init(struct span_batch *batch);
void span_batch_release(struct span_batch *batch);

/* Decodes a payload of `rows` spans; names are checked to be below `name_limit`. */
int span_batch_decode(struct span_batch *batch, const struct buffer *payload, uint32_t rows,
	uint32_t name_limit, bool with_args, struct error *err) MUST_USE;
