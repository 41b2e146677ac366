// SPDX-License-Identifier: MIT OR Apache-2.0
/* Chrome JSON, and its flavours of PyTorch (Kineto), ONNX Runtime and JAX: an array of events, or
 * an object with traceEvents. What the events say becomes tracks, spans, instants, counters and
 * links; metadata events and every other member of the document are kept as they were written. */
#include "import/chrome_tracks.h"

#include "format/span_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chrome_import {
	struct chrome_reader reader;
	struct chrome_tracks tracks;
	struct import_sink *sink;
	struct json_input input;
	uint32_t phase_key;
	bool is_kineto;
	struct error *err;
};

static int fail(struct chrome_import *import, int status)
{
	if (status == STATUS_LIMIT)
		return error_set(import->err, status,
			"the trace needs more memory than allowed; raise --max-memory");
	return error_set(import->err, status, "%s", status_text(status));
}

static int event_name(struct chrome_import *import, uint32_t *ret_name)
{
	const struct chrome_event *event = &import->reader.event;
	struct buffer *scratch = &import->reader.scratch;
	size_t name_length;

	if (!event->name.escaped && !event->category.escaped)
		return import_sink_name(import->sink, event->has_name ? event->name.text : "",
			event->name.length, event->has_category ? event->category.text : "",
			event->category.length, ret_name);
	buffer_reset(scratch);
	if (event->has_name)
		json_unescape(&event->name, scratch);
	name_length = scratch->length;
	if (event->has_category)
		json_unescape(&event->category, scratch);
	if (!buffer_ok(scratch))
		return STATUS_NOMEM;
	return import_sink_name(import->sink, (char *)scratch->data, name_length,
		(char *)scratch->data + name_length, scratch->length - name_length, ret_name);
}

static struct import_args event_args(const struct chrome_event *event)
{
	return (struct import_args){ .count = event->argument_count,
		.keys = event->keys,
		.types = event->types,
		.values = event->values };
}

/* A phase that has no table of its own is kept as an instant that says what it was. */
static int add_other(struct chrome_import *import, uint32_t track, uint32_t name, int64_t time_ns)
{
	struct chrome_event *event = &import->reader.event;
	uint32_t text;
	int status = import_sink_string(import->sink, &event->phase, 1, &text);

	if (status == STATUS_OK && event->argument_count < CHROME_KEYS_MAX) {
		event->keys[event->argument_count] = import->phase_key;
		event->types[event->argument_count] = ARG_STRING;
		event->values[event->argument_count++] = text;
	}
	struct import_args args = event_args(event);

	return status == STATUS_OK ? import_sink_instant(import->sink, track, name, time_ns, &args)
				   : status;
}

static int add_flow(struct chrome_import *import, uint32_t track, uint32_t name, int64_t time_ns)
{
	const struct chrome_event *event = &import->reader.event;
	uint32_t kind = event->phase == 's'   ? LINK_FLOW_BEGIN
			: event->phase == 't' ? LINK_FLOW_STEP
					      : LINK_FLOW_END;
	uint64_t id = (uint64_t)event->id.integer;
	uint32_t text;
	int status = STATUS_OK;

	if (event->enclosing)
		kind |= LINK_ENCLOSING;
	if (event->id.kind != JSON_INTEGER) {
		status = import_sink_string(
			import->sink, event->has_id ? event->id.text : "", event->id.length, &text);
		id = text;
		kind |= LINK_TEXT_ID;
	}
	if (event->argument_count)
		import_sink_skip(import->sink, "arguments of flow events", "left out");
	return status == STATUS_OK ? import_sink_link(import->sink, track, time_ns, id, kind, name)
				   : status;
}

static int add_span(struct chrome_import *import, uint32_t track, uint32_t name, int64_t start_ns)
{
	const struct chrome_event *event = &import->reader.event;
	struct import_args args = event_args(event);
	int64_t duration = 0;

	if (event->has_duration && !json_scaled(&event->duration, 3, &duration)) {
		import_sink_skip(
			import->sink, "events with a duration that is no number", "left out");
		return STATUS_OK;
	}
	if (duration < 0 || start_ns > INT64_MAX - duration) {
		import_sink_skip(import->sink, "events with an impossible duration", "left out");
		return STATUS_OK;
	}
	chrome_tracks_note(&import->tracks, track, &event->category);
	return import_sink_span(import->sink, track, name, start_ns, (uint64_t)duration, &args);
}

