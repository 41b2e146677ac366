// SPDX-License-Identifier: MIT OR Apache-2.0
/* Gathering, gzip, and the output file behind them. */
#include "export/export_sink.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define SPILL_BYTES  (256u << 10)
#define PACKED_BYTES (64u << 10)
#define GZIP_WINDOW  (15 + 16) /* the largest window, in a gzip file */

static void sink_release(struct export_sink *sink)
{
	if (sink->deflate)
		deflateEnd(sink->deflate);
	free(sink->deflate);
	free(sink->packed);
	buffer_release(&sink->out);
	memset(sink, 0, sizeof *sink);
	sink->file.fd = -1;
}

static int start_gzip(struct export_sink *sink)
{
	sink->packed = malloc(PACKED_BYTES);
	sink->deflate = calloc(1, sizeof *sink->deflate);
	if (!sink->packed || !sink->deflate)
		return STATUS_NOMEM;
	if (deflateInit2(sink->deflate, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
		    Z_DEFAULT_STRATEGY) == Z_OK)
		return STATUS_OK;
	free(sink->deflate);
	sink->deflate = NULL;
	return STATUS_NOMEM;
}

int export_sink_open(struct export_sink *sink, const struct export_options *options, bool gzip,
	struct error *err)
{
	int status;

	memset(sink, 0, sizeof *sink);
	buffer_init(&sink->out);
	if (gzip && start_gzip(sink) != STATUS_OK) {
		sink_release(sink);
		return error_set(err, STATUS_NOMEM, "out of memory");
	}
	status = output_file_open(&sink->file, options->path, options->fd, err);
	if (status != STATUS_OK)
		sink_release(sink);
	return status;
}

static int pack(struct export_sink *sink, const void *bytes, size_t count, int flush)
{
	z_stream *stream = sink->deflate;
	const uint8_t *at = bytes;

	do {
		/* zlib counts in unsigned int. */
		size_t part = count < (1u << 30) ? count : 1u << 30;

		stream->next_in = (Bytef *)(uintptr_t)at;
		stream->avail_in = (uInt)part;
		at += part;
		count -= part;
		do {
			stream->next_out = sink->packed;
			stream->avail_out = PACKED_BYTES;
			deflate(stream, count ? Z_NO_FLUSH : flush);
			if (output_file_write(&sink->file, sink->packed,
				    PACKED_BYTES - stream->avail_out) != STATUS_OK)
				return STATUS_IO;
		} while (stream->avail_out == 0);
	} while (count);
	return STATUS_OK;
}

static int hand_on(struct export_sink *sink, const void *bytes, size_t count)
{
	sink->written += count;
	if (count == 0)
		return STATUS_OK;
	if (sink->deflate)
		return pack(sink, bytes, count, Z_NO_FLUSH);
	return output_file_write(&sink->file, bytes, count);
}

static int spill(struct export_sink *sink)
{
	int status;

	if (!buffer_ok(&sink->out))
		return STATUS_NOMEM;
	status = hand_on(sink, sink->out.data, sink->out.length);
	buffer_reset(&sink->out);
	return status;
}

int export_sink_spill(struct export_sink *sink)
{
	if (sink->out.length < SPILL_BYTES && buffer_ok(&sink->out))
		return STATUS_OK;
	return spill(sink);
}

int export_sink_write(void *context, const void *bytes, size_t count)
{
	struct export_sink *sink = context;
	int status = spill(sink);

	return status == STATUS_OK ? hand_on(sink, bytes, count) : status;
}

int export_sink_finish(struct export_sink *sink, int status, struct error *err)
{
	if (status == STATUS_OK)
		status = spill(sink);
	if (status == STATUS_OK && sink->deflate)
		status = pack(sink, NULL, 0, Z_FINISH);
	if (status == STATUS_OK || sink->file.saved_errno)
		status = output_file_finish(&sink->file, err);
	else if (!err->message[0])
		error_set(err, status, "%s", status_text(status));
	output_file_release(&sink->file);
	sink_release(sink);
	return status;
}
