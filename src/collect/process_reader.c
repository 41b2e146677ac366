// SPDX-License-Identifier: MIT OR Apache-2.0
/* Draining a process's pool: follow each thread's chain of sub-buffers, hand what is new to the
 * thread's stream, give read sub-buffers back, notice threads that are gone. */
#include "collect/process_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct shm_slot *slot_at(const struct process_reader *process, uint32_t slot)
{
	return (struct shm_slot *)(void *)((uint8_t *)process->pool + SHM_POOL_SLOTS_AT) + slot;
}

/* A sub-buffer by its number + 1, or NULL when the number cannot be. */
static struct shm_sub *sub_at(const struct process_reader *process, uint32_t number)
{
	uint32_t reserved =
		atomic_load_explicit(&process->pool->sub_reserved, memory_order_acquire);
	uint64_t offset = SHM_POOL_BUFFERS_AT + (uint64_t)(number - 1) * SHM_SUB_BYTES;

	if (number == 0 || number > reserved || offset + SHM_SUB_BYTES > process->pool_bytes)
		return NULL;
	return (struct shm_sub *)(void *)((uint8_t *)process->pool + offset);
}

static int map_pool(struct process_reader *process, const char *path, struct error *err)
{
	struct stat info;
	void *memory = MAP_FAILED;
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > (off_t)SHM_POOL_BUFFERS_AT)
		memory =
			mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (memory == MAP_FAILED)
		return error_set(err, STATUS_IO, "%s: cannot be mapped", path);
	process->pool = memory;
	process->pool_bytes = (size_t)info.st_size;
	if (process->pool->magic != SHM_MAGIC_POOL || process->pool->version != SHM_VERSION)
		return error_set(err, STATUS_VERSION,
			"%s: made by another version of libtacho; use the one beside this tacho",
			path);
	return STATUS_OK;
}

int process_reader_open(struct recording *recording, struct names_reader *names, const char *path,
	pid_t pid, struct process_reader **ret_process, struct error *err)
{
	struct process_reader *process = calloc(1, sizeof *process);
	char label[96], name[65] = "";
	struct stat own;
	uint32_t text;
	int status;

	if (!process)
		return error_set(err, STATUS_NOMEM, "out of memory for a process");
	process->recording = recording;
	process->names = names;
	process->pid = pid;
	snprintf(process->path, sizeof process->path, "%s", path);
	process->slots = calloc(SHM_SLOTS, sizeof *process->slots);
	status = process->slots ? map_pool(process, path, err)
				: error_set(err, STATUS_NOMEM, "out of memory for a process");
	if (status != STATUS_OK) {
		process_reader_free(process);
		return status;
	}
	memcpy(name, process->pool->name, sizeof process->pool->name);
	snprintf(label, sizeof label, "%s", name[0] ? name : "process");
	process->same_namespace = stat("/proc/self/ns/pid", &own) != 0 ||
				  process->pool->pid_namespace == 0 ||
				  process->pool->pid_namespace == own.st_ino;
	if (trace_dict_string(&recording->store.dict, label, strlen(label), &text) ||
		trace_dict_track(&recording->store.dict, recording->machine_track, TRACK_PROCESS,
			(uint64_t)pid, text, 0, &process->track)) {
		process_reader_free(process);
		return error_set(err, STATUS_NOMEM, "out of memory for a process");
	}
	*ret_process = process;
	return STATUS_OK;
}

void process_reader_free(struct process_reader *process)
{
	if (!process)
		return;
	for (uint32_t i = 0; process->slots && i < SHM_SLOTS; i++)
		stream_free(process->slots[i].stream);
	for (size_t i = 0; i < process->track_count; i++)
		span_builder_release(&process->tracks[i].builder);
	free(process->slots);
	free(process->tracks);
	id_map_release(&process->track_ids);
	id_map_release(&process->counter_ids);
	id_map_release(&process->open_async);
	id_map_release(&process->early_async);
	id_map_release(&process->frame_ids);
	if (process->pool)
		munmap(process->pool, process->pool_bytes);
	free(process);
}

uint32_t process_reader_counter(
	struct process_reader *process, uint32_t name_string, uint32_t unit_string, uint64_t key)
{
	uint64_t found;
	uint32_t track = 0;

	if (id_map_get(&process->counter_ids, key, &found))
		return (uint32_t)found;
	if (trace_dict_track(&process->recording->store.dict, process->track, TRACK_COUNTER, 0,
		    name_string, unit_string, &track) == STATUS_OK)
		(void)!id_map_put(&process->counter_ids, key, track);
	return track;
}

static struct stream *new_stream(struct process_reader *process, struct shm_slot *slot)
{
	struct trace_dict *dict = &process->recording->store.dict;
	char label[64], name[17] = "";
	uint32_t text, track;

