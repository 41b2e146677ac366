// SPDX-License-Identifier: MIT OR Apache-2.0
/* Any text as SQL over a small trace: it is answered or refused with one clear line, within its
 * limits, and nothing else happens. The first byte chooses how much memory there is to sort in, and
 * whether conditions are handed down. */
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 2000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct taken {
	struct buffer csv;
	struct json_writer json;
	uint64_t rows;
	size_t columns;
};

static int take_columns(
	void *context, size_t index, size_t statements, const char *const *columns, size_t count)
{
	struct taken *taken = context;

	if (index >= statements || count == 0)
		abort();
	taken->columns = count;
	buffer_reset(&taken->csv);
	query_csv_columns(&taken->csv, columns, count);
	return STATUS_OK;
}

static int take_row(void *context, const struct query_value *values, size_t count)
{
	struct taken *taken = context;

	if (count != taken->columns || ++taken->rows > ROWS_MAX)
		abort();
	query_csv_row(&taken->csv, values, count);
	json_array(&taken->json);
	for (size_t i = 0; i < count; i++)
		query_json_value(&taken->json, &values[i]);
	json_array_end(&taken->json);
	buffer_reset(&taken->csv);
	buffer_reset(&taken->json.out);
	return STATUS_OK;
}

static void check_error(const struct error *err)
{
	if (!err->message[0])
		abort();
	for (const char *at = err->message; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			abort();
}

static struct trace *open_trace(void)
{
	struct error err = ERROR_INIT;
	struct trace *trace;

	if (trace_open(TEST_SOURCE_DIR "/tests/data/v1/small.tacho", &trace, &err) != STATUS_OK) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	return trace;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trace *trace;
	struct query_options options = {
		.timeout_ns = 100000000, .max_rows = ROWS_MAX, .max_memory_bytes = 16 << 20
	};
	struct taken taken = { .rows = 0 };
	struct query_sink sink = { .context = &taken, .begin = take_columns, .row = take_row };
	struct error err = ERROR_INIT;
	struct query_result result;
	struct query *query;

	if (!trace)
		trace = open_trace();
	if (size == 0)
		return 0;
	options.plain = (data[0] & 7) == 0;
	options.sort_bytes = data[0] & 1 ? 64 : 0;
	if (query_open(trace, &options, &query, &err) != STATUS_OK)
		abort();
	buffer_init(&taken.csv);
	json_writer_init(&taken.json, NULL, NULL);
	if (query_run(query, (const char *)data + 1, size - 1, &sink, &result, &err) != STATUS_OK)
		check_error(&err);
	else if (result.rows != taken.rows)
		abort();
	query_close(query);
	buffer_release(&taken.csv);
	json_writer_release(&taken.json);
	return 0;
}
