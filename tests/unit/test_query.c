// SPDX-License-Identifier: MIT OR Apache-2.0
/* SQL over a trace: answers equal to those of the analyses, values of every kind, functions, what
 * is refused, limits, damage. */
#include "query/query.h"

#include "analyze/analyze.h"
#include "base/clock.h"
#include "tests/unit/query_asker.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/trace_maker.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct trace *sample;
static struct query *query;

static void expect(const char *sql, const char *answer)
{
	char *found = ask(query, sql);

	if (!CHECK_STR(found, answer))
		fprintf(stderr, "in: %s\n", sql);
	free(found);
}

static void expect_error(const char *sql, const char *part)
{
	char *found = ask(query, sql);

	if (!CHECK(strncmp(found, "error: ", 7) == 0) || !CHECK(strstr(found, part) != NULL) ||
		!CHECK(strchr(found, '\n') == NULL))
		fprintf(stderr, "in: %s\nfound: %s\n", sql, found);
	free(found);
}

static void equal_to_analysis(void)
{
	struct analyze_options options = { .threads = 1 };
	struct error err = ERROR_INIT;
	struct analyze_spans spans;
	struct buffer text;
	char *answer;

	if (!CHECK_EQ(analyze_spans(sample, &options, &spans, &err), STATUS_OK))
		return;
	buffer_init(&text);
	for (size_t i = 0; i < spans.names.count; i++) {
		const struct analyze_group *group = &spans.names.items[i];

		buffer_printf(&text, "%s|%s|%llu|%llu|%llu|%llu|%llu\n", group->name,
			group->category, (unsigned long long)group->stats.count,
			(unsigned long long)group->stats.total_ns,
			(unsigned long long)group->stats.self_ns,
			(unsigned long long)group->stats.min_ns,
			(unsigned long long)group->stats.max_ns);
	}
	buffer_byte(&text, 0);
	answer = ask(query, "SELECT name, category, count, total_ns, self_ns, min_ns, max_ns"
			    " FROM names");
	CHECK_STR(answer, (char *)text.data);
	free(answer);
	answer = ask(query, "SELECT name, category, count(*), sum(duration_ns), sum(self_ns),"
			    " min(duration_ns), max(duration_ns) FROM spans GROUP BY name, category"
			    " ORDER BY sum(duration_ns) DESC, name");
	for (size_t i = 0; i < spans.names.count; i++)
		CHECK(strstr(answer, spans.names.items[i].name) != NULL);
	CHECK_EQ(strlen(answer), strlen((char *)text.data));
	free(answer);
	buffer_release(&text);
	analyze_spans_release(&spans);
}

static void window_equals_analysed_window(void)
{
	struct analyze_options options = { .threads = 1, .window = { 20000000, 45000000 } };
	struct error err = ERROR_INIT;
	struct analyze_spans spans;
	uint64_t total = 0;
	char sql[512], expected[64], *answer;

	if (!CHECK_EQ(analyze_spans(sample, &options, &spans, &err), STATUS_OK))
		return;
	for (size_t i = 0; i < spans.names.count; i++)
		total += spans.names.items[i].stats.total_ns;
	snprintf(sql, sizeof sql,
		"SELECT count(*), sum(min(end_ns, %llu) - max(start_ns, %llu)) FROM spans"
		" WHERE end_ns >= %llu AND start_ns < %llu",
		45000000ull, 20000000ull, 20000000ull, 45000000ull);
	snprintf(expected, sizeof expected, "%llu|%llu\n", (unsigned long long)spans.span_count,
		(unsigned long long)total);
	answer = ask(query, sql);
	CHECK_STR(answer, expected);
	free(answer);
	analyze_spans_release(&spans);
}

static void equal_to_analysed_counters(void)
{
	struct analyze_options options = { .threads = 1 };
	struct error err = ERROR_INIT;
	struct analyze_counters counters;
	char *answer, expected[256];

	if (!CHECK_EQ(analyze_counters(sample, &options, &counters, &err), STATUS_OK))
		return;
	for (size_t i = 0; i < counters.count; i++) {
		const struct analyze_counter *counter = &counters.items[i];
		char sql[256];

		snprintf(sql, sizeof sql,
			"SELECT name, unit, process, count(*), CAST(min(value) * 1000 AS INTEGER),"
			" CAST(max(value) * 1000 AS INTEGER) FROM counters WHERE track = %u",
			counter->track);
		snprintf(expected, sizeof expected, "%s|%s|%s|%llu|%lld|%lld\n", counter->name,
			counter->unit, counter->process, (unsigned long long)counter->count,
			(long long)(counter->min * 1000), (long long)(counter->max * 1000));
		answer = ask(query, sql);
		CHECK_STR(answer, expected);
		free(answer);
	}
	analyze_counters_release(&counters);
}

