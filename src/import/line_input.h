/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lines of text from a source. */
#pragma once

#include "import/json_input.h"

struct line_input {
	struct json_input window; /* the buffer between source and reader serves any bytes */
	uint64_t offset;          /* of the line that was read last */
};

void line_input_init(struct line_input *input, struct import_source *source, uint64_t limit_bytes);
void line_input_release(struct line_input *input);

/* 1 and a line without its end, lent until the next call; 0 at the end; negative on failure. */
int line_input_next(struct line_input *input, const char **ret_text, size_t *ret_length,
	struct error *err) MUST_USE;
