// SPDX-License-Identifier: MIT OR Apache-2.0
/* Arbitrary bytes as records of a thread, with arbitrary bytes as its names: whatever a process
 * leaves in shared memory becomes a trace that opens, with no more spans than were begun.
 *
 *   input: u8 units of names / 8, u8 length of a chunk / 16, names, records */
#include "collect/process_reader.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct victim {
	struct shm_session session;
	struct recording recording;
	struct process_reader process;
	struct names_reader names;
	struct stream *stream;
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* A names file in memory that is exactly as large as it says. */
static void fill_names(struct names_reader *names, const uint8_t *bytes, size_t count)
{
	struct shm_names *head = calloc(1, sizeof *head + count);

	require(head != NULL);
	memcpy(head + 1, bytes, count);
	atomic_store(&head->reserved, (uint32_t)((sizeof *head + count) / SHM_NAME_UNIT));
	names->bytes = (const uint8_t *)head;
	names->mapped = sizeof *head + count;
}

static void start(struct victim *victim, const uint8_t *names, size_t names_bytes)
{
	struct file_header header = { .version = FORMAT_VERSION };
	struct recording *recording = &victim->recording;

	memset(victim, 0, sizeof *victim);
	fill_names(&victim->names, names, names_bytes);
	require(recording_init(recording, &victim->session, &header) == STATUS_OK);
	store_keep(&recording->store, UINT64_MAX / 2, UINT64_C(1) << 32);
	recording->clock.kind = CLOCK_KIND_MONOTONIC;
	recording->clock.count = 1;
	recording->clock.segments[0].scale = UINT64_C(1) << 32;
	victim->process.recording = recording;
	victim->process.names = &victim->names;
	victim->stream = stream_new(&victim->process, 0);
	require(victim->stream != NULL);
}

/* In chunks, as the collector finds them, each in memory of exactly its size. A chunk of an odd
 * number of units also switches recording. */
static void feed(struct victim *victim, const uint8_t *data, size_t size, size_t chunk)
{
	uint32_t switches = 0;

	while (size >= 16) {
		size_t count = (size < chunk ? size : chunk) & ~(size_t)15;
		uint8_t *records = aligned_alloc(16, count);

		require(records != NULL);
		memcpy(records, data, count);
		if (count / 16 % 2) {
			struct shm_toggle *toggle =
				&victim->session.toggles[switches % SHM_TOGGLES];

			atomic_store(&toggle->ticks, data[0] * UINT64_C(1000));
			atomic_store(&victim->session.toggle_count, ++switches);
		}
		recording_read_toggles(&victim->recording);
		stream_feed(victim->stream, records, count);
		free(records);
		data += count;
		size -= count;
	}
}

static void check_trace(struct victim *victim)
{
	struct error err = ERROR_INIT;
	struct trace *trace;
	char path[64];

	snprintf(path, sizeof path, "/dev/shm/fuzz_stream-%d.tacho", (int)getpid());
	require(store_dump(&victim->recording.store, path, 0, &err) == STATUS_OK);
	if (trace_open(path, &trace, &err) != STATUS_OK) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	require(!trace->repaired);
	require(trace->row_counts[TABLE_SPANS] <= victim->recording.scopes);
	trace_close(trace);
	unlink(path);
}

static void finish(struct victim *victim)
{
	struct process_reader *process = &victim->process;

	stream_close_all(victim->stream, 0, true);
	require(victim->stream->depth == 0 && victim->stream->scope_depth == 0);
	stream_flush(victim->stream);
	for (size_t i = 0; i < process->track_count; i++)
		store_spans(&victim->recording.store, process->tracks[i].track,
			&process->tracks[i].builder);
	recording_flush(&victim->recording);
	check_trace(victim);
	stream_free(victim->stream);
	for (size_t i = 0; i < process->track_count; i++)
		span_builder_release(&process->tracks[i].builder);
	free(process->tracks);
	id_map_release(&process->track_ids);
	id_map_release(&process->counter_ids);
	id_map_release(&process->open_async);
	id_map_release(&process->early_async);
	id_map_release(&process->frame_ids);
	recording_release(&victim->recording);
	free((void *)(uintptr_t)victim->names.bytes);
	free(victim->names.ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct victim victim;
	size_t names_bytes, chunk;

	if (size < 2)
		return 0;
	names_bytes = (size_t)data[0] * SHM_NAME_UNIT;
	chunk = ((size_t)data[1] + 1) * 16;
	data += 2;
	size -= 2;
	names_bytes = names_bytes < size ? names_bytes : size;
	start(&victim, data, names_bytes);
	feed(&victim, data + names_bytes, size - names_bytes, chunk);
	finish(&victim);
	return 0;
}
