// SPDX-License-Identifier: MIT OR Apache-2.0
/* The reader: what the writer wrote, files that are none, and a small trace with every byte flipped
 * and cut at every length. */
#include "trace/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/test_trace_maker.h"
#include "tests/unit/unit.h"

/* Two threads, a stream, a counter, marks, a link, a sample with its stack, metadata twice. */
static void make_sample(struct maker *maker, bool whole)
{
	uint32_t machine, process, thread, stream, counter, step, forward, kernel, stack;
	uint32_t frames[3];

	maker_open(maker);
	machine = maker_track(maker, 0, TRACK_MACHINE, "host");
	process = maker_track(maker, machine, TRACK_PROCESS, "train");
	thread = maker_track(maker, process, TRACK_THREAD, "main");
	stream = maker_track(maker, process, TRACK_DEVICE, "stream 7");
	counter = maker_track(maker, process, TRACK_COUNTER, "rss");
	step = maker_name(maker, "step", "step");
	forward = maker_name(maker, "forward", "phase");
	for (int i = 0; i < 3; i++)
		frames[i] = maker_string(maker, i ? i == 1 ? "outer" : "main" : "inner");
	CHECK_EQ(trace_dict_stack(&maker->dict, frames, 3, &stack), STATUS_OK);
	maker_metadata(maker, "command", "train.py");
	{
		struct maker_span spans[] = { { forward, 1, 110, 150 }, { forward, 1, 160, 180 },
			{ step, 0, 100, 200 }, { forward, 1, 310, 350 }, { step, 0, 300, 400 } };
		struct span_arg args[] = { { 2, maker_string(maker, "step"), ARG_INTEGER, 7 },
			{ 4, maker_string(maker, "step"), ARG_INTEGER, 8 } };

		maker_spans(maker, thread, SPANS_NESTED, spans, 5, args, 2, 2);
	}
	kernel = maker_name(maker, "sgemm", "kernel");
	{
		struct maker_span spans[] = { { kernel, 0, 120, 140 }, { kernel, 0, 130, 190 } };
		uint64_t counters[] = { counter, 50, COUNTER_INTEGER, 1000, counter, 150,
			COUNTER_INTEGER, 3000 };
		uint64_t marks[] = { thread, 175, forward };
		uint64_t links[] = { thread, 115, 42, LINK_CORRELATION, forward };
		uint64_t samples[] = { thread, 120, stack };

		maker_spans(maker, stream, SPANS_EXPLICIT, spans, 2, NULL, 0, 100);
		maker_rows(maker, TABLE_COUNTERS, counters, 2);
		maker_rows(maker, TABLE_MARKS, marks, 1);
		maker_rows(maker, TABLE_LINKS, links, 1);
		maker_rows(maker, TABLE_SAMPLES, samples, 1);
	}
	maker_metadata(maker, "command", "train.py --fast");
	maker->ledger.produced = 10;
	maker->ledger.recorded = 8;
	maker->ledger.dropped = 2;
	maker->ledger.overhead_percent = 1.25;
	ledger_add(&maker->ledger, 2, "buffer was full", "main", "two scopes are missing");
	if (whole)
		maker_finish(maker);
	else
		maker_abandon(maker);
}

static struct trace *open_fine(const char *path)
{
	struct error err = ERROR_INIT;
	struct trace *trace = NULL;

	CHECK_EQ(trace_open(path, &trace, &err), STATUS_OK);
	CHECK_STR(err.message, "");
	return trace;
}

/* The status with which opening fails; the message has to contain `part`. */
static int refused(const char *path, const char *part)
{
	struct error err = ERROR_INIT;
	struct trace *trace = NULL;
	int status = trace_open(path, &trace, &err);

	CHECK(trace == NULL);
	CHECK(strstr(err.message, part) != NULL || !printf("\tmessage: %s\n", err.message));
	CHECK(!strchr(err.message, '\n'));
	if (status == STATUS_OK)
		trace_close(trace);
	return status;
}

