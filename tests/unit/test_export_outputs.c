// SPDX-License-Identifier: MIT OR Apache-2.0
/* What holds for every exporter: a full disk and a folder that is not there are told, a damaged
 * block is counted once and the rest is written, a failed export leaves nothing behind. */
#include "tests/unit/export_fixture.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void full_disk(void)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	for (size_t i = 0; exporters[i]; i++) {
		struct export_options options = { .fd = full };
		struct export_result result;
		struct error err = ERROR_INIT;

		if (exporters[i]->needs_path)
			continue;
		if (!CHECK_EQ(exporters[i]->run(fixture_trace, &options, &result, &err), STATUS_IO))
			printf("\t%s\n", exporters[i]->name);
		CHECK_STR(err.message, "cannot write to standard output: No space left on device");
	}
	close(full);
}

static void no_folder(void)
{
	for (size_t i = 0; exporters[i]; i++) {
		struct export_options options = { .path = "/dev/null/folder/file" };
		struct export_result result;
		struct error err = ERROR_INIT;

		if (!CHECK_EQ(exporters[i]->run(fixture_trace, &options, &result, &err), STATUS_IO))
			printf("\t%s\n", exporters[i]->name);
		CHECK(strstr(err.message, "/dev/null/folder") != NULL);
	}
}

/* Writes the sample with the first span block of the main thread damaged. */
static struct trace *damaged_trace(const char *path)
{
	struct error err = ERROR_INIT;
	struct trace *trace = NULL;

	CHECK_EQ(sample_trace_write(path, &err), STATUS_OK);
	for (size_t i = 0; i < fixture_trace->block_count; i++) {
		const struct trace_block *block = &fixture_trace->blocks[i];
		int fd;

		if (block->table != TABLE_SPANS || block->track != SAMPLE_MAIN)
			continue;
		fd = open(path, O_WRONLY | O_CLOEXEC);
		CHECK_EQ(pwrite(fd, "\xff\xff\xff\xff", 4,
				 (off_t)(block->offset + BLOCK_HEADER_BYTES + 8)),
			4);
		close(fd);
		break;
	}
	CHECK_EQ(trace_open(path, &trace, &err), STATUS_OK);
	return trace;
}

static void damaged_block(void)
{
	char folder[] = "/tmp/tacho-outputs-XXXXXX", path[64], out[96];
	struct trace *trace;

	if (!CHECK(mkdtemp(folder) != NULL))
		return;
	snprintf(path, sizeof path, "%s/damaged.tacho", folder);
	trace = damaged_trace(path);
	for (size_t i = 0; trace && exporters[i]; i++) {
		/* A name that every format takes, xplane for a file as well. */
		struct export_options options = { .path = out, .table = TABLE_SPANS };
		struct export_result result = { 0 };
		struct error err = ERROR_INIT;
		struct stat info;

		snprintf(out, sizeof out, "%s/out.pb", folder);
		if (!CHECK_EQ(exporters[i]->run(trace, &options, &result, &err), STATUS_OK) ||
			!CHECK_EQ(result.damaged_blocks, 1))
			printf("\t%s: %s\n", exporters[i]->name, err.message);
		CHECK(stat(out, &info) == 0 && info.st_size > 0);
		unlink(out);
	}
	trace_close(trace);
	unlink(path);
	/* Nothing else was left there. */
	CHECK_EQ(rmdir(folder), 0);
}

static void tables_of_stacks(void)
{
	static const char *const names[] = { "collapsed", "pprof" };

	for (size_t i = 0; i < 2; i++) {
		struct export_options options = { .table = TABLE_COUNTERS, .path = "/dev/null" };
		struct export_result result;
		struct error err = ERROR_INIT;

		CHECK_EQ(exporter_find(names[i])->run(fixture_trace, &options, &result, &err),
			STATUS_USAGE);
		CHECK_STR(err.message, "stacks are made of spans or samples, not of counters");
	}
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(full_disk),
		UNIT(no_folder),
		UNIT(damaged_block),
		UNIT(tables_of_stacks),
	};

	return fixture_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
