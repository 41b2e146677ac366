// SPDX-License-Identifier: MIT OR Apache-2.0
/* File header, trailer and blocks: there and back, and every byte of them flipped. */
#include "format/block.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static const struct file_header sample_header = {
	.version = FORMAT_VERSION,
	.start_unix_ns = 1700000000123456789u,
	.start_mono_ns = 987654321,
	.session = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
};

static void header_there_and_back(void)
{
	uint8_t bytes[FILE_HEADER_BYTES];
	struct file_header header;
	struct error err = ERROR_INIT;

	file_header_put(bytes, &sample_header);
	CHECK_EQ(file_header_get(bytes, &header, &err), STATUS_OK);
	CHECK_EQ(header.version, FORMAT_VERSION);
	CHECK_EQ(header.start_unix_ns, sample_header.start_unix_ns);
	CHECK_EQ(header.start_mono_ns, sample_header.start_mono_ns);
	CHECK(memcmp(header.session, sample_header.session, 16) == 0);
	CHECK(memcmp(bytes, "TACHO\r\n\x1a", 8) == 0);
	CHECK_EQ(bytes[8], FORMAT_VERSION);
}

static void header_flips_are_noticed(void)
{
	uint8_t bytes[FILE_HEADER_BYTES];
	struct file_header header;

	for (size_t i = 0; i < sizeof bytes * 8; i++) {
		struct error err = ERROR_INIT;
		int status;

		file_header_put(bytes, &sample_header);
		bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		status = file_header_get(bytes, &header, &err);
		CHECK(status == STATUS_FORMAT || status == STATUS_VERSION);
		CHECK(err.message[0] != 0);
		CHECK(err.offset >= 0);
	}
}

static void versions(void)
{
	uint8_t bytes[FILE_HEADER_BYTES];
	struct file_header header = sample_header;
	struct error err = ERROR_INIT;

	header.version = FORMAT_VERSION + 1;
	file_header_put(bytes, &header);
	CHECK_EQ(file_header_get(bytes, &header, &err), STATUS_VERSION);
	CHECK(strstr(err.message, "newer") != NULL);
	header.version = 0;
	file_header_put(bytes, &header);
	CHECK_EQ(file_header_get(bytes, &header, &err), STATUS_FORMAT);
}

static void trailer_there_and_back(void)
{
	uint8_t bytes[FILE_TRAILER_BYTES];
	uint64_t offset = 0;

	file_trailer_put(bytes, 0x123456789abcdefu);
	CHECK_EQ(file_trailer_get(bytes, &offset), STATUS_OK);
	CHECK_EQ(offset, 0x123456789abcdefu);
	for (size_t i = 0; i < sizeof bytes * 8; i++) {
		file_trailer_put(bytes, 4711);
		bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		CHECK_EQ(file_trailer_get(bytes, &offset), STATUS_FORMAT);
	}
}

static int decode(struct block_codec *codec, const struct buffer *encoded, struct buffer *raw)
{
	struct block_header header;
	struct error err = ERROR_INIT;
	int status = block_header_get(encoded->data, &header);

	if (status != STATUS_OK)
		return status;
	if (BLOCK_HEADER_BYTES + (size_t)header.stored_bytes > encoded->length)
		return STATUS_FORMAT;
	return block_decode(codec, &header, encoded->data + BLOCK_HEADER_BYTES, 1000, raw, &err);
}