static void what_was_written(void)
{
	struct maker maker;
	struct trace *trace;
	size_t frame_count;
	const uint32_t *frames;

	make_sample(&maker, true);
	trace = open_fine(maker.path);
	if (!trace)
		return;
	CHECK(!trace->repaired);
	CHECK_STR(trace->path, maker.path);
	CHECK_EQ(trace->header.start_unix_ns, 1700000000000000000u);
	CHECK_EQ(trace->span_ns, 400);
	CHECK_EQ(trace->track_count, 5);
	CHECK_STR(trace->tracks[2].name, "main");
	CHECK_EQ(trace->tracks[2].kind, TRACK_THREAD);
	CHECK_EQ(trace->tracks[2].parent, 1);
	CHECK_EQ(trace->tracks[2].process, 1);
	CHECK_EQ(trace->tracks[2].span_count, 5);
	CHECK_EQ(trace->tracks[0].process, 0);
	CHECK_EQ(trace->tracks[3].span_count, 2);
	CHECK_EQ(trace->tracks[2].os_id, 102);
	CHECK_STR(trace->tracks[4].unit, "B");
	CHECK_EQ(trace->name_count, 3);
	CHECK_STR(trace->names[1].name, "forward");
	CHECK_STR(trace->names[1].category, "phase");
	CHECK_STR(string_table_borrow(&trace->strings, trace->names[2].name_string), "sgemm");
	CHECK_STR(trace_metadata(trace, "command"), "train.py --fast");
	CHECK_EQ(trace->metadata_count, 2);
	CHECK(!trace_metadata(trace, "nothing"));
	CHECK_EQ(trace->row_counts[TABLE_SPANS], 7);
	CHECK_EQ(trace->row_counts[TABLE_COUNTERS], 2);
	CHECK_EQ(trace->ledger.produced, 10);
	CHECK_EQ(trace->ledger.recorded, 8);
	CHECK_EQ(trace->ledger.dropped, 2);
	CHECK_EQ(trace->ledger.skipped, 0);
	CHECK_NEAR(trace->ledger.overhead_percent, 1.25, 1e-9);
	CHECK_EQ(trace->ledger.count, 1);
	CHECK_STR(trace->ledger.entries[0].what, "buffer was full");
	CHECK_STR(trace->ledger.entries[0].effect, "two scopes are missing");
	frames = trace_stack(trace, 0, &frame_count);
	CHECK_EQ(frame_count, 3);
	CHECK_STR(frames ? string_table_borrow(&trace->strings, frames[0]) : "", "inner");
	CHECK(!trace_stack(trace, 1, &frame_count));
	trace_close(trace);
	maker_remove(&maker);
}

static size_t find_block(const struct trace *trace, enum block_table table, size_t number)
{
	for (size_t i = 0; i < trace->block_count; i++)
		if (trace->blocks[i].table == table && number-- == 0)
			return i;
	CHECK(!"no such block");
	return 0;
}

static void cursors_read_blocks(void)
{
	struct error err = ERROR_INIT;
	struct trace_cursor cursor;
	struct maker maker;
	struct trace *trace;

	make_sample(&maker, true);
	trace = open_fine(maker.path);
	if (!trace)
		return;
	CHECK_EQ(trace_cursor_init(&cursor, trace), STATUS_OK);
	/* Blocks of two rows: the second begins with the parent of the first's. */
	CHECK_EQ(trace_cursor_spans(&cursor, find_block(trace, TABLE_SPANS, 1), false, &err),
		STATUS_OK);
	CHECK_EQ(cursor.spans.count, 2);
	CHECK_EQ(cursor.spans.start_ns[0], 100);
	CHECK_EQ(cursor.spans.duration_ns[0], 100);
	CHECK_EQ(cursor.spans.self_ns[0], 40);
	CHECK_EQ(cursor.spans.depth[1], 1);
	CHECK_EQ(cursor.spans.arg_count, 0);
	CHECK_EQ(trace_cursor_args(&cursor, find_block(trace, TABLE_SPANS, 1), &err), STATUS_OK);
	CHECK_EQ(cursor.spans.arg_count, 1);
	CHECK_EQ(cursor.spans.args[0].row, 0);
	CHECK_EQ(cursor.spans.args[0].value, 7);
	/* One cursor for tables of different width. */
	CHECK_EQ(trace_cursor_rows(&cursor, find_block(trace, TABLE_MARKS, 0), &err), STATUS_OK);
	CHECK_EQ(cursor.rows.cells[MARKS_TIME][0], 175);
	CHECK_EQ(trace_cursor_rows(&cursor, find_block(trace, TABLE_LINKS, 0), &err), STATUS_OK);
	CHECK_EQ(cursor.rows.cells[LINKS_ID][0], 42);
	CHECK_EQ(trace_cursor_rows(&cursor, find_block(trace, TABLE_COUNTERS, 0), &err), STATUS_OK);
	CHECK_EQ(cursor.rows.cells[COUNTERS_VALUE][1], 3000);
	/* Wrong use is an error, not a crash. */
	CHECK_EQ(trace_cursor_rows(&cursor, find_block(trace, TABLE_SPANS, 0), &err), STATUS_USAGE);
	CHECK_EQ(trace_cursor_spans(&cursor, find_block(trace, TABLE_MARKS, 0), false, &err),
		STATUS_USAGE);
	CHECK_EQ(trace_cursor_rows(&cursor, trace->block_count, &err), STATUS_USAGE);
	trace_cursor_release(&cursor);
	trace_close(trace);
	maker_remove(&maker);
}