static void every_table(void)
{
	expect("SELECT count(*) FROM spans", "89\n");
	expect("SELECT count(*), count(DISTINCT id) FROM spans", "89|89\n");
	expect("SELECT * FROM tracks WHERE id = 3", "3|1|thread|train|loader|1001||1|1000|8\n");
	expect("SELECT * FROM steps WHERE number = 5", "5|2|53500000|78500000|25000000\n");
	expect("SELECT * FROM counters WHERE name = 'loss' LIMIT 1",
		"7|train|loss||10000000|2.0\n");
	expect("SELECT * FROM marks WHERE name = 'checkpoint'",
		"NULL|2|train|main|checkpoint|io|50000000\n");
	expect("SELECT track, time_ns, id, kind, name FROM links WHERE id = 3 ORDER BY 2",
		"2|13900000|3|correlation|launch\n4|14100000|3|correlation|launch\n"
		"3|31900000|3|flow_begin|batch\n2|32550000|3|flow_end|batch\n");
	expect("SELECT kind, memory, pool, bytes FROM allocations",
		"alloc|host|arena|4096\nalloc|host|arena|8192\nalloc|device|cuda:0|12288\n"
		"free|host|arena|0\n");
	expect("SELECT DISTINCT stack, frames FROM samples ORDER BY stack",
		"0|main;matmul;gemm_inner\n1|main;matmul\n");
	expect("SELECT depth, name FROM frames WHERE stack = 0",
		"0|gemm_inner\n1|matmul\n2|main\n");
	expect("SELECT count(*) FROM frames WHERE stack = 9", "0\n");
	expect("SELECT value FROM metadata WHERE key = 'model'", "two layers\nthree layers\n");
	expect("SELECT what, count FROM ledger WHERE kind = 'entry' OR what LIKE 'overhead%'",
		"overhead_percent|0.0017\nevents dropped|3\n");
	expect("SELECT text FROM strings WHERE id = 0", "\n");
	expect("SELECT key, type, value FROM arguments WHERE span_id = (SELECT min(id) FROM spans"
	       " WHERE name = 'matmul')",
		"flops|double|4194304.0\nindex|integer|0\n"
		"shapes|string|float32[64,256] float32[256,128]\n");
}

static void parents(void)
{
	expect("SELECT s.name, p.name, count(*) FROM spans s JOIN spans p ON p.id = s.parent"
	       " WHERE s.track = 2 GROUP BY s.name, p.name",
		"backward|step|8\nforward|step|8\nmatmul|forward|16\npack|matmul|16\n");
	expect("SELECT count(*) FROM spans WHERE parent IS NULL AND track = 2", "8\n");
	expect("SELECT count(*) FROM spans WHERE parent IS NOT NULL AND track = 4", "0\n");
}

static void functions(void)
{
	expect("SELECT duration(1500), duration(NULL), bytes(65536), duration('x')",
		"1.50 us|NULL|64.0 KiB|NULL\n");
	expect("SELECT ns_to_utc(0), ns_to_utc(1500000001), ns_to_utc(NULL)",
		"2023-11-14T22:13:20.000000000Z|2023-11-14T22:13:21.500000001Z|NULL\n");
	expect("SELECT ns_to_utc(-9223372036854775807), ns_to_utc(9223372036854775807)",
		"NULL|2316-02-24T22:00:36.854775807Z\n");
	expect("SELECT demangle('_ZN2at6native3addEv'), demangle('main'), demangle(NULL)",
		"at::native::add()|main|NULL\n");
	expect("SELECT arg(id, 'index'), arg(id, 'no'), arg(NULL, 'index'), arg(-5, 'index')"
	       " FROM spans WHERE name = 'matmul' LIMIT 2",
		"0|NULL|NULL|NULL\n1|NULL|NULL|NULL\n");
	expect("SELECT arg(1 << 40, 'x'), arg(7, 'x'), stack(0), stack(99), stack(-1)",
		"NULL|NULL|main;matmul;gemm_inner|NULL|NULL\n");
	expect("SELECT json_extract(args, '$.index') FROM spans WHERE args IS NOT NULL AND"
	       " name = 'matmul' LIMIT 1",
		"0\n");
	expect("SELECT value FROM json_each('[1,2]')", "1\n2\n");
}

