// SPDX-License-Identifier: MIT OR Apache-2.0
/* Conditions and orders that are handed down to the tables must not change any answer: each
 * question is asked with and without, and again with hardly any memory to sort in. */
#include "tests/unit/query_asker.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct trace *random_trace;
static struct query *pushed, *plain, *tight;

static void compare(const char *sql)
{
	bool ordered = strstr(sql, "ORDER BY") != NULL;
	char *(*get)(struct query *, const char *) = ordered ? ask : ask_sorted;
	char *expected = get(plain, sql), *found = get(pushed, sql), *small = get(tight, sql);

	if (!CHECK(strncmp(expected, "error", 5) != 0) || !CHECK(strcmp(expected, found) == 0) ||
		!CHECK(strcmp(expected, small) == 0))
		fprintf(stderr, "in: %s\nexpected:\n%.2000s\nfound:\n%.2000s\n", sql, expected,
			found);
	free(expected);
	free(found);
	free(small);
}

static void compare_all(const char *const *questions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		compare(questions[i]);
}
#define COMPARE_ALL(list) compare_all(list, sizeof(list) / sizeof(list)[0])

/* Every column against every operator, with values inside, outside and of other types. */
static void conditions_on_numbers(void)
{
	static const char *const columns[] = { "id", "track", "start_ns", "end_ns", "duration_ns",
		"self_ns", "depth" };
	static const char *const operators[] = { "=", "<", "<=", ">", ">=", "<>", "IS" };
	static const char *const values[] = { "0", "3", "5", "200", "200.5", "20000", "-1",
		"9223372036854775807", "1e300", "'200'", "'x'", "NULL", "x'31'" };
	char sql[256];

	for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
		for (size_t o = 0; o < sizeof operators / sizeof *operators; o++)
			for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
				snprintf(sql, sizeof sql,
					"SELECT count(*), sum(id), sum(duration_ns) FROM spans"
					" WHERE %s %s %s",
					columns[c], operators[o], values[v]);
				compare(sql);
			}
}

static void conditions_on_texts(void)
{
	static const char *const questions[] = {
		"SELECT count(*), sum(id) FROM spans WHERE name = 'op_b'",
		"SELECT count(*), sum(id) FROM spans WHERE name = 'op_z'",
		"SELECT count(*), sum(id) FROM spans WHERE name = NULL",
		"SELECT count(*), sum(id) FROM spans WHERE name = 5",
		"SELECT count(*), sum(id) FROM spans WHERE name = x'6f705f62'",
		"SELECT count(*), sum(id) FROM spans WHERE name = 'OP_B' COLLATE NOCASE",
		"SELECT count(*), sum(id) FROM spans WHERE name = 'op_b' AND name = 'op_c'",
		"SELECT count(*), sum(id) FROM spans WHERE name = 'op_b' AND category = 'op'",
		"SELECT count(*), sum(id) FROM spans WHERE category = ''",
		"SELECT count(*), sum(id) FROM spans WHERE category = 'kernel' AND depth = 2",
		"SELECT count(*), sum(id) FROM spans WHERE process = 'train' AND thread = 'main'",
		"SELECT count(*), sum(id) FROM spans WHERE thread = 'stream 7'",
		"SELECT count(*), sum(id) FROM spans WHERE name LIKE 'OP_B%'",
		"SELECT count(*), sum(id) FROM spans WHERE name LIKE '%_b' AND name LIKE 'op%'",
		"SELECT count(*), sum(id) FROM spans WHERE name NOT LIKE '%_b'",
		"SELECT count(*), sum(id) FROM spans WHERE name LIKE 'op!_b' ESCAPE '!'",
		"SELECT count(*), sum(id) FROM spans WHERE name GLOB 'op_[a-d]'",
		"SELECT count(*), sum(id) FROM spans WHERE name GLOB 'OP*'",
		"SELECT count(*), sum(id) FROM spans WHERE name LIKE 5",
		"SELECT count(*), sum(id) FROM spans WHERE process LIKE 'TR%'",
		"SELECT count(*), sum(id) FROM spans WHERE name IN ('op_a', 'op_c', 'nothing')",
		"SELECT count(*), sum(id) FROM spans WHERE name IN ('op_a', NULL, 5)",
		"SELECT count(*), sum(id) FROM spans WHERE name NOT IN ('op_a', 'op_c')",
		"SELECT count(*), sum(id) FROM spans WHERE track IN (5, 6, 99, -1, 'x')",
		"SELECT count(*), sum(id) FROM spans WHERE track IN (5.0, 6)",
		("SELECT count(*), sum(id) FROM spans WHERE track IN (SELECT id FROM tracks"
		 " WHERE process = 'train')"),
		"SELECT count(*), sum(id) FROM spans WHERE category IN ('op', '') AND depth IN (1, 3)",
		"SELECT count(*), sum(id) FROM spans WHERE name = 'op_a' OR track = 6",
		"SELECT count(*), sum(id) FROM spans WHERE name = 'op_a' OR start_ns < 500 OR id = 0",
		"SELECT count(*) FROM spans WHERE name IN (SELECT name FROM names WHERE count > 400)",
		"SELECT name, count(*) FROM spans WHERE name > 'op_d' AND name < 'op_g' GROUP BY 1",
	};

	COMPARE_ALL(questions);
}

