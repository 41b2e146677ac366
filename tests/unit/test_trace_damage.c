// SPDX-License-Identifier: MIT OR Apache-2.0
/* Damaged traces: every byte flipped, cut at every length, blocks lost, moved and forged. Each ends
 * in an error, or in a trace that says what is wrong with it. */
#include "trace/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/trace_maker.h"
#include "tests/unit/unit.h"

/* Everything a reader can see of a trace, as one number. */
struct content {
	uint64_t hash;
	int errors; /* blocks that cursors refuse */
};

static void mix(struct content *content, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < count; i++)
		content->hash = (content->hash ^ at[i]) * 0x100000001b3u;
}

static void mix_spans(struct content *content, const struct span_batch *spans)
{
	mix(content, spans->start_ns, spans->count * sizeof(uint64_t));
	mix(content, spans->duration_ns, spans->count * sizeof(uint64_t));
	mix(content, spans->self_ns, spans->count * sizeof(uint64_t));
	mix(content, spans->name, spans->count * sizeof(uint32_t));
	mix(content, spans->depth, spans->count * sizeof(uint32_t));
	for (size_t i = 0; i < spans->arg_count; i++) {
		mix(content, &spans->args[i].row, sizeof spans->args[i].row);
		mix(content, &spans->args[i].value, sizeof spans->args[i].value);
	}
}

static void mix_blocks(struct content *content, const struct trace *trace)
{
	struct trace_cursor cursor;

	CHECK_EQ(trace_cursor_init(&cursor, trace), STATUS_OK);
	for (size_t i = 0; i < trace->block_count; i++) {
		struct error err = ERROR_INIT;
		const struct table_schema *schema =
			table_schema((enum block_table)trace->blocks[i].table);
		int status = STATUS_OK;

		if (trace->blocks[i].table == TABLE_SPANS) {
			status = trace_cursor_spans(&cursor, i, true, &err);
			if (status == STATUS_OK)
				mix_spans(content, &cursor.spans);
		} else if (schema) {
			status = trace_cursor_rows(&cursor, i, &err);
			for (unsigned c = 0; status == STATUS_OK && c < schema->column_count; c++)
				mix(content, cursor.rows.cells[c], cursor.rows.count * 8);
		}
		if (status != STATUS_OK) {
			content->errors++;
			CHECK(err.offset >= 0 && err.message[0]);
		}
		mix(content, &trace->blocks[i].time_max_ns, 8);
		mix(content, &trace->blocks[i].busy_ns, 8);
	}
	trace_cursor_release(&cursor);
}

static struct content content_of(const struct trace *trace)
{
	struct content content = { 0 };

	mix(&content, &trace->header.start_unix_ns, 8);
	mix(&content, trace->header.session, 16);
	for (uint32_t i = 0; i < trace->name_count; i++) {
		mix(&content, trace->names[i].name, strlen(trace->names[i].name));
		mix(&content, trace->names[i].category, strlen(trace->names[i].category));
	}
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct trace_track *track = &trace->tracks[i];

		CHECK(track->parent < trace->track_count && track->process < trace->track_count);
		mix(&content, track->name, strlen(track->name));
		mix(&content, &track->os_id, 8);
		mix(&content, &track->parent, 4);
	}
	for (size_t i = 0; i < trace->metadata_count; i++)
		mix(&content, trace->metadata[i].value, strlen(trace->metadata[i].value));
	for (size_t i = 0; i < trace->stack_count; i++) {
		size_t count;
		const uint32_t *frames = trace_stack(trace, (uint32_t)i, &count);

		mix(&content, frames, count * sizeof *frames);
	}
	mix(&content, &trace->ledger.dropped, 8);
	mix_blocks(&content, trace);
	return content;
}

/* An error with a message, or a trace that says that something is wrong, or all as it was. Returns
 * whether the trace is as it was. */
static bool honest(const char *path, uint64_t whole)
{
	struct error err = ERROR_INIT;
	struct trace *trace = NULL;
	struct content content;
	bool same, admits;

	if (trace_open(path, &trace, &err) != STATUS_OK) {
		CHECK(err.message[0] != 0);
		return false;
	}
	content = content_of(trace);
	same = content.hash == whole;
	admits = content.errors ||
		 (trace->repaired && trace->ledger.repaired + trace->ledger.skipped &&
			 trace->ledger.count);
	trace_close(trace);
	CHECK(same || admits);
	return same && !admits;
}

