/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The outermost fields of a protobuf file, one after the other: only the field at hand is in
 * memory, and a length that the file does not have is noticed before anything is reserved for it.
 */
#pragma once

#include "base/wire.h"
#include "import/json_input.h"

struct wire_input {
	struct json_input window; /* the buffer between source and reader serves any bytes */
	uint64_t offset;          /* of the field that was read last, in the unpacked file */
	uint64_t cut_bytes;       /* of a last field that the file does not hold to its end */
};

void wire_input_init(struct wire_input *input, struct import_source *source, uint64_t limit_bytes);
void wire_input_release(struct wire_input *input);

/* 1 and a field, whose bytes are lent until the next call; 0 at the end; negative on failure. A
 * last field that is cut off is the end, with its bytes in cut_bytes. */
int wire_input_next(
	struct wire_input *input, struct wire_field *ret_field, struct error *err) MUST_USE;
