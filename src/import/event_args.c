// SPDX-License-Identifier: MIT OR Apache-2.0
/* Arguments and checks that the importers share. */
#include "import/event_args.h"

#include "base/utf8.h"
#include "format/span_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bounds that no clock reaches, so that sums and differences of times fit into int64: unix time
 * passes half of the range in 2116. */
#define TIME_MIN_NS (INT64_MIN / 4)
#define TIME_MAX_NS (INT64_MAX / 2)

void event_args_init(struct event_args *args, struct import_sink *sink)
{
	args->sink = sink;
	args->count = 0;
	args->status = STATUS_OK;
	args->too_many = 0;
}

void event_args_reset(struct event_args *args)
{
	args->count = 0;
}

struct import_args event_args_view(const struct event_args *args)
{
	return (struct import_args){ .count = args->count,
		.keys = args->keys,
		.types = args->types,
		.values = args->values };
}

void event_args_finish(const struct event_args *args)
{
	if (args->too_many)
		ledger_add(import_sink_ledger(args->sink), args->too_many,
			"arguments beyond the 1024th of an event", "import", "left out");
}

static uint32_t intern(struct event_args *args, const char *text, size_t length)
{
	uint32_t id = 0;

	if (args->status == STATUS_OK)
		args->status = import_sink_string(args->sink, text, length, &id);
	return id;
}

uint32_t event_args_key(struct event_args *args, const char *key, size_t length)
{
	return intern(args, key, length);
}

void event_args_add(struct event_args *args, uint32_t key, uint8_t type, uint64_t value)
{
	if (args->count == EVENT_ARGS_MAX) {
		args->too_many++;
		return;
	}
	args->keys[args->count] = key;
	args->types[args->count] = type;
	args->values[args->count++] = value;
}

void event_args_integer(struct event_args *args, const char *key, int64_t value)
{
	event_args_add(args, intern(args, key, strlen(key)), ARG_INTEGER, (uint64_t)value);
}

void event_args_unsigned(struct event_args *args, uint32_t key, uint64_t value)
{
	char text[24];

	if (value <= INT64_MAX) {
		event_args_add(args, key, ARG_INTEGER, value);
		return;
	}
	snprintf(text, sizeof text, "%" PRIu64, value);
	event_args_json(args, key, text, strlen(text));
}

void event_args_double(struct event_args *args, uint32_t key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	event_args_add(args, key, ARG_DOUBLE, bits);
}

void event_args_json(struct event_args *args, uint32_t key, const char *text, size_t length)
{
	event_args_add(args, key, ARG_JSON, intern(args, text, length));
}

void event_args_string(struct event_args *args, const char *key, const char *text, size_t length)
{
	uint32_t id = intern(args, key, strlen(key));

	event_args_add(args, id, ARG_STRING, intern(args, text, length));
}

static bool is_text(const char *text, size_t length)
{
	for (size_t i = 0, step; i < length; i += step) {
		step = utf8_decode(text + i, length - i, NULL);
		if (!step || ((uint8_t)text[i] < ' ' && text[i] != '\t' && text[i] != '\n' &&
				     text[i] != '\r'))
			return false;
	}
	return true;
}

void event_base64(struct buffer *out, const void *bytes, size_t count)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *in = bytes;

	for (size_t i = 0; i < count; i += 3) {
		uint32_t word = (uint32_t)in[i] << 16 |
				(i + 1 < count ? (uint32_t)in[i + 1] << 8 : 0) |
				(i + 2 < count ? in[i + 2] : 0);

		buffer_byte(out, (uint8_t)digits[word >> 18]);
		buffer_byte(out, (uint8_t)digits[word >> 12 & 63]);
		buffer_byte(out, i + 1 < count ? (uint8_t)digits[word >> 6 & 63] : '=');
		buffer_byte(out, i + 2 < count ? (uint8_t)digits[word & 63] : '=');
	}
}

void event_args_bytes(struct event_args *args, uint32_t key, const void *bytes, size_t count)
{
	const struct string_table *strings = &import_sink_dict(args->sink)->strings;
	struct buffer text;
	size_t from;

	if (is_text(bytes, count)) {
		event_args_add(args, key, ARG_STRING, intern(args, bytes, count));
		return;
	}
	buffer_init(&text);
	buffer_text(&text, string_table_borrow(strings, key));
	buffer_text(&text, " (base64)");
	from = text.length;
	event_base64(&text, bytes, count);
	if (buffer_ok(&text)) {
		key = intern(args, (char *)text.data, from);
		event_args_add(args, key, ARG_STRING,
			intern(args, (char *)text.data + from, text.length - from));
	} else if (args->status == STATUS_OK) {
		args->status = STATUS_NOMEM;
	}
	buffer_release(&text);
}

bool event_time_ok(struct import_sink *sink, int64_t time_ns)
{
	if (time_ns >= TIME_MIN_NS && time_ns <= TIME_MAX_NS)
		return true;
	import_sink_skip(sink, "events with an impossible time", "left out");
	return false;
}

int event_span(
	struct event_args *args, uint32_t track, uint32_t name, int64_t start_ns, int64_t end_ns)
{
	struct import_args view = event_args_view(args);

	if (args->status != STATUS_OK)
		return args->status;
	if (!event_time_ok(args->sink, start_ns))
		return STATUS_OK;
	if (end_ns < start_ns || end_ns > TIME_MAX_NS) {
		import_sink_skip(args->sink, "events with an impossible duration", "left out");
		return STATUS_OK;
	}
	return import_sink_span(
		args->sink, track, name, start_ns, (uint64_t)(end_ns - start_ns), &view);
}

int event_instant(struct event_args *args, uint32_t track, uint32_t name, int64_t time_ns)
{
	struct import_args view = event_args_view(args);

	if (args->status != STATUS_OK || !event_time_ok(args->sink, time_ns))
		return args->status;
	return import_sink_instant(args->sink, track, name, time_ns, &view);
}

int event_fail(struct error *err, int status)
{
	if (status == STATUS_LIMIT)
		return error_set(err, status,
			"the trace needs more memory than allowed; raise --max-memory");
	return error_set(err, status, "%s", status_text(status));
}

int event_track(struct import_sink *sink, uint32_t parent, enum track_kind kind, uint64_t os_id,
	const char *text, size_t length, uint32_t *ret_track)
{
	uint32_t name;
	int status = import_sink_string(sink, text, length, &name);

	if (status == STATUS_OK)
		status = import_sink_track(sink, parent, kind, os_id, "", "", ret_track);
	if (status == STATUS_OK)
		import_sink_track_name(sink, *ret_track, name);
	return status;
}
