// SPDX-License-Identifier: MIT OR Apache-2.0
/* Bytes as the payload of a span block, with the number of rows in front. What is accepted must
 * hold together. */
#include "format/span_block.h"

#include <stdlib.h>
#include <string.h>

#define NAMES 100u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct span_batch *batch, uint32_t rows)
{
	if (batch->count != rows)
		abort();
	for (uint32_t i = 0; i < rows; i++)
		if (batch->name[i] >= NAMES || batch->depth[i] >= SPANS_DEPTH_MAX ||
			batch->start_ns[i] + batch->duration_ns[i] < batch->start_ns[i] ||
			batch->self_ns[i] > batch->duration_ns[i])
			abort();
	for (uint32_t i = 0; i < batch->dictionary_count; i++)
		if (batch->dictionary[i] >= NAMES)
			abort();
	for (size_t i = 0; i < batch->arg_count; i++)
		if (batch->args[i].row >= rows || batch->args[i].type >= ARG_TYPES)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct span_batch batch;
	struct buffer payload;
	struct reader in;
	uint32_t rows;

	reader_init(&in, data, size);
	rows = (uint32_t)reader_fixed(&in, 2);
	span_batch_init(&batch);
	buffer_init(&payload);
	buffer_append(&payload, in.at, reader_left(&in));
	for (int with_args = 0; with_args < 2; with_args++) {
		if (span_batch_decode(&batch, &payload, rows, NAMES, with_args, &err) == STATUS_OK)
			check(&batch, rows);
		else if (!err.message[0] || batch.count)
			abort();
	}
	span_batch_release(&batch);
	buffer_release(&payload);
	return 0;
}