static void not_finished(void)
{
	struct maker maker;
	struct trace *trace;

	make_sample(&maker, false);
	trace = open_fine(maker.path);
	if (!trace)
		return;
	CHECK(trace->repaired);
	CHECK_EQ(trace->ledger.repaired, 1);
	CHECK_EQ(trace->ledger.skipped, 0);
	CHECK_EQ(trace->ledger.count, 1);
	CHECK_STR(trace->ledger.entries[0].what, "the file was not finished");
	CHECK_EQ(trace->row_counts[TABLE_SPANS], 7);
	CHECK_EQ(trace->span_ns, 400);
	CHECK_EQ(trace->name_count, 3);
	CHECK_STR(trace_metadata(trace, "command"), "train.py --fast");
	trace_close(trace);
	maker_remove(&maker);
}

static void write_file(const char *path, const void *bytes, size_t count)
{
	FILE *file = fopen(path, "wb");

	if (!CHECK(file != NULL))
		return;
	CHECK_EQ(fwrite(bytes, 1, count, file), count);
	fclose(file);
}

static uint8_t *read_file(const char *path, size_t *ret_count)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(1u << 20);

	*ret_count = file ? fread(bytes, 1, 1u << 20, file) : 0;
	CHECK(*ret_count > 0);
	if (file)
		fclose(file);
	return bytes;
}

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

	make_sample(&maker, true);
	trace = open_fine(maker.path);
	if (!trace)
		return;
	whole = content_of(trace);
	CHECK_EQ(whole.errors, 0);
	trace_close(trace);
	bytes = read_file(maker.path, &count);
	for (size_t i = 0; i < count; i++)
		for (unsigned flip = 0; flip < 3; flip++) {
			uint8_t before = bytes[i];

			bytes[i] = (uint8_t)(before ^ (flip == 0 ? 1u : flip == 1 ? 0x80u : 0xffu));
			write_file(maker.path, bytes, count);
			unnoticed += honest(maker.path, whole.hash);
			bytes[i] = before;
		}
	/* Every byte is under a checksum. */
	CHECK_EQ(unnoticed, 0);
	write_file(maker.path, bytes, count);
	CHECK(honest(maker.path, whole.hash));
	free(bytes);
	maker_remove(&maker);
}

