// SPDX-License-Identifier: MIT OR Apache-2.0
/* The buffer between a source and the JSON scanner. */
#include "import/json_input.h"

#include <stdlib.h>
#include <string.h>

void json_input_init(struct json_input *input, struct import_source *source, uint64_t limit_bytes)
{
	memset(input, 0, sizeof *input);
	input->source = source;
	input->limit_bytes = limit_bytes < 4 * IMPORT_CHUNK ? 4 * IMPORT_CHUNK : limit_bytes;
}

void json_input_release(struct json_input *input)
{
	free(input->buffer);
	input->buffer = NULL;
}

int json_input_more(struct json_input *input, const char *keep, struct error *err)
{
	size_t kept = input->buffer ? (size_t)(input->end - keep) : 0, got = 0;
	int status;

	if (input->last) {
		input->at = keep;
		return 0;
	}
	if (kept && keep != input->buffer)
		memmove(input->buffer, keep, kept);
	if (input->buffer)
		input->offset += (uint64_t)(keep - input->buffer);
	if (input->capacity < kept + IMPORT_CHUNK) {
		size_t capacity = (kept + IMPORT_CHUNK) * 3 / 2;
		char *buffer;

		if (capacity > input->limit_bytes)
			return error_set_at(err, STATUS_LIMIT, input->offset,
				"one value is larger than the memory allowed; raise --max-memory");
		buffer = realloc(input->buffer, capacity);
		if (!buffer)
			return error_set(err, STATUS_NOMEM, "out of memory");
		input->buffer = buffer;
		input->capacity = capacity;
	}
	input->at = input->buffer;
	input->end = input->buffer + kept;
	status = import_source_read(input->source, input->buffer + kept, IMPORT_CHUNK, &got, err);
	if (status != STATUS_OK)
		return status;
	input->end += got;
	input->last = got == 0;
	return got != 0;
}

int json_input_bad(const struct json_input *input, const char *at, struct error *err)
{
	uint64_t offset = json_input_offset(input, at);

	if (at >= input->end)
		return error_set_at(err, STATUS_FORMAT, offset, "the JSON text ends early");
	if ((uint8_t)*at < 0x20 || (uint8_t)*at > 0x7e)
		return error_set_at(err, STATUS_FORMAT, offset, "not JSON: unexpected byte 0x%02x",
			(uint8_t)*at);
	return error_set_at(err, STATUS_FORMAT, offset, "not JSON: unexpected '%c'", *at);
}

int json_input_peek(struct json_input *input, char *ret_char, struct error *err)
{
	for (;;) {
		int more;

		input->at = json_space(input->at, input->end);
		if (input->at < input->end) {
			*ret_char = *input->at;
			return STATUS_OK;
		}
		more = json_input_more(input, input->at, err);
		if (more < 0)
			return more;
		if (!more) {
			*ret_char = 0;
			return STATUS_OK;
		}
	}
}

int json_input_value(struct json_input *input, struct json_slice *ret_slice, struct error *err)
{
	char c;
	int status = json_input_peek(input, &c, err);

	if (status != STATUS_OK)
		return status;
	for (;;) {
		const char *at = input->at;
		enum json_result result = json_scan_value(&at, input->end, input->last, ret_slice);
		int more;

		if (result == JSON_OK) {
			input->at = at;
			return STATUS_OK;
		}
		if (result == JSON_BAD)
			return json_input_bad(input, at, err);
		more = json_input_more(input, input->at, err);
		if (more < 0)
			return more;
		if (!more)
			return json_input_bad(input, input->end, err);
	}
}
