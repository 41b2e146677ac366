// SPDX-License-Identifier: MIT OR Apache-2.0
/* Questions and answers for the tests of SQL. */
#include "tests/unit/query_asker.h"

#include "tests/unit/trace_maker.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES   24u
#define THREADS 4u
#define SPANS   700u

static int take_columns(
	void *context, size_t index, size_t statements, const char *const *columns, size_t count)
{
	(void)context, (void)index, (void)statements, (void)columns, (void)count;
	return STATUS_OK;
}

static int take_row(void *context, const struct query_value *values, size_t count)
{
	struct buffer *text = context;

	for (size_t i = 0; i < count; i++) {
		if (i)
			buffer_byte(text, '|');
		if (values[i].type == QUERY_NULL)
			buffer_text(text, "NULL");
		query_text_value(text, &values[i]);
	}
	buffer_byte(text, '\n');
	return STATUS_OK;
}

char *ask(struct query *query, const char *sql)
{
	struct error err = ERROR_INIT;
	struct query_result result;
	struct buffer text;
	struct query_sink sink = { .context = &text, .begin = take_columns, .row = take_row };

	buffer_init(&text);
	if (query_run(query, sql, strlen(sql), &sink, &result, &err) != STATUS_OK) {
		buffer_reset(&text);
		buffer_printf(&text, "error: %s", err.message);
	}
	buffer_byte(&text, 0);
	return (char *)text.data;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *ask_sorted(struct query *query, const char *sql)
{
	char *text = ask(query, sql), *copy = strdup(text), *at = text, **lines;
	size_t count = 0, used = 0;

	lines = malloc((strlen(text) + 1) * sizeof *lines);
	for (char *line = copy, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		lines[count++] = line;
	}
	qsort(lines, count, sizeof *lines, compare_lines);
	for (size_t i = 0; i < count; i++)
		used += (size_t)sprintf(at + used, "%s\n", lines[i]);
	free(lines);
	free(copy);
	return text;
}

struct query *asker_open(const struct trace *trace, const struct query_options *options)
{
	struct query_options defaults = { 0 };
	struct error err = ERROR_INIT;
	struct query *query = NULL;

	CHECK_EQ(query_open(trace, options ? options : &defaults, &query, &err), STATUS_OK);
	CHECK_STR(err.message, "");
	return query;
}

static uint64_t random_state = 0x2545f4914f6cdd1du;

static uint64_t dice(uint64_t sides)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % sides;
}

/* Random nesting up to depth 6; scopes in the order they end. */
static size_t random_nested(struct maker_span *spans, const uint32_t *names)
{
	struct maker_span open[6];
	uint64_t now = dice(1000);
	size_t depth = 0, count = 0;

	while (count < SPANS || depth) {
		now += dice(50);
		if (depth < 6 && count < SPANS && (depth == 0 || dice(2))) {
			open[depth] = (struct maker_span){ .name = names[dice(NAMES)],
				.depth = (uint32_t)depth,
				.start_ns = now };
			depth++;
		} else {
			open[--depth].end_ns = now;
			spans[count++] = open[depth];
		}
	}
	return count;
}

static size_t random_explicit(struct maker_span *spans, const uint32_t *names, uint64_t longest)
{
	for (size_t i = 0; i < SPANS; i++) {
		uint64_t start = dice(60000);

		spans[i] = (struct maker_span){ .name = names[dice(NAMES)],
			.start_ns = start,
			.end_ns = start + (longest ? dice(longest) : 0) };
	}
	return SPANS;
}

static void random_args(struct maker *maker, struct span_arg *args, size_t count)
{
	static const char *const keys[] = { "bytes", "shape", "flops" };
	double real = 2.5;

	for (size_t i = 0; i < count; i++) {
		args[i] = (struct span_arg){ .row = (uint32_t)dice(SPANS),
			.key = maker_string(maker, keys[i % 3]),
			.type = i % 3 == 0   ? ARG_INTEGER
				: i % 3 == 1 ? ARG_STRING
					     : ARG_DOUBLE,
			.value = dice(1000) };
		if (args[i].type == ARG_STRING)
			args[i].value = maker_string(maker, "[2, 3]");
		if (args[i].type == ARG_DOUBLE)
			memcpy(&args[i].value, &real, sizeof real);
	}
}

static void random_rows(
	struct maker *maker, const uint32_t *tracks, uint32_t counter, const uint32_t *names)
{
	static uint64_t counters[600][4], marks[200][3], links[800][5];

	for (size_t i = 0; i < 600; i++)
		memcpy(counters[i], (uint64_t[]){ counter, i * 100, COUNTER_INTEGER, dice(100000) },
			sizeof counters[i]);
	for (size_t i = 0; i < 200; i++)
		memcpy(marks[i],
			(uint64_t[]){ tracks[dice(THREADS)], dice(60000), names[dice(NAMES)] },
			sizeof marks[i]);
	for (size_t i = 0; i < 800; i++) {
		bool text = i % 10 == 0;
		uint64_t id = text ? maker_string(maker, i % 20 ? "left" : "right") : dice(300);

		memcpy(links[i],
			(uint64_t[]){ tracks[dice(THREADS)], dice(60000), id,
				dice(LINK_KINDS) | (text ? LINK_TEXT_ID : 0), names[dice(NAMES)] },
			sizeof links[i]);
	}
	maker_rows(maker, TABLE_COUNTERS, counters[0], 300);
	maker_rows(maker, TABLE_MARKS, marks[0], 200);
	maker_rows(maker, TABLE_LINKS, links[0], 500);
	maker_rows(maker, TABLE_COUNTERS, counters[300], 300);
	maker_rows(maker, TABLE_LINKS, links[500], 300);
}

const char *asker_random_trace(void)
{
	static struct maker maker;
	static struct maker_span spans[SPANS + 16];
	static struct span_arg args[400];
	uint32_t names[NAMES], tracks[THREADS], machine, processes[2], stream, counter;
	char text[32];

	maker_open(&maker);
	machine = maker_track(&maker, 0, TRACK_MACHINE, "host");
	processes[0] = maker_track(&maker, machine, TRACK_PROCESS, "train");
	processes[1] = maker_track(&maker, machine, TRACK_PROCESS, "loader");
	/* The same text under several numbers: with other categories, and in no order. */
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(text, sizeof text, "op_%c", 'a' + (int)(i * 7 % 17));
		names[i] = maker_name(&maker, text, i % 3 == 0 ? "op" : i % 3 == 1 ? "" : "kernel");
	}
	stream = maker_track(&maker, processes[0], TRACK_DEVICE, "stream 7");
	counter = maker_track(&maker, processes[1], TRACK_COUNTER, "rss");
	for (uint32_t i = 0; i < THREADS; i++)
		tracks[i] = maker_track(
			&maker, processes[i % 2], TRACK_THREAD, i < 2 ? "main" : "pool");
	for (uint32_t i = 0; i < THREADS; i++) {
		random_args(&maker, args, 400);
		maker_spans(&maker, tracks[i], SPANS_NESTED, spans, random_nested(spans, names),
			args, 400, 100 + i * 20);
	}
	maker_spans(&maker, stream, SPANS_EXPLICIT, spans, random_explicit(spans, names, 500), NULL,
		0, 333);
	random_args(&maker, args, 400);
	maker_spans(&maker, tracks[0], SPANS_INSTANT, spans, random_explicit(spans, names, 0), args,
		400, 500);
	random_rows(&maker, tracks, counter, names);
	maker_finish(&maker);
	return maker.path;
}