	memcpy(name, slot->name, sizeof slot->name);
	if (name[0])
		snprintf(label, sizeof label, "%s", name);
	else
		snprintf(label, sizeof label, "thread %d", (int)atomic_load(&slot->tid));
	if (trace_dict_string(dict, label, strlen(label), &text) ||
		trace_dict_track(dict, process->track, TRACK_THREAD,
			(uint64_t)atomic_load(&slot->tid), text, 0, &track))
		return NULL;
	return stream_new(process, track);
}

/* Thread numbers are reused: whoever had this one before is gone. */
static void supersede(struct process_reader *process, const struct shm_slot *slot)
{
	uint32_t high = atomic_load_explicit(&process->pool->slot_high, memory_order_acquire);

	for (uint32_t i = 0; i < high && i < SHM_SLOTS; i++) {
		const struct shm_slot *other = slot_at(process, i);

		if (other != slot && atomic_load(&other->tid) == atomic_load(&slot->tid))
			process->slots[i].superseded = true;
	}
}

static void give_back(struct process_reader *process, uint32_t number)
{
	atomic_fetch_or_explicit(&process->pool->free_map[(number - 1) / 64],
		UINT64_C(1) << ((number - 1) % 64), memory_order_release);
}

/* Reads what is new in the current sub-buffer. Returns bytes; *ret_done when it will not grow. */
static uint64_t drain_sub(struct process_reader *process, struct slot_reader *reader,
	struct shm_sub *sub, uint32_t *ret_next)
{
	/* `next` first: whatever was committed before it was set is then visible. */
	uint32_t next = atomic_load_explicit(&sub->next, memory_order_acquire);
	uint32_t committed = atomic_load_explicit(&sub->committed, memory_order_acquire);
	uint32_t from = reader->offset;

	*ret_next = next;
	if (committed > SHM_SUB_BYTES || committed % 16 || committed < from) {
		process->recording->bad_records++;
		reader->broken = true;
		return 0;
	}
	if (committed == from)
		return 0;
	recording_read_toggles(process->recording);
	stream_feed(reader->stream, (const uint8_t *)sub + from, committed - from);
	reader->offset = committed;
	return committed - from;
}

/* Another thread has the slot now: what was known of the one before does not hold for it. */
static void meet_thread(const struct shm_slot *slot, struct slot_reader *reader)
{
	if (reader->generation == slot->generation)
		return;
	reader->generation = slot->generation;
	reader->current = 0;
	reader->sequence = 0;
	reader->dropped_scopes = reader->dropped_events = 0;
	reader->superseded = reader->broken = false;
}

static uint64_t drain_slot(
	struct process_reader *process, struct shm_slot *slot, struct slot_reader *reader)
{
	uint64_t bytes = 0;

	meet_thread(slot, reader);
	if (reader->current == 0) {
		reader->current = atomic_load_explicit(&slot->first, memory_order_acquire);
		reader->offset = SHM_SUB_DATA;
	}
	while (reader->current && !reader->broken) {
		struct shm_sub *sub = sub_at(process, reader->current);
		uint32_t next;

		if (!reader->stream) {
			supersede(process, slot);
			reader->stream = new_stream(process, slot);
		}
		/* The number in the chain also keeps a chain that bites its tail from going on for
		 * ever.
		 */
		if (!sub || !reader->stream || sub->sequence != reader->sequence) {
			process->recording->bad_records++;
			reader->broken = true;
			return bytes;
		}
		bytes += drain_sub(process, reader, sub, &next);
		if (!next || reader->broken)
			break;
		give_back(process, reader->current);
		reader->current = next;
		reader->offset = SHM_SUB_DATA;
		reader->sequence++;
	}
	return bytes;
}

/* What the thread dropped since we last looked. */
static void count_drops(
	struct process_reader *process, struct shm_slot *slot, struct slot_reader *reader)
{
	uint64_t scopes = atomic_load_explicit(&slot->dropped_scopes, memory_order_relaxed);
	uint64_t events = atomic_load_explicit(&slot->dropped_events, memory_order_relaxed);
	uint64_t more = scopes - reader->dropped_scopes + events - reader->dropped_events;
	struct ledger *ledger = &process->recording->store.ledger;
	char where[80];

	if (!more)
		return;
	snprintf(where, sizeof where, "process %d thread %d", (int)process->pid,
		(int)atomic_load(&slot->tid));
	if (scopes != reader->dropped_scopes)
		ledger_add(ledger, scopes - reader->dropped_scopes, "scopes dropped", where,
			"no free buffer: they are missing, times around them are right");
	if (events != reader->dropped_events)
		ledger_add(ledger, events - reader->dropped_events, "events dropped", where,
			"no free buffer: counters, arguments or marks are missing");
	process->dropped += more;
	reader->dropped_scopes = scopes;
	reader->dropped_events = events;
}

