// SPDX-License-Identifier: MIT OR Apache-2.0
/* Writing and reading blocks: layout, compression, checksums. The layout table is in block.h. */
#include "format/block.h"

#include "base/reader.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#define BLOCK_MAGIC 0x4b4c4254u /* "TBLK" */
#define ZSTD_LEVEL  1 /* higher levels gain 2 % on these columns and cost 3 times as much */

static const uint8_t file_magic[8] = { 'T', 'A', 'C', 'H', 'O', '\r', '\n', 0x1a };
static const uint8_t trailer_magic[8] = { 'T', 'A', 'C', 'H', 'O', 'E', 'N', 'D' };

struct block_codec {
	ZSTD_CCtx *compress;
	ZSTD_DCtx *decompress;
};

static const char *const table_names[TABLE_COUNT] = {
	[TABLE_STRINGS] = "strings",
	[TABLE_NAMES] = "names",
	[TABLE_TRACKS] = "tracks",
	[TABLE_SPANS] = "spans",
	[TABLE_COUNTERS] = "counters",
	[TABLE_MARKS] = "marks",
	[TABLE_LINKS] = "links",
	[TABLE_ALLOCATIONS] = "allocations",
	[TABLE_SAMPLES] = "samples",
	[TABLE_STACKS] = "stacks",
	[TABLE_METADATA] = "metadata",
	[TABLE_LEDGER] = "ledger",
	[TABLE_INDEX] = "index",
};

const char *block_table_name(unsigned table)
{
	return table < TABLE_COUNT && table_names[table] ? table_names[table] : "?";
}

