// SPDX-License-Identifier: MIT OR Apache-2.0
/* The one writer of .tacho files. */
#include "format/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DICT_ROWS_PER_BLOCK  65536u
#define DICT_BYTES_PER_BLOCK (16u << 20)
#define INDEX_ROWS_PER_BLOCK (512u << 10) /* well below BLOCK_ROWS_MAX and BLOCK_RAW_MAX */

int trace_writer_open(struct trace_writer *writer, const char *path, bool in_place,
	const struct file_header *header, struct error *err)
{
	uint8_t bytes[FILE_HEADER_BYTES];
	const char *target;
	int status;

	memset(writer, 0, sizeof *writer);
	writer->fd = -1;
	writer->path = strdup(path);
	writer->codec = block_codec_new();
	if (!in_place && asprintf(&writer->temporary, "%s.%d.tmp", path, (int)getpid()) < 0)
		writer->temporary = NULL;
	if (!writer->path || !writer->codec || (!in_place && !writer->temporary)) {
		status = error_set(err, STATUS_NOMEM, "%s: out of memory", path);
		goto out;
	}
	target = in_place ? writer->path : writer->temporary;
	writer->fd = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (writer->fd < 0) {
		status = error_set_errno(err, STATUS_IO, "cannot write %s", target);
		goto out;
	}
	file_header_put(bytes, header);
	if (write(writer->fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes) {
		status = error_set_errno(err, STATUS_IO, "cannot write %s", target);
		goto out;
	}
	writer->offset = sizeof bytes;
	return STATUS_OK;
out:
	trace_writer_release(writer);
	return status;
}

void trace_writer_release(struct trace_writer *writer)
{
	if (writer->fd >= 0 && writer->codec) {
		close(writer->fd);
		if (writer->temporary)
			unlink(writer->temporary);
	}
	free(writer->path);
	free(writer->temporary);
	block_codec_free(writer->codec);
	table_rows_release(&writer->index);
	buffer_release(&writer->raw);
	buffer_release(&writer->encoded);
	memset(writer, 0, sizeof *writer);
	writer->fd = -1;
}

/* All or nothing: after a failure the file ends where the last whole block ended. */
static int write_all(
	struct trace_writer *writer, const void *bytes, size_t count, struct error *err)
{
	const uint8_t *at = bytes;
	size_t left = count;

	if (writer->failed)
		return error_set(err, STATUS_IO, "%s: an earlier write failed", writer->path);
	while (left) {
		ssize_t done = write(writer->fd, at, left);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			error_set_errno(err, STATUS_IO, "cannot write %s", writer->path);
			writer->failed = true;
			if (ftruncate(writer->fd, (off_t)writer->offset) == 0)
				(void)!lseek(writer->fd, (off_t)writer->offset, SEEK_SET);
			return STATUS_IO;
		}
		at += done;
		left -= (size_t)done;
	}
	writer->offset += count;
	return STATUS_OK;
}

int trace_writer_block(struct trace_writer *writer, const struct block_header *header,
	const void *bytes, size_t count, struct error *err)
{
	uint64_t row[] = { [INDEX_OFFSET] = writer->offset,
		[INDEX_TABLE] = header->table,
		[INDEX_TRACK] = header->track,
		[INDEX_ROWS] = header->rows,
		[INDEX_TIME_MIN] = header->time_min_ns,
		[INDEX_TIME_MAX] = header->time_max_ns,
		[INDEX_STORED] = header->stored_bytes,
		[INDEX_BUSY] = header->busy_ns };
	int status = write_all(writer, bytes, count, err);

	if (status != STATUS_OK)
		return status;
	if (table_rows_add(&writer->index, table_schema(TABLE_INDEX), row) != STATUS_OK)
		return error_set(err, STATUS_NOMEM, "out of memory for the index");
	return STATUS_OK;
}

/* Encodes writer->raw under `header` and writes it. */
static int write_raw(struct trace_writer *writer, struct block_header *header, struct error *err)
{
	int status;

	buffer_reset(&writer->encoded);
	if (!buffer_ok(&writer->raw))
		return error_set(err, STATUS_NOMEM, "out of memory for a block");
	status = block_encode(
		writer->codec, header, writer->raw.data, writer->raw.length, &writer->encoded);
	if (status != STATUS_OK)
		return error_set(err, status, "cannot encode a block: %s", status_text(status));
	return trace_writer_block(
		writer, header, writer->encoded.data, writer->encoded.length, err);
}

