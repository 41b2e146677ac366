/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the recording library and the collector share: files in a session directory that both map.
 *
 *   session            struct shm_session, made by the collector
 *   names-<n>          struct shm_names + entries; one per family of forked processes
 *   pool-<pid>-<n>     struct shm_pool + thread slots + sub-buffers; one per process
 *
 *   pool file:
 *   0          struct shm_pool          (header, bitmap of free sub-buffers)
 *   4096       struct shm_slot[SHM_SLOTS]
 *   SHM_POOL_BUFFERS_AT   sub-buffers of SHM_SUB_BYTES, reserved from the front as needed
 *
 *   sub-buffer:
 *   0          struct shm_sub           (who writes it, how far, what follows)
 *   64         records, each a multiple of 16 bytes, in the order they happened on the thread
 *   SHM_SUB_SOFT          room kept for ends of open scopes while no sub-buffer is free
 *
 * One thread writes a sub-buffer, one collector reads it. The writer publishes by a release store
 * of `committed`; when it moves on it stores `next`. The collector gives a sub-buffer back by
 * setting its bit in the free map. Nothing here is trusted by the collector beyond bounds checks:
 * the other side is a foreign process. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define SHM_MAGIC_SESSION 0x53484354u /* "TCHS" */
#define SHM_MAGIC_POOL    0x50484354u /* "TCHP" */
#define SHM_MAGIC_NAMES   0x4e484354u /* "TCHN" */
#define SHM_VERSION       1u          /* both sides must agree exactly */

#define SHM_SUB_BYTES    (32u << 10)
#define SHM_SUB_DATA     64u
#define SHM_SUB_TAIL     (2u << 10)
#define SHM_SUB_SOFT     (SHM_SUB_BYTES - SHM_SUB_TAIL)
#define SHM_RECORD_MAX   4080u /* largest record: 255 units of 16 bytes */
#define SHM_SUBS_MAX     8192u /* pool of at most 256 MiB */
#define SHM_SLOTS        2048u
#define SHM_TOGGLES      4096u
#define SHM_OUTPUT_BYTES 1024u

enum shm_session_flags {
	SHM_FOLLOW = 1u << 0, /* processes other than the first may record */
	SHM_RECORD_SHAPES = 1u << 1,
	SHM_WITH_FLOPS = 1u << 2,
};

/* Recording was switched on or off at `ticks`. */
struct shm_toggle {
	_Atomic uint64_t ticks;
	_Atomic uint32_t on;
	uint32_t reserved;
};

struct shm_session {
	uint32_t magic;
	uint32_t version;
	_Atomic uint32_t active;      /* what tacho_switch points to */
	_Atomic uint32_t pool_serial; /* grows by one when a pool or names file was added */
	uint32_t flags;
	uint32_t clock_kind;
	int32_t collector_pid;
	int32_t main_pid; /* the program started by the tool; 0 until it is started */
	uint64_t pool_bytes;
	uint64_t names_bytes;
	_Atomic uint64_t heartbeat_ns; /* CLOCK_MONOTONIC, by the collector */
	_Atomic uint32_t ended;        /* the collector has finished; nobody drains any more */
	uint32_t session_id;
	/* Schedule over tacho_step() calls of the first process that makes one; active 0: none. */
	uint32_t schedule_wait, schedule_warmup, schedule_active, schedule_repeat;
	_Atomic int32_t schedule_pid;
	_Atomic uint32_t toggle_count;
	_Atomic uint32_t refused; /* processes or threads that could not get room, with reason: */
	_Atomic uint32_t refused_reason;
	_Atomic uint32_t bad_settings; /* settings that the library could not understand */
	_Atomic uint32_t toggle_lock;  /* held for a moment by whoever switches */
	uint64_t pid_namespace;        /* inode of the collector's pid namespace */
	uint64_t anchor_ticks, anchor_mono_ns, anchor_real_ns;
	struct shm_toggle toggles[SHM_TOGGLES];
	char output[SHM_OUTPUT_BYTES];
	char note[256]; /* text of the last refusal or bad setting */
};

struct shm_pool {
	uint32_t magic;
	uint32_t version;
	int32_t pid;
	int32_t parent_pid;
	uint32_t names_serial;         /* which names file its ids refer to */
	uint32_t sub_count;            /* sub-buffers the file may grow to */
	_Atomic uint32_t sub_reserved; /* sub-buffers backed by memory so far */
	_Atomic uint32_t slot_high;    /* slots ever used */
	uint64_t pid_namespace;        /* inode of the writer's pid namespace */
	uint64_t image;                /* another one for the same process: it called exec */
	uint64_t start_ticks;
	_Atomic uint64_t dropped_early; /* events before a thread had a slot, or without any */
	_Atomic uint64_t names_lost;    /* new names that found no room */
	_Atomic uint32_t ready;
	_Atomic uint32_t flush_wanted; /* tacho_flush(): the collector answers by flush_done */
	_Atomic uint32_t flush_done;
	_Atomic uint32_t cut_strings; /* argument values that were too long */
	char name[64];                /* what /proc/self/comm said */
	_Alignas(64) _Atomic uint64_t free_map[SHM_SUBS_MAX / 64];
};

