// SPDX-License-Identifier: MIT OR Apache-2.0
/* One function per kind of row, one table of tables at the end. */
#include "import/nsys_events.h"

#include "base/array.h"
#include "format/span_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum nvtx_type { NVTX_MARK = 34, NVTX_RANGE_PUSH_POP = 59, NVTX_RANGE_START_END = 60 };

static int name_of(struct nsys_import *import, const struct nsys_row *row, const char *title,
	const char *category, uint32_t *ret_name)
{
	uint32_t category_string;
	int status;

	if (!row->name)
		return import_sink_name(
			import->sink, title, strlen(title), category, strlen(category), ret_name);
	/* The name is a string already. */
	status = import_sink_string(import->sink, category, strlen(category), &category_string);
	return status == STATUS_OK ? trace_dict_name(import_sink_dict(import->sink), row->name,
					     category_string, ret_name)
				   : status;
}

static int64_t process_of(const struct nsys_row *row)
{
	return row->has[NSYS_PID]   ? row->value[NSYS_PID]
	       : row->has[NSYS_TID] ? row->value[NSYS_TID]
				    : 0;
}

/* Correlation ids count within a process. */
static int add_correlation(struct nsys_import *import, uint32_t track, const struct nsys_row *row)
{
	uint64_t id = (uint64_t)row->value[NSYS_CORRELATION];

	if (!row->has[NSYS_CORRELATION] || id == 0 ||
		!event_time_ok(import->sink, row->value[NSYS_START]))
		return STATUS_OK;
	return import_sink_link(import->sink, track, row->value[NSYS_START],
		nsys_pid(process_of(row)) << 32 ^ id, LINK_CORRELATION, 0);
}

static int put_timed(struct nsys_import *import, uint32_t track, const struct nsys_row *row,
	const char *title, const char *category)
{
	uint32_t name;
	int status = name_of(import, row, title, category, &name);

	if (status != STATUS_OK)
		return status;
	if (!row->has[NSYS_START]) {
		import_sink_skip(import->sink, "rows without a time", "left out");
		return STATUS_OK;
	}
	if (row->has[NSYS_END])
		status = event_span(
			&import->args, track, name, row->value[NSYS_START], row->value[NSYS_END]);
	else
		status = event_instant(&import->args, track, name, row->value[NSYS_START]);
	return status == STATUS_OK ? add_correlation(import, track, row) : status;
}

static struct nsys_stream stream_of(const struct nsys_row *row)
{
	return (struct nsys_stream){ .global_pid = process_of(row),
		.device = row->value[NSYS_DEVICE],
		.context = row->value[NSYS_CONTEXT],
		.stream = row->value[NSYS_STREAM] };
}

static int put_stream(
	struct nsys_import *import, const struct nsys_table *table, const struct nsys_row *row)
{
	struct nsys_stream stream = stream_of(row);
	uint32_t track;
	int status = nsys_tracks_stream(&import->tracks, &stream, "", &track);

	return status == STATUS_OK ? put_timed(import, track, row, table->title, table->category)
				   : status;
}

static const char *memory_kind(int64_t kind)
{
	static const char *const kinds[] = { "Pageable", "Pinned", "Device", "Array", "Managed",
		"Device Static", "Managed Static", "Unknown" };

	return kind >= 0 && kind < (int64_t)(sizeof kinds / sizeof kinds[0]) ? kinds[kind]
									     : "Unknown";
}

static int put_memcpy(
	struct nsys_import *import, const struct nsys_table *table, const struct nsys_row *row)
{
	static const char *const kinds[] = { "", " HtoD", " DtoH", " HtoA", " AtoH", " AtoA",
		" AtoD", " DtoA", " DtoD", " HtoH", " PtoP", " HtoD", " DtoH", " DtoD" };
	int64_t kind = row->value[NSYS_CLASS];
	struct nsys_table named = *table;
	char title[80];

	snprintf(title, sizeof title, "Memcpy%s (%s -> %s)",
		kind >= 0 && kind < (int64_t)(sizeof kinds / sizeof kinds[0]) ? kinds[kind] : "",
		memory_kind(row->has[NSYS_SOURCE_KIND] ? row->value[NSYS_SOURCE_KIND] : -1),
		memory_kind(row->has[NSYS_TARGET_KIND] ? row->value[NSYS_TARGET_KIND] : -1));
	named.title = title;
	return put_stream(import, &named, row);
}

static int put_memset(
	struct nsys_import *import, const struct nsys_table *table, const struct nsys_row *row)
{
	struct nsys_table named = *table;
	char title[48];

	snprintf(title, sizeof title, "Memset (%s)",
		memory_kind(row->has[NSYS_TARGET_KIND] ? row->value[NSYS_TARGET_KIND] : -1));
	named.title = title;
	return put_stream(import, &named, row);
}

static int put_graph(
	struct nsys_import *import, const struct nsys_table *table, const struct nsys_row *row)
{
	struct nsys_table named = *table;
	char title[48];

