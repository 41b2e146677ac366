/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One recorded process: its pool and names in shared memory, a stream per thread, and the tracks
 * that belong to the process as a whole. Everything in shared memory is foreign: every number is
 * checked before it is used, and a record that makes no sense is counted and skipped. */
#pragma once

#include "base/id_map.h"
#include "collect/clock_sync.h"
#include "collect/store.h"
#include "format/shm_layout.h"

#include <sys/types.h>

/* A names file of one family of processes, mapped. */
struct names_reader {
	uint32_t serial;
	const uint8_t *bytes;
	size_t mapped;
	uint32_t *ids; /* unit -> name number + 1 */
	size_t id_count;
	size_t users;     /* processes that are being read */
	uint64_t idle_ns; /* since when there are none */
	char path[320];
};

/* What the whole recording shares. */
struct recording {
	struct store store;
	struct clock_sync clock;
	struct shm_session *session;
	struct table_rows counters, real_counters, marks, links, allocations, samples;
	uint64_t rows_since_ns; /* when the oldest row in them came; 0: they are empty */
	uint32_t machine_track;
	uint64_t *switch_ticks; /* when recording was switched off or on, in order */
	size_t switch_count, switch_capacity;
	uint32_t toggles_seen;
	uint64_t toggles_lost;
	uint64_t scopes, events; /* taken over */
	uint64_t unmatched_ends, open_at_end, bad_records, clipped_spans, lost_ends, deep;
	uint64_t async_open, names_unknown;
	uint32_t step_name; /* name number of "step" */
	uint32_t step_key;
	/* Called for each step that ended. */
	void (*on_step)(void *context, uint64_t number, uint64_t duration_ns);
	void *on_step_context;
};

/* A scope that is open on a thread. */
struct open_scope {
	uint64_t start_ns;
	uint32_t name;
	uint32_t kind; /* SHM_BEGIN, SHM_PHASE or SHM_STEP */
	size_t first_arg;
	uint64_t number; /* of a step */
};

struct stream {
	struct recording *recording;
	struct process_reader *process;
	uint32_t track;
	struct span_builder builder;
	uint64_t oldest_ns; /* when the first span of the block came, for flushing by age */
	struct open_scope *stack;
	uint64_t *child_sums;
	size_t depth, capacity, scope_depth, skipped_depth;
	struct span_arg *args; /* of open scopes; `row` is unused */
	size_t arg_count, arg_capacity;
	uint64_t last_ns, last_ticks;
	size_t switch_next;
	bool named;
};

/* Where the collector is in a thread's chain of sub-buffers. */
struct slot_reader {
	uint32_t generation;
	uint32_t current; /* sub-buffer + 1; 0: none yet */
	uint32_t offset;
	uint64_t sequence;
	uint64_t dropped_scopes, dropped_events; /* already counted */
	bool broken;     /* what it wrote makes no sense; nothing more of it is read */
	bool superseded; /* another slot has its thread number now: this thread is gone */
	struct stream *stream;
};

struct explicit_track {
	uint32_t track;
	struct span_builder builder;
	uint64_t oldest_ns;
};

struct process_reader {
	struct recording *recording;
	struct shm_pool *pool;
	size_t pool_bytes;
	struct names_reader *names;
	pid_t pid;
	bool same_namespace;
	bool ended;
	uint32_t track;
	struct slot_reader *slots; /* SHM_SLOTS */
	struct explicit_track *tracks;
	size_t track_count, track_capacity;
	struct id_map track_ids;   /* shm name id -> index in tracks */
	struct id_map counter_ids; /* shm name id -> counter track */
	struct id_map open_async;  /* hash of name and id -> start */
	struct id_map early_async; /* the same -> end, where the end was drained before the begin */
	struct id_map frame_ids;   /* program counter -> string */
	uint64_t dropped, dropped_early;
	char path[320];
};

/* stream.c */
struct stream *stream_new(struct process_reader *process, uint32_t track);
void stream_free(struct stream *stream);
/* Takes over records of a thread, in order; `count` is a multiple of 16. */
void stream_feed(struct stream *stream, const uint8_t *bytes, size_t count);
/* Closes what is open at `end_ns`; `torn`: they count as left open. */
void stream_close_all(struct stream *stream, uint64_t end_ns, bool torn);
/* Writes the current block. */
void stream_flush(struct stream *stream);

/* stream_event.c: records other than scopes. */
void stream_event(struct stream *stream, const uint64_t *record, uint64_t head);
/* A new argument of the innermost scope. */
void stream_arg(struct stream *stream, uint32_t key, enum arg_type type, uint64_t value, bool add);

/* process_reader.c */
int process_reader_open(struct recording *recording, struct names_reader *names, const char *path,
	pid_t pid, struct process_reader **ret_process, struct error *err) MUST_USE;
void process_reader_free(struct process_reader *process);
/* Takes over everything published so far; returns how many bytes that was. */
uint64_t process_reader_drain(struct process_reader *process);
/* Finishes threads that are gone. `all`: the whole process is gone, or the recording ends. */
void process_reader_reap(struct process_reader *process, bool all, uint64_t end_ns);
/* Flushes blocks whose first span is older than `before_ns`. */
void process_reader_flush(struct process_reader *process, uint64_t before_ns);
/* Sub-buffers that are free or not reserved yet, of all; or slots, if there are fewer of them. */
double process_reader_room(const struct process_reader *process);
uint32_t process_reader_counter(
	struct process_reader *process, uint32_t name_string, uint32_t unit_string, uint64_t key);

/* names_reader.c */
struct names_reader *names_reader_open(const char *folder, uint32_t serial);
void names_reader_free(struct names_reader *names);
/* Name number in the store's dictionary; an id that is no name gives that of "?". */
uint32_t names_reader_name(struct names_reader *names, struct recording *recording, uint32_t id);
/* The same as strings: name and category. */
void names_reader_strings(struct names_reader *names, struct recording *recording, uint32_t id,
	uint32_t *ret_name, uint32_t *ret_category);

/* recording.c */
int recording_init(struct recording *recording, struct shm_session *session,
	const struct file_header *header) MUST_USE;
void recording_release(struct recording *recording);
/* Appends a row to one of the shared tables and flushes it when full. */
void recording_row(struct recording *recording, enum block_table table, struct table_rows *rows,
	const uint64_t *values);
void recording_flush(struct recording *recording);
void recording_read_toggles(struct recording *recording);
