/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One event of a Chrome or Kineto trace: the keys that every event has as slices, its arguments
 * already interned. Keys are guessed from the event before: writers repeat themselves. */
#pragma once

#include "import/import_sink.h"
#include "import/json_input.h"

#define CHROME_KEYS_MAX 1024 /* arguments of one event; a further one is counted and left out */

struct chrome_key {
	const char *text; /* of the dictionary */
	size_t length;
	uint32_t id;
};

struct chrome_event {
	struct json_slice name, category, pid, tid, ts, duration, id, scope;
	bool has_name, has_category, has_pid, has_tid, has_ts, has_duration, has_id;
	char phase;     /* 0: none */
	bool enclosing; /* "bp": "e" */
	uint32_t argument_count;
	uint32_t keys[CHROME_KEYS_MAX];
	uint8_t types[CHROME_KEYS_MAX];
	uint64_t values[CHROME_KEYS_MAX];
};

struct chrome_reader {
	struct import_sink *sink;
	struct json_input *input;
	struct chrome_event event;
	struct chrome_key guess[CHROME_KEYS_MAX]; /* key at this position of the event before */
	struct buffer scratch;
	uint64_t sloppy, too_many;
};

/* Parses the event object at *at. JSON_MORE: it is not all there yet; nothing is lost by coming
 * back. *ret_status is negative when the sink refused (memory). */
enum json_result chrome_event_parse(
	struct chrome_reader *reader, const char **at, const char *end, int *ret_status);
