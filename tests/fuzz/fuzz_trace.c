// SPDX-License-Identifier: MIT OR Apache-2.0
/* Bytes as a trace file: opened, every block read, every analysis run. The first byte says whether
 * the checksums are put right first: without that hardly any change gets past them. */
#include "analyze/analyze.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_u64(uint8_t *at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_u32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* Walks the blocks as far as they hang together. */
static void mend(uint8_t *file, size_t size)
{
	size_t at = FILE_HEADER_BYTES;

	if (size < FILE_HEADER_BYTES)
		return;
	put_u64(file + 56, XXH3_64bits(file, 56));
	while (size - at >= BLOCK_HEADER_BYTES && memcmp(file + at, "TBLK", 4) == 0) {
		uint64_t stored = get_u32(file + at + 32);

		if (stored > size - at - BLOCK_HEADER_BYTES)
			break;
		put_u64(file + at + 48, XXH3_64bits(file + at + BLOCK_HEADER_BYTES, stored));
		put_u64(file + at + 56, XXH3_64bits(file + at, 56));
		at += BLOCK_HEADER_BYTES + stored;
	}
	if (size - at == FILE_TRAILER_BYTES)
		put_u64(file + at + 8, XXH3_64bits(file + at, 8));
}

static void read_blocks(const struct trace *trace)
{
	struct trace_cursor cursor;
	struct error err = ERROR_INIT;

	if (trace_cursor_init(&cursor, trace) != STATUS_OK)
		abort();
	for (size_t i = 0; i < trace->block_count; i++) {
		int status = trace->blocks[i].table == TABLE_SPANS
				     ? trace_cursor_spans(&cursor, i, true, &err)
				     : trace_cursor_rows(&cursor, i, &err);

		if (status != STATUS_OK && !err.message[0])
			abort();
		if (status != STATUS_OK || trace->blocks[i].table != TABLE_SPANS)
			continue;
		for (uint32_t row = 0; row < cursor.spans.count; row++)
			if (cursor.spans.name[row] >= trace->name_count ||
				cursor.spans.start_ns[row] + cursor.spans.duration_ns[row] <
					cursor.spans.start_ns[row])
				abort();
	}
	trace_cursor_release(&cursor);
}

static void analyze(const struct trace *trace, const struct analyze_options *options)
{
	struct error err = ERROR_INIT;
	struct analyze_spans spans;
	struct analyze_tree tree;
	struct analyze_counters counters;

	if (analyze_spans(trace, options, &spans, &err) == STATUS_OK)
		analyze_spans_release(&spans);
	if (analyze_tree(trace, options, &tree, &err) == STATUS_OK) {
		for (size_t i = 1; i < tree.count; i++)
			if (tree.nodes[i].parent >= i)
				abort();
		analyze_tree_release(&tree);
	}
	if (analyze_counters(trace, options, &counters, &err) == STATUS_OK)
		analyze_counters_release(&counters);
}

static void use(const struct trace *trace)
{
	struct analyze_options options = { .threads = 1 };
	size_t frames;

	for (uint32_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].parent >= trace->track_count ||
			trace->tracks[i].process >= trace->track_count || !trace->tracks[i].name)
			abort();
	for (uint32_t i = 0; i <= trace->stack_count && i < 1000; i++)
		(void)!trace_stack(trace, i, &frames);
	(void)!trace_metadata(trace, "command");
	if (trace->repaired != (trace->ledger.repaired + trace->ledger.skipped > 0) &&
		trace->repaired)
		abort();
	read_blocks(trace);
	analyze(trace, &options);
	options.window.from_ns = trace->span_ns / 3;
	options.window.until_ns = trace->span_ns / 2 + 1;
	options.filter = "o";
	analyze(trace, &options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct trace *trace;
	uint8_t *file;
	char path[64];
	int fd;

	if (size < 1)
		return 0;
	file = malloc(size);
	if (!file)
		return 0;
	memcpy(file, data + 1, size - 1);
	if (data[0] & 1)
		mend(file, size - 1);
	fd = memfd_create("fuzz_trace", MFD_CLOEXEC);
	if (fd < 0 || write(fd, file, size - 1) != (ssize_t)(size - 1))
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (trace_open(path, &trace, &err) == STATUS_OK) {
		use(trace);
		trace_close(trace);
	} else if (!err.message[0]) {
		abort();
	}
	close(fd);
	free(file);
	return 0;
}
