/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where a binary or line format goes: bytes are gathered in `out`, handed on when there are enough
 * of them, compressed on the way when wanted, and appear under their name when all is whole. */
#pragma once

#include "base/buffer.h"
#include "export/export.h"
#include "export/output_file.h"

struct export_sink {
	struct buffer out; /* append here, then export_sink_spill() */
	struct output_file file;
	struct z_stream_s *deflate; /* NULL: not compressed */
	uint8_t *packed;
	uint64_t written; /* bytes handed on, before compression */
};

/* To options->path or options->fd; as a gzip file when `gzip`. */
int export_sink_open(struct export_sink *sink, const struct export_options *options, bool gzip,
	struct error *err) MUST_USE;
/* Hands `out` on when it has grown large: call it once per row. */
int export_sink_spill(struct export_sink *sink) MUST_USE;
/* Hands on what is in `out`, then these bytes. Has the shape of json_writer's flush. */
int export_sink_write(void *sink, const void *bytes, size_t count);
/* Ends the file; or gives it up when `status` tells of a failure, with a message if there is none
 * yet. The sink is released either way. */
int export_sink_finish(struct export_sink *sink, int status, struct error *err) MUST_USE;
