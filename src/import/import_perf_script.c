// SPDX-License-Identifier: MIT OR Apache-2.0
/* The text of `perf script`. A header line, frames from the innermost out, a blank line:
 *
 *   python3  1234/1240 [003] 5678.123456:     250000 cycles:
 *           7f12 PyEval_EvalFrame+0x12 (/usr/bin/python3)
 *
 * Number of process, CPU and period may be missing. Each becomes a stack sample, and an instant
 * that has what a sample has no column for. Addresses are kept only where there is no symbol. */
#include "import/event_args.h"
#include "import/line_input.h"

#include "base/array.h"
#include "base/id_map.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 4096u

struct perf_text {
	const char *at;
	size_t length;
};

struct perf_header {
	struct perf_text command, event, rest;
	uint64_t pid, tid, cpu, period;
	int64_t time_ns;
	bool has_cpu, has_period;
};

struct perf_import {
	struct import_sink *sink;
	struct event_args args;
	struct line_input input;
	struct id_map processes, threads;
	struct buffer text;
	uint32_t *frames;
	size_t frame_count, frame_capacity;
	/* the sample at hand: its header line is gone when its frames are read */
	bool open;
	uint32_t track, name;
	int64_t time_ns;
	uint64_t samples;
	struct error *err;
};

/* The next word; empty at the end. */
static struct perf_text next_word(const char **at, const char *end)
{
	struct perf_text word;

	while (*at < end && isspace((unsigned char)**at))
		++*at;
	word.at = *at;
	while (*at < end && !isspace((unsigned char)**at))
		++*at;
	word.length = (size_t)(*at - word.at);
	return word;
}

static bool read_number(const char **at, const char *end, uint64_t *ret_value)
{
	const char *start = *at;
	uint64_t value = 0;

	while (*at < end && isdigit((unsigned char)**at) && *at - start < 18)
		value = value * 10 + (uint64_t)(*(*at)++ - '0');
	*ret_value = value;
	return *at > start;
}

/* "1234" or "1234/1240" */
static bool read_ids(struct perf_text word, struct perf_header *header)
{
	const char *at = word.at, *end = at + word.length;

	if (!read_number(&at, end, &header->pid))
		return false;
	header->tid = header->pid;
	if (at < end && *at == '/') {
		at++;
		if (!read_number(&at, end, &header->tid))
			return false;
	}
	return at == end;
}

static bool read_cpu(struct perf_text word, struct perf_header *header)
{
	const char *at = word.at + 1, *end = word.at + word.length;

	if (word.length < 3 || word.at[0] != '[' || end[-1] != ']')
		return false;
	header->has_cpu = read_number(&at, end, &header->cpu) && at == end - 1;
	return header->has_cpu;
}

/* "5678.123456:", with any number of decimals, to nanoseconds. */
static bool read_time(struct perf_text word, struct perf_header *header)
{
	const char *at = word.at, *end = word.at + word.length;
	uint64_t seconds, fraction = 0;
	int digits = 0;

	if (!read_number(&at, end, &seconds) || seconds > INT64_MAX / 4 / 1000000000 || at == end ||
		*at != '.')
		return false;
	for (at++; at < end && isdigit((unsigned char)*at); at++)
		if (digits < 9) {
			fraction = fraction * 10 + (uint64_t)(*at - '0');
			digits++;
		}
	for (; digits < 9; digits++)
		fraction *= 10;
	header->time_ns = (int64_t)(seconds * 1000000000 + fraction);
	return at + 1 == end && *at == ':';
}

/* What follows the time: "250000 cycles:" or "cycles:u:" and, without stacks, more. */
static void read_event(const char *at, const char *end, struct perf_header *header)
{
	struct perf_text word = next_word(&at, end);
	const char *digit = word.at;

	if (word.length && read_number(&digit, word.at + word.length, &header->period) &&
		digit == word.at + word.length) {
		header->has_period = true;
		word = next_word(&at, end);
	}
	if (word.length && word.at[word.length - 1] == ':')
		word.length--;
	header->event = word;
	while (at < end && isspace((unsigned char)*at))
		at++;
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	header->rest = (struct perf_text){ .at = at, .length = (size_t)(end - at) };
}