static void every_byte_flipped(void)
{
	struct maker maker;
	struct trace *trace;
	struct content whole;
	size_t count, unnoticed = 0;
	uint8_t *bytes;

	maker_sample(&maker, true);
	trace = maker_trace(maker.path);
	if (!trace)
		return;
	whole = content_of(trace);
	CHECK_EQ(whole.errors, 0);
	trace_close(trace);
	bytes = maker_read(maker.path, &count);
	for (size_t i = 0; i < count; i++)
		for (unsigned flip = 0; flip < 3; flip++) {
			uint8_t before = bytes[i];

			bytes[i] = (uint8_t)(before ^ (flip == 0 ? 1u : flip == 1 ? 0x80u : 0xffu));
			maker_write(maker.path, bytes, count);
			unnoticed += honest(maker.path, whole.hash);
			bytes[i] = before;
		}
	/* Every byte is under a checksum. */
	CHECK_EQ(unnoticed, 0);
	maker_write(maker.path, bytes, count);
	CHECK(honest(maker.path, whole.hash));
	free(bytes);
	maker_remove(&maker);
}

static void cut_at_every_length(void)
{
	struct maker maker;
	size_t count, whole = 0;
	uint8_t *bytes;

	maker_sample(&maker, true);
	bytes = maker_read(maker.path, &count);
	for (size_t cut = 0; cut < count; cut++) {
		maker_write(maker.path, bytes, cut);
		whole += honest(maker.path, 0);
	}
	CHECK_EQ(whole, 0);
	/* Something behind the end. */
	maker_write(maker.path, bytes, count);
	{
		FILE *file = fopen(maker.path, "ab");

		fputs("more", file);
		fclose(file);
	}
	CHECK(!honest(maker.path, 0));
	free(bytes);
	maker_remove(&maker);
}

static void a_lost_block_is_named(void)
{
	struct maker maker;
	struct trace *trace;
	uint64_t offset;
	size_t count;
	uint8_t *bytes;

	maker_sample(&maker, false);
	trace = maker_trace(maker.path);
	if (!trace)
		return;
	offset = trace->blocks[maker_find(trace, TABLE_SPANS, 1)].offset;
	trace_close(trace);
	bytes = maker_read(maker.path, &count);
	bytes[offset + 5] ^= 1;
	maker_write(maker.path, bytes, count);
	trace = maker_trace(maker.path);
	if (!trace)
		return;
	CHECK(trace->repaired);
	CHECK_EQ(trace->ledger.skipped, 1);
	CHECK_EQ(trace->row_counts[TABLE_SPANS], 5);
	CHECK_STR(trace->ledger.entries[0].what, "a damaged block");
	{
		char where[32];

		snprintf(where, sizeof where, "byte %u", (unsigned)offset);
		CHECK_STR(trace->ledger.entries[0].where, where);
	}
	trace_close(trace);
	free(bytes);
	maker_remove(&maker);
}

/* Damage to the one block of names: its spans are kept, under names that are "?". */
static void lost_names_are_stood_in_for(void)
{
	static const enum block_table tables[] = { TABLE_NAMES, TABLE_STRINGS, TABLE_TRACKS };

	for (int header = 0; header < 2; header++)
		for (size_t t = 0; t < 3; t++) {
			struct maker maker;
			struct trace *trace;
			struct content content;
			uint64_t offset;
			size_t count;
			uint8_t *bytes;

			maker_sample(&maker, header == 0);
			trace = maker_trace(maker.path);
			if (!trace)
				return;
			offset = trace->blocks[maker_find(trace, tables[t], 0)].offset;
			trace_close(trace);
			bytes = maker_read(maker.path, &count);
			bytes[offset + (header ? 10 : BLOCK_HEADER_BYTES)] ^= 1;
			maker_write(maker.path, bytes, count);
			trace = maker_trace(maker.path);
			if (!trace)
				return;
			content = content_of(trace);
			/* Only the damaged block itself is refused. */
			CHECK_EQ(content.errors, header == 0 && tables[t] != TABLE_STRINGS);
			CHECK(trace->ledger.skipped > 0);
			CHECK_EQ(trace->row_counts[TABLE_SPANS], 7);
			if (tables[t] != TABLE_TRACKS)
				CHECK_STR(trace->names[0].name, "?");
			trace_close(trace);
			free(bytes);
			maker_remove(&maker);
		}
}