static void windows(void)
{
	char sql[512];

	for (uint64_t from = 0; from < 70000; from += 3571) {
		for (uint64_t length = 1; length < 30000; length = length * 7 + 3) {
			unsigned long long a = from, b = from + length;

			snprintf(sql, sizeof sql,
				"SELECT count(*), sum(id), sum(self_ns) FROM spans WHERE"
				" start_ns >= %llu AND start_ns < %llu;"
				"SELECT count(*), sum(id) FROM spans WHERE end_ns > %llu AND start_ns < %llu;"
				"SELECT count(*), sum(id) FROM spans WHERE end_ns BETWEEN %llu AND %llu;"
				"SELECT count(*), sum(value) FROM counters"
				" WHERE time_ns >= %llu AND time_ns < %llu;"
				"SELECT count(*), sum(time_ns) FROM marks WHERE time_ns BETWEEN %llu AND %llu",
				a, b, a, b, a, b, a, b, a, b);
			compare(sql);
		}
	}
}

static void orders(void)
{
	static const char *const lists[] = { "name", "name DESC", "track", "track DESC",
		"track, name", "name, track", "track DESC, name DESC", "category", "category, name",
		"process", "process, thread", "thread, name DESC", "process, name",
		"name, category", "process DESC, track, category, name" };
	char sql[512];

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		char plain_list[128];
		size_t used = 0;

		/* GROUP BY knows no DESC. */
		for (const char *at = lists[i]; *at; at++)
			if (strncmp(at, " DESC", 5) == 0)
				at += 4;
			else
				plain_list[used++] = *at;
		plain_list[used] = 0;
		/* Numbers of spans make every order one and only. */
		snprintf(sql, sizeof sql, "SELECT id, name FROM spans ORDER BY %s, id", lists[i]);
		compare(sql);
		snprintf(sql, sizeof sql, "SELECT %s FROM spans ORDER BY %s", plain_list, lists[i]);
		compare(sql);
		snprintf(sql, sizeof sql,
			"SELECT %s, count(*), sum(duration_ns), min(start_ns), max(end_ns), sum(self_ns),"
			" sum(depth), sum(id) FROM spans GROUP BY %s",
			plain_list, plain_list);
		compare(sql);
		snprintf(sql, sizeof sql, "SELECT %s, count(*) FROM spans GROUP BY %s ORDER BY %s",
			plain_list, plain_list, lists[i]);
		compare(sql);
		snprintf(sql, sizeof sql, "SELECT DISTINCT %s FROM spans", plain_list);
		compare(sql);
		snprintf(sql, sizeof sql,
			"SELECT DISTINCT %s FROM spans WHERE depth > 2 ORDER BY %s", plain_list,
			lists[i]);
		compare(sql);
		snprintf(sql, sizeof sql,
			"SELECT %s, count(*), sum(duration_ns) FROM spans WHERE start_ns > 3000 AND"
			" end_ns < 30000 AND name LIKE '%%_c' OR category = 'op' GROUP BY %s",
			plain_list, plain_list);
		compare(sql);
		snprintf(sql, sizeof sql,
			"SELECT %s, count(*), total(self_ns) FROM spans WHERE category = 'op' AND"
			" duration_ns > 40 GROUP BY %s",
			plain_list, plain_list);
		compare(sql);
	}
}

