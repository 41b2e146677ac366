/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the recorder share. Everything here runs inside the user's process: it never
 * exits, prints, or changes errno; nothing on the hot path allocates, locks or enters the kernel.
 *
 *   thread --current--> thread_state (private, wiped in a forked child)
 *                         | base, position                        shared memory
 *                         +-----------------------------> sub-buffer <---- collector
 *
 * A forked child finds its state zeroed (MADV_WIPEONFORK): position + bytes > limit sends it down
 * the slow path, where it notices that it is a new process and makes its own pool. */
#pragma once

#include "base/clock.h"
#include "base/settings.h"
#include "format/shm_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIKELY(x)     __builtin_expect(!!(x), 1)
#define UNLIKELY(x)   __builtin_expect(!!(x), 0)
#define RECORD_API    __attribute__((visibility("default")))
#define RECORD_MAGIC  0x7ac40001u
#define PENDING_MAX   64u
#define PATH_BYTES    256u
#define INITIAL_SUBS  16u         /* half a MiB until more is needed */
#define SHM_KEEP_FREE (16u << 20) /* of the file system, for the program's own shared memory */

/* A scope, phase or step that could not be written yet; see record_slow.c. */
struct pending {
	uint64_t head, ticks, value;
};

struct thread_state {
	uint32_t busy; /* a signal handler that finds it set drops its events and counts them */
	uint32_t position, limit;
	uint32_t magic; /* RECORD_MAGIC, or 0 in a forked child */
	uint8_t *base;
	struct shm_pool *pool;
	struct shm_sub *sub;
	struct shm_slot *slot;
	uint64_t sequence;
	uint64_t lost_ends, lost_ticks;
	uint32_t starving; /* no sub-buffer was free */
	uint32_t pending_count, pending_skip;
	struct pending pending[PENDING_MAX];
} __attribute__((aligned(128)));

/* Wiped on fork, so a child starts as a process of its own. */
enum process_phase { PROCESS_FRESH = 0, PROCESS_ATTACHING, PROCESS_READY, PROCESS_REFUSED };
struct process_state {
	_Atomic uint32_t phase;
	_Atomic uint32_t names_lock;
	_Atomic uint64_t step_count;
	_Atomic uint64_t dropped_early; /* before there was a pool to count them in */
	_Atomic uint64_t grow_after_ns; /* there was no room; try again then */
};

struct record_globals {
	struct shm_session *_Atomic session;
	struct shm_pool *_Atomic pool;
	struct process_state *process;
	struct thread_state *states; /* SHM_SLOTS of them, anew for each session */
	uint64_t pool_bytes;
	char folder[PATH_BYTES];
	char pool_path[PATH_BYTES + 64];
	_Atomic int state; /* enum tacho_state as decided by attach or start */
	char status_text[256];
};

extern struct record_globals record_globals;
extern struct thread_state record_no_state; /* busy for ever: "this thread has no state yet" */
extern uint32_t record_hardware_clock;

extern __thread struct thread_state *record_current __attribute__((tls_model("initial-exec")));

static inline uint64_t record_ticks(void)
{
	return LIKELY(__atomic_load_n(&record_hardware_clock, __ATOMIC_RELAXED)) ? clock_hardware()
										 : clock_mono_ns();
}

/* Between the thread and its own signal handlers; relaxed atomics, since the state may have
 * belonged to a thread that is gone. */
static inline uint32_t record_is_busy(const struct thread_state *thread)
{
	return __atomic_load_n(&thread->busy, __ATOMIC_RELAXED);
}
static inline void record_set_busy(struct thread_state *thread, uint32_t value)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&thread->busy, value, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* record_slow.c: what the hot path does not do itself. */
void record_slow_begin(uint64_t head, uint64_t value);
void record_slow_end(void);
/* Room for a record of `bytes` bytes, or NULL: dropped and counted. Leaves `busy` set when it gives
 * room; the caller ends with record_commit(). */
uint64_t *record_reserve(uint32_t bytes, struct thread_state **ret_thread);
static inline void record_commit(struct thread_state *thread, uint32_t bytes)
{
	thread->position += bytes;
	atomic_store_explicit(&thread->sub->committed, thread->position, memory_order_release);
	record_set_busy(thread, 0);
}

/* record_pool.c */
bool record_process_ready(void); /* attaches the process when it is fresh */
void record_count_early(void);   /* an event that no thread's slot can count */
struct thread_state *record_thread_attach(void);
bool record_next_sub(struct thread_state *thread);

/* record_names.c */
uint32_t record_name(const char *name, const char *category);
bool record_names_share(const char *folder, uint32_t serial, uint64_t limit_bytes);
uint32_t record_names_serial(void);

/* record_session.c */
void record_set_active(struct shm_session *session, bool on);
bool record_join(const char *folder, char *ret_why, size_t why_bytes);
bool record_has_session(void);
void record_switch_off(void); /* in this process, for good */
/* The largest file the process may make: beyond it the kernel would kill the program. */
uint64_t record_file_limit(void);

/* record_helper.c: starts a collector of our own; fills `folder` with its session. */
bool record_start_collector(const struct settings *settings, const char *output, char *folder,
	size_t folder_bytes, char *ret_why, size_t why_bytes);

/* record_text.c: small formatting without printf, safe anywhere. Returns the new length. */
size_t record_text_add(char *text, size_t bytes, size_t length, const char *more);
size_t record_text_number(char *text, size_t bytes, size_t length, uint64_t number);
