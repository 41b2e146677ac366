/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tables whose rows are plain numbers: one description each, one encoder and decoder for all.
 * Spans have their own encoding (span_block.h); strings and stacks carry a tail of bytes. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "format/block.h"
#include "format/column.h"

#define TABLE_COLUMNS_MAX 8

struct table_column {
	const char *name;
	enum column_transform transform;
};

struct table_schema {
	unsigned column_count;
	int time_column; /* -1: the rows have no time */
	struct table_column columns[TABLE_COLUMNS_MAX];
};

/* NULL for tables that are not of this kind. Column numbers below. */
const struct table_schema *table_schema(enum block_table table);

enum names_column { NAMES_NAME, NAMES_CATEGORY };
enum tracks_column { TRACKS_PARENT, TRACKS_KIND, TRACKS_OS_ID, TRACKS_NAME, TRACKS_UNIT };
enum counters_column { COUNTERS_TRACK, COUNTERS_TIME, COUNTERS_KIND, COUNTERS_VALUE };
enum marks_column { MARKS_TRACK, MARKS_TIME, MARKS_NAME };
enum links_column { LINKS_TRACK, LINKS_TIME, LINKS_ID, LINKS_KIND, LINKS_NAME };
enum allocations_column {
	ALLOCATIONS_TRACK,
	ALLOCATIONS_TIME,
	ALLOCATIONS_ADDRESS,
	ALLOCATIONS_BYTES,
	ALLOCATIONS_POOL,
	ALLOCATIONS_KIND
};
enum samples_column { SAMPLES_TRACK, SAMPLES_TIME, SAMPLES_STACK };
enum metadata_column { METADATA_KEY, METADATA_VALUE };
enum ledger_column { LEDGER_KIND, LEDGER_WHAT, LEDGER_COUNT, LEDGER_WHERE, LEDGER_EFFECT };
enum index_column {
	INDEX_OFFSET,
	INDEX_TABLE,
	INDEX_TRACK,
	INDEX_ROWS,
	INDEX_TIME_MIN,
	INDEX_TIME_MAX,
	INDEX_STORED,
	INDEX_BUSY
};

enum track_kind {
	TRACK_MACHINE = 0,
	TRACK_PROCESS = 1,
	TRACK_THREAD = 2,
	TRACK_DEVICE = 3,
	TRACK_REMOTE = 4,
	TRACK_ASYNC = 5,
	TRACK_COUNTER = 6,
	TRACK_OTHER = 7,
	TRACK_KINDS
};
const char *track_kind_name(unsigned kind);

enum counter_kind { COUNTER_INTEGER = 0, COUNTER_DOUBLE = 1 };
enum link_kind {
	LINK_FLOW_BEGIN = 0,
	LINK_FLOW_STEP = 1,
	LINK_FLOW_END = 2,
	LINK_CORRELATION = 3,
	LINK_KINDS,
	LINK_KIND_MASK = 7,
	LINK_ENCLOSING = 8, /* binds to the span around it, not to the next one */
	LINK_TEXT_ID = 16   /* the id is the number of a string */
};
const char *link_kind_name(unsigned kind);
enum allocation_kind { ALLOCATION_FREE = 1u << 0, ALLOCATION_DEVICE = 1u << 1 };

/* Rows being gathered, or just decoded: one array per column. */
struct table_rows {
	size_t count;
	size_t capacity;
	uint64_t *cells[TABLE_COLUMNS_MAX];
	unsigned columns; /* that have room for `capacity` rows: one struct may serve several tables
			   */
};

void table_rows_init(struct table_rows *rows);
void table_rows_release(struct table_rows *rows);
/* Appends a row of schema->column_count values. */
int table_rows_add(struct table_rows *rows, const struct table_schema *schema,
	const uint64_t *values) MUST_USE;

/* Appends the encoding of the first `count` rows from row `first` on to `out`. */
void table_rows_encode(const struct table_rows *rows, const struct table_schema *schema,
	size_t first, size_t count, struct buffer *out);
/* Replaces `rows` by `count` rows read from `in`; further columns of a later version are left. */
int table_rows_decode(struct table_rows *rows, const struct table_schema *schema, size_t count,
	struct reader *in) MUST_USE;

/* Smallest and largest time of the rows; 0 and 0 without a time column or rows. */
void table_rows_span(const struct table_rows *rows, const struct table_schema *schema,
	uint64_t *ret_min_ns, uint64_t *ret_max_ns);
