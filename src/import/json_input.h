/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* JSON text from a source through one reused buffer: the part not yet used is moved to the front
 * and more is read behind it. Values are slices of the buffer, valid until the next
 * json_input_more(). */
#pragma once

#include "base/json_scan.h"
#include "import/import_source.h"

struct json_input {
	struct import_source *source;
	char *buffer;
	size_t capacity;
	const char *at, *end; /* the unread text */
	uint64_t offset;      /* of buffer[0] in the unpacked text */
	bool last;            /* the source has ended */
	uint64_t limit_bytes; /* largest buffer */
};

void json_input_init(struct json_input *input, struct import_source *source, uint64_t limit_bytes);
void json_input_release(struct json_input *input);

/* Reads more, keeping everything from `keep` on; at/end are moved and `keep` becomes at. Returns 1
 * when there is more, 0 at the end of the input, negative on failure. */
int json_input_more(struct json_input *input, const char *keep, struct error *err) MUST_USE;

/* The next character that is no white space, without taking it; 0 at the end of the input. */
int json_input_peek(struct json_input *input, char *ret_char, struct error *err) MUST_USE;
/* A whole value as a slice, however long. */
int json_input_value(
	struct json_input *input, struct json_slice *ret_slice, struct error *err) MUST_USE;

/* The error "not JSON", with the place. */
int json_input_bad(const struct json_input *input, const char *at, struct error *err);
static inline uint64_t json_input_offset(const struct json_input *input, const char *at)
{
	return input->offset + (uint64_t)(at - input->buffer);
}