static void joins(void)
{
	static const char *const questions[] = {
		"SELECT count(*), sum(a.value) FROM spans s JOIN arguments a ON a.span_id = s.id"
		" WHERE a.key = 'bytes'",
		"SELECT s.name, count(*), sum(a.value) FROM arguments a JOIN spans s ON s.id = a.span_id"
		" GROUP BY s.name",
		"SELECT a.key, a.type, count(*) FROM arguments a GROUP BY 1, 2",
		"SELECT count(*), sum(p.duration_ns >= s.duration_ns), sum(p.depth = s.depth - 1),"
		" sum(p.start_ns <= s.start_ns AND p.end_ns >= s.end_ns)"
		" FROM spans s JOIN spans p ON p.id = s.parent",
		"SELECT count(*) FROM spans WHERE parent IS NULL AND depth > 0",
		"SELECT t.name, count(*) FROM spans s JOIN tracks t ON t.id = s.track GROUP BY t.name",
		"SELECT count(*), sum(b.time_ns) FROM links a JOIN links b ON a.id = b.id"
		" WHERE a.kind = 'flow_begin' AND b.kind = 'flow_end'",
		"SELECT id, typeof(id), count(*) FROM links WHERE id = 7 OR id = 'left' GROUP BY 1",
		"SELECT count(*) FROM links WHERE id = 7.0",
		"SELECT count(*) FROM links WHERE id = '7'",
		"SELECT count(*), sum(time_ns) FROM links WHERE name = 'op_b' AND track > 5",
		"SELECT count(*), sum(s.duration_ns) FROM marks m JOIN spans s ON s.track = m.track"
		" AND s.start_ns <= m.time_ns AND s.end_ns >= m.time_ns WHERE s.depth = 0",
		"SELECT count(m.id), count(*), sum(a.value) FROM marks m LEFT JOIN arguments a"
		" ON a.span_id = m.id AND a.key = 'bytes'",
		"SELECT name, unit, process, count(*), sum(value) FROM counters WHERE name = 'rss'",
		"SELECT count(*) FROM counters WHERE track = 4 AND process = 'loader'",
		"SELECT count(*) FROM spans s WHERE EXISTS (SELECT 1 FROM arguments a WHERE"
		" a.span_id = s.id)",
		"SELECT count(*), count(args), sum(json_extract(args, '$.bytes')) FROM spans",
		"SELECT count(*), sum(arg(id, 'bytes')), sum(arg(id, 'flops')) FROM spans",
		"SELECT id, lag(id) OVER (PARTITION BY track ORDER BY start_ns, id) FROM spans"
		" WHERE depth = 0",
		"SELECT name, row_number() OVER (PARTITION BY name ORDER BY id) FROM spans LIMIT 500",
		"SELECT count(*) FROM (SELECT DISTINCT track, name FROM spans)",
		"SELECT name FROM spans WHERE depth = 0 UNION SELECT name FROM marks",
		"SELECT text FROM strings WHERE id = 3 OR id = -1 OR id = 1000000",
		"SELECT s.number, count(*) FROM steps s JOIN spans x ON x.start_ns BETWEEN s.start_ns"
		" AND s.end_ns GROUP BY 1",
	};

	COMPARE_ALL(questions);
}

/* SQLite's own sort must have nothing to do. */
static void orders_are_served(void)
{
	static const char *const served[] = {
		"SELECT name, count(*), sum(duration_ns) FROM spans GROUP BY name",
		"SELECT track, name, count(*) FROM spans GROUP BY track, name",
		"SELECT track, count(*) FROM spans GROUP BY track",
		"SELECT DISTINCT track, name FROM spans ORDER BY track, name",
		"SELECT name FROM spans ORDER BY name DESC",
		"SELECT category, sum(self_ns) FROM spans WHERE start_ns > 5 GROUP BY category",
	};
	char sql[512];

	for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
		char *answer;

		snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", served[i]);
		answer = ask(pushed, sql);
		CHECK(strstr(answer, "SCAN spans") != NULL);
		CHECK(strstr(answer, "TEMP B-TREE") == NULL);
		free(answer);
		answer = ask(plain, sql);
		CHECK(strstr(answer, "TEMP B-TREE") != NULL);
		free(answer);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(conditions_on_numbers),
		UNIT(conditions_on_texts),
		UNIT(windows),
		UNIT(orders),
		UNIT(joins),
		UNIT(orders_are_served),
	};
	struct query_options no_help = { .plain = true }, small = { .sort_bytes = 3000 };
	const char *path = asker_random_trace();
	struct error err = ERROR_INIT;
	int status;

	if (trace_open(path, &random_trace, &err) != STATUS_OK) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	pushed = asker_open(random_trace, NULL);
	plain = asker_open(random_trace, &no_help);
	tight = asker_open(random_trace, &small);
	status = unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
	query_close(pushed);
	query_close(plain);
	query_close(tight);
	trace_close(random_trace);
	unlink(path);
	return status;
}