static int add_timed(struct chrome_import *import, int64_t time_ns)
{
	const struct chrome_event *event = &import->reader.event;
	struct import_args args;
	uint32_t track, name;
	int status = chrome_tracks_find(&import->tracks, event, &track);

	if (status == STATUS_OK)
		status = event_name(import, &name);
	if (status != STATUS_OK)
		return status;
	switch (event->phase) {
	case 'X':
		return add_span(import, track, name, time_ns);
	case 'B':
	case 'E':
	case 'b':
	case 'e':
	case 'S':
	case 'F':
		args = event_args(event);
		return chrome_tracks_pair(&import->tracks, event, track, name, time_ns, &args);
	case 'C':
		args = event_args(event);
		return chrome_tracks_counter(&import->tracks, event, track, time_ns, &args);
	case 's':
	case 't':
	case 'f':
		return add_flow(import, track, name, time_ns);
	case 'i':
		args = event_args(event);
		return import_sink_instant(import->sink, track, name, time_ns, &args);
	default:
		return add_other(import, track, name, time_ns);
	}
}

/* One event that was parsed; its text is `text`. */
static int take_event(struct chrome_import *import, const char *text, size_t length)
{
	const struct chrome_event *event = &import->reader.event;
	int64_t time_ns;

	if (event->phase == 0) {
		import_sink_skip(import->sink, "events without a phase", "left out");
		return STATUS_OK;
	}
	if (event->phase == 'M') {
		int status = chrome_tracks_metadata(&import->tracks, event);

		return status == STATUS_OK
			       ? import_sink_metadata(import->sink, "chrome.event", text, length)
			       : status;
	}
	if (!event->has_ts || !json_scaled(&event->ts, 3, &time_ns)) {
		import_sink_skip(import->sink, "events without a time", "left out");
		return STATUS_OK;
	}
	return add_timed(import, time_ns);
}

/* The events of an array whose opening bracket has been taken. Its closing one may be missing: the
 * format allows it, and a killed program leaves it so. */
static int read_events(struct chrome_import *import)
{
	struct json_input *input = &import->input;
	char c;

	for (;;) {
		const char *at;
		enum json_result result;
		int status = json_input_peek(input, &c, import->err), more;

		if (status != STATUS_OK)
			return status;
		if (c == 0) {
			ledger_add(import_sink_ledger(import->sink), 1,
				"the list of events is not closed", "import",
				"the file may have been cut; what is there was read");
			return STATUS_OK;
		}
		if (c == ',' || c == ']') {
			input->at++;
			if (c == ']')
				return STATUS_OK;
			continue;
		}
		if (c != '{')
			return json_input_bad(input, input->at, import->err);
		at = input->at;
		result = chrome_event_parse(&import->reader, &at, input->end, &status);
		if (status != STATUS_OK)
			return fail(import, status);
		if (result == JSON_BAD)
			return json_input_bad(input, at, import->err);
		if (result == JSON_MORE) {
			more = json_input_more(input, input->at, import->err);
			if (more < 0)
				return more;
			if (!more) {
				import_sink_skip(import->sink,
					"an event that is cut off at the end",
					"left out; what came before was read");
				return STATUS_OK;
			}
			continue;
		}
		status = take_event(import, input->at, (size_t)(at - input->at));
		if (status != STATUS_OK)
			return fail(import, status);
		input->at = at;
	}
}

/* A member of the document that is not the events: kept as JSON. */
static int keep_member(struct chrome_import *import, const char *key)
{
	struct json_slice value;
	char name[300];
	int64_t base;
	int status = json_input_value(&import->input, &value, import->err);

	if (status != STATUS_OK)
		return status;
	if (strcmp(key, "baseTimeNanoseconds") == 0 && json_scaled(&value, 0, &base))
		import_sink_epoch(import->sink, base);
	import->is_kineto |= strcmp(key, "schemaVersion") == 0;
	snprintf(name, sizeof name, "chrome.%s", key);
	if (value.kind == JSON_STRING) {
		value.text--;
		value.length += 2;
	}
	status = import_sink_metadata(import->sink, name, value.text, value.length);
	return status == STATUS_OK ? STATUS_OK : fail(import, status);
}