/* The command may hold blanks, so its end is where numbers and a time follow. */
static bool read_header(const char *text, size_t length, struct perf_header *header)
{
	const char *at = text, *end = text + length;

	if (!length || isspace((unsigned char)text[0]))
		return false;
	memset(header, 0, sizeof *header);
	next_word(&at, end);
	while (at < end) {
		const char *before = at, *behind;
		struct perf_text word = next_word(&at, end), time;

		behind = at;
		if (!word.length || !read_ids(word, header))
			continue;
		time = next_word(&behind, end);
		if (read_cpu(time, header))
			time = next_word(&behind, end);
		if (!read_time(time, header))
			continue;
		header->command =
			(struct perf_text){ .at = text, .length = (size_t)(before - text) };
		read_event(behind, end, header);
		return true;
	}
	return false;
}

static int find_track(struct perf_import *import, const struct perf_header *header)
{
	uint64_t key = header->pid << 32 ^ header->tid, found;
	uint32_t process;
	char name[48];
	int status = STATUS_OK;

	if (id_map_get(&import->threads, key, &found)) {
		import->track = (uint32_t)found;
		return STATUS_OK;
	}
	if (id_map_get(&import->processes, header->pid, &found)) {
		process = (uint32_t)found;
	} else {
		snprintf(name, sizeof name, "process %" PRIu64, header->pid);
		status = import_sink_track(
			import->sink, 0, TRACK_PROCESS, header->pid, name, "", &process);
		if (status == STATUS_OK)
			status = id_map_put(&import->processes, header->pid, process);
	}
	if (status == STATUS_OK)
		status = event_track(import->sink, process, TRACK_THREAD, header->tid,
			header->command.at, header->command.length, &import->track);
	return status == STATUS_OK ? id_map_put(&import->threads, key, import->track) : status;
}

/* "addr symbol+0xoff (dso)": the symbol with its object, or the address where there is none. */
static int add_frame(struct perf_import *import, const char *text, size_t length)
{
	const char *at = text, *end = text + length;
	struct perf_text address = next_word(&at, end), symbol, object = { 0 };
	struct buffer *out = &import->text;
	int status;

	while (at < end && isspace((unsigned char)*at))
		at++;
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	if (end > at && end[-1] == ')')
		for (const char *open = end - 1; open > at; open--)
			if (*open == '(' && isspace((unsigned char)open[-1])) {
				object = (struct perf_text){ open, (size_t)(end - open) };
				end = open;
				break;
			}
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	for (const char *plus = end; plus - at > 3; plus--)
		if (plus[-1] == 'x' && plus[-2] == '0' && plus[-3] == '+') {
			end = plus - 3;
			break;
		}
	symbol = (struct perf_text){ at, (size_t)(end - at) };
	if (!symbol.length || (symbol.length == 9 && memcmp(symbol.at, "[unknown]", 9) == 0))
		symbol = address;
	buffer_reset(out);
	buffer_append(out, symbol.at, symbol.length);
	if (object.length) {
		buffer_byte(out, ' ');
		buffer_append(out, object.at, object.length);
	}
	if (!buffer_ok(out) || array_grow((void **)&import->frames, &import->frame_capacity,
				       import->frame_count + 1, sizeof *import->frames))
		return STATUS_NOMEM;
	if (import->frame_count == FRAMES_MAX)
		return STATUS_OK;
	status = import_sink_string(
		import->sink, (char *)out->data, out->length, &import->frames[import->frame_count]);
	import->frame_count += status == STATUS_OK;
	return status;
}

