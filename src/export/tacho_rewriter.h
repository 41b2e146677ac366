/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The state of a trace being written anew, or of several being merged: dictionaries of its own, to
 * which the old numbers are translated when they are first met, and one block of spans at a time.
 * For export_tacho*.c. */
#pragma once

#include "export/export_walk.h"

struct tacho_rewriter {
	const struct trace *trace;
	const struct export_options *options;
	struct trace_writer writer;
	struct trace_dict dict;
	struct error *err;
	/* Of the trace being copied. */
	uint32_t *strings, *names, *stacks; /* old number -> new number + 1; 0: not met yet */
	uint32_t track_base;                /* its tracks come behind those of the traces before */
	uint64_t shift_ns;                  /* its times are moved by this */
	/* The block being filled. */
	struct span_builder builder;
	uint32_t track;
	bool building;
	/* Of each depth the time of ended scopes whose parent is still open, as a reader of the new
	 * file will see it. */
	uint64_t *sums;
	size_t sum_count, sum_capacity;
	struct buffer raw, encoded;
	/* Rows of the plain table being copied. */
	struct table_rows rows;
	enum block_table table;
};

/* tacho_rewriter.c: dictionaries */
int tacho_rewriter_init(struct tacho_rewriter *rewriter, const struct export_options *options,
	struct error *err) MUST_USE;
/* Turns to the next trace to be copied. */
int tacho_rewriter_take(
	struct tacho_rewriter *rewriter, const struct trace *trace, uint64_t shift_ns) MUST_USE;
void tacho_rewriter_release(struct tacho_rewriter *rewriter);
int tacho_rewriter_string(
	struct tacho_rewriter *rewriter, uint64_t old, uint32_t *ret_new) MUST_USE;
int tacho_rewriter_name(struct tacho_rewriter *rewriter, uint64_t old, uint32_t *ret_new) MUST_USE;
int tacho_rewriter_stack(struct tacho_rewriter *rewriter, uint64_t old, uint32_t *ret_new) MUST_USE;

/* tacho_spans.c: a span into the block being filled, which is written when it is full. */
int tacho_spans_add(void *rewriter, const struct export_span *span) MUST_USE;
int tacho_spans_flush(struct tacho_rewriter *rewriter) MUST_USE;
