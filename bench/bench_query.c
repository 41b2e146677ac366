// SPDX-License-Identifier: MIT OR Apache-2.0
/* What bench/query.py needs beside the tool: a large trace, and the same questions asked of peers.
 *   bench_query write FILE SPANS      writes a trace of scopes on eight threads
 *   bench_query plain FILE SQL        runs SQL with nothing handed down; prints seconds
 *   bench_query pushed FILE SQL       the same as the tool runs it
 *   bench_query table FILE SQL        runs SQL over a plain SQLite table with the same rows */
#include "base/clock.h"
#include "base/units.h"
#include "format/trace_writer.h"
#include "query/query.h"
#include "trace/trace.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES   50u
#define DEPTH   5u
#define THREADS 8u

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void die(const char *what, const char *message)
{
	fprintf(stderr, "bench_query: %s: %s\n", what, message);
	exit(1);
}

static void must(int status, const char *what, const struct error *err)
{
	if (status != STATUS_OK)
		die(what, err && err->message[0] ? err->message : status_text(status));
}

/* Scopes of one thread, as random as those of bench_read.c. */
struct thread {
	struct span_builder builder;
	uint32_t track;
	uint64_t now_ns, start[DEPTH], children[DEPTH];
	uint32_t name[DEPTH], open;
};

struct writer {
	struct trace_writer file;
	struct trace_dict dict;
	struct block_codec *codec;
	struct buffer raw, encoded;
	struct thread threads[THREADS];
};

static void flush_block(struct writer *writer, struct thread *thread)
{
	struct error err = ERROR_INIT;
	struct span_builder *builder = &thread->builder;
	struct block_header header = { .table = TABLE_SPANS,
		.track = thread->track,
		.rows = builder->count,
		.time_min_ns = builder->time_min_ns,
		.time_max_ns = builder->time_max_ns,
		.busy_ns = builder->busy_ns };

	if (builder->count == 0)
		return;
	buffer_reset(&writer->raw);
	buffer_reset(&writer->encoded);
	must(span_builder_encode(builder, &writer->raw), "encode", NULL);
	must(block_encode(writer->codec, &header, writer->raw.data, writer->raw.length,
		     &writer->encoded),
		"compress", NULL);
	must(trace_writer_block(
		     &writer->file, &header, writer->encoded.data, writer->encoded.length, &err),
		"write", &err);
	must(span_builder_start(builder, thread->children, thread->open), "start", NULL);
}

/* One scope begins or ends; returns whether one ended. */
static bool advance(struct thread *thread)
{
	uint64_t dice = random_next(), duration;
	uint32_t depth;

	thread->now_ns += 1 + (dice >> 8) % 4000;
	if (thread->open == 0 || (thread->open < DEPTH && (dice & 1))) {
		thread->start[thread->open] = thread->now_ns;
		thread->children[thread->open] = 0;
		thread->name[thread->open++] = (uint32_t)((dice >> 40) % NAMES);
		return false;
	}
	depth = --thread->open;
	duration = thread->now_ns - thread->start[depth];
	must(span_builder_add_nested(&thread->builder, thread->name[depth], depth,
		     thread->start[depth], thread->now_ns, duration - thread->children[depth]),
		"add", NULL);
	if (depth)
		thread->children[depth - 1] += duration;
	return true;
}

static uint32_t text_id(struct trace_dict *dict, const char *text)
{
	uint32_t id;

	must(trace_dict_string(dict, text, strlen(text), &id), "string", NULL);
	return id;
}

static void begin(struct writer *writer, const char *path)
{
	struct file_header header = { .version = FORMAT_VERSION };
	struct error err = ERROR_INIT;
	uint32_t machine, process, id;
	char text[64];

	must(trace_dict_init(&writer->dict), "dictionary", NULL);
	must(trace_writer_open(&writer->file, path, false, &header, &err), path, &err);
	must(trace_dict_track(&writer->dict, 0, TRACK_MACHINE, 0, 0, 0, &machine), "track", NULL);
	must(trace_dict_track(&writer->dict, machine, TRACK_PROCESS, 1,
		     text_id(&writer->dict, "train"), 0, &process),
		"track", NULL);
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(text, sizeof text, "aten::operation_%u", i * 7919 % 1000);
		must(trace_dict_name(&writer->dict, text_id(&writer->dict, text),
			     text_id(&writer->dict, i % 3 ? "op" : "python"), &id),
			"name", NULL);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		struct thread *thread = &writer->threads[i];

		snprintf(text, sizeof text, "worker %u", i);
		must(trace_dict_track(&writer->dict, process, TRACK_THREAD, 100 + i,
			     text_id(&writer->dict, text), 0, &thread->track),
			"track", NULL);
		span_builder_init(&thread->builder, SPANS_NESTED);
		must(span_builder_start(&thread->builder, NULL, 0), "start", NULL);
	}
	must(trace_writer_dict(&writer->file, &writer->dict, &err), "dictionary", &err);
}

