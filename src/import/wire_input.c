// SPDX-License-Identifier: MIT OR Apache-2.0
/* Top-level fields through the window that json_input keeps over a source. */
#include "import/wire_input.h"

void wire_input_init(struct wire_input *input, struct import_source *source, uint64_t limit_bytes)
{
	json_input_init(&input->window, source, limit_bytes);
	input->offset = 0;
	input->cut_bytes = 0;
}

void wire_input_release(struct wire_input *input)
{
	json_input_release(&input->window);
}

/* Bytes that the field at the front of `in` needs in all; 0 when its head is not there yet;
 * UINT64_MAX when this is no field. */
static uint64_t field_bytes(struct reader in)
{
	const uint8_t *start = in.at;
	size_t left = reader_left(&in);
	uint64_t key = wire_read_varint(&in), length;

	if (in.failed)
		return left >= WIRE_VARINT_MAX ? UINT64_MAX : 0;
	if (key >> 3 == 0 || key > UINT32_MAX)
		return UINT64_MAX;
	switch (key & 7) {
	case WIRE_VARINT:
		left = reader_left(&in);
		wire_read_varint(&in);
		if (in.failed)
			return left >= WIRE_VARINT_MAX ? UINT64_MAX : 0;
		return (uint64_t)(in.at - start);
	case WIRE_FIXED64:
		return (uint64_t)(in.at - start) + 8;
	case WIRE_FIXED32:
		return (uint64_t)(in.at - start) + 4;
	case WIRE_BYTES:
		left = reader_left(&in);
		length = wire_read_varint(&in);
		if (in.failed)
			return left >= WIRE_VARINT_MAX ? UINT64_MAX : 0;
		if (length > INT64_MAX / 2)
			return UINT64_MAX;
		return (uint64_t)(in.at - start) + length;
	default:
		return UINT64_MAX;
	}
}

int wire_input_next(struct wire_input *input, struct wire_field *ret_field, struct error *err)
{
	struct json_input *window = &input->window;

	for (;;) {
		size_t have = window->buffer ? (size_t)(window->end - window->at) : 0;
		struct reader in;
		uint64_t need = 0;
		int more;

		reader_init(&in, window->at, have);
		input->offset = window->buffer ? json_input_offset(window, window->at) : 0;
		if (have)
			need = field_bytes(in);
		if (need == UINT64_MAX)
			return error_set_at(err, STATUS_FORMAT, input->offset,
				"damaged protobuf data: this is not a field");
		if (need && need <= have) {
			more = wire_next(&in, ret_field);
			window->at += need;
			return more == 1 ? 1
					 : error_set_at(err, STATUS_FORMAT, input->offset,
						   "damaged protobuf data");
		}
		more = json_input_more(window, window->at, err);
		if (more < 0)
			return more;
		if (more == 0) {
			input->cut_bytes = have;
			return 0;
		}
	}
}