static void cut_at_every_length(void)
{
	struct maker maker;
	size_t count, whole = 0;
	uint8_t *bytes;

	make_sample(&maker, true);
	bytes = read_file(maker.path, &count);
	for (size_t cut = 0; cut < count; cut++) {
		write_file(maker.path, bytes, cut);
		whole += honest(maker.path, 0);
	}
	CHECK_EQ(whole, 0);
	/* Something behind the end. */
	write_file(maker.path, bytes, count);
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

	make_sample(&maker, false);
	trace = open_fine(maker.path);
	if (!trace)
		return;
	offset = trace->blocks[find_block(trace, TABLE_SPANS, 1)].offset;
	trace_close(trace);
	bytes = read_file(maker.path, &count);
	bytes[offset + 5] ^= 1;
	write_file(maker.path, bytes, count);
	trace = open_fine(maker.path);
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

			make_sample(&maker, header == 0);
			trace = open_fine(maker.path);
			if (!trace)
				return;
			offset = trace->blocks[find_block(trace, tables[t], 0)].offset;
			trace_close(trace);
			bytes = read_file(maker.path, &count);
			bytes[offset + (header ? 10 : BLOCK_HEADER_BYTES)] ^= 1;
			write_file(maker.path, bytes, count);
			trace = open_fine(maker.path);
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
	trace = open_fine(maker.path);
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

static void files_that_are_none(void)
{
	const char *folder = getenv("TMPDIR");
	uint8_t header[FILE_HEADER_BYTES];
	char path[100];
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	snprintf(path, sizeof path, "%s/test_trace.%d.none", folder ? folder : "/tmp",
		(int)getpid());
	CHECK_EQ(refused(path, "no such file"), STATUS_IO);
	CHECK_EQ(refused("/tmp", "directory"), STATUS_FORMAT);
	CHECK_EQ(refused("/dev/null", "device"), STATUS_FORMAT);
	write_file(path, "", 0);
	CHECK_EQ(refused(path, "empty"), STATUS_FORMAT);
	write_file(path, "{\"traceEvents\": []}", 19);
	CHECK_EQ(refused(path, "not a .tacho file"), STATUS_FORMAT);
	write_file(path, "TACHO\r\n", 7);
	CHECK_EQ(refused(path, "ends inside its header"), STATUS_FORMAT);
	file_header_put(header, &(struct file_header){ .version = FORMAT_VERSION + 1 });
	write_file(path, header, sizeof header);
	CHECK_EQ(refused(path, "newer"), STATUS_VERSION);
	file_header_put(header, &(struct file_header){ .version = FORMAT_VERSION });
	header[20] ^= 1;
	write_file(path, header, sizeof header);
	CHECK_EQ(refused(path, "damaged"), STATUS_FORMAT);
	unlink(path);
	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK_EQ(refused(path, "pipe"), STATUS_FORMAT);
	unlink(path);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
		CHECK_EQ(refused(path, "pipe"), STATUS_FORMAT);
	if (fd >= 0)
		close(fd);
	unlink(path);
}

static void a_long_path_leaves_room_for_the_message(void)
{
	char path[600];

	memset(path, 'x', sizeof path);
	path[0] = '/';
	for (size_t i = 100; i < sizeof path; i += 100)
		path[i] = '/';
	path[sizeof path - 1] = 0;
	CHECK_EQ(refused(path, "no such file"), STATUS_IO);
}

static void no_permission(void)
{
	struct maker maker;

	if (geteuid() == 0)
		UNIT_SKIP("root may read everything");
	make_sample(&maker, true);
	chmod(maker.path, 0);
	CHECK_EQ(refused(maker.path, "permission"), STATUS_IO);
	maker_remove(&maker);
}

static void only_a_header(void)
{
	uint8_t header[FILE_HEADER_BYTES];
	struct maker maker;
	struct trace *trace;

	make_sample(&maker, true);
	file_header_put(header, &(struct file_header){ .version = FORMAT_VERSION });
	write_file(maker.path, header, sizeof header);
	trace = open_fine(maker.path);
	if (!trace)
		return;
	CHECK(trace->repaired);
	CHECK_EQ(trace->block_count, 0);
	CHECK_EQ(trace->span_ns, 0);
	trace_close(trace);
	maker_remove(&maker);
}

/* Dictionaries that take several blocks, and names longer than a page. */
static void large_dictionaries(void)
{
	enum { NAMES = 150000 };
	char *text = malloc(100001);
	struct maker maker;
	struct trace *trace;
	int wrong = 0;

	maker_open(&maker);
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(text, 64, "name number %u", i);
		wrong += maker_name(&maker, text, i % 2 ? "op" : "") != i;
	}
	memset(text, 'y', 100000);
	text[100000] = 0;
	wrong += maker_name(&maker, text, "") != NAMES;
	maker_finish(&maker);
	trace = open_fine(maker.path);
	if (!trace)
		goto out;
	CHECK(!trace->repaired);
	CHECK_EQ(trace->name_count, NAMES + 1);
	for (uint32_t i = 0; i < NAMES && i < trace->name_count; i++) {
		char expected[64];

		snprintf(expected, sizeof expected, "name number %u", i);
		wrong += strcmp(trace->names[i].name, expected) != 0;
		wrong += strcmp(trace->names[i].category, i % 2 ? "op" : "") != 0;
	}
	CHECK_STR(trace->names[NAMES].name, text);
	trace_close(trace);
out:
	CHECK_EQ(wrong, 0);
	free(text);
	maker_remove(&maker);
}

/* An index of more entries than one block may have goes on in the next. */
static void index_of_several_blocks(void)
{
	enum { BLOCKS = 600000 };
	struct error err = ERROR_INIT;
	struct block_header header = { .table = TABLE_MARKS };
	struct buffer encoded;
	struct maker maker;
	struct trace *trace;
	int wrong = 0;

	maker_open(&maker);
	buffer_init(&encoded);
	CHECK_EQ(block_encode(maker.codec, &header, "\3\0\0\0\0\0\0", 7, &encoded), STATUS_OK);
	for (int i = 0; i < BLOCKS; i++)
		wrong += trace_writer_block(&maker.writer, &header, encoded.data, encoded.length,
				 &err) != STATUS_OK;
	CHECK_EQ(wrong, 0);
	maker_finish(&maker);
	trace = open_fine(maker.path);
	if (trace) {
		CHECK(!trace->repaired);
		CHECK(trace->block_count >= BLOCKS);
		trace_close(trace);
	}
	buffer_release(&encoded);
	maker_remove(&maker);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(what_was_written),
		UNIT(cursors_read_blocks),
		UNIT(not_finished),
		UNIT(every_byte_flipped),
		UNIT(cut_at_every_length),
		UNIT(a_lost_block_is_named),
		UNIT(lost_names_are_stood_in_for),
		UNIT(wrong_tracks_are_mended),
		UNIT(files_that_are_none),
		UNIT(a_long_path_leaves_room_for_the_message),
		UNIT(no_permission),
		UNIT(only_a_header),
		UNIT(large_dictionaries),
		UNIT(index_of_several_blocks),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
