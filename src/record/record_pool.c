// SPDX-License-Identifier: MIT OR Apache-2.0
/* The pool of a process: making it, growing it, handing sub-buffers to threads. Memory is reserved
 * before it is touched, so a full file system is an error here and never a SIGBUS in the program.
 * No descriptor stays open: a program that closes them all does no harm. */
#include "record/record_internal.h"

#include <tacho/tacho.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATTACH_SPINS  2000
#define GROW_RETRY_NS UINT64_C(10000000)
/* Silent for so long, the collector is asked for; where it cannot be, it is taken for dead later.
 */
#define BEAT_NS      UINT64_C(5000000000)
#define BEAT_LOST_NS UINT64_C(60000000000)

static __thread int attaching __attribute__((tls_model("initial-exec")));

/* Leaves the reason for the collector's ledger. */
static void refuse(struct shm_session *session, const char *why)
{
	if (atomic_fetch_add(&session->refused, 1) == 0) {
		record_text_add(session->note, sizeof session->note, 0, why);
		atomic_store_explicit(&session->refused_reason, 1, memory_order_release);
	}
}

uint64_t record_file_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? (uint64_t)limit.rlim_cur : UINT64_MAX;
}

void record_count_early(void)
{
	struct process_state *process = record_globals.process;

	if (!process)
		return;
	if (atomic_load_explicit(&process->phase, memory_order_acquire) != PROCESS_READY) {
		atomic_fetch_add(&process->dropped_early, 1);
		if (atomic_load(&process->phase) != PROCESS_READY)
			return; /* whoever makes the pool takes it over */
	} else {
		atomic_fetch_add_explicit(
			&record_globals.pool->dropped_early, 1, memory_order_relaxed);
	}
	atomic_fetch_add_explicit(&record_globals.pool->dropped_early,
		atomic_exchange(&process->dropped_early, 0), memory_order_relaxed);
}

/* Backs bytes [from, until) of a file with memory, but leaves the file system some air. */
static bool reserve(int fd, uint64_t from, uint64_t until)
{
	struct statvfs space;

	if (fstatvfs(fd, &space) == 0 &&
		(uint64_t)space.f_bavail * space.f_frsize < until - from + SHM_KEEP_FREE)
		return false;
	return posix_fallocate(fd, (off_t)from, (off_t)(until - from)) == 0;
}

static uint64_t sub_offset(uint32_t sub)
{
	return SHM_POOL_BUFFERS_AT + (uint64_t)sub * SHM_SUB_BYTES;
}

static void mark_free(struct shm_pool *pool, uint32_t from, uint32_t until)
{
	for (uint32_t i = from; i < until; i++)
		atomic_fetch_or_explicit(
			&pool->free_map[i / 64], UINT64_C(1) << (i % 64), memory_order_release);
}

static int open_new(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static struct shm_pool *map_pool(const char *path, uint64_t bytes, const char **ret_why)
{
	int fd = open_new(path);
	void *memory = MAP_FAILED;

	*ret_why = "cannot create a file in the session folder";
	if (fd < 0)
		return NULL;
	*ret_why = "no room in shared memory";
	if (ftruncate(fd, (off_t)bytes) == 0 && reserve(fd, 0, sub_offset(INITIAL_SUBS)))
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED) {
		unlink(path);
		return NULL;
	}
	return memory;
}

/* A number that is new after each exec; it does not tell the random bytes it is made from. */
static uint64_t image_number(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t words[2] = { 0 };

	if (random)
		memcpy(words, random, sizeof words);
	words[0] = (words[0] ^ words[1] >> 7) * 0x9e3779b97f4a7c15u;
	return (words[0] ^ words[0] >> 29) + words[1] * 0xc2b2ae3d27d4eb4fu;
}

static void describe_process(struct shm_pool *pool)
{
	struct statx namespace;

	pool->pid = getpid();
	pool->parent_pid = getppid();
	pool->image = image_number();
	pool->start_ticks = record_ticks();
	pool->pid_namespace = statx(AT_FDCWD, "/proc/self/ns/pid", 0, STATX_INO, &namespace) == 0
				      ? namespace.stx_ino
				      : 0;
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		ssize_t got = read(fd, pool->name, sizeof pool->name - 1);

		if (got > 0 && pool->name[got - 1] == '\n')
			pool->name[got - 1] = 0;
		close(fd);
	}
}

static void pool_path(char *path, size_t bytes)
{
	size_t length = record_text_add(path, bytes, 0, record_globals.folder);

	length = record_text_add(path, bytes, length, "/pool-");
	length = record_text_number(path, bytes, length, (uint64_t)getpid());
	length = record_text_add(path, bytes, length, "-");
	record_text_number(path, bytes, length, clock_mono_ns());
}

