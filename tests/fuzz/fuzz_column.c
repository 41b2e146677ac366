// SPDX-License-Identifier: MIT OR Apache-2.0
/* Bytes as columns: what can be read must come out the same after writing and reading it again. */
#include "format/column.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_again(const uint64_t *values, size_t count, enum column_transform transform)
{
	uint64_t *back = malloc((count + 1) * sizeof *back);
	struct buffer bytes;
	struct reader in;

	buffer_init(&bytes);
	column_put(&bytes, values, count, transform);
	reader_init(&in, bytes.data, bytes.length);
	if (!back || column_get(&in, back, count) != STATUS_OK || reader_left(&in) != 0 ||
		(count && memcmp(values, back, count * sizeof *back) != 0))
		abort();
	buffer_release(&bytes);
	free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader in;
	uint64_t *values;
	uint32_t *small;
	size_t count;

	reader_init(&in, data, size);
	count = (size_t)reader_fixed(&in, 2);
	values = malloc((count + 1) * sizeof *values);
	small = malloc((count + 1) * sizeof *small);
	if (!values || !small)
		abort();
	/* Several columns follow each other, as in a block. */
	while (!in.failed && reader_left(&in)) {
		const uint8_t *at = in.at;

		if (column_get_u32(&in, small, count) != STATUS_OK) {
			reader_init(&in, at, (size_t)(data + size - at));
			if (column_get(&in, values, count) != STATUS_OK)
				break;
			for (int transform = COLUMN_PLAIN; transform <= COLUMN_ZIGZAG; transform++)
				read_again(values, count, (enum column_transform)transform);
		}
	}
	free(values);
	free(small);
	return 0;
}