uint64_t process_reader_drain(struct process_reader *process)
{
	uint32_t high = atomic_load_explicit(&process->pool->slot_high, memory_order_acquire);
	uint32_t wanted = atomic_load_explicit(&process->pool->flush_wanted, memory_order_acquire);
	uint64_t bytes = 0;

	high = high < SHM_SLOTS ? high : SHM_SLOTS;
	for (uint32_t i = 0; i < high; i++) {
		struct shm_slot *slot = slot_at(process, i);

		if (atomic_load_explicit(&slot->state, memory_order_acquire) == SHM_SLOT_LIVE)
			bytes += drain_slot(process, slot, &process->slots[i]);
	}
	atomic_store_explicit(&process->pool->flush_done, wanted, memory_order_release);
	return bytes;
}

static bool thread_gone(const struct process_reader *process, const struct shm_slot *slot)
{
	return process->same_namespace &&
	       syscall(SYS_tgkill, process->pid, atomic_load(&slot->tid), 0) != 0 && errno == ESRCH;
}

static void finish_slot(struct process_reader *process, struct shm_slot *slot,
	struct slot_reader *reader, bool gone, uint64_t end_ns)
{
	(void)drain_slot(process, slot, reader);
	count_drops(process, slot, reader);
	if (reader->stream) {
		stream_close_all(reader->stream, end_ns, true);
		stream_flush(reader->stream);
		stream_free(reader->stream);
		reader->stream = NULL;
	}
	/* A thread that lives on, because only the recording has ended, keeps its slot and its
	 * buffer. */
	if (!gone)
		return;
	if (reader->current && !reader->broken)
		give_back(process, reader->current);
	reader->current = 0;
	atomic_store_explicit(&slot->state, SHM_SLOT_FREE, memory_order_release);
}

static void finish_async(struct process_reader *process)
{
	process->recording->async_open += process->open_async.count;
	process->recording->unmatched_ends += process->early_async.count;
	id_map_release(&process->open_async);
	id_map_release(&process->early_async);
}

void process_reader_reap(struct process_reader *process, bool all, uint64_t end_ns)
{
	uint32_t high = atomic_load_explicit(&process->pool->slot_high, memory_order_acquire);
	uint64_t early;
	char where[80];

	high = high < SHM_SLOTS ? high : SHM_SLOTS;
	for (uint32_t i = 0; i < high; i++) {
		struct shm_slot *slot = slot_at(process, i);

		if (atomic_load_explicit(&slot->state, memory_order_acquire) != SHM_SLOT_LIVE)
			continue;
		meet_thread(slot, &process->slots[i]);
		count_drops(process, slot, &process->slots[i]);
		bool gone = !all && (process->slots[i].superseded || thread_gone(process, slot));

		if (all || gone)
			finish_slot(process, slot, &process->slots[i], gone, end_ns);
	}
	early = atomic_load_explicit(&process->pool->dropped_early, memory_order_relaxed);
	snprintf(where, sizeof where, "process %d", (int)process->pid);
	if (early > process->dropped_early) {
		ledger_add(&process->recording->store.ledger, early - process->dropped_early,
			"events dropped before a thread was ready", where,
			"too many threads at once, or a signal during set-up");
		process->dropped += early - process->dropped_early;
		process->dropped_early = early;
	}
	if (all && !process->ended) {
		finish_async(process);
		process_reader_flush(process, UINT64_MAX);
		process->ended = true;
	}
}

void process_reader_flush(struct process_reader *process, uint64_t before_ns)
{
	uint32_t high = atomic_load_explicit(&process->pool->slot_high, memory_order_acquire);

	high = high < SHM_SLOTS ? high : SHM_SLOTS;
	for (uint32_t i = 0; i < high; i++) {
		struct stream *stream = process->slots[i].stream;

		if (stream && stream->builder.count && stream->oldest_ns < before_ns)
			stream_flush(stream);
	}
	for (size_t i = 0; i < process->track_count; i++)
		if (process->tracks[i].builder.count && process->tracks[i].oldest_ns < before_ns)
			store_spans(&process->recording->store, process->tracks[i].track,
				&process->tracks[i].builder);
}

static double slot_room(const struct process_reader *process)
{
	uint32_t high = atomic_load_explicit(&process->pool->slot_high, memory_order_relaxed);
	uint32_t taken = 0;

	if (high <= SHM_SLOTS / 2)
		return 1;
	for (uint32_t i = 0; i < SHM_SLOTS; i++)
		taken += atomic_load_explicit(&slot_at(process, i)->state, memory_order_relaxed) !=
			 SHM_SLOT_FREE;
	return 1 - (double)taken / SHM_SLOTS;
}

double process_reader_room(const struct process_reader *process)
{
	uint32_t reserved =
		atomic_load_explicit(&process->pool->sub_reserved, memory_order_relaxed);
	uint32_t count = process->pool->sub_count, free_count = 0;
	double slots = slot_room(process), subs;

	if (count == 0 || count > SHM_SUBS_MAX || reserved > count)
		return 0;
	for (uint32_t w = 0; w < (reserved + 63) / 64; w++)
		free_count += (uint32_t)__builtin_popcountll(
			atomic_load_explicit(&process->pool->free_map[w], memory_order_relaxed));
	subs = (double)(free_count + count - reserved) / (double)count;
	return subs < slots ? subs : slots;
}