static bool attach_process(struct record_globals *globals)
{
	struct shm_session *session = globals->session;
	uint64_t subs = session->pool_bytes / SHM_SUB_BYTES, limit = record_file_limit();
	struct shm_pool *pool;
	const char *why;

	if (!(session->flags & SHM_FOLLOW) && session->main_pid && getpid() != session->main_pid)
		return false;
	if (subs > SHM_SUBS_MAX)
		subs = SHM_SUBS_MAX;
	while (subs > INITIAL_SUBS && sub_offset((uint32_t)subs) > limit)
		subs /= 2;
	if (subs < INITIAL_SUBS)
		subs = INITIAL_SUBS;
	if (sub_offset((uint32_t)subs) > limit) {
		refuse(session, "the limit on the size of files is too small for a pool");
		return false;
	}
	if (!record_names_share(globals->folder, session->session_id, session->names_bytes)) {
		refuse(session, "no room for names in shared memory");
		return false;
	}
	pool_path(globals->pool_path, sizeof globals->pool_path);
	pool = map_pool(globals->pool_path, sub_offset((uint32_t)subs), &why);
	if (!pool) {
		refuse(session, why);
		return false;
	}
	/* After a fork this is the parent's pool, which we only unmap. */
	if (globals->pool)
		munmap(globals->pool, globals->pool_bytes);
	globals->pool_bytes = sub_offset((uint32_t)subs);
	pool->magic = SHM_MAGIC_POOL;
	pool->version = SHM_VERSION;
	pool->names_serial = record_names_serial();
	pool->sub_count = (uint32_t)subs;
	describe_process(pool);
	atomic_store(&pool->sub_reserved, INITIAL_SUBS);
	mark_free(pool, 0, INITIAL_SUBS);
	globals->pool = pool;
	atomic_store_explicit(&pool->ready, 1, memory_order_release);
	atomic_fetch_add_explicit(&session->pool_serial, 1, memory_order_release);
	return true;
}

bool record_process_ready(void)
{
	struct record_globals *globals = &record_globals;
	uint32_t fresh = PROCESS_FRESH;

	if (!globals->session || !globals->process)
		return false;
	if (atomic_compare_exchange_strong(&globals->process->phase, &fresh, PROCESS_ATTACHING)) {
		bool done = attach_process(globals);

		atomic_store(&globals->process->phase, done ? PROCESS_READY : PROCESS_REFUSED);
		if (!done)
			record_switch_off();
		else
			atomic_fetch_add(&globals->pool->dropped_early,
				atomic_exchange(&globals->process->dropped_early, 0));
		return done;
	}
	/* Another thread is at it; it takes well under a millisecond. */
	for (int i = 0; i < ATTACH_SPINS; i++) {
		uint32_t phase =
			atomic_load_explicit(&globals->process->phase, memory_order_acquire);

		if (phase != PROCESS_ATTACHING)
			return phase == PROCESS_READY;
		sched_yield();
	}
	return false;
}

static struct shm_slot *pool_slots(struct shm_pool *pool)
{
	return (struct shm_slot *)(void *)((uint8_t *)pool + SHM_POOL_SLOTS_AT);
}

static struct shm_slot *take_slot(struct shm_pool *pool)
{
	struct shm_slot *slots = pool_slots(pool);
	uint32_t high;

	for (uint32_t i = 0; i < SHM_SLOTS; i++) {
		uint32_t state = SHM_SLOT_FREE;

		if (atomic_load_explicit(&slots[i].state, memory_order_relaxed) != SHM_SLOT_FREE ||
			!atomic_compare_exchange_strong(&slots[i].state, &state, SHM_SLOT_TAKEN))
			continue;
		high = atomic_load(&pool->slot_high);
		while (high < i + 1 &&
			!atomic_compare_exchange_weak(&pool->slot_high, &high, i + 1))
			;
		return &slots[i];
	}
	return NULL;
}

static struct thread_state *attach_thread(void)
{
	struct record_globals *globals = &record_globals;
	struct thread_state *thread;
	struct shm_slot *slot;