static int read_member(struct chrome_import *import)
{
	struct json_input *input = &import->input;
	struct json_slice key;
	char name[256], c;
	int status = json_input_value(input, &key, import->err);

	if (status != STATUS_OK)
		return status;
	if (key.kind != JSON_STRING)
		return json_input_bad(input, input->at, import->err);
	snprintf(name, sizeof name, "%.*s", (int)(key.length < 255 ? key.length : 255), key.text);
	status = json_input_peek(input, &c, import->err);
	if (status != STATUS_OK)
		return status;
	if (c != ':')
		return json_input_bad(input, input->at, import->err);
	input->at++;
	status = json_input_peek(input, &c, import->err);
	if (status != STATUS_OK)
		return status;
	if (strcmp(name, "traceEvents") != 0 || c != '[')
		return keep_member(import, name);
	input->at++;
	return read_events(import);
}

static int read_document(struct chrome_import *import)
{
	struct json_input *input = &import->input;
	char c;
	int status = json_input_peek(input, &c, import->err);

	if (status != STATUS_OK)
		return status;
	if (c == '[') {
		input->at++;
		return read_events(import);
	}
	if (c != '{')
		return json_input_bad(input, input->at, import->err);
	input->at++;
	for (;;) {
		status = json_input_peek(input, &c, import->err);
		if (status != STATUS_OK || c == '}')
			return status;
		if (c == 0) {
			ledger_add(import_sink_ledger(import->sink), 1,
				"the document is not closed", "import",
				"the file may have been cut; what is there was read");
			return STATUS_OK;
		}
		if (c == ',')
			input->at++;
		status = read_member(import);
		if (status != STATUS_OK)
			return status;
	}
}

static int run_chrome(struct import_source *source, struct import_sink *sink, struct error *err)
{
	struct chrome_import *import = calloc(1, sizeof *import);
	int status;

	if (!import)
		return error_set(err, STATUS_NOMEM, "out of memory");
	import->sink = import->reader.sink = sink;
	import->reader.input = &import->input;
	import->err = err;
	json_input_init(&import->input, source, import_sink_room(sink));
	buffer_init(&import->reader.scratch);
	chrome_tracks_init(&import->tracks, sink);
	status = import_sink_string(sink, "~ph", 3, &import->phase_key);
	if (status == STATUS_OK)
		status = read_document(import);
	if (status == STATUS_OK)
		status = chrome_tracks_finish(&import->tracks);
	if (import->is_kineto)
		import_sink_format(sink, "kineto");
	if (import->reader.sloppy)
		ledger_add(import_sink_ledger(sink), import->reader.sloppy,
			"strings with raw control characters", "import", "kept as they are");
	if (import->reader.too_many)
		ledger_add(import_sink_ledger(sink), import->reader.too_many,
			"arguments beyond the 1024th of an event", "import", "left out");
	chrome_tracks_release(&import->tracks);
	buffer_release(&import->reader.scratch);
	json_input_release(&import->input);
	free(import);
	return status;
}

static bool has_text(const uint8_t *head, size_t count, const char *text)
{
	return memmem(head, count, text, strlen(text)) != NULL;
}

static int detect_chrome(const uint8_t *head, size_t count)
{
	size_t at = 0;

	while (at < count &&
		(head[at] == ' ' || head[at] == '\n' || head[at] == '\r' || head[at] == '\t'))
		at++;
	if (at == count || (head[at] != '{' && head[at] != '['))
		return 0;
	if (has_text(head, count, "\"traceEvents\"") || has_text(head, count, "\"schemaVersion\""))
		return 90;
	if (has_text(head, count, "\"ph\"") && has_text(head, count, "\"ts\""))
		return 80;
	return has_text(head, count, "\"displayTimeUnit\"") || head[at] == '[' ? 40 : 10;
}

const struct importer import_chrome = {
	.name = "chrome",
	.summary = "Chrome JSON, PyTorch (Kineto), ONNX Runtime profile",
	.version = 1,
	.detect = detect_chrome,
	.run = run_chrome,
};