static void refused(void)
{
	static const char *const questions[] = { "ATTACH 'x' AS y", "DETACH y",
		"PRAGMA user_version", "PRAGMA temp_store_directory = '/tmp'",
		"VACUUM INTO '/tmp/x'", "CREATE TABLE x(a)", "CREATE TEMP TABLE x(a)",
		"CREATE VIEW x AS SELECT 1", "CREATE TRIGGER x INSERT ON spans BEGIN SELECT 1; END",
		"CREATE VIRTUAL TABLE x USING fts5(a)", "DROP TABLE spans",
		"INSERT INTO spans VALUES(1)", "UPDATE spans SET name = 'x'", "DELETE FROM spans",
		"BEGIN", "COMMIT", "SAVEPOINT x", "ANALYZE", "REINDEX",
		"ALTER TABLE spans RENAME TO x", "SELECT load_extension('x')",
		"SELECT fts3_tokenizer('simple')", "SELECT * FROM sqlite_master",
		"SELECT * FROM sqlite_schema", "SELECT * FROM pragma_database_list",
		"SELECT * FROM dbstat", "SELECT * FROM fts3tokenize", "SELECT sqlite_log(1, 'x')",
		"SELECT * FROM sqlite_stmt", "EXPLAIN INSERT INTO spans VALUES(1)",
		"WITH x AS (SELECT 1) DELETE FROM spans" };
	static const char *const unknown[] = { "SELECT writefile('x', 'y')",
		"SELECT readfile('/etc/passwd')", "SELECT edit('x')",
		"SELECT * FROM generate_series(1)", "SELECT * FROM fsdir('/')",
		"SELECT name REGEXP 'x' FROM spans" };

	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
		expect_error(questions[i], "SQL, line 1, column ");
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		expect_error(unknown[i], "no such ");
	expect_error("SELECT 1; DROP TABLE spans", "column 11: ");
	expect_error("ATTACH 'x' AS y", "ATTACH is not allowed");
	expect_error("SELECT load_extension('x')", "load_extension is not allowed");
}

static int count_call(
	void *context, size_t index, size_t statements, const char *const *columns, size_t count)
{
	(void)index, (void)statements, (void)columns, (void)count;
	++*(int *)context;
	return STATUS_OK;
}

static int refuse_row(void *context, const struct query_value *values, size_t count)
{
	(void)context, (void)values, (void)count;
	return STATUS_IO;
}

static void checked_before_run(void)
{
	int calls = 0;
	struct query_sink sink = { .context = &calls, .begin = count_call, .row = refuse_row };
	struct query_result result;
	struct error err = ERROR_INIT;

	CHECK_EQ(query_run(query, "SELECT 1; nonsense", 18, &sink, &result, &err), STATUS_USAGE);
	CHECK_EQ(calls, 0);
	CHECK_EQ(err.offset, 10);
	CHECK_EQ(query_run(query, "SELECT 1\0", 9, &sink, &result, &err), STATUS_USAGE);
	/* A sink that fails ends the query with its own status. */
	CHECK_EQ(query_run(query, "SELECT 1; SELECT 2", 18, &sink, &result, &err), STATUS_IO);
	CHECK_EQ(calls, 1);
	CHECK_EQ(result.statements, 2);
}

static void wrong_sql(void)
{
	expect_error("", "no SQL");
	expect_error(" ;; -- nothing\n", "no SQL");
	expect_error("SELEC", "syntax error");
	expect_error(
		"SELECT nme FROM spans", "column 8: no such column: nme; did you mean 'name'?");
	expect_error("SELECT 1 FROM span", "no such table: span; did you mean 'spans'?");
	expect_error("SELECT\n  1,\n  x.y FROM spans", "line 3, column 3");
	expect_error("SELECT \"a string\" FROM spans", "no such column: a string");
	expect_error("SELECT 'a\nb", "unrecognized token");
	expect_error("SELECT '\xff', nme FROM spans", "no such column");
	expect_error("SELECT 1 +", "incomplete input");
	expect_error("SELECT ?, :name", "parameters");
}

static void limits(void)
{
	struct query_options options = { .timeout_ns = 50000000, .max_rows = 10 };
	struct query *limited = asker_open(sample, &options), *saved = query;
	uint64_t start_ns = clock_mono_ns();

	query = limited;
	expect_error("WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a)"
		     " SELECT count(*) FROM a",
		"longer than 50.0 ms");
	CHECK(clock_mono_ns() - start_ns < 2000000000u);
	expect_error("SELECT count(*) FROM spans a, spans b, spans c, spans d, spans e",
		"longer than 50.0 ms");
	expect_error("SELECT * FROM spans", "more than 10 rows");
	expect("SELECT count(*) FROM spans", "89\n");
	expect_error("SELECT length(zeroblob(1000000000))", "too big");
	expect("SELECT printf('%1000000000d', 1)", "NULL\n");
	query_close(limited);
	options = (struct query_options){ .max_memory_bytes = 4 << 20 };
	query = limited = asker_open(sample, &options);
	expect_error(
		"WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a WHERE x < 1000000)"
		" SELECT x FROM a ORDER BY -x LIMIT 1 OFFSET 500000",
		"more than 4.00 MiB of memory");
	expect("SELECT count(*) FROM spans", "89\n");
	query_close(limited);
	query = saved;
	/* The limit of memory is the process's. */
	query_close(asker_open(sample, NULL));
}