	if (!record_process_ready())
		return NULL;
	slot = take_slot(globals->pool);
	if (!slot)
		return NULL;
	slot->generation++;
	atomic_store(&slot->first, 0);
	atomic_store(&slot->dropped_scopes, 0);
	atomic_store(&slot->dropped_events, 0);
	atomic_store(&slot->tid, (int32_t)syscall(SYS_gettid));
	memset(slot->name, 0, sizeof slot->name);
	prctl(PR_GET_NAME, slot->name);
	thread = &globals->states[slot - pool_slots(globals->pool)];
	record_set_busy(thread, 0);
	memset(&thread->position, 0, sizeof *thread - offsetof(struct thread_state, position));
	thread->slot = slot;
	thread->pool = globals->pool;
	thread->magic = RECORD_MAGIC;
	atomic_store_explicit(&slot->state, SHM_SLOT_LIVE, memory_order_release);
	record_current = thread;
	return thread;
}

struct thread_state *record_thread_attach(void)
{
	struct thread_state *thread;
	int saved = errno;

	if (attaching || !record_has_session() || atomic_load(&record_globals.session->ended))
		return NULL;
	attaching = 1;
	thread = attach_thread();
	attaching = 0;
	errno = saved;
	return thread;
}

/* Doubles the reserved part. The path is opened anew each time; that is rare. */
static bool grow_pool(struct shm_pool *pool)
{
	uint32_t reserved = atomic_load(&pool->sub_reserved), wanted = reserved * 2;
	_Atomic uint64_t *after_ns = &record_globals.process->grow_after_ns;
	int fd;
	bool done;

	if (reserved >= pool->sub_count || clock_mono_ns() < atomic_load(after_ns))
		return false;
	if (wanted > pool->sub_count)
		wanted = pool->sub_count;
	fd = open(record_globals.pool_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	done = fd >= 0 && reserve(fd, sub_offset(reserved), sub_offset(wanted));
	if (fd >= 0)
		close(fd);
	/* Two threads may both have reserved the range; one of them publishes it. */
	if (done && atomic_compare_exchange_strong(&pool->sub_reserved, &reserved, wanted))
		mark_free(pool, reserved, wanted);
	/* Every event that finds no room comes by here: do not enter the kernel for each. */
	if (!done)
		atomic_store(after_ns, clock_mono_ns() + GROW_RETRY_NS);
	return done;
}

/* A free sub-buffer's number + 1, or 0. Low numbers first keeps a small set warm in the cache. */
static uint32_t take_free(struct shm_pool *pool)
{
	uint32_t words = (pool->sub_count + 63) / 64;

	for (uint32_t w = 0; w < words; w++) {
		uint64_t bits = atomic_load_explicit(&pool->free_map[w], memory_order_relaxed);

		while (bits) {
			uint64_t bit = bits & (0 - bits);
			uint64_t before = atomic_fetch_and_explicit(
				&pool->free_map[w], ~bit, memory_order_acquire);

			if (before & bit)
				return w * 64 + (uint32_t)__builtin_ctzll(bit) + 1;
			bits = before & ~bit;
		}
	}
	return 0;
}

/* When the collector is gone nobody will ever free a sub-buffer: stop trying. One that is silent
 * may only be stopped, as by Ctrl-Z. */
static bool collector_alive(const struct shm_session *session, const struct shm_pool *pool)
{
	uint64_t beat = atomic_load_explicit(&session->heartbeat_ns, memory_order_relaxed);
	uint64_t now = clock_mono_ns();

	if (atomic_load_explicit(&session->ended, memory_order_relaxed))
		return false;
	if (now < beat + BEAT_NS)
		return true;
	if (session->pid_namespace && session->pid_namespace == pool->pid_namespace)
		return kill(session->collector_pid, 0) == 0 || errno != ESRCH;
	return now < beat + BEAT_LOST_NS;
}

bool record_next_sub(struct thread_state *thread)
{
	struct shm_pool *pool = thread->pool;
	uint32_t number = take_free(pool);
	struct shm_sub *sub;
	int saved = errno;

	while (!number && grow_pool(pool))
		number = take_free(pool);
	if (!number && !collector_alive(record_globals.session, pool))
		record_switch_off();
	errno = saved;
	if (!number)
		return false;
	sub = (struct shm_sub *)(void *)((uint8_t *)pool + sub_offset(number - 1));
	atomic_store_explicit(&sub->committed, SHM_SUB_DATA, memory_order_relaxed);
	atomic_store_explicit(&sub->next, 0, memory_order_relaxed);
	sub->slot = (uint32_t)(thread->slot - pool_slots(pool));
	sub->generation = thread->slot->generation;
	sub->sequence = thread->sequence++;
	if (thread->sub)
		atomic_store_explicit(&thread->sub->next, number, memory_order_release);
	else
		atomic_store_explicit(&thread->slot->first, number, memory_order_release);
	thread->sub = sub;
	thread->base = (uint8_t *)sub;
	thread->position = SHM_SUB_DATA;
	return true;
}