	snprintf(title, sizeof title, "CUDA graph %" PRId64, row->value[NSYS_GRAPH]);
	named.title = title;
	return put_stream(import, &named, row);
}

/* Waiting is no work of the device, so it has a row of its own. */
static int put_sync(
	struct nsys_import *import, const struct nsys_table *table, const struct nsys_row *row)
{
	static const char *const kinds[] = { "Sync", "Event Sync", "Stream Wait Event",
		"Stream Sync", "Context Sync" };
	int64_t kind = row->value[NSYS_CLASS];
	struct nsys_stream stream = stream_of(row);
	uint32_t track;
	int status = nsys_tracks_stream(&import->tracks, &stream, "synchronization", &track);

	return status == STATUS_OK
		       ? put_timed(import, track, row,
				 kind >= 0 && kind < 5 ? kinds[kind] : kinds[0], table->category)
		       : status;
}

/* The completion of an event is a point on its stream; without a device time it has none. */
static int put_event(
	struct nsys_import *import, const struct nsys_table *table, const struct nsys_row *row)
{
	struct nsys_row timed = *row;

	timed.has[NSYS_START] = row->has[NSYS_START] && row->value[NSYS_START] != 0;
	return put_stream(import, table, &timed);
}

static int put_runtime(
	struct nsys_import *import, const struct nsys_table *table, const struct nsys_row *row)
{
	uint32_t track;
	int status = nsys_tracks_thread(&import->tracks, row->value[NSYS_TID], &track);

	return status == STATUS_OK
		       ? put_timed(import, track, row, table->title,
				 row->value[NSYS_CLASS] == 1 ? "cuda_driver" : table->category)
		       : status;
}

/* Push and pop nest on their thread; a range that was started may end anywhere. */
static int put_nvtx(
	struct nsys_import *import, const struct nsys_table *table, const struct nsys_row *row)
{
	uint32_t track;
	int status;

	if (row->value[NSYS_CLASS] == NVTX_RANGE_START_END)
		status = nsys_tracks_other(
			&import->tracks, process_of(row), TRACK_ASYNC, "NVTX ranges", "", &track);
	else
		status = nsys_tracks_thread(&import->tracks, row->value[NSYS_TID], &track);
	if (status != STATUS_OK)
		return status;
	if (row->has[NSYS_CLASS] && !row->has[NSYS_END] &&
		(row->value[NSYS_CLASS] == NVTX_RANGE_PUSH_POP ||
			row->value[NSYS_CLASS] == NVTX_RANGE_START_END))
		ledger_add(import_sink_ledger(import->sink), 1, "NVTX ranges that never ended",
			"import", "kept as instants at their start");
	return put_timed(import, track, row, table->title, table->category);
}

static int put_metric(
	struct nsys_import *import, const struct nsys_table *table, const struct nsys_row *row)
{
	const struct string_table *strings = &import_sink_dict(import->sink)->strings;
	uint64_t type = (uint64_t)row->value[NSYS_TYPE_ID], found;
	char name[160], label[120];
	uint32_t track;
	int status;

	(void)table;
	if (!row->has[NSYS_START] || !row->has[NSYS_VALUE]) {
		import_sink_skip(import->sink, "rows without a time", "left out");
		return STATUS_OK;
	}
	if (!event_time_ok(import->sink, row->value[NSYS_START]))
		return STATUS_OK;
	snprintf(label, sizeof label, "metric %" PRId64, row->value[NSYS_METRIC_ID]);
	if (id_map_get(
		    &import->metrics, type * 65536 + (uint64_t)row->value[NSYS_METRIC_ID], &found))
		snprintf(label, sizeof label, "%s", string_table_borrow(strings, (uint32_t)found));
	/* The lowest byte of the type is the number of the GPU. */
	snprintf(name, sizeof name, "GPU %u %s", (unsigned)(type & 0xff), label);
	status = nsys_tracks_other(&import->tracks, 0, TRACK_COUNTER, name, "", &track);
	if (status != STATUS_OK)
		return status;
	if ((double)row->value[NSYS_VALUE] == row->number)
		return import_sink_counter_integer(
			import->sink, track, row->value[NSYS_START], row->value[NSYS_VALUE]);
	return import_sink_counter(import->sink, track, row->value[NSYS_START], row->number);
}

/* Allocations have their columns; what else the row tells is kept on an instant. */
static int put_memory(
	struct nsys_import *import, const struct nsys_table *table, const struct nsys_row *row)
{
	int64_t kind = row->has[NSYS_TARGET_KIND] ? row->value[NSYS_TARGET_KIND] : -1;
	bool freed = row->value[NSYS_CLASS] == 1, device = kind < 0 || kind == 2 || kind == 5;
	const char *pool_text = memory_kind(kind);
	uint32_t track, pool;
	char name[48];
	int status;

