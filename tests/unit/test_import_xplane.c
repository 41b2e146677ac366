// SPDX-License-Identifier: MIT OR Apache-2.0
/* XPlane: planes, lines, stats by reference, times in picoseconds. */
#include "base/wire.h"
#include "tests/unit/import_fixture.h"
#include "tests/unit/unit.h"

#include <string.h>

static void the_sample(void)
{
	struct trace *trace = import_fixture_corpus("import_xplane/planes");
	uint64_t start, duration;
	const char *category;

	if (!trace)
		return;
	CHECK_EQ(import_fixture_span(trace, "gemm", &start, &duration, &category), 1);
	CHECK_EQ(start, 5100); /* 1000 + 5000.499 rounded, from 900 on */
	CHECK_EQ(duration, 2000);
	CHECK_STR(category, "kernel");
	CHECK_STR(import_fixture_argument(trace, "gemm", "kernel_details"), "regs:8 grid:1,1,1");
	CHECK_EQ(import_fixture_span(trace, "MemcpyH2D", NULL, NULL, &category), 1);
	CHECK_STR(category, "gpu_memcpy");
	CHECK_EQ(import_fixture_span(trace, "train", NULL, NULL, &category), 1);
	CHECK_STR(category, "step");
	CHECK_STR(import_fixture_argument(trace, "train", "step"), "3");
	CHECK_STR(import_fixture_argument(trace, "12", "step"), "12");
	CHECK_STR(import_fixture_argument(trace, "cuLaunchKernel", "display_name"), "launch");
	CHECK_STR(import_fixture_argument(trace, "?", "stat 66"), "step_num");
	CHECK_EQ(import_fixture_span(trace, "cuLaunchKernel", NULL, NULL, NULL), 2);
	CHECK_EQ(import_fixture_track(trace, "Stream #7(Compute)")->kind, TRACK_DEVICE);
	CHECK_EQ(import_fixture_track(trace, "Steps")->kind, TRACK_OTHER);
	CHECK_EQ(import_fixture_track(trace, "main")->kind, TRACK_THREAD);
	CHECK_STR(trace_metadata(trace, "xplane.hostname"), "somehost");
	CHECK_EQ(trace->row_counts[TABLE_LINKS], 5);
	CHECK_EQ(trace->header.start_unix_ns, UINT64_C(1700000000000000900));
	trace_close(trace);
}

/* An event with its offset and duration in picoseconds, in a line that begins at `base`. */
static int convert_event(uint64_t base, uint64_t offset, uint64_t duration, struct buffer *file)
{
	size_t plane, line, event;

	buffer_reset(file);
	plane = wire_open(file, 1);
	wire_text(file, 2, "/host:CPU");
	line = wire_open(file, 3);
	wire_u64(file, 3, base);
	event = wire_open(file, 4);
	wire_u64(file, 2, offset);
	wire_u64(file, 3, duration);
	wire_close(file, event);
	wire_close(file, line);
	wire_close(file, plane);
	return import_fixture_convert(file->data, file->length, 0);
}

static void impossible_times(void)
{
	struct buffer file;
	struct trace *trace;

	buffer_init(&file);
	CHECK_EQ(convert_event(UINT64_MAX, UINT64_MAX, UINT64_MAX, &file), STATUS_OK);
	CHECK_EQ(convert_event(INT64_MAX, INT64_MAX, INT64_MAX, &file), STATUS_OK);
	CHECK_EQ(convert_event(1000, 500, (uint64_t)-2000, &file), STATUS_OK);
	trace = import_fixture_open(file.data, file.length);
	if (trace) {
		CHECK_EQ(import_fixture_ledger(trace, "events with an impossible duration"), 1);
		trace_close(trace);
	}
	buffer_release(&file);
}

/* Whole planes stay when the last is cut off. */
static void the_last_plane_is_cut(void)
{
	struct buffer file;
	struct trace *trace;

	buffer_init(&file);
	CHECK_EQ(convert_event(1000, 0, 5000, &file), STATUS_OK);
	buffer_text(&file, "\x0a\x7f\x12\x04/abc");
	trace = import_fixture_open(file.data, file.length);
	if (trace) {
		CHECK_EQ(import_fixture_ledger(trace, "a plane that is cut off at the end"), 1);
		CHECK_EQ(import_fixture_span(trace, "?", NULL, NULL, NULL), 1);
		trace_close(trace);
	}
	buffer_release(&file);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(the_sample),
		UNIT(impossible_times),
		UNIT(the_last_plane_is_cut),
	};
	int status;

	import_fixture_begin();
	status = unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
	import_fixture_end();
	return status;
}
