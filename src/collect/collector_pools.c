// SPDX-License-Identifier: MIT OR Apache-2.0
/* The processes of a session: finding their pools, draining them, noticing that they ended. */
#include "collect/collector_internal.h"

#include "base/array.h"
#include "base/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMES_IDLE_NS UINT64_C(1000000000)

uint64_t collector_now(const struct collector *collector)
{
	return clock_sync_from_mono(&collector->recording.clock, clock_mono_ns());
}

static struct names_reader *find_names(struct collector *collector, uint32_t serial)
{
	struct names_reader *names;

	for (size_t i = 0; i < collector->names_count; i++)
		if (collector->names[i]->serial == serial)
			return collector->names[i];
	if (array_grow((void **)&collector->names, &collector->names_capacity,
		    collector->names_count + 1, sizeof(struct names_reader *)) != STATUS_OK)
		return NULL;
	names = names_reader_open(collector->dir.path, serial);
	if (names)
		collector->names[collector->names_count++] = names;
	return names;
}

static bool is_known(const struct collector *collector, const char *path, const char *name)
{
	for (size_t i = 0; i < collector->process_count; i++)
		if (strcmp(collector->processes[i].reader->path, path) == 0)
			return true;
	for (size_t i = 0; i < collector->ignored_count; i++)
		if (strcmp(collector->ignored[i], name) == 0)
			return true;
	return false;
}

static void ignore(struct collector *collector, const char *name, const struct error *err)
{
	if (array_grow((void **)&collector->ignored, &collector->ignored_capacity,
		    collector->ignored_count + 1, sizeof *collector->ignored) == STATUS_OK)
		snprintf(collector->ignored[collector->ignored_count++], sizeof *collector->ignored,
			"%s", name);
	ledger_add(
		&collector->recording.store.ledger, 1, "process not recorded", name, err->message);
}

/* The first page of a pool that is being made or is ready. */
static bool read_head(const char *path, struct shm_pool *ret_head)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool done = fd >= 0 && read(fd, ret_head, sizeof *ret_head) == (ssize_t)sizeof *ret_head;

	if (fd >= 0)
		close(fd);
	return done;
}

/* Sums up a process that ends and lets go of its memory. */
static void close_process(struct collector *collector, size_t index, uint64_t end_ns)
{
	struct followed process = collector->processes[index];

	process_reader_reap(process.reader, true, end_ns);
	collector->dropped += process.reader->dropped;
	collector->names_lost += atomic_load(&process.reader->pool->names_lost);
	collector->cut_strings += atomic_load(&process.reader->pool->cut_strings);
	unlink(process.reader->path);
	if (--process.reader->names->users == 0)
		process.reader->names->idle_ns = clock_mono_ns();
	process_reader_free(process.reader);
	if (process.pid_fd >= 0)
		close(process.pid_fd);
	collector->processes[index] = collector->processes[--collector->process_count];
}

/* When a process has called exec, what it was before has ended; the two may be found in any order.
 */
static void close_replaced(struct collector *collector, const struct process_reader *found)
{
	const struct shm_pool *pool = found->pool, *newest = pool;
	const pid_t pid = found->pid;

	for (size_t i = 0; i < collector->process_count; i++) {
		const struct process_reader *reader = collector->processes[i].reader;

		if (reader->pid == pid && reader->pool->pid_namespace == pool->pid_namespace &&
			reader->pool->start_ticks > newest->start_ticks)
			newest = reader->pool;
	}
	for (size_t i = 0; i < collector->process_count;) {
		const struct process_reader *reader = collector->processes[i].reader;

		if (reader->pid == pid && reader->pool->pid_namespace == newest->pid_namespace &&
			reader->pool->image != newest->image)
			close_process(collector, i, collector_now(collector));
		else
			i++;
	}
}

static void open_pool(struct collector *collector, const char *path, const char *name, pid_t pid)
{
	struct error err = ERROR_INIT;
	struct process_reader *reader;
	struct names_reader *names;
	struct shm_pool head;

	/* The processes before it in the same look may have taken the last descriptors. */
	collector_hold_spares(collector);
	collector_release_spares(collector);
	if (!read_head(path, &head) || !atomic_load(&head.ready))
		return; /* its maker bumps pool_serial again when it is ready */
	if (head.magic != SHM_MAGIC_POOL || head.version != SHM_VERSION) {
		error_set(&err, STATUS_VERSION,
			"its libtacho is of another version; use the one beside this tacho");
		ignore(collector, name, &err);
		return;
	}
	names = find_names(collector, head.names_serial);
	if (!names) {
		error_set(&err, STATUS_IO, "its names cannot be read");
		ignore(collector, name, &err);
		return;
	}
	if (array_grow((void **)&collector->processes, &collector->process_capacity,
		    collector->process_count + 1, sizeof *collector->processes) != STATUS_OK)
		return;
	if (process_reader_open(&collector->recording, names, path, pid, &reader, &err) !=
		STATUS_OK) {
		ignore(collector, name, &err);
		return;
	}
	collector->processes[collector->process_count++] = (struct followed){ .reader = reader,
		.pid_fd = reader->same_namespace ? (int)syscall(SYS_pidfd_open, pid, 0) : -1 };
	collector->processes_total++;
	names->users++;
	(void)!id_map_put(&collector->process_tracks, (uint64_t)pid, reader->track);
	close_replaced(collector, reader);
}