static void deep_and_wide(void)
{
	struct buffer sql;

	buffer_init(&sql);
	buffer_text(&sql, "SELECT ");
	for (int i = 0; i < 100000; i++)
		buffer_byte(&sql, '(');
	buffer_byte(&sql, 0);
	expect_error((char *)sql.data, "error: ");
	buffer_reset(&sql);
	buffer_text(&sql, "SELECT 1");
	for (int i = 0; i < 5000; i++)
		buffer_text(&sql, ",1");
	buffer_byte(&sql, 0);
	expect_error((char *)sql.data, "too many columns");
	buffer_reset(&sql);
	for (int i = 0; i < 200; i++)
		buffer_text(&sql, "SELECT 1;");
	buffer_byte(&sql, 0);
	expect_error((char *)sql.data, "too many statements");
	buffer_reset(&sql);
	for (int i = 0; i < 3 << 20; i++)
		buffer_byte(&sql, ' ');
	buffer_byte(&sql, 0);
	expect_error((char *)sql.data, "bytes of SQL");
	buffer_release(&sql);
}

static void values_written(void)
{
	const struct query_value values[] = {
		{ .type = QUERY_NULL },
		{ .type = QUERY_INTEGER, .integer = INT64_MIN },
		{ .type = QUERY_DOUBLE, .real = 2 },
		{ .type = QUERY_TEXT, .text = "a,\"b\xff", .length = 5 },
		{ .type = QUERY_TEXT, .text = "", .length = 0 },
		{ .type = QUERY_BLOB, .text = "\x00\xfe", .length = 2 },
	};
	const char *const columns[] = { "one", "t,wo" };
	struct json_writer json;
	struct buffer csv;

	buffer_init(&csv);
	query_csv_columns(&csv, columns, 2);
	query_csv_row(&csv, values, 6);
	buffer_byte(&csv, 0);
	CHECK_STR((char *)csv.data, "one,\"t,wo\"\n,-9223372036854775808,2.0,"
				    "\"a,\"\"b\xef\xbf\xbd\",\"\",00fe\n");
	buffer_release(&csv);
	json_writer_init(&json, NULL, NULL);
	json_array(&json);
	for (size_t i = 0; i < 6; i++)
		query_json_value(&json, &values[i]);
	json_array_end(&json);
	buffer_byte(&json.out, 0);
	CHECK_STR((char *)json.out.data,
		"[null,-9223372036854775808,2,\"a,\\\"b\xef\xbf\xbd\",\"\",\"00fe\"]");
	json_writer_release(&json);
}

/* A block that cannot be read is left out and counted, the same from every side. */
static void damaged(void)
{
	struct query_sink sink = { .context = &(int){ 0 }, .begin = count_call };
	struct query_result result;
	struct error err = ERROR_INIT;
	struct maker maker;
	struct trace *trace;
	struct query *saved = query;
	size_t count, block;
	uint8_t *bytes;

	maker_sample(&maker, true);
	trace = maker_trace(maker.path);
	block = maker_find(trace, TABLE_SPANS, 1);
	bytes = maker_read(maker.path, &count);
	bytes[trace->blocks[block].offset + BLOCK_HEADER_BYTES + 3] ^= 0x55;
	maker_write(maker.path, bytes, count);
	query = asker_open(trace, NULL);
	expect("SELECT count(*), count(name) FROM spans", "5|5\n");
	expect("SELECT name, count(*) FROM spans GROUP BY name", "forward|2\nsgemm|2\nstep|1\n");
	expect("SELECT count(*) FROM spans WHERE parent IS NULL", "5\n");
	CHECK_EQ(query_run(query, "SELECT 1 WHERE 0", 16, &sink, &result, &err), STATUS_OK);
	CHECK_EQ(result.damaged_blocks, 1);
	query_close(query);
	query = saved;
	free(bytes);
	trace_close(trace);
	maker_remove(&maker);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(equal_to_analysis),
		UNIT(window_equals_analysed_window),
		UNIT(equal_to_analysed_counters),
		UNIT(every_table),
		UNIT(parents),
		UNIT(functions),
		UNIT(refused),
		UNIT(checked_before_run),
		UNIT(wrong_sql),
		UNIT(limits),
		UNIT(deep_and_wide),
		UNIT(values_written),
		UNIT(damaged),
	};
	const char *folder = getenv("TMPDIR");
	struct error err = ERROR_INIT;
	char path[4096];
	int status;

	snprintf(path, sizeof path, "%s/test_query.%d.tacho", folder ? folder : "/tmp",
		(int)getpid());
	if (sample_trace_write(path, &err) != STATUS_OK ||
		trace_open(path, &sample, &err) != STATUS_OK) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	query = asker_open(sample, NULL);
	status = unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
	query_close(query);
	trace_close(sample);
	unlink(path);
	return status;
}
