/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What an importer tells of: tracks, spans in any order, instants, counters, links, samples,
 * metadata. Rows are kept in memory (about 32 bytes and 4 to 8 per argument), sorted and nested per
 * track at the end, and written as .tacho blocks. Memory is bounded: beyond the limit every call
 * answers STATUS_LIMIT. */
#pragma once

#include "format/trace_writer.h"
#include "import/import.h"

#define IMPORT_ARGS_MAX 4096 /* of one event; more is STATUS_USAGE */

/* Arguments of one event: three arrays of `count`. */
struct import_args {
	uint32_t count;
	const uint32_t *keys; /* strings */
	const uint8_t *types; /* enum arg_type */
	const uint64_t *values;
};

struct import_sink *import_sink_new(uint64_t max_memory);
void import_sink_free(struct import_sink *sink);

/* The dictionaries, for strings and names; tracks are made by import_sink_track(). */
struct trace_dict *import_sink_dict(struct import_sink *sink);
struct ledger *import_sink_ledger(struct import_sink *sink);

int import_sink_string(
	struct import_sink *sink, const char *text, size_t length, uint32_t *ret_id) MUST_USE;
/* A name with its category, by text. */
int import_sink_name(struct import_sink *sink, const char *name, size_t name_length,
	const char *category, size_t category_length, uint32_t *ret_id) MUST_USE;

/* Track 0 is the machine and there from the start. */
int import_sink_track(struct import_sink *sink, uint32_t parent, enum track_kind kind,
	uint64_t os_id, const char *name, const char *unit, uint32_t *ret_track) MUST_USE;
void import_sink_track_name(struct import_sink *sink, uint32_t track, uint32_t name_string);
void import_sink_track_kind(struct import_sink *sink, uint32_t track, enum track_kind kind);
/* Where a track belongs may be told after its first event. */
void import_sink_track_place(
	struct import_sink *sink, uint32_t track, uint32_t parent, uint64_t os_id);
void import_sink_track_unit(struct import_sink *sink, uint32_t track, uint32_t unit_string);

/* A span with absolute times in nanoseconds of the file's own clock; they may be negative. `args`
 * may be NULL. */
int import_sink_span(struct import_sink *sink, uint32_t track, uint32_t name, int64_t start_ns,
	uint64_t duration_ns, const struct import_args *args) MUST_USE;
int import_sink_instant(struct import_sink *sink, uint32_t track, uint32_t name, int64_t time_ns,
	const struct import_args *args) MUST_USE;
/* `track` is of kind TRACK_COUNTER. */
int import_sink_counter(
	struct import_sink *sink, uint32_t track, int64_t time_ns, double value) MUST_USE;
int import_sink_counter_integer(
	struct import_sink *sink, uint32_t track, int64_t time_ns, int64_t value) MUST_USE;
/* `kind`: enum link_kind with LINK_ENCLOSING and LINK_TEXT_ID. */
int import_sink_link(struct import_sink *sink, uint32_t track, int64_t time_ns, uint64_t id,
	uint32_t kind, uint32_t name) MUST_USE;
int import_sink_sample(
	struct import_sink *sink, uint32_t track, int64_t time_ns, uint32_t stack) MUST_USE;
int import_sink_allocation(struct import_sink *sink, uint32_t track, int64_t time_ns,
	uint64_t address, uint64_t bytes, uint32_t pool_name, uint32_t kind) MUST_USE;
int import_sink_metadata(
	struct import_sink *sink, const char *key, const char *value, size_t value_length) MUST_USE;

/* An event that was left out, for the ledger. */
void import_sink_skip(struct import_sink *sink, const char *what, const char *effect);

/* The flavour of the format, in place of the importer's name; a static text. */
void import_sink_format(struct import_sink *sink, const char *name);

/* Counts memory that the importer itself holds; negative when it gives some back. */
void import_sink_reserve(struct import_sink *sink, int64_t bytes);
/* Bytes that may still be used before the limit is reached. */
uint64_t import_sink_room(const struct import_sink *sink);

/* Wall-clock time of the file clock's zero, when the format tells it. */
void import_sink_epoch(struct import_sink *sink, int64_t unix_ns_at_zero);

/* Sorts, nests and writes everything. */
int import_sink_finish(struct import_sink *sink, const char *path, const char *format_name,
	struct error *err) MUST_USE;
