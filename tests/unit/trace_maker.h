/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Small traces for tests: spans given as plain lists, written through the real writer. */
#pragma once

#include "format/span_block.h"
#include "format/trace_writer.h"
#include "trace/trace.h"

#include <stdbool.h>

struct maker_span {
	uint32_t name, depth;
	uint64_t start_ns, end_ns;
};

struct maker {
	char path[4096];
	struct trace_writer writer;
	struct trace_dict dict;
	struct ledger ledger;
	struct block_codec *codec;
	bool failed;
};

/* Begins a trace in the temporary folder; a check fails when it cannot. */
void maker_open(struct maker *maker);
/* Writes ledger, index and trailer. The file stays until maker_remove(). */
void maker_finish(struct maker *maker);
/* Closes the file as a killed collector leaves it: no ledger, no index, no trailer. */
void maker_abandon(struct maker *maker);
void maker_remove(struct maker *maker);

uint32_t maker_string(struct maker *maker, const char *text);
uint32_t maker_name(struct maker *maker, const char *name, const char *category);
uint32_t maker_track(struct maker *maker, uint32_t parent, enum track_kind kind, const char *name);
void maker_metadata(struct maker *maker, const char *key, const char *value);
/* Rows of a plain table, `columns` values each. */
void maker_rows(struct maker *maker, enum block_table table, const uint64_t *cells, size_t rows);

/* Spans of one track. Nested ones come in the order they end and are cut into blocks of `cut` rows;
 * self times are worked out here. Arguments belong to rows by number. */
void maker_spans(struct maker *maker, uint32_t track, enum spans_layout layout,
	const struct maker_span *spans, size_t count, const struct span_arg *args, size_t arg_count,
	size_t cut);

/* A trace with a bit of everything: two steps with phases on a thread, a stream, a counter, a mark,
 * a link, a sample with its stack, metadata twice, a ledger. `whole`: finished, else abandoned. */
void maker_sample(struct maker *maker, bool whole);
/* Opens a trace; a check fails when it cannot, and NULL is returned. */
struct trace *maker_trace(const char *path);
/* Number of the table's block `number`, in the order of the file. */
size_t maker_find(const struct trace *trace, enum block_table table, size_t number);
void maker_write(const char *path, const void *bytes, size_t count);
/* All bytes of a file of up to 1 MiB, to be freed. */
uint8_t *maker_read(const char *path, size_t *ret_count);
