// SPDX-License-Identifier: MIT OR Apache-2.0
/* Opening and closing of a trace: which kinds of file are refused, and in what order the parts are
 * read. The file is read by pread and never mapped: a file that shrinks or a disk that fails is
 * then an error and not a signal. */
#include "trace/trace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SHOWN 100 /* of a path in front of a message: the message itself must stay whole */

int trace_read_at(
	const struct trace *trace, void *bytes, size_t count, uint64_t offset, struct error *err)
{
	uint8_t *at = bytes;

	while (count) {
		ssize_t got = pread(trace->fd, at, count, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set_errno(
				err, STATUS_IO, "cannot read at byte %" PRIu64, offset);
		if (got == 0)
			return error_set_at(err, STATUS_IO, offset,
				"the file became shorter while it was read");
		at += got;
		count -= (size_t)got;
		offset += (uint64_t)got;
	}
	return STATUS_OK;
}

/* Ledger entries are found by comparing texts, so a file with a million wounds gets its first ones
 * by place and the rest as one sum. */
static void note(struct trace *trace, uint64_t count, const char *what, const char *where,
	const char *effect)
{
	bool full = trace->ledger.count >= TRACE_NOTES_MAX;

	trace->repaired = true;
	ledger_add(&trace->ledger, count, what, full ? "further places" : where, effect);
}

void trace_note_skipped(
	struct trace *trace, uint64_t count, const char *what, uint64_t offset, const char *effect)
{
	char where[48];

	snprintf(where, sizeof where, "byte %" PRIu64, offset);
	trace->ledger.skipped += count;
	note(trace, count, what, where, effect);
}

void trace_note_repaired(struct trace *trace, uint64_t count, const char *what, const char *where,
	const char *effect)
{
	trace->ledger.repaired += count;
	note(trace, count, what, where, effect);
}

static int refuse_kind(mode_t mode, struct error *err)
{
	if (S_ISREG(mode))
		return STATUS_OK;
	if (S_ISDIR(mode))
		return error_set(err, STATUS_FORMAT,
			"this is a directory; give the .tacho file that is in it");
	if (S_ISFIFO(mode) || S_ISSOCK(mode))
		return error_set(err, STATUS_FORMAT,
			"this is a pipe; a trace is read from several places, so save it to a file "
			"first");
	return error_set(err, STATUS_FORMAT, "this is a device; give a file that tacho wrote");
}

/* Opens the descriptor. O_NONBLOCK, or a pipe without a writer would keep us waiting; it has no
 * meaning for the regular files that are left. */
static int open_file(struct trace *trace, struct error *err)
{
	struct stat st;

	trace->fd = open(trace->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (trace->fd < 0 && errno == ENOENT)
		return error_set(err, STATUS_IO, "there is no such file; check the path");
	if (trace->fd < 0 && (errno == EACCES || errno == EPERM))
		return error_set(err, STATUS_IO,
			"no permission to read it; ask its owner, or copy it as the user who "
			"recorded it");
	if (trace->fd < 0 && errno == ENXIO)
		return refuse_kind(S_IFSOCK, err);
	if (trace->fd < 0)
		return error_set_errno(err, STATUS_IO, "cannot open it");
	if (fstat(trace->fd, &st) != 0)
		return error_set_errno(err, STATUS_IO, "cannot look at it");
	trace->file_bytes = (uint64_t)st.st_size;
	return refuse_kind(st.st_mode, err);
}

static int read_header(struct trace *trace, struct error *err)
{
	uint8_t bytes[FILE_HEADER_BYTES] = { 0 }, model[FILE_HEADER_BYTES];
	size_t have = trace->file_bytes < sizeof bytes ? (size_t)trace->file_bytes : sizeof bytes;
	size_t compared = have < 8 ? have : 8;
	int status;

	if (trace->file_bytes == 0)
		return error_set(err, STATUS_FORMAT,
			"the file is empty (0 bytes): nothing was recorded into it; record again");
	status = trace_read_at(trace, bytes, have, 0, err);
	if (status != STATUS_OK)
		return status;
	file_header_put(model, &(struct file_header){ .version = FORMAT_VERSION });
	if (have < sizeof bytes && memcmp(bytes, model, compared) == 0)
		return error_set_at(err, STATUS_FORMAT, have,
			"the file ends inside its header: nothing in it can be read; record again");
	return file_header_get(bytes, &trace->header, err);
}

/* Totals that follow from the blocks alone. */
static void sum_blocks(struct trace *trace)
{
	for (size_t i = 0; i < trace->block_count; i++) {
		const struct trace_block *block = &trace->blocks[i];

		if (block->time_max_ns > trace->span_ns)
			trace->span_ns = block->time_max_ns;
		if (block->table < TABLE_COUNT)
			trace->row_counts[block->table] += block->rows;
		else
			trace_note_skipped(trace, 1, "blocks of an unknown table", block->offset,
				"left out; a newer tacho may know them");
		if (block->table == TABLE_SPANS)
			trace->tracks[block->track].span_count += block->rows;
	}
}

static int open_parts(struct trace *trace, struct error *err)
{
	int status = open_file(trace, err);

	if (status == STATUS_OK)
		status = read_header(trace, err);
	if (status != STATUS_OK)
		return status;
	status = trace_index_load(trace, err);
	if (status == STATUS_FORMAT)
		status = trace_scan(trace, err);
	if (status == STATUS_OK)
		status = trace_load(trace, err);
	if (status == STATUS_OK)
		sum_blocks(trace);
	return status;
}

static int prefix_path(struct error *err, const char *path)
{
	size_t length = strlen(path);

	if (length > PATH_SHOWN)
		return error_prefix(err, "...%s: ", path + length - PATH_SHOWN);
	return error_prefix(err, "%s: ", path);
}

int trace_open(const char *path, struct trace **ret_trace, struct error *err)
{
	struct trace *trace = calloc(1, sizeof *trace);
	struct error local = ERROR_INIT;
	int status;

	if (!trace)
		return error_set(err, STATUS_NOMEM, "out of memory");
	trace->fd = -1;
	trace->lost_name = trace->lost_track = UINT32_MAX;
	arena_init(&trace->arena, TRACE_STRINGS_BYTES_MAX);
	ledger_init(&trace->ledger);
	trace->path = arena_copy(&trace->arena, path, strlen(path));
	if (!trace->path || string_table_init(&trace->strings, TRACE_STRINGS_BYTES_MAX))
		status = error_set(&local, STATUS_NOMEM, "out of memory");
	else
		status = open_parts(trace, &local);
	if (status != STATUS_OK) {
		trace_close(trace);
		prefix_path(&local, path);
		if (err)
			*err = local;
		return status;
	}
	*ret_trace = trace;
	return STATUS_OK;
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	if (trace->fd >= 0)
		close(trace->fd);
	free(trace->blocks);
	free(trace->names);
	free(trace->tracks);
	free(trace->metadata);
	free(trace->frames);
	free(trace->stack_ends);
	ledger_release(&trace->ledger);
	string_table_release(&trace->strings);
	arena_release(&trace->arena);
	free(trace);
}

const char *trace_metadata(const struct trace *trace, const char *key)
{
	for (size_t i = trace->metadata_count; i > 0; i--)
		if (strcmp(trace->metadata[i - 1].key, key) == 0)
			return trace->metadata[i - 1].value;
	return NULL;
}

const uint32_t *trace_stack(const struct trace *trace, uint32_t stack, size_t *ret_count)
{
	size_t first;

	*ret_count = 0;
	if (stack >= trace->stack_count)
		return NULL;
	first = stack ? trace->stack_ends[stack - 1] : 0;
	*ret_count = trace->stack_ends[stack] - first;
	return *ret_count ? trace->frames + first : NULL;
}