/* Frees a descriptor; the process's end is then seen by asking for it. */
static bool drop_pid_fd(struct collector *collector)
{
	for (size_t i = 0; i < collector->process_count; i++)
		if (collector->processes[i].pid_fd >= 0) {
			close(collector->processes[i].pid_fd);
			collector->processes[i].pid_fd = -1;
			return true;
		}
	return false;
}

void collector_hold_spares(struct collector *collector)
{
	for (size_t i = 0; i < COLLECTOR_SPARE_FDS; i++)
		do
			collector->spare_fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		while (collector->spare_fds[i] < 0 && drop_pid_fd(collector));
}

void collector_release_spares(struct collector *collector)
{
	for (size_t i = 0; i < COLLECTOR_SPARE_FDS; i++) {
		if (collector->spare_fds[i] >= 0)
			close(collector->spare_fds[i]);
		collector->spare_fds[i] = -1;
	}
}

void collector_find_pools(struct collector *collector)
{
	struct shm_session *session = collector->dir.session;
	uint32_t serial = atomic_load_explicit(&session->pool_serial, memory_order_acquire);
	struct dirent *entry;
	DIR *folder;

	if (serial == collector->pools_seen)
		return;
	collector_release_spares(collector);
	folder = opendir(collector->dir.path);
	if (folder)
		collector->pools_seen = serial;
	while (folder && (entry = readdir(folder))) {
		char path[SESSION_PATH_BYTES + 64];
		int pid, length = 0;

		if (sscanf(entry->d_name, "pool-%d-%n", &pid, &length) != 1 || length == 0 ||
			pid <= 0)
			continue;
		if (snprintf(path, sizeof path, "%s/%.60s", collector->dir.path, entry->d_name) >=
				(int)sizeof path ||
			is_known(collector, path, entry->d_name))
			continue;
		open_pool(collector, path, entry->d_name, pid);
	}
	if (folder)
		closedir(folder);
	collector_hold_spares(collector);
}

uint64_t collector_drain(struct collector *collector)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < collector->process_count; i++)
		bytes += process_reader_drain(collector->processes[i].reader);
	return bytes;
}

static bool process_gone(const struct followed *process)
{
	struct pollfd ready = { .fd = process->pid_fd, .events = POLLIN };

	if (!process->reader->same_namespace)
		return false;
	if (process->pid_fd >= 0)
		return poll(&ready, 1, 0) > 0;
	return kill(process->reader->pid, 0) != 0 && errno == ESRCH;
}

/* Names outlive their processes for a while: a forked child may be about to use them. */
static void forget_names(struct collector *collector)
{
	uint64_t now = clock_mono_ns();

	for (size_t i = 0; i < collector->names_count;) {
		struct names_reader *names = collector->names[i];

		if (names->users || now < names->idle_ns + NAMES_IDLE_NS) {
			i++;
			continue;
		}
		unlink(names->path);
		names_reader_free(names);
		collector->names[i] = collector->names[--collector->names_count];
	}
}

void collector_reap(struct collector *collector)
{
	uint64_t now = collector_now(collector);

	for (size_t i = 0; i < collector->process_count;) {
		if (process_gone(&collector->processes[i])) {
			close_process(collector, i, now);
		} else {
			process_reader_reap(collector->processes[i].reader, false, now);
			i++;
		}
	}
	forget_names(collector);
}

void collector_flush(struct collector *collector, uint64_t before_ns)
{
	for (size_t i = 0; i < collector->process_count; i++)
		process_reader_flush(collector->processes[i].reader, before_ns);
	if (collector->recording.rows_since_ns && collector->recording.rows_since_ns < before_ns)
		recording_flush(&collector->recording);
}

void collector_close_processes(struct collector *collector, uint64_t end_ns)
{
	while (collector->process_count)
		close_process(collector, collector->process_count - 1, end_ns);
}
