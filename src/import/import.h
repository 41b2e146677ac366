/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Foreign traces: each format is one file with a const descriptor at its foot, listed in
 * importers.c. An importer reads bytes from a source and tells a sink what it found; the sink
 * sorts, nests and writes .tacho blocks. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct import_sink;
struct import_source;

struct importer {
	const char *name;    /* "kineto", "perfetto", ...: `format` of the trace */
	const char *summary; /* one line */
	unsigned version;    /* part of the cache key: raise it when the result changes */
	bool whole_file;     /* needs a path it can seek in, not a stream */
	/* How sure it is that these first bytes (unpacked) are of its format: 0 no, 100 certain. */
	int (*detect)(const uint8_t *head, size_t count);
	int (*run)(struct import_source *source, struct import_sink *sink, struct error *err);
};

extern const struct importer *const importers[]; /* sorted by name, ends with NULL */

struct import_options {
	uint64_t max_memory; /* bytes; 0: half of the machine's */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
};

/* True when the file at `path` is not a .tacho file but is one that some importer knows. "-" is
 * standard input. */
int import_detect(
	const char *path, const struct importer **ret_importer, struct error *err) MUST_USE;

/* Converts the foreign file at `path` into the .tacho file `output`. One clear message with the
 * byte offset on failure. */
int import_convert(const char *path, const char *output, const struct import_options *options,
	struct error *err) MUST_USE;
