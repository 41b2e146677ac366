// SPDX-License-Identifier: MIT OR Apache-2.0
/* The reader: what the writer wrote, and files that are none. Damage is in test_trace_damage.c. */
#include "trace/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/trace_maker.h"
#include "tests/unit/unit.h"

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

	maker_sample(&maker, true);
	trace = maker_trace(maker.path);
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

static void cursors_read_blocks(void)
{
	struct error err = ERROR_INIT;
	struct trace_cursor cursor;
	struct maker maker;
	struct trace *trace;

	maker_sample(&maker, true);
	trace = maker_trace(maker.path);
	if (!trace)
		return;
	CHECK_EQ(trace_cursor_init(&cursor, trace), STATUS_OK);
	/* Blocks of two rows: the second begins with the parent of the first's. */
	CHECK_EQ(trace_cursor_spans(&cursor, maker_find(trace, TABLE_SPANS, 1), false, &err),
		STATUS_OK);
	CHECK_EQ(cursor.spans.count, 2);
	CHECK_EQ(cursor.spans.start_ns[0], 100);
	CHECK_EQ(cursor.spans.duration_ns[0], 100);
	CHECK_EQ(cursor.spans.self_ns[0], 40);
	CHECK_EQ(cursor.spans.depth[1], 1);
	CHECK_EQ(cursor.spans.arg_count, 0);
	CHECK_EQ(trace_cursor_args(&cursor, maker_find(trace, TABLE_SPANS, 1), &err), STATUS_OK);
	CHECK_EQ(cursor.spans.arg_count, 1);
	CHECK_EQ(cursor.spans.args[0].row, 0);
	CHECK_EQ(cursor.spans.args[0].value, 7);
	/* One cursor for tables of different width. */
	CHECK_EQ(trace_cursor_rows(&cursor, maker_find(trace, TABLE_MARKS, 0), &err), STATUS_OK);
	CHECK_EQ(cursor.rows.cells[MARKS_TIME][0], 175);
	CHECK_EQ(trace_cursor_rows(&cursor, maker_find(trace, TABLE_LINKS, 0), &err), STATUS_OK);
	CHECK_EQ(cursor.rows.cells[LINKS_ID][0], 42);
	CHECK_EQ(trace_cursor_rows(&cursor, maker_find(trace, TABLE_COUNTERS, 0), &err), STATUS_OK);
	CHECK_EQ(cursor.rows.cells[COUNTERS_VALUE][1], 3000);
	/* Wrong use is an error, not a crash. */
	CHECK_EQ(trace_cursor_rows(&cursor, maker_find(trace, TABLE_SPANS, 0), &err), STATUS_USAGE);
	CHECK_EQ(trace_cursor_spans(&cursor, maker_find(trace, TABLE_MARKS, 0), false, &err),
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

	maker_sample(&maker, false);
	trace = maker_trace(maker.path);
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
	maker_write(path, "", 0);
	CHECK_EQ(refused(path, "empty"), STATUS_FORMAT);
	maker_write(path, "{\"traceEvents\": []}", 19);
	CHECK_EQ(refused(path, "not a .tacho file"), STATUS_FORMAT);
	maker_write(path, "TACHO\r\n", 7);
	CHECK_EQ(refused(path, "ends inside its header"), STATUS_FORMAT);
	file_header_put(header, &(struct file_header){ .version = FORMAT_VERSION + 1 });
	maker_write(path, header, sizeof header);
	CHECK_EQ(refused(path, "newer"), STATUS_VERSION);
	file_header_put(header, &(struct file_header){ .version = FORMAT_VERSION });
	header[20] ^= 1;
	maker_write(path, header, sizeof header);
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
	int status = -1;
	pid_t child;

	maker_sample(&maker, true);
	chmod(maker.path, 0);
	/* Root may read everything, so a child that is nobody tries. */
	child = fork();
	if (child == 0) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
			_exit(77);
		_exit(refused(maker.path, "permission") == STATUS_IO ? 0 : 1);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	maker_remove(&maker);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		UNIT_SKIP("cannot become another user");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void only_a_header(void)
{
	uint8_t header[FILE_HEADER_BYTES];
	struct maker maker;
	struct trace *trace;

	maker_sample(&maker, true);
	file_header_put(header, &(struct file_header){ .version = FORMAT_VERSION });
	maker_write(maker.path, header, sizeof header);
	trace = maker_trace(maker.path);
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
	trace = maker_trace(maker.path);
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
	trace = maker_trace(maker.path);
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
		UNIT(files_that_are_none),
		UNIT(a_long_path_leaves_room_for_the_message),
		UNIT(no_permission),
		UNIT(only_a_header),
		UNIT(large_dictionaries),
		UNIT(index_of_several_blocks),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