enum shm_slot_state {
	SHM_SLOT_FREE = 0,
	SHM_SLOT_TAKEN = 1, /* being set up */
	SHM_SLOT_LIVE = 2,
};

/* A thread. Freed by the collector when the thread is gone and all it wrote is drained. */
struct shm_slot {
	_Atomic uint32_t state;
	_Atomic int32_t tid;
	_Atomic uint32_t first; /* first sub-buffer + 1; 0 while it has none */
	uint32_t generation;    /* grows with each reuse of the slot */
	_Atomic uint64_t dropped_scopes;
	_Atomic uint64_t dropped_events; /* everything else that was dropped */
	char name[16];
	uint8_t pad[16];
};

struct shm_sub {
	_Atomic uint32_t committed; /* bytes valid from the start, header included */
	_Atomic uint32_t next;      /* the thread's next sub-buffer + 1; 0 while this is the last */
	uint32_t slot;
	uint32_t generation;
	uint64_t sequence; /* of this sub-buffer on its thread, from 0 */
	uint8_t pad[40];
};

_Static_assert(sizeof(struct shm_slot) == 64, "slots are one cache line");
_Static_assert(sizeof(struct shm_sub) == SHM_SUB_DATA, "sub-buffer header");
_Static_assert(sizeof(struct shm_pool) <= 4096, "pool header page");

#define SHM_POOL_SLOTS_AT   4096u
#define SHM_POOL_BUFFERS_AT (SHM_POOL_SLOTS_AT + SHM_SLOTS * (uint32_t)sizeof(struct shm_slot))

/* Names: `used` and `reserved` count units of 8 bytes from the start of the file; a name's id is
 * the unit at which its entry starts, so a reader needs no order. */
struct shm_names {
	uint32_t magic;
	uint32_t version;
	_Atomic uint32_t used;
	_Atomic uint32_t reserved;
	uint32_t limit;
	uint8_t pad[44];
};

struct shm_name {
	uint32_t name_bytes;
	uint32_t category_bytes;
	uint32_t hash;
	uint32_t reserved;
	/* name, NUL, category, NUL, padding to 8 */
};

#define SHM_NAME_UNIT  8u
#define SHM_NAME_FIRST ((uint32_t)sizeof(struct shm_names) / SHM_NAME_UNIT)
#define SHM_NAME_MAX   (1u << 20) /* a longer name is cut */

/* Records. The first word of each:
 *   bits 0-7 kind, 8-15 length in units of 16 bytes, 16-31 small value, 32-63 name id
 * the second word is the time in ticks unless said otherwise. */
enum shm_record_kind {
	SHM_PAD = 0,
	SHM_BEGIN = 1,
	SHM_END = 2,
	SHM_PHASE = 3,      /* name 0: only ends */
	SHM_STEP = 4,       /* +16: number, 0; small 1: only ends */
	SHM_ARG_INT = 5,    /* second word: value */
	SHM_ARG_DOUBLE = 6, /* second word: bits of the value */
	SHM_ARG_STRING = 7, /* second word: byte count; then bytes */
	SHM_TENSORS = 8,    /* second word: tensor count; then per tensor: dtype | dims<<8, dims */
	SHM_MARK = 9,
	SHM_COUNTER_INT = 10, /* +16: value, 0 */
	SHM_COUNTER_DOUBLE = 11,
	SHM_ASYNC_BEGIN = 12, /* +16: id, 0 */
	SHM_ASYNC_END = 13,
	SHM_FLOW = 14,      /* small: enum link_kind; +16: id, 0 */
	SHM_CORRELATE = 15, /* second word: id */
	SHM_SPAN = 16, /* small: clock; second word: start; +16: end, correlation; +32: track, 0 */
	SHM_STACK_NAMES = 17, /* small: frames; +16: name ids as u32 */
	SHM_STACK_PCS = 18,   /* small: frames; +16: addresses */
	SHM_ALLOC = 19,       /* small: kind; +16: address, bytes */
	SHM_FREE = 20,        /* small: kind; +16: address, 0 */
	SHM_THREAD_NAME = 21,
	SHM_METADATA = 22, /* second word: byte count of the value; then bytes */
	SHM_LOST_ENDS =
		23, /* small unused; second word: time; +16: count of scopes that ended, 0 */
	SHM_KINDS
};

static inline uint64_t shm_head(
	enum shm_record_kind kind, uint32_t units, uint32_t small, uint32_t name)
{
	return (uint64_t)kind | (uint64_t)units << 8 | (uint64_t)(small & 0xffffu) << 16 |
	       (uint64_t)name << 32;
}

static inline uint32_t shm_head_kind(uint64_t head)
{
	return (uint32_t)(head & 0xff);
}
static inline uint32_t shm_head_units(uint64_t head)
{
	return (uint32_t)(head >> 8 & 0xff);
}
static inline uint32_t shm_head_small(uint64_t head)
{
	return (uint32_t)(head >> 16 & 0xffff);
}
static inline uint32_t shm_head_name(uint64_t head)
{
	return (uint32_t)(head >> 32);
}
