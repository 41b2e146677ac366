// SPDX-License-Identifier: MIT OR Apache-2.0
/* Converting small files in a temporary folder. */
#include "tests/unit/import_fixture.h"

#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct error import_fixture_error;
static char folder[64], input[128], output[128];

void import_fixture_begin(void)
{
	/* Thousands of small files: in memory they are written at once. */
	snprintf(folder, sizeof folder, "%s/tacho-import-XXXXXX",
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	CHECK(mkdtemp(folder) != NULL);
	snprintf(input, sizeof input, "%s/input", folder);
	snprintf(output, sizeof output, "%s/output.tacho", folder);
}

void import_fixture_end(void)
{
	unlink(input);
	unlink(output);
	rmdir(folder);
}

int import_fixture_convert(const void *bytes, size_t count, uint64_t max_memory)
{
	struct import_options options = { .max_memory = max_memory };
	FILE *file = fopen(input, "w");

	import_fixture_error = (struct error)ERROR_INIT;
	if (!CHECK(file != NULL))
		return STATUS_IO;
	CHECK_EQ(fwrite(bytes, 1, count, file), count);
	fclose(file);
	return import_convert(input, output, &options, &import_fixture_error);
}

struct trace *import_fixture_open(const void *bytes, size_t count)
{
	struct trace *trace = NULL;

	if (!CHECK_EQ(import_fixture_convert(bytes, count, 0), STATUS_OK) ||
		!CHECK_EQ(trace_open(output, &trace, &import_fixture_error), STATUS_OK))
		fprintf(stderr, "%s\n", import_fixture_error.message);
	return trace;
}

uint8_t *import_fixture_read(const char *name, size_t *ret_count)
{
	static const size_t room = 1 << 20;
	uint8_t *bytes = malloc(room);
	char path[512];
	FILE *file;

	snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", TEST_SOURCE_DIR, name);
	file = fopen(path, "r");
	if (!CHECK(file != NULL) || !bytes) {
		fprintf(stderr, "%s cannot be read\n", path);
		free(bytes);
		if (file)
			fclose(file);
		return NULL;
	}
	*ret_count = fread(bytes, 1, room, file);
	fclose(file);
	return bytes;
}

struct trace *import_fixture_corpus(const char *name)
{
	size_t count;
	uint8_t *bytes = import_fixture_read(name, &count);
	struct trace *trace = bytes ? import_fixture_open(bytes, count) : NULL;

	free(bytes);
	return trace;
}

struct span_search {
	const struct trace *trace;
	const char *name, *key;
	unsigned count;
	uint64_t start_ns, duration_ns;
	const char *category;
	char text[256];
};

static void take_argument(struct span_search *search, const struct span_batch *spans, uint32_t row)
{
	const struct string_table *strings = &search->trace->strings;
	double number;

	search->text[0] = 0;
	for (size_t a = 0; a < spans->arg_count; a++) {
		const struct span_arg *arg = &spans->args[a];

		if (arg->row != row ||
			strcmp(string_table_borrow(strings, arg->key), search->key) != 0)
			continue;
		memcpy(&number, &arg->value, sizeof number);
		if (arg->type == ARG_INTEGER)
			snprintf(
				search->text, sizeof search->text, "%" PRId64, (int64_t)arg->value);
		else if (arg->type == ARG_DOUBLE)
			snprintf(search->text, sizeof search->text, "%g", number);
		else
			snprintf(search->text, sizeof search->text, "%s",
				string_table_borrow(strings, (uint32_t)arg->value));
	}
}

static void search_spans(struct span_search *search)
{
	const struct trace *trace = search->trace;
	struct trace_cursor cursor;
	struct error err = ERROR_INIT;

	CHECK_EQ(trace_cursor_init(&cursor, trace), STATUS_OK);
	for (size_t b = 0; b < trace->block_count; b++) {
		if (trace->blocks[b].table != TABLE_SPANS ||
			!CHECK_EQ(trace_cursor_spans(&cursor, b, true, &err), STATUS_OK))
			continue;
		for (uint32_t i = 0; i < cursor.spans.count; i++) {
			const struct trace_name *name = &trace->names[cursor.spans.name[i]];

			if (strcmp(name->name, search->name) != 0)
				continue;
			search->count++;
			search->start_ns = cursor.spans.start_ns[i];
			search->duration_ns = cursor.spans.duration_ns[i];
			search->category = name->category;
			if (search->key)
				take_argument(search, &cursor.spans, i);
		}
	}
	trace_cursor_release(&cursor);
}

unsigned import_fixture_span(const struct trace *trace, const char *name, uint64_t *ret_start_ns,
	uint64_t *ret_duration_ns, const char **ret_category)
{
	struct span_search search = { .trace = trace, .name = name, .category = "" };

	search_spans(&search);
	if (ret_start_ns)
		*ret_start_ns = search.start_ns;
	if (ret_duration_ns)
		*ret_duration_ns = search.duration_ns;
	if (ret_category)
		*ret_category = search.category;
	return search.count;
}

const char *import_fixture_argument(const struct trace *trace, const char *name, const char *key)
{
	static char text[256];
	struct span_search search = { .trace = trace, .name = name, .key = key };

	search_spans(&search);
	snprintf(text, sizeof text, "%s", search.text);
	return text;
}

uint64_t import_fixture_ledger(const struct trace *trace, const char *what)
{
	for (size_t i = 0; i < trace->ledger.count; i++)
		if (strcmp(trace->ledger.entries[i].what, what) == 0)
			return trace->ledger.entries[i].count;
	return 0;
}

const struct trace_track *import_fixture_track(const struct trace *trace, const char *name)
{
	static const struct trace_track none = { .name = "" };

	for (uint32_t i = 0; i < trace->track_count; i++)
		if (strcmp(trace->tracks[i].name, name) == 0)
			return &trace->tracks[i];
	return &none;
}

size_t import_fixture_cells(const struct trace *trace, enum block_table table, unsigned column,
	uint64_t *cells, size_t room)
{
	struct trace_cursor cursor;
	struct error err = ERROR_INIT;
	size_t count = 0;

	CHECK_EQ(trace_cursor_init(&cursor, trace), STATUS_OK);
	for (size_t b = 0; b < trace->block_count; b++) {
		if (trace->blocks[b].table != table ||
			!CHECK_EQ(trace_cursor_rows(&cursor, b, &err), STATUS_OK))
			continue;
		for (size_t i = 0; i < cursor.rows.count && count < room; i++)
			cells[count++] = cursor.rows.cells[column][i];
	}
	trace_cursor_release(&cursor);
	return count;
}