static int write_rows(struct trace_writer *writer, enum block_table table,
	const struct table_rows *rows, size_t first, size_t count, struct error *err)
{
	const struct table_schema *schema = table_schema(table);
	struct block_header header = {
		.table = (uint8_t)table, .track = (uint32_t)first, .rows = (uint32_t)count
	};

	if (schema->time_column >= 0) {
		table_rows_span(rows, schema, &header.time_min_ns, &header.time_max_ns);
		header.track = 0;
	}
	buffer_reset(&writer->raw);
	table_rows_encode(rows, schema, first, count, &writer->raw);
	return write_raw(writer, &header, err);
}

int trace_writer_rows(struct trace_writer *writer, enum block_table table,
	const struct table_rows *rows, struct error *err)
{
	for (size_t first = 0; first < rows->count; first += DICT_ROWS_PER_BLOCK) {
		size_t left = rows->count - first;
		int status = write_rows(writer, table, rows, first,
			left < DICT_ROWS_PER_BLOCK ? left : DICT_ROWS_PER_BLOCK, err);

		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* Strings first..: as many as fit in a block. */
static int write_strings(struct trace_writer *writer, const struct string_table *strings,
	size_t first, size_t *ret_next, struct error *err)
{
	size_t count = 0, bytes = 0;
	struct block_header header = { .table = TABLE_STRINGS, .track = (uint32_t)first };
	uint32_t *lengths;

	while (first + count < strings->count && count < DICT_ROWS_PER_BLOCK &&
		(count == 0 || bytes < DICT_BYTES_PER_BLOCK))
		bytes += strings->entries[first + count++].length;
	lengths = malloc((count + 1) * sizeof *lengths);
	if (!lengths)
		return error_set(err, STATUS_NOMEM, "out of memory for strings");
	for (size_t i = 0; i < count; i++)
		lengths[i] = strings->entries[first + i].length;
	buffer_reset(&writer->raw);
	column_put_u32(&writer->raw, lengths, count);
	free(lengths);
	for (size_t i = 0; i < count; i++)
		buffer_append(&writer->raw, strings->entries[first + i].text,
			strings->entries[first + i].length);
	header.rows = (uint32_t)count;
	*ret_next = first + count;
	return write_raw(writer, &header, err);
}

static int write_stacks(struct trace_writer *writer, const struct trace_dict *dict, size_t first,
	size_t *ret_next, struct error *err)
{
	size_t count = dict->stack_count - first, frames_at, frames_end;
	struct block_header header = { .table = TABLE_STACKS, .track = (uint32_t)first };
	uint32_t *lengths;

	if (count > DICT_ROWS_PER_BLOCK / 4)
		count = DICT_ROWS_PER_BLOCK / 4;
	lengths = malloc((count + 1) * sizeof *lengths);
	if (!lengths)
		return error_set(err, STATUS_NOMEM, "out of memory for stacks");
	frames_at = first ? dict->stack_ends[first - 1] : 0;
	frames_end = dict->stack_ends[first + count - 1];
	for (size_t i = 0; i < count; i++)
		lengths[i] = (uint32_t)(dict->stack_ends[first + i] -
					(first + i ? dict->stack_ends[first + i - 1] : 0));
	buffer_reset(&writer->raw);
	column_put_u32(&writer->raw, lengths, count);
	free(lengths);
	/* All of them may be empty; then there are no frames at all. */
	column_put_u32(&writer->raw, dict->frames ? dict->frames + frames_at : NULL,
		frames_end - frames_at);
	header.rows = (uint32_t)count;
	*ret_next = first + count;
	return write_raw(writer, &header, err);
}

int trace_writer_dict(struct trace_writer *writer, const struct trace_dict *dict, struct error *err)
{
	int status = STATUS_OK;
	struct trace_dict_mark *mark = &writer->mark;

	while (status == STATUS_OK && mark->strings < dict->strings.count)
		status = write_strings(writer, &dict->strings, mark->strings, &mark->strings, err);
	while (status == STATUS_OK && mark->names < dict->names.count) {
		size_t left = dict->names.count - mark->names;
		size_t count = left < DICT_ROWS_PER_BLOCK ? left : DICT_ROWS_PER_BLOCK;

		status = write_rows(writer, TABLE_NAMES, &dict->names, mark->names, count, err);
		mark->names += count;
	}
	while (status == STATUS_OK && mark->tracks < dict->tracks.count) {
		size_t left = dict->tracks.count - mark->tracks;
		size_t count = left < DICT_ROWS_PER_BLOCK ? left : DICT_ROWS_PER_BLOCK;

		status = write_rows(writer, TABLE_TRACKS, &dict->tracks, mark->tracks, count, err);
		mark->tracks += count;
	}
	while (status == STATUS_OK && mark->stacks < dict->stack_count)
		status = write_stacks(writer, dict, mark->stacks, &mark->stacks, err);
	return status;
}

/* A row of the ledger table; the texts become strings of the trace. */
static int ledger_row(struct table_rows *rows, struct trace_dict *dict, uint64_t kind,
	const char *what, uint64_t count, const char *where, const char *effect)
{
	uint32_t what_id, where_id, effect_id;

	if (trace_dict_string(dict, what, strlen(what), &what_id) ||
		trace_dict_string(dict, where, strlen(where), &where_id) ||
		trace_dict_string(dict, effect, strlen(effect), &effect_id))
		return STATUS_NOMEM;
	uint64_t row[] = { [LEDGER_KIND] = kind,
		[LEDGER_WHAT] = what_id,
		[LEDGER_COUNT] = count,
		[LEDGER_WHERE] = where_id,
		[LEDGER_EFFECT] = effect_id };
	return table_rows_add(rows, table_schema(TABLE_LEDGER), row);
}

int trace_writer_ledger(struct trace_writer *writer, struct trace_dict *dict,
	const struct ledger *ledger, struct error *err)
{
	struct table_rows rows;
	int status;

	table_rows_init(&rows);
	status = ledger_row(&rows, dict, 1, "produced", ledger->produced, "", "");
	if (status == STATUS_OK)
		status = ledger_row(&rows, dict, 1, "recorded", ledger->recorded, "", "");
	if (status == STATUS_OK)
		status = ledger_row(&rows, dict, 1, "dropped", ledger->dropped, "", "");
	if (status == STATUS_OK)
		status = ledger_row(&rows, dict, 1, "repaired", ledger->repaired, "", "");
	if (status == STATUS_OK)
		status = ledger_row(&rows, dict, 1, "skipped", ledger->skipped, "", "");
	if (status == STATUS_OK)
		status = ledger_row(
			&rows, dict, 1, "clock_error_ns", ledger->clock_error_ns, "", "");
	if (status == STATUS_OK && ledger->overhead_percent >= 0)
		status = ledger_row(&rows, dict, 1, "overhead_millionths",
			(uint64_t)(ledger->overhead_percent * 1e4 + 0.5), "", "");
	for (size_t i = 0; status == STATUS_OK && i < ledger->count; i++) {
		const struct ledger_entry *entry = &ledger->entries[i];

		status = ledger_row(
			&rows, dict, 0, entry->what, entry->count, entry->where, entry->effect);
	}
	if (status != STATUS_OK)
		error_set(err, status, "out of memory for the ledger");
	if (status == STATUS_OK)
		status = trace_writer_dict(writer, dict, err);
	if (status == STATUS_OK)
		status = trace_writer_rows(writer, TABLE_LEDGER, &rows, err);
	table_rows_release(&rows);
	return status;
}

/* The index, in as many blocks as it needs; it does not list its own. */
static int write_index(struct trace_writer *writer, struct error *err)
{
	size_t total = writer->index.count, first = 0;
	int status;

	do {
		size_t left = total - first;
		size_t count = left < INDEX_ROWS_PER_BLOCK ? left : INDEX_ROWS_PER_BLOCK;

		status = write_rows(writer, TABLE_INDEX, &writer->index, first, count, err);
		first += count;
	} while (status == STATUS_OK && first < total);
	return status;
}

int trace_writer_finish(struct trace_writer *writer, struct error *err)
{
	uint64_t index_at = writer->offset;
	uint8_t trailer[FILE_TRAILER_BYTES];
	int status = write_index(writer, err);

	if (status == STATUS_OK) {
		file_trailer_put(trailer, index_at);
		status = write_all(writer, trailer, sizeof trailer, err);
	}
	if (status == STATUS_OK && writer->temporary) {
		if (rename(writer->temporary, writer->path) == 0) {
			free(writer->temporary);
			writer->temporary = NULL;
		} else {
			status = error_set_errno(
				err, STATUS_IO, "cannot rename to %s", writer->path);
		}
	}
	trace_writer_release(writer);
	return status;
}