/* The last block of names lost: nothing behind it says how many there were. */
static void the_last_names_lost(void)
{
	for (int whole = 0; whole < 2; whole++) {
		struct maker maker;
		struct trace *trace;
		uint64_t offset;
		size_t count;
		uint8_t *bytes;

		maker_sample(&maker, whole);
		trace = maker_trace(maker.path);
		if (!trace)
			return;
		offset = trace->blocks[maker_find(trace, TABLE_NAMES, 1)].offset;
		trace_close(trace);
		bytes = maker_read(maker.path, &count);
		bytes[offset + (whole ? BLOCK_HEADER_BYTES : 10)] ^= 1;
		maker_write(maker.path, bytes, count);
		trace = maker_trace(maker.path);
		if (!trace)
			return;
		CHECK_EQ(content_of(trace).errors, whole);
		/* The index says that there was one; otherwise there is only the stand-in. */
		CHECK_EQ(trace->name_count, whole ? 4 : 3);
		CHECK_STR(trace->names[2].name, "?");
		CHECK_EQ(trace->row_counts[TABLE_SPANS], 7);
		trace_close(trace);
		free(bytes);
		maker_remove(&maker);
	}
}

/* Junk between blocks: one byte, and so much that a header lies across the edge of what is searched
 * at a time. */
static void junk_between_blocks(void)
{
	static const size_t junk[] = { 1, 63, 64, 65, (1u << 20) - 63, (1u << 20) - 30,
		(1u << 20) + 1, 3u << 20 };

	for (size_t j = 0; j < sizeof junk / sizeof junk[0]; j++) {
		struct maker maker;
		struct trace *trace;
		uint64_t offset;
		size_t count;
		uint8_t *bytes, *more = malloc(8u << 20);

		maker_sample(&maker, false);
		trace = maker_trace(maker.path);
		if (!trace)
			return;
		offset = trace->blocks[maker_find(trace, TABLE_SPANS, 1)].offset;
		trace_close(trace);
		bytes = maker_read(maker.path, &count);
		memcpy(more, bytes, offset);
		for (size_t i = 0; i < junk[j]; i++)
			more[offset + i] = (uint8_t) "TBLK"[i % 4];
		memcpy(more + offset + junk[j], bytes + offset, count - offset);
		maker_write(maker.path, more, count + junk[j]);
		trace = maker_trace(maker.path);
		if (!trace)
			return;
		CHECK_EQ(trace->ledger.skipped, 1);
		CHECK_EQ(trace->row_counts[TABLE_SPANS], 7);
		trace_close(trace);
		free(bytes);
		free(more);
		maker_remove(&maker);
	}
}

/* A whole block in the place of another: the index knows better. */
static void a_block_that_is_another(void)
{
	static const struct block_header headers[] = {
		{ .table = TABLE_MARKS, .rows = 1, .time_min_ns = 175, .time_max_ns = 175 },
		{ .table = TABLE_SAMPLES, .rows = 1, .time_min_ns = 175, .time_max_ns = 175 },
		{ .table = TABLE_MARKS, .rows = 0, .time_min_ns = 175, .time_max_ns = 175 },
		{ .table = TABLE_MARKS, .rows = 1, .time_min_ns = 174, .time_max_ns = 175 },
		{ .table = TABLE_MARKS, .rows = 1, .time_min_ns = 175, .time_max_ns = 176 },
		{ .table = TABLE_MARKS,
			.rows = 1,
			.track = 1,
			.time_min_ns = 175,
			.time_max_ns = 175 },
		{ .table = TABLE_MARKS,
			.rows = 1,
			.busy_ns = 1,
			.time_min_ns = 175,
			.time_max_ns = 175 },
	};
	struct block_codec *codec = block_codec_new();
	struct error err = ERROR_INIT;
	struct trace_cursor cursor;
	struct maker maker;
	struct trace *trace;
	size_t block;
	int fd;

	maker_sample(&maker, true);
	trace = maker_trace(maker.path);
	if (!trace)
		return;
	CHECK_EQ(trace_cursor_init(&cursor, trace), STATUS_OK);
	block = maker_find(trace, TABLE_MARKS, 0);
	CHECK_EQ(trace_cursor_rows(&cursor, block, &err), STATUS_OK);
	fd = open(maker.path, O_WRONLY);
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
		struct block_header header = headers[i];
		struct buffer encoded;

		buffer_init(&encoded);
		CHECK_EQ(block_encode(codec, &header, cursor.raw.data, cursor.raw.length, &encoded),
			STATUS_OK);
		CHECK_EQ(header.stored_bytes, trace->blocks[block].stored_bytes);
		CHECK_EQ(pwrite(fd, encoded.data, encoded.length,
				 (off_t)trace->blocks[block].offset),
			encoded.length);
		CHECK_EQ(trace_cursor_rows(&cursor, block, &err), i ? STATUS_FORMAT : STATUS_OK);
		buffer_release(&encoded);
		CHECK(i == 0 || strstr(err.message, "index") != NULL);
	}
	close(fd);
	block_codec_free(codec);
	trace_cursor_release(&cursor);
	trace_close(trace);
	maker_remove(&maker);
}