static int flush(struct perf_import *import)
{
	uint32_t stack;
	int status;

	if (!import->open)
		return STATUS_OK;
	import->open = false;
	import->samples++;
	status = event_instant(&import->args, import->track, import->name, import->time_ns);
	if (status == STATUS_OK && import->frame_count)
		status = trace_dict_stack(import_sink_dict(import->sink), import->frames,
			import->frame_count, &stack);
	if (status == STATUS_OK && import->frame_count)
		status = import_sink_sample(import->sink, import->track, import->time_ns, stack);
	import->frame_count = 0;
	return status;
}

/* Without stacks the place stands on the header line: "addr symbol+0xoff (dso)". */
static bool is_place(struct perf_text rest)
{
	size_t digits = 0;

	while (digits < rest.length && isxdigit((unsigned char)rest.at[digits]))
		digits++;
	return digits > 1 && digits < rest.length && rest.at[digits] == ' ' &&
	       rest.at[rest.length - 1] == ')';
}

static int begin_sample(struct perf_import *import, const struct perf_header *header)
{
	struct event_args *args = &import->args;
	int status = find_track(import, header);

	if (status == STATUS_OK)
		status = import_sink_name(import->sink, header->event.at, header->event.length,
			"perf", 4, &import->name);
	if (status != STATUS_OK)
		return status;
	event_args_reset(args);
	if (header->has_period)
		event_args_integer(args, "period", (int64_t)header->period);
	if (header->has_cpu)
		event_args_integer(args, "cpu", (int64_t)header->cpu);
	import->open = true;
	import->time_ns = header->time_ns;
	import->frame_count = 0;
	if (is_place(header->rest))
		return add_frame(import, header->rest.at, header->rest.length);
	if (header->rest.length)
		event_args_string(args, "text", header->rest.at, header->rest.length);
	return args->status;
}

static int read_line(struct perf_import *import, const char *text, size_t length)
{
	struct perf_header header;
	size_t blank = 0;
	int status;

	while (blank < length && isspace((unsigned char)text[blank]))
		blank++;
	if (blank == length)
		return flush(import);
	if (text[0] == '#')
		return STATUS_OK;
	if (blank && import->open)
		return add_frame(import, text, length);
	status = flush(import);
	if (status == STATUS_OK && read_header(text, length, &header))
		return begin_sample(import, &header);
	if (status == STATUS_OK)
		import_sink_skip(import->sink, "lines that are no sample", "left out");
	return status;
}

static int read_lines(struct perf_import *import)
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
	status = flush(import);
	if (status != STATUS_OK)
		return event_fail(import->err, status);
	if (!import->samples)
		return error_set_at(import->err, STATUS_FORMAT, import->input.offset,
			"no line of it is a sample of perf script");
	return STATUS_OK;
}

static int run_perf_script(
	struct import_source *source, struct import_sink *sink, struct error *err)
{
	struct perf_import *import = calloc(1, sizeof *import);
	int status;

	if (!import)
		return error_set(err, STATUS_NOMEM, "out of memory");
	import->sink = sink;
	import->err = err;
	event_args_init(&import->args, sink);
	buffer_init(&import->text);
	line_input_init(&import->input, source, import_sink_room(sink));
	status = read_lines(import);
	line_input_release(&import->input);
	id_map_release(&import->processes);
	id_map_release(&import->threads);
	buffer_release(&import->text);
	free(import->frames);
	free(import);
	return status;
}

/* The first line that says something must be a header. */
static int detect_perf_script(const uint8_t *head, size_t count)
{
	const char *text = (const char *)head, *end = text + count;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop ? stop : end) - text);
		struct perf_header header;

		if (length && text[0] != '#' && text[0] != '\r')
			return !memchr(text, 0, length) && read_header(text, length, &header) ? 75
											      : 0;
		if (!stop)
			return 0;
		text = stop + 1;
	}
	return 0;
}

const struct importer import_perf_script = {
	.name = "perf_script",
	.summary = "text of perf script",
	.version = 1,
	.detect = detect_perf_script,
	.run = run_perf_script,
};
