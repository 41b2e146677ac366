// SPDX-License-Identifier: MIT OR Apache-2.0
/* Collapsed stacks: `outer;inner;leaf COUNT` per line. The format has no times. A line becomes a
 * stack of nested spans whose leaf lasts COUNT nanoseconds, one line after the other, so that self
 * times and shares are those of the file, whatever its unit is, and writing collapsed stacks gives
 * them back. */
#include "import/event_args.h"
#include "import/line_input.h"

#include "base/array.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TOTAL_MAX  (INT64_MAX / 4)
#define FRAMES_MAX 60000u /* what blocks of nested spans can hold */

struct collapsed_frame {
	uint32_t name;
	int64_t start_ns;
};

struct collapsed_import {
	struct import_sink *sink;
	struct event_args args;
	struct line_input input;
	struct collapsed_frame *open;
	size_t open_count, open_capacity;
	uint32_t track;
	int64_t now_ns;
	uint64_t lines;
	struct error *err;
};

/* Splits off the count behind the last blank. */
static bool split_count(const char *text, size_t *length, int64_t *ret_count)
{
	size_t end = *length, at;
	int64_t count = 0;

	while (end && isspace((unsigned char)text[end - 1]))
		end--;
	at = end;
	while (at && isdigit((unsigned char)text[at - 1]))
		at--;
	if (at == end || at == 0 || !isspace((unsigned char)text[at - 1]))
		return false;
	for (size_t i = at; i < end; i++) {
		if (count > TOTAL_MAX / 10)
			return false;
		count = count * 10 + (text[i] - '0');
	}
	while (at && isspace((unsigned char)text[at - 1]))
		at--;
	*length = at;
	*ret_count = count;
	return at != 0;
}

/* Ends the frames from `depth` on. */
static int close_frames(struct collapsed_import *import, size_t depth)
{
	int status = STATUS_OK;

	while (status == STATUS_OK && import->open_count > depth) {
		const struct collapsed_frame *frame = &import->open[--import->open_count];

		status = event_span(
			&import->args, import->track, frame->name, frame->start_ns, import->now_ns);
	}
	return status;
}

/* A frame at `depth`: that of the line before, or a new one. */
static int put_frame(
	struct collapsed_import *import, size_t depth, const char *text, size_t length, bool *same)
{
	uint32_t name;
	int status = import_sink_name(import->sink, text, length, "", 0, &name);

	if (status != STATUS_OK)
		return status;
	if (*same && depth < import->open_count && import->open[depth].name == name)
		return STATUS_OK;
	*same = false;
	status = close_frames(import, depth);
	if (status == STATUS_OK)
		status = array_grow((void **)&import->open, &import->open_capacity,
			import->open_count + 1, sizeof *import->open);
	if (status == STATUS_OK)
		import->open[import->open_count++] =
			(struct collapsed_frame){ .name = name, .start_ns = import->now_ns };
	return status;
}

static int read_line(struct collapsed_import *import, const char *text, size_t length)
{
	size_t depth = 0, at = 0;
	bool same = true;
	int64_t count;
	int status = STATUS_OK;

	if (!length || text[0] == '#')
		return STATUS_OK;
	if (!split_count(text, &length, &count) || count > TOTAL_MAX - import->now_ns) {
		import_sink_skip(import->sink, "lines without a count", "left out");
		return STATUS_OK;
	}
	import->lines++;
	while (status == STATUS_OK && at <= length) {
		const char *end = memchr(text + at, ';', length - at);
		size_t part = end ? (size_t)(end - text) - at : length - at;

		if (depth == FRAMES_MAX) {
			import_sink_skip(import->sink, "frames deeper than 60000", "left out");
			break;
		}
		status = put_frame(import, depth++, text + at, part, &same);
		at += part + 1;
	}
	if (status == STATUS_OK)
		status = close_frames(import, depth);
	import->now_ns += count;
	return status;
}

static int read_lines(struct collapsed_import *import)
{
	const char *text;
	size_t length;
	int more, status;

	while ((more = line_input_next(&import->input, &text, &length, import->err)) == 1) {
		status = read_line(import, text, length);
		if (status != STATUS_OK)
			return event_fail(import->err, status);
	}
	if (more < 0)
		return more;
	if (!import->lines)
		return error_set_at(import->err, STATUS_FORMAT, import->input.offset,
			"no line of it is `frame;frame COUNT`");
	status = close_frames(import, 0);
	return status == STATUS_OK ? STATUS_OK : event_fail(import->err, status);
}

static int run_collapsed(struct import_source *source, struct import_sink *sink, struct error *err)
{
	struct collapsed_import *import = calloc(1, sizeof *import);
	uint32_t process;
	int status;

	if (!import)
		return error_set(err, STATUS_NOMEM, "out of memory");
	import->sink = sink;
	import->err = err;
	event_args_init(&import->args, sink);
	line_input_init(&import->input, source, import_sink_room(sink));
	status = import_sink_track(sink, 0, TRACK_PROCESS, 0, "collapsed stacks", "", &process);
	if (status == STATUS_OK)
		status = import_sink_track(
			sink, process, TRACK_THREAD, 0, "stacks", "", &import->track);
	if (status == STATUS_OK)
		status = import_sink_metadata(
			sink, "collapsed.time", "1 count is shown as 1 ns", 24);
	status = status == STATUS_OK ? read_lines(import) : event_fail(err, status);
	line_input_release(&import->input);
	free(import->open);
	free(import);
	return status;
}

/* Lines of the head must end with a count, all but a few, and one must have several frames. */
static int detect_collapsed(const uint8_t *head, size_t count)
{
	const char *text = (const char *)head, *end = text + count;
	unsigned lines = 0, stacks = 0, others = 0;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop ? stop : end) - text);
		int64_t weight;

		if (!stop && count >= IMPORT_HEAD_BYTES)
			break; /* cut by the head's end */
		if (length && text[0] != '#') {
			if (memchr(text, 0, length) || text[0] == '{' || text[0] == '[')
				return 0;
			if (split_count(text, &length, &weight)) {
				lines++;
				stacks += memchr(text, ';', length) != NULL;
			} else {
				others++;
			}
		}
		if (!stop)
			break;
		text = stop + 1;
	}
	if (others * 2 > lines)
		return 0;
	return stacks ? 60 - (others ? 30 : 0) : lines && !others ? 20 : 0;
}

const struct importer import_collapsed = {
	.name = "collapsed",
	.summary = "collapsed stacks of flame graph tools",
	.version = 1,
	.detect = detect_collapsed,
	.run = run_collapsed,
};