/* An index that leaves out a block is not believed. */
static void an_index_with_a_hole(void)
{
	struct maker maker;
	struct trace *trace;
	uint64_t row[] = { 0, 175, 0 };

	maker_open(&maker);
	maker_track(&maker, 0, TRACK_THREAD, "main");
	maker_name(&maker, "mark", "");
	maker_rows(&maker, TABLE_MARKS, row, 1);
	{
		struct error err = ERROR_INIT;

		CHECK_EQ(trace_writer_ledger(&maker.writer, &maker.dict, &maker.ledger, &err),
			STATUS_OK);
		maker.writer.index.count--;
		CHECK_EQ(trace_writer_finish(&maker.writer, &err), STATUS_OK);
		trace_dict_release(&maker.dict);
		ledger_release(&maker.ledger);
		block_codec_free(maker.codec);
	}
	trace = maker_trace(maker.path);
	if (!trace)
		return;
	CHECK(trace->repaired);
	CHECK_EQ(trace->blocks[trace->block_count - 1].table, TABLE_LEDGER);
	trace_close(trace);
	maker_remove(&maker);
}

/* Tracks whose parents do not exist, form a ring, or are two names of one string. */
static void wrong_tracks_are_mended(void)
{
	struct maker maker;
	struct trace *trace;
	uint32_t id;

	maker_open(&maker);
	CHECK_EQ(trace_dict_track(&maker.dict, 1, TRACK_THREAD, 0, 0, 0, &id), STATUS_OK);
	CHECK_EQ(trace_dict_track(&maker.dict, 2, TRACK_PROCESS, 0, 0, 0, &id), STATUS_OK);
	CHECK_EQ(trace_dict_track(&maker.dict, 0, TRACK_THREAD, 0, 0, 0, &id), STATUS_OK);
	CHECK_EQ(trace_dict_track(&maker.dict, 999, TRACK_THREAD, 0, 888, 777, &id), STATUS_OK);
	CHECK_EQ(trace_dict_track(&maker.dict, 3, (enum track_kind)99, 0, 0, 0, &id), STATUS_OK);
	CHECK_EQ(trace_dict_name(&maker.dict, 5555, 6666, &id), STATUS_OK);
	maker_finish(&maker);
	trace = maker_trace(maker.path);
	if (!trace)
		return;
	CHECK(trace->repaired);
	CHECK(trace->ledger.repaired >= 4);
	CHECK_EQ(trace->tracks[2].parent, 2);
	CHECK_EQ(trace->tracks[1].process, 1);
	CHECK_EQ(trace->tracks[0].process, 1);
	CHECK_EQ(trace->tracks[3].parent, 3);
	CHECK_STR(trace->tracks[3].name, "?");
	CHECK_STR(trace->tracks[3].unit, "");
	CHECK_EQ(trace->tracks[4].kind, TRACK_OTHER);
	CHECK_EQ(trace->tracks[4].process, 3);
	CHECK_STR(trace->names[0].name, "?");
	CHECK_STR(trace->names[0].category, "");
	trace_close(trace);
	maker_remove(&maker);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(every_byte_flipped),
		UNIT(cut_at_every_length),
		UNIT(a_lost_block_is_named),
		UNIT(lost_names_are_stood_in_for),
		UNIT(the_last_names_lost),
		UNIT(junk_between_blocks),
		UNIT(a_block_that_is_another),
		UNIT(an_index_with_a_hole),
		UNIT(wrong_tracks_are_mended),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