static void write_trace(const char *path, uint64_t spans)
{
	struct writer writer = { .codec = block_codec_new() };
	struct error err = ERROR_INIT;
	struct ledger ledger;

	begin(&writer, path);
	for (uint64_t done = 0, i = 0; done < spans; i++) {
		struct thread *thread = &writer.threads[i % THREADS];

		done += advance(thread);
		if (thread->builder.count == BLOCK_ROWS_TARGET)
			flush_block(&writer, thread);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		flush_block(&writer, &writer.threads[i]);
		span_builder_release(&writer.threads[i].builder);
	}
	ledger_init(&ledger);
	must(trace_writer_ledger(&writer.file, &writer.dict, &ledger, &err), "ledger", &err);
	must(trace_writer_finish(&writer.file, &err), "finish", &err);
	block_codec_free(writer.codec);
	buffer_release(&writer.raw);
	buffer_release(&writer.encoded);
	trace_dict_release(&writer.dict);
}

/* Takes the answer: adds up its integers, so that peers can be compared. */
static uint64_t checksum;

static int take_columns(
	void *context, size_t index, size_t statements, const char *const *columns, size_t count)
{
	(void)context, (void)index, (void)statements, (void)columns, (void)count;
	return STATUS_OK;
}

static int take_row(void *context, const struct query_value *values, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++)
		checksum += (uint64_t)values[i].integer;
	return STATUS_OK;
}

static void run_query(const char *path, const char *sql, bool plain)
{
	struct query_options options = { .plain = plain, .max_memory_bytes = 2ull << 30 };
	struct query_sink sink = { .begin = take_columns, .row = take_row };
	struct error err = ERROR_INIT;
	struct query_result result;
	struct query *query;
	struct trace *trace;
	uint64_t start_ns = clock_mono_ns();

	must(trace_open(path, &trace, &err), path, &err);
	must(query_open(trace, &options, &query, &err), "query", &err);
	must(query_run(query, sql, strlen(sql), &sink, &result, &err), "query", &err);
	printf("%.6f %llu\n", (double)(clock_mono_ns() - start_ns) / 1e9,
		(unsigned long long)checksum);
	query_close(query);
	trace_close(trace);
}

static void fill_block(sqlite3_stmt *insert, const struct trace *trace,
	const struct trace_cursor *cursor, size_t block)
{
	const struct span_batch *spans = &cursor->spans;

	for (uint32_t i = 0; i < spans->count; i++) {
		sqlite3_bind_int64(insert, 1, trace->blocks[block].track);
		sqlite3_bind_text(insert, 2, trace->names[spans->name[i]].name, -1, SQLITE_STATIC);
		sqlite3_bind_int64(insert, 3, (int64_t)spans->start_ns[i]);
		sqlite3_bind_int64(insert, 4, (int64_t)spans->duration_ns[i]);
		if (sqlite3_step(insert) != SQLITE_DONE)
			die("insert", "failed");
		sqlite3_reset(insert);
	}
}

static void fill_table(sqlite3 *db, const char *path)
{
	struct error err = ERROR_INIT;
	struct trace_cursor cursor;
	struct trace *trace;
	sqlite3_stmt *insert;

	must(trace_open(path, &trace, &err), path, &err);
	must(trace_cursor_init(&cursor, trace), "cursor", NULL);
	sqlite3_exec(db,
		"CREATE TABLE spans(track INTEGER, name TEXT, start_ns INTEGER,"
		" duration_ns INTEGER); BEGIN",
		NULL, NULL, NULL);
	sqlite3_prepare_v2(db, "INSERT INTO spans VALUES(?,?,?,?)", -1, &insert, NULL);
	for (size_t i = 0; i < trace->block_count; i++) {
		if (trace->blocks[i].table != TABLE_SPANS)
			continue;
		must(trace_cursor_spans(&cursor, i, false, &err), "block", &err);
		fill_block(insert, trace, &cursor, i);
	}
	sqlite3_finalize(insert);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	trace_cursor_release(&cursor);
	trace_close(trace);
}

static void run_table(const char *path, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *statement;
	uint64_t start_ns;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		die("sqlite", "does not open");
	fill_table(db, path);
	start_ns = clock_mono_ns();
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		die("sql", sqlite3_errmsg(db));
	while (sqlite3_step(statement) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(statement); i++)
			if (sqlite3_column_type(statement, i) == SQLITE_INTEGER)
				checksum += (uint64_t)sqlite3_column_int64(statement, i);
	printf("%.6f %llu\n", (double)(clock_mono_ns() - start_ns) / 1e9,
		(unsigned long long)checksum);
	sqlite3_finalize(statement);
	sqlite3_close(db);
}

int main(int argc, char **argv)
{
	uint64_t spans;

	if (argc == 4 && strcmp(argv[1], "write") == 0 &&
		units_parse_u64(argv[3], &spans) == STATUS_OK)
		write_trace(argv[2], spans);
	else if (argc == 4 && strcmp(argv[1], "plain") == 0)
		run_query(argv[2], argv[3], true);
	else if (argc == 4 && strcmp(argv[1], "pushed") == 0)
		run_query(argv[2], argv[3], false);
	else if (argc == 4 && strcmp(argv[1], "table") == 0)
		run_table(argv[2], argv[3]);
	else
		die("usage", "bench_query write FILE SPANS | plain|pushed|table FILE SQL");
	return 0;
}
