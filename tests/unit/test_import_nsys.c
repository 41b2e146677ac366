// SPDX-License-Identifier: MIT OR Apache-2.0
/* Nsight Systems: databases made here, with tables missing, of wrong types, and with traps. */
#include "tests/unit/import_fixture.h"
#include "tests/unit/unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PID "281475681353728" /* 1 << 48 | 42 << 24 */
#define TID "281475681353771" /* thread 43 of it */

/* The bytes of a database that these statements make. */
static uint8_t *make(const char *sql, size_t *ret_count)
{
	sqlite3_int64 count = 0;
	unsigned char *bytes = NULL;
	uint8_t *copy = NULL;
	sqlite3 *db;
	char *message = NULL;

	CHECK_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
	if (CHECK_EQ(sqlite3_exec(db, sql, NULL, NULL, &message), SQLITE_OK))
		bytes = sqlite3_serialize(db, "main", &count, 0);
	else
		fprintf(stderr, "%s\n", message);
	if (CHECK(bytes != NULL)) {
		copy = malloc((size_t)count);
		if (copy)
			memcpy(copy, bytes, (size_t)count);
	}
	*ret_count = (size_t)count;
	sqlite3_free(message);
	sqlite3_free(bytes);
	sqlite3_close(db);
	return copy;
}

static struct trace *open_sql(const char *sql)
{
	size_t count;
	uint8_t *bytes = make(sql, &count);
	struct trace *trace = bytes ? import_fixture_open(bytes, count) : NULL;

	free(bytes);
	return trace;
}

static const char kernels[] =
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, "
	"correlationId, globalPid, demangledName, shortName, gridX);"
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(2000, 2500, 0, 1, 7, 11, " PID
	", 1, 2, 128);";

static void kernels_without_anything_else(void)
{
	struct trace *trace = open_sql(kernels);
	uint64_t duration;
	const char *category;

	if (!trace)
		return;
	/* No StringIds: the table's title stands in, and the numbers are kept. */
	CHECK_EQ(import_fixture_span(trace, "kernel", NULL, &duration, &category), 1);
	CHECK_EQ(duration, 500);
	CHECK_STR(category, "kernel");
	CHECK_STR(import_fixture_argument(trace, "kernel", "demangledName"), "1");
	CHECK_STR(import_fixture_argument(trace, "kernel", "gridX"), "128");
	CHECK_EQ(import_fixture_track(trace, "GPU 0 stream 7")->kind, TRACK_DEVICE);
	CHECK_EQ(import_fixture_track(trace, "process 42")->os_id, 42);
	trace_close(trace);
}

static void wrong_types(void)
{
	struct trace *trace = open_sql(
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, demangledName, blob);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES('soon', 5, 0, 'text', x'00ff');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(NULL, NULL, NULL, NULL, NULL);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 5, 'x', 1.5, 2.5);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(9223372036854775807, 9223372036854775807,"
		" -1, 7, 1);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 15, 0, 'a name', x'00ff');"
		"CREATE TABLE StringIds(value, id); INSERT INTO StringIds VALUES(5, 'five');"
		"CREATE TABLE PROCESSES(x); INSERT INTO PROCESSES VALUES(1);"
		"CREATE TABLE ThreadNames(globalTid, nameId); INSERT INTO ThreadNames VALUES('a', 'b');"
		"CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs);"
		"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES('never');"
		"CREATE TABLE \"odd \"\" name\"(start, end, x); INSERT INTO \"odd \"\" name\" VALUES(1, 2, 3);");

	if (!trace)
		return;
	CHECK_EQ(import_fixture_span(trace, "a name", NULL, NULL, NULL), 1);
	CHECK_STR(import_fixture_argument(trace, "a name", "blob (base64)"), "AP8=");
	CHECK_STR(import_fixture_argument(trace, "odd \" name", "x"), "3");
	CHECK_EQ(import_fixture_ledger(trace, "rows without a time"), 2);
	CHECK_EQ(import_fixture_ledger(trace, "events with an impossible duration"), 1);
	CHECK(import_fixture_ledger(trace, "events with an impossible time") >= 1);
	trace_close(trace);
}

/* Views and triggers are not tables, and a view with a table's name is not read. */
static void traps(void)
{
	static const char sql[] =
		"CREATE TABLE META_DATA_EXPORT(name, value); CREATE TABLE real(a);"
		"CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS end, randomblob(1000000)"
		" AS x FROM real; INSERT INTO real VALUES(1), (2), (3);";
	struct trace *trace = open_sql(sql);

	if (!trace)
		return;
	CHECK_EQ(trace->row_counts[TABLE_SPANS], 0);
	trace_close(trace);
}

static void not_of_nsight(void)
{
	size_t count;
	uint8_t *bytes = make("CREATE TABLE users(name); INSERT INTO users VALUES('a');", &count);

	if (!bytes)
		return;
	CHECK_EQ(import_fixture_convert(bytes, count, 0), STATUS_FORMAT);
	CHECK(strstr(import_fixture_error.message, "none of Nsight") != NULL);
	CHECK_EQ(import_fixture_convert(bytes, 16, 0), STATUS_FORMAT);
	CHECK_EQ(import_fixture_convert(bytes, 50, 0), STATUS_FORMAT);
	free(bytes);
}

static void nvtx_of_every_kind(void)
{
	struct trace *trace = open_sql(
		"CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid, doubleValue);"
		"INSERT INTO NVTX_EVENTS VALUES(100, 900, 59, 'push', NULL, " TID ", 0.5);"
		"INSERT INTO NVTX_EVENTS VALUES(200, NULL, 34, NULL, 1, " TID ", NULL);"
		"INSERT INTO NVTX_EVENTS VALUES(300, 1200, 60, 'range', NULL, " TID ", NULL);"
		"INSERT INTO NVTX_EVENTS VALUES(400, NULL, 59, 'open', NULL, " TID ", NULL);"
		"CREATE TABLE StringIds(id, value); INSERT INTO StringIds VALUES(1, 'mark');");

	if (!trace)
		return;
	CHECK_STR(import_fixture_argument(trace, "push", "doubleValue"), "0.5");
	CHECK_EQ(import_fixture_span(trace, "mark", NULL, NULL, NULL), 1);
	CHECK_EQ(import_fixture_track(trace, "NVTX ranges")->kind, TRACK_ASYNC);
	CHECK_EQ(import_fixture_track(trace, "thread 43")->span_count, 3);
	CHECK_EQ(import_fixture_ledger(trace, "NVTX ranges that never ended"), 1);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(kernels_without_anything_else),
		UNIT(wrong_types),
		UNIT(traps),
		UNIT(not_of_nsight),
		UNIT(nvtx_of_every_kind),
	};
	int status;

	import_fixture_begin();
	status = unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
	import_fixture_end();
	return status;
}