	snprintf(name, sizeof name, "GPU %" PRId64 " memory", row->value[NSYS_DEVICE]);
	status = nsys_tracks_other(&import->tracks, process_of(row), TRACK_OTHER, name, "", &track);
	if (status == STATUS_OK)
		status = import_sink_name(
			import->sink, pool_text, strlen(pool_text), "pool", 4, &pool);
	if (status == STATUS_OK)
		status = put_timed(
			import, track, row, freed ? "Deallocation" : "Allocation", table->category);
	if (status != STATUS_OK || !row->has[NSYS_START] ||
		!event_time_ok(import->sink, row->value[NSYS_START]))
		return status;
	return import_sink_allocation(import->sink, track, row->value[NSYS_START],
		(uint64_t)row->value[NSYS_ADDRESS], freed ? 0 : (uint64_t)row->value[NSYS_BYTES],
		pool, (freed ? ALLOCATION_FREE : 0) | (device ? ALLOCATION_DEVICE : 0));
}

int nsys_events_put(
	struct nsys_import *import, const struct nsys_table *table, const struct nsys_row *row)
{
	uint32_t track;
	int status;

	if (row->has[NSYS_TID])
		status = nsys_tracks_thread(&import->tracks, row->value[NSYS_TID], &track);
	else
		status = nsys_tracks_other(
			&import->tracks, process_of(row), TRACK_OTHER, table->name, "", &track);
	return status == STATUS_OK ? put_timed(import, track, row, table->title, table->category)
				   : status;
}

/* Frames of one sample, innermost first, until the statement comes to another. */
struct nsys_sample {
	int64_t id, time_ns, global_tid;
	uint32_t *frames;
	size_t count, capacity;
};

static int flush_sample(struct nsys_import *import, struct nsys_sample *sample)
{
	uint32_t track, stack;
	int status;

	if (!sample->count || !event_time_ok(import->sink, sample->time_ns))
		return STATUS_OK;
	status = nsys_tracks_thread(&import->tracks, sample->global_tid, &track);
	if (status == STATUS_OK)
		status = trace_dict_stack(
			import_sink_dict(import->sink), sample->frames, sample->count, &stack);
	sample->count = 0;
	return status == STATUS_OK ? import_sink_sample(import->sink, track, sample->time_ns, stack)
				   : status;
}

int nsys_events_samples(struct nsys_import *import)
{
	sqlite3_stmt *statement = nsys_file_query(&import->file,
		"SELECT e.id, e.start, e.globalTid, c.symbol FROM \"%w\" e JOIN SAMPLING_CALLCHAINS c "
		"ON c.id = e.id ORDER BY e.id, c.stackDepth",
		"COMPOSITE_EVENTS");
	struct nsys_sample sample = { 0 };
	int status = STATUS_OK;

	while (status == STATUS_OK && statement && sqlite3_step(statement) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(statement, 0);

		if (sample.count && id != sample.id)
			status = flush_sample(import, &sample);
		sample.id = id;
		sample.time_ns = sqlite3_column_int64(statement, 1);
		sample.global_tid = sqlite3_column_int64(statement, 2);
		if (status == STATUS_OK)
			status = array_grow((void **)&sample.frames, &sample.capacity,
				sample.count + 1, sizeof *sample.frames);
		if (status == STATUS_OK && sample.count < 4096)
			sample.frames[sample.count++] = nsys_rows_string(import, statement, 3);
	}
	if (status == STATUS_OK)
		status = flush_sample(import, &sample);
	sqlite3_finalize(statement);
	free(sample.frames);
	return status;
}

static const struct nsys_table tables[] = {
	{ "CUDA_GPU_MEMORY_USAGE_EVENTS", "gpu_memory", "memory", put_memory },
	{ "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "cuda_event", "CUDA event", put_event },
	{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "cuda_graph", "CUDA graph", put_graph },
	{ "CUPTI_ACTIVITY_KIND_KERNEL", "kernel", "kernel", put_stream },
	{ "CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memcpy", "Memcpy", put_memcpy },
	{ "CUPTI_ACTIVITY_KIND_MEMSET", "gpu_memset", "Memset", put_memset },
	{ "CUPTI_ACTIVITY_KIND_OVERHEAD", "overhead", "overhead", nsys_events_put },
	{ "CUPTI_ACTIVITY_KIND_RUNTIME", "cuda_runtime", "CUDA call", put_runtime },
	{ "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "cuda_sync", "Sync", put_sync },
	{ "GPU_METRICS", "", "", put_metric },
	{ "NVTX_EVENTS", "nvtx", "NVTX", put_nvtx },
	{ "OSRT_API", "osrt", "OS call", nsys_events_put },
	{ "PROFILER_OVERHEAD", "overhead", "overhead", nsys_events_put },
};

const struct nsys_table *nsys_events_find(const char *name)
{
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		if (strcmp(tables[i].name, name) == 0)
			return &tables[i];
	return NULL;
}

bool nsys_events_known(const char *name)
{
	static const char *const others[] = { "StringIds", "META_DATA_EXPORT", "META_DATA_CAPTURE",
		"TARGET_INFO_SESSION_START_TIME", "ANALYSIS_DETAILS" };

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcmp(others[i], name) == 0)
			return true;
	return nsys_events_find(name) != NULL;
}
