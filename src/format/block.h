/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Blocks: the only thing a .tacho file consists of, between its header and its trailer.
 *
 *   file:     header (64 bytes)  block  block ...  index blocks  trailer (24 bytes)
 *
 *   header:   0 magic[8] "TACHO\r\n\x1a"   8 u16 version   10 u16 reserved   12 u32 reserved
 *            16 u64 start_unix_ns         24 u64 start_mono_ns
 *            32 u8 session[16]            48 u64 reserved
 *            56 u64 xxh3 of bytes 0-55
 *
 *   block:    0 u32 magic "TBLK"           4 u8 table       5 u8 flags     6 u16 reserved
 *             8 u32 track                 12 u32 rows
 *            16 u64 time_min              24 u64 time_max
 *            32 u32 stored bytes          36 u32 raw bytes
 *            40 u64 busy_ns (spans: time covered by outermost spans; else 0)
 *            48 u64 xxh3 of the stored bytes
 *            56 u64 xxh3 of bytes 0-55
 *            64 the stored bytes: one zstd frame, or raw (flag)
 *
 * Dictionary and index blocks: `track` is the number of their first entry. The index lists every
 * block in front of it; beyond 512 Ki entries it goes on in further blocks.
 *
 *   trailer:  0 u64 offset of the first index block   8 u64 xxh3 of bytes 0-7   16 magic[8]
 * "TACHOEND"
 *
 * Numbers are little-endian. Times are nanoseconds from the trace's start. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

#include <stdint.h>

#define FORMAT_VERSION     1u
#define FILE_HEADER_BYTES  64u
#define FILE_TRAILER_BYTES 24u
#define BLOCK_HEADER_BYTES 64u
#define BLOCK_RAW_MAX      (64u << 20) /* a larger raw size is refused */
#define BLOCK_ROWS_MAX     (1u << 20)
#define BLOCK_ROWS_TARGET  (64u << 10)

enum block_table {
	TABLE_STRINGS = 1,
	TABLE_NAMES = 2,
	TABLE_TRACKS = 3,
	TABLE_SPANS = 4,
	TABLE_COUNTERS = 5,
	TABLE_MARKS = 6,
	TABLE_LINKS = 7,
	TABLE_ALLOCATIONS = 8,
	TABLE_SAMPLES = 9,
	TABLE_STACKS = 10,
	TABLE_METADATA = 11,
	TABLE_LEDGER = 12,
	TABLE_INDEX = 13,
	TABLE_COUNT
};

enum block_flags {
	BLOCK_RAW = 1u << 0, /* stored without compression */
};

struct file_header {
	uint16_t version;
	uint64_t start_unix_ns;
	uint64_t start_mono_ns;
	uint8_t session[16];
};

struct block_header {
	uint8_t table;
	uint8_t flags;
	uint32_t track;
	uint32_t rows;
	uint64_t time_min_ns;
	uint64_t time_max_ns;
	uint32_t stored_bytes;
	uint32_t raw_bytes;
	uint64_t busy_ns;
	uint64_t checksum;
};

/* "spans", "counters", ...; "?" for a number that is no table. */
const char *block_table_name(unsigned table);

void file_header_put(uint8_t bytes[FILE_HEADER_BYTES], const struct file_header *header);
/* STATUS_FORMAT: not a .tacho file; STATUS_VERSION: made by a newer Tacho. */
int file_header_get(const uint8_t bytes[FILE_HEADER_BYTES], struct file_header *ret_header,
	struct error *err) MUST_USE;

void file_trailer_put(uint8_t bytes[FILE_TRAILER_BYTES], uint64_t index_offset);
int file_trailer_get(const uint8_t bytes[FILE_TRAILER_BYTES], uint64_t *ret_offset) MUST_USE;

/* Compression contexts, reused from block to block. Not thread safe. */
struct block_codec;
struct block_codec *block_codec_new(void);
void block_codec_free(struct block_codec *codec);

/* Appends header and stored bytes of `raw` to `out`; fills stored_bytes, raw_bytes, flags and
 * checksum of `header`. */
int block_encode(struct block_codec *codec, struct block_header *header, const void *raw,
	size_t raw_bytes, struct buffer *out) MUST_USE;

/* Reads a block header; STATUS_FORMAT when it is none or is damaged. */
int block_header_get(
	const uint8_t bytes[BLOCK_HEADER_BYTES], struct block_header *ret_header) MUST_USE;

/* Checks and unpacks the stored bytes into `raw`, which is reset first. `offset` is where the block
 * stands in its file, for messages. */
int block_decode(struct block_codec *codec, const struct block_header *header, const void *stored,
	uint64_t offset, struct buffer *raw, struct error *err) MUST_USE;
