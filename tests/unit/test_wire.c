// SPDX-License-Identifier: MIT OR Apache-2.0
/* Protobuf's wire format: bytes as its documentation shows them, what was written is read back, and
 * damaged messages are refused wherever they are cut. */
#include "base/wire.h"

#include "tests/unit/unit.h"

#include <string.h>

static void check_bytes(const struct buffer *out, const char *expected, size_t count)
{
	CHECK(buffer_ok(out));
	if (CHECK_EQ(out->length, count))
		CHECK(memcmp(out->data, expected, count) == 0);
}

/* The examples of protobuf's own page on its encoding. */
static void known_bytes(void)
{
	struct buffer out;
	size_t inner;

	buffer_init(&out);
	wire_u64(&out, 1, 150);
	check_bytes(&out, "\x08\x96\x01", 3);
	buffer_reset(&out);
	wire_text(&out, 2, "testing");
	check_bytes(&out, "\x12\x07testing", 9);
	buffer_reset(&out);
	inner = wire_open(&out, 3);
	wire_u64(&out, 1, 150);
	wire_close(&out, inner);
	check_bytes(&out, "\x1a\x03\x08\x96\x01", 5);
	buffer_reset(&out);
	wire_i64(&out, 1, -2);
	check_bytes(&out, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	buffer_reset(&out);
	wire_s64(&out, 1, -2);
	check_bytes(&out, "\x08\x03", 2);
	buffer_reset(&out);
	wire_fixed32(&out, 1, 0x01020304);
	wire_fixed64(&out, 2, 1);
	check_bytes(&out, "\x0d\x04\x03\x02\x01\x11\x01\0\0\0\0\0\0\0", 14);
	buffer_release(&out);
}

static void zigzag(void)
{
	static const int64_t values[] = { 0, -1, 1, -2, INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		CHECK_EQ(wire_unzigzag(wire_zigzag(values[i])), values[i]);
	CHECK_EQ(wire_zigzag(-1), 1);
	CHECK_EQ(wire_zigzag(INT64_MIN), UINT64_MAX);
}

static void varints(void)
{
	struct buffer out;

	buffer_init(&out);
	for (unsigned bit = 0; bit < 64; bit++)
		for (int64_t add = -1; add <= 1; add++) {
			uint64_t value = ((uint64_t)1 << bit) + (uint64_t)add;
			struct reader in;

			buffer_reset(&out);
			wire_varint(&out, value);
			reader_init(&in, out.data, out.length);
			CHECK_EQ(wire_read_varint(&in), value);
			CHECK(!in.failed && reader_left(&in) == 0);
			/* Cut anywhere it is no number. */
			for (size_t cut = 0; cut < out.length; cut++) {
				reader_init(&in, out.data, cut);
				CHECK_EQ(wire_read_varint(&in), 0);
				CHECK(in.failed);
			}
		}
	buffer_release(&out);
}

static void read_back(void)
{
	struct buffer out;
	struct wire_field field;
	struct reader in, inner;
	size_t opened;

	buffer_init(&out);
	wire_u64(&out, 536870911, UINT64_MAX);
	wire_double(&out, 2, -0.5);
	opened = wire_open(&out, 3);
	wire_fixed32(&out, 7, 9);
	wire_close(&out, opened);
	wire_bytes(&out, 4, "", 0);
	reader_init(&in, out.data, out.length);
	CHECK_EQ(wire_next(&in, &field), 1);
	CHECK_EQ(field.field, 536870911);
	CHECK_EQ(field.type, WIRE_VARINT);
	CHECK_EQ(field.number, UINT64_MAX);
	CHECK_EQ(wire_next(&in, &field), 1);
	CHECK_EQ(field.type, WIRE_FIXED64);
	CHECK_NEAR(wire_as_double(field.number), -0.5, 0);
	CHECK_EQ(wire_next(&in, &field), 1);
	CHECK_EQ(field.type, WIRE_BYTES);
	inner = field.bytes;
	CHECK_EQ(wire_next(&inner, &field), 1);
	CHECK_EQ(field.field, 7);
	CHECK_EQ(field.number, 9);
	CHECK_EQ(wire_next(&inner, &field), 0);
	CHECK_EQ(wire_next(&in, &field), 1);
	CHECK_EQ(reader_left(&field.bytes), 0);
	CHECK_EQ(wire_next(&in, &field), 0);
	buffer_release(&out);
}

/* The length of a message is set aside as one byte and grows when the message does. */
static void long_messages(void)
{
	static const size_t sizes[] = { 0, 1, 127, 128, 129, 16383, 16384, 2097151, 2097152 };
	struct buffer out;

	buffer_init(&out);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct wire_field field;
		struct reader in;
		size_t outer, inner;
		uint8_t *room;

		buffer_reset(&out);
		outer = wire_open(&out, 1);
		inner = wire_open(&out, 2);
		room = buffer_extend(&out, sizes[i]);
		for (size_t b = 0; room && b < sizes[i]; b++)
			room[b] = (uint8_t)(b * 31);
		wire_close(&out, inner);
		wire_close(&out, outer);
		reader_init(&in, out.data, out.length);
		CHECK_EQ(wire_next(&in, &field), 1);
		CHECK_EQ(wire_next(&in, &(struct wire_field){ 0 }), 0);
		in = field.bytes;
		CHECK_EQ(wire_next(&in, &field), 1);
		CHECK_EQ(field.field, 2);
		if (!CHECK_EQ(reader_left(&field.bytes), sizes[i]))
			continue;
		for (size_t b = 0; b < sizes[i]; b++)
			if (field.bytes.at[b] != (uint8_t)(b * 31)) {
				CHECK_EQ(b, sizes[i]);
				break;
			}
	}
	buffer_release(&out);
}

static void bad_text(void)
{
	struct buffer out;

	buffer_init(&out);
	wire_text(&out, 1, "bad \xff name\xc3");
	check_bytes(&out,
		"\x0a\x0f"
		"bad \xef\xbf\xbd name\xef\xbf\xbd",
		17);
	buffer_release(&out);
}

static int walk(const void *bytes, size_t count)
{
	struct wire_field field;
	struct reader in;
	int status;

	reader_init(&in, bytes, count);
	while ((status = wire_next(&in, &field)) == 1)
		continue;
	return status;
}

static void groups_are_passed_over(void)
{
	/* 1: group { 2: 5, 3: group {} }, then 4: 6 */
	static const uint8_t bytes[] = { 0x0b, 0x10, 5, 0x1b, 0x1c, 0x0c, 0x20, 6 };
	uint8_t deep[200];
	struct wire_field field;
	struct reader in;

	reader_init(&in, bytes, sizeof bytes);
	CHECK_EQ(wire_next(&in, &field), 1);
	CHECK_EQ(field.field, 4);
	CHECK_EQ(field.number, 6);
	CHECK_EQ(wire_next(&in, &field), 0);
	CHECK_EQ(walk(bytes, 5), STATUS_FORMAT);
	CHECK_EQ(walk(bytes + 5, 1), STATUS_FORMAT);
	memset(deep, 0x0b, sizeof deep);
	CHECK_EQ(walk(deep, sizeof deep), STATUS_FORMAT);
}

static void damaged(void)
{
	/* Lengths that lie, field 0, types that do not exist, a key beyond 32 bits, no end. */
	CHECK_EQ(walk("\x0a\x05\x01", 3), STATUS_FORMAT);
	CHECK_EQ(walk("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), STATUS_FORMAT);
	CHECK_EQ(walk("\x00\x01", 2), STATUS_FORMAT);
	CHECK_EQ(walk("\x0e\x01", 2), STATUS_FORMAT);
	CHECK_EQ(walk("\x0f\x01", 2), STATUS_FORMAT);
	CHECK_EQ(walk("\x88\x80\x80\x80\x80\x01\x01", 7), STATUS_FORMAT);
	CHECK_EQ(walk("\x09\x01\x02", 3), STATUS_FORMAT);
	CHECK_EQ(walk("\x0d\x01\x02", 3), STATUS_FORMAT);
	CHECK_EQ(walk("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11), STATUS_FORMAT);
	CHECK_EQ(walk("", 0), 0);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(known_bytes),
		UNIT(zigzag),
		UNIT(varints),
		UNIT(read_back),
		UNIT(long_messages),
		UNIT(bad_text),
		UNIT(groups_are_passed_over),
		UNIT(damaged),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
