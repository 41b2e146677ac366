/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The arguments of one event being gathered, and the checks every importer makes before it hands an
 * event to the sink. A failure (memory) is remembered, as with struct buffer: add on, and look at
 * `status` once. */
#pragma once

#include "base/buffer.h"
#include "import/import_sink.h"

#define EVENT_ARGS_MAX 1024 /* of one event; further ones are counted and left out */

struct event_args {
	struct import_sink *sink;
	uint32_t count;
	int status;
	uint64_t too_many;
	uint32_t keys[EVENT_ARGS_MAX];
	uint8_t types[EVENT_ARGS_MAX];
	uint64_t values[EVENT_ARGS_MAX];
};

void event_args_init(struct event_args *args, struct import_sink *sink);
/* Forgets the arguments and keeps `status`. */
void event_args_reset(struct event_args *args);
/* Borrowed until the next change. */
struct import_args event_args_view(const struct event_args *args);
/* Counts what was left out in the ledger; once, at the end. */
void event_args_finish(const struct event_args *args);

/* `key` is a string of the sink. */
void event_args_add(struct event_args *args, uint32_t key, uint8_t type, uint64_t value);
void event_args_integer(struct event_args *args, const char *key, int64_t value);
/* Beyond int64 the digits are kept as JSON. */
void event_args_unsigned(struct event_args *args, uint32_t key, uint64_t value);
void event_args_double(struct event_args *args, uint32_t key, double value);
/* Text, or bytes of any kind: what is no UTF-8 is kept in base64, and the key says so. */
void event_args_bytes(struct event_args *args, uint32_t key, const void *bytes, size_t count);
void event_args_string(struct event_args *args, const char *key, const char *text, size_t length);
void event_args_json(struct event_args *args, uint32_t key, const char *text, size_t length);
uint32_t event_args_key(struct event_args *args, const char *key, size_t length);

/* Appends bytes in base64. */
void event_base64(struct buffer *out, const void *bytes, size_t count);

/* Spans and instants with any times: those that cannot be are counted and left out. */
int event_span(struct event_args *args, uint32_t track, uint32_t name, int64_t start_ns,
	int64_t end_ns) MUST_USE;
int event_instant(struct event_args *args, uint32_t track, uint32_t name, int64_t time_ns) MUST_USE;
/* Whether a time is one that a clock can show; else it is counted as left out. */
bool event_time_ok(struct import_sink *sink, int64_t time_ns);

/* The message for a status of the sink. */
int event_fail(struct error *err, int status);
/* A track whose name is `length` bytes of any kind. */
int event_track(struct import_sink *sink, uint32_t parent, enum track_kind kind, uint64_t os_id,
	const char *text, size_t length, uint32_t *ret_track) MUST_USE;