static void put_fixed(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_fixed(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

void file_header_put(uint8_t bytes[FILE_HEADER_BYTES], const struct file_header *header)
{
	memset(bytes, 0, FILE_HEADER_BYTES);
	memcpy(bytes, file_magic, sizeof file_magic);
	put_fixed(bytes + 8, header->version, 2);
	put_fixed(bytes + 16, header->start_unix_ns, 8);
	put_fixed(bytes + 24, header->start_mono_ns, 8);
	memcpy(bytes + 32, header->session, 16);
	put_fixed(bytes + 56, XXH3_64bits(bytes, 56), 8);
}

int file_header_get(
	const uint8_t bytes[FILE_HEADER_BYTES], struct file_header *ret_header, struct error *err)
{
	struct file_header header;

	if (memcmp(bytes, file_magic, sizeof file_magic) != 0)
		return error_set_at(err, STATUS_FORMAT, 0,
			"not a .tacho file: its first bytes differ; give a file that tacho wrote");
	header.version = (uint16_t)get_fixed(bytes + 8, 2);
	if (header.version > FORMAT_VERSION)
		return error_set_at(err, STATUS_VERSION, 8,
			"format version %u is newer than the %u this tacho reads; update tacho",
			header.version, FORMAT_VERSION);
	if (header.version == 0)
		return error_set_at(err, STATUS_FORMAT, 8, "format version 0 does not exist");
	if (get_fixed(bytes + 56, 8) != XXH3_64bits(bytes, 56))
		return error_set_at(
			err, STATUS_FORMAT, 56, "the file header is damaged (checksum)");
	header.start_unix_ns = get_fixed(bytes + 16, 8);
	header.start_mono_ns = get_fixed(bytes + 24, 8);
	memcpy(header.session, bytes + 32, 16);
	*ret_header = header;
	return STATUS_OK;
}

void file_trailer_put(uint8_t bytes[FILE_TRAILER_BYTES], uint64_t index_offset)
{
	put_fixed(bytes, index_offset, 8);
	put_fixed(bytes + 8, XXH3_64bits(bytes, 8), 8);
	memcpy(bytes + 16, trailer_magic, sizeof trailer_magic);
}

int file_trailer_get(const uint8_t bytes[FILE_TRAILER_BYTES], uint64_t *ret_offset)
{
	if (memcmp(bytes + 16, trailer_magic, sizeof trailer_magic) != 0 ||
		get_fixed(bytes + 8, 8) != XXH3_64bits(bytes, 8))
		return STATUS_FORMAT;
	*ret_offset = get_fixed(bytes, 8);
	return STATUS_OK;
}

struct block_codec *block_codec_new(void)
{
	struct block_codec *codec = calloc(1, sizeof *codec);

	if (!codec)
		return NULL;
	codec->compress = ZSTD_createCCtx();
	codec->decompress = ZSTD_createDCtx();
	if (!codec->compress || !codec->decompress) {
		block_codec_free(codec);
		return NULL;
	}
	return codec;
}

void block_codec_free(struct block_codec *codec)
{
	if (!codec)
		return;
	ZSTD_freeCCtx(codec->compress);
	ZSTD_freeDCtx(codec->decompress);
	free(codec);
}

static void block_header_put(uint8_t *at, const struct block_header *header)
{
	memset(at, 0, BLOCK_HEADER_BYTES);
	put_fixed(at, BLOCK_MAGIC, 4);
	at[4] = header->table;
	at[5] = header->flags;
	put_fixed(at + 8, header->track, 4);
	put_fixed(at + 12, header->rows, 4);
	put_fixed(at + 16, header->time_min_ns, 8);
	put_fixed(at + 24, header->time_max_ns, 8);
	put_fixed(at + 32, header->stored_bytes, 4);
	put_fixed(at + 36, header->raw_bytes, 4);
	put_fixed(at + 40, header->busy_ns, 8);
	put_fixed(at + 48, header->checksum, 8);
	put_fixed(at + 56, XXH3_64bits(at, 56), 8);
}

int block_encode(struct block_codec *codec, struct block_header *header, const void *raw,
	size_t raw_bytes, struct buffer *out)
{
	size_t start = out->length, bound = ZSTD_compressBound(raw_bytes), stored;
	uint8_t *room;

	if (raw_bytes > BLOCK_RAW_MAX)
		return STATUS_LIMIT;
	room = buffer_extend(out, BLOCK_HEADER_BYTES + bound);
	if (!room)
		return STATUS_NOMEM;
	stored = ZSTD_compressCCtx(
		codec->compress, room + BLOCK_HEADER_BYTES, bound, raw, raw_bytes, ZSTD_LEVEL);
	header->flags &= (uint8_t)~BLOCK_RAW;
	if (ZSTD_isError(stored) || stored >= raw_bytes) {
		memcpy(room + BLOCK_HEADER_BYTES, raw, raw_bytes);
		stored = raw_bytes;
		header->flags |= BLOCK_RAW;
	}
	header->stored_bytes = (uint32_t)stored;
	header->raw_bytes = (uint32_t)raw_bytes;
	header->checksum = XXH3_64bits(room + BLOCK_HEADER_BYTES, stored);
	block_header_put(room, header);
	out->length = start + BLOCK_HEADER_BYTES + stored;
	return STATUS_OK;
}

int block_header_get(const uint8_t bytes[BLOCK_HEADER_BYTES], struct block_header *ret_header)
{
	struct block_header header;

	if (get_fixed(bytes, 4) != BLOCK_MAGIC ||
		get_fixed(bytes + 56, 8) != XXH3_64bits(bytes, 56))
		return STATUS_FORMAT;
	header.table = bytes[4];
	header.flags = bytes[5];
	header.track = (uint32_t)get_fixed(bytes + 8, 4);
	header.rows = (uint32_t)get_fixed(bytes + 12, 4);
	header.time_min_ns = get_fixed(bytes + 16, 8);
	header.time_max_ns = get_fixed(bytes + 24, 8);
	header.stored_bytes = (uint32_t)get_fixed(bytes + 32, 4);
	header.raw_bytes = (uint32_t)get_fixed(bytes + 36, 4);
	header.busy_ns = get_fixed(bytes + 40, 8);
	header.checksum = get_fixed(bytes + 48, 8);
	if (header.raw_bytes > BLOCK_RAW_MAX || header.rows > BLOCK_ROWS_MAX ||
		header.stored_bytes > ZSTD_compressBound(BLOCK_RAW_MAX))
		return STATUS_FORMAT;
	*ret_header = header;
	return STATUS_OK;
}

int block_decode(struct block_codec *codec, const struct block_header *header, const void *stored,
	uint64_t offset, struct buffer *raw, struct error *err)
{
	const char *table = block_table_name(header->table);
	size_t got;
	uint8_t *room;

	buffer_reset(raw);
	if (XXH3_64bits(stored, header->stored_bytes) != header->checksum)
		return error_set_at(
			err, STATUS_FORMAT, offset, "%s block is damaged (checksum)", table);
	room = buffer_extend(raw, header->raw_bytes);
	if (!room && header->raw_bytes)
		return error_set(err, STATUS_NOMEM, "out of memory for a block of %u bytes",
			header->raw_bytes);
	if (header->flags & BLOCK_RAW) {
		if (header->stored_bytes != header->raw_bytes)
			return error_set_at(
				err, STATUS_FORMAT, offset, "%s block has two sizes", table);
		if (header->raw_bytes)
			memcpy(room, stored, header->raw_bytes);
		return STATUS_OK;
	}
	got = ZSTD_decompressDCtx(
		codec->decompress, room, header->raw_bytes, stored, header->stored_bytes);
	if (ZSTD_isError(got) || got != header->raw_bytes)
		return error_set_at(
			err, STATUS_FORMAT, offset, "%s block does not decompress", table);
	return STATUS_OK;
}
