/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The bytes of a foreign file, unpacked: plain, gzip and zstd look the same to an importer. Gzip is
 * unpacked in a thread of its own, so that reading and parsing overlap. */
#pragma once

#include "import/import.h"

#define IMPORT_HEAD_BYTES 4096u
#define IMPORT_CHUNK      (2u << 20)

/* `path` "-" is standard input. */
int import_source_open(
	const char *path, struct import_source **ret_source, struct error *err) MUST_USE;
void import_source_close(struct import_source *source);

/* The first bytes, without taking them. */
int import_source_head(struct import_source *source, const uint8_t **ret_bytes, size_t *ret_count,
	struct error *err) MUST_USE;

/* Up to `room` bytes more into `bytes`; *ret_count 0 at the end. A damaged archive is STATUS_FORMAT
 * with the offset in the packed file; what came before it has been handed out. */
int import_source_read(struct import_source *source, void *bytes, size_t room, size_t *ret_count,
	struct error *err) MUST_USE;

const char *import_source_path(const struct import_source *source);
/* Packed bytes read so far and in all (0: not known), for progress. */
void import_source_progress(
	const struct import_source *source, uint64_t *ret_done, uint64_t *ret_total);