/* `noise`: bytes zstd cannot make smaller, stored as they are. */
static void check_block(size_t bytes, bool noise)
{
	struct block_codec *codec = block_codec_new();
	struct block_header header = { .table = TABLE_SPANS,
		.track = 7,
		.rows = 9,
		.time_min_ns = 11,
		.time_max_ns = UINT64_MAX,
		.busy_ns = 13 };
	struct block_header back;
	struct buffer encoded, raw;
	uint8_t *data = calloc(bytes + 1, 1);

	buffer_init(&encoded);
	buffer_init(&raw);
	for (size_t i = 0; i < bytes; i++)
		data[i] = noise ? (uint8_t)((i * 2654435761u) >> 13 ^ i * i >> 7)
				: (uint8_t)(i / 100);
	CHECK_EQ(block_encode(codec, &header, data, bytes, &encoded), STATUS_OK);
	CHECK_EQ(encoded.length, BLOCK_HEADER_BYTES + (size_t)header.stored_bytes);
	CHECK_EQ(block_header_get(encoded.data, &back), STATUS_OK);
	CHECK_EQ(back.table, TABLE_SPANS);
	CHECK_EQ(back.track, 7);
	CHECK_EQ(back.rows, 9);
	CHECK_EQ(back.time_min_ns, 11);
	CHECK_EQ(back.time_max_ns, UINT64_MAX);
	CHECK_EQ(back.busy_ns, 13);
	CHECK_EQ(back.raw_bytes, bytes);
	CHECK_EQ(decode(codec, &encoded, &raw), STATUS_OK);
	CHECK_EQ(raw.length, bytes);
	CHECK(bytes == 0 || memcmp(raw.data, data, bytes) == 0);
	for (size_t i = 0; i < encoded.length; i++) {
		encoded.data[i] ^= 0x10;
		CHECK_EQ(decode(codec, &encoded, &raw), STATUS_FORMAT);
		encoded.data[i] ^= 0x10;
	}
	free(data);
	buffer_release(&encoded);
	buffer_release(&raw);
	block_codec_free(codec);
}

static void blocks_there_and_back(void)
{
	check_block(0, false);
	check_block(1, false);
	check_block(5000, false);
	check_block(300, true);
}

static void blocks_follow_each_other(void)
{
	struct block_codec *codec = block_codec_new();
	struct block_header first = { .table = TABLE_MARKS }, second = { .table = TABLE_LINKS };
	struct buffer encoded;

	buffer_init(&encoded);
	CHECK_EQ(block_encode(codec, &first, "aaaa", 4, &encoded), STATUS_OK);
	CHECK_EQ(block_encode(codec, &second, "bbbb", 4, &encoded), STATUS_OK);
	CHECK_EQ(block_header_get(encoded.data + BLOCK_HEADER_BYTES + first.stored_bytes, &second),
		STATUS_OK);
	CHECK_EQ(second.table, TABLE_LINKS);
	buffer_release(&encoded);
	block_codec_free(codec);
}

static void too_much_is_refused(void)
{
	struct block_codec *codec = block_codec_new();
	struct block_header header = { .table = TABLE_SPANS };
	struct buffer encoded;
	uint8_t *data = calloc(BLOCK_RAW_MAX + 1, 1);

	buffer_init(&encoded);
	CHECK_EQ(block_encode(codec, &header, data, BLOCK_RAW_MAX + 1, &encoded), STATUS_LIMIT);
	CHECK_EQ(encoded.length, 0);
	header.rows = BLOCK_ROWS_MAX + 1;
	CHECK_EQ(block_encode(codec, &header, data, 10, &encoded), STATUS_OK);
	CHECK_EQ(block_header_get(encoded.data, &header), STATUS_FORMAT);
	free(data);
	buffer_release(&encoded);
	block_codec_free(codec);
}

static void every_table_has_a_name(void)
{
	for (unsigned table = TABLE_STRINGS; table < TABLE_COUNT; table++)
		CHECK(block_table_name(table)[0] != '?');
	CHECK_STR(block_table_name(0), "?");
	CHECK_STR(block_table_name(TABLE_COUNT), "?");
	CHECK_STR(block_table_name(UINT32_MAX), "?");
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(header_there_and_back),
		UNIT(header_flips_are_noticed),
		UNIT(versions),
		UNIT(trailer_there_and_back),
		UNIT(blocks_there_and_back),
		UNIT(blocks_follow_each_other),
		UNIT(too_much_is_refused),
		UNIT(every_table_has_a_name),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
