/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tacho: recording from a C or C++ program.
 *
 *     #include <tacho/tacho.h>
 *
 *     for (uint64_t i = 0; i < steps; i++) {
 *             tacho_step(i);
 *             tacho_phase("forward");
 *             {
 *                     TACHO_SCOPE("matmul");
 *                     matmul(a, b, c);
 *                     tacho_flops(2.0 * m * n * k);
 *             }
 *             tacho_phase("backward");
 *             ...
 *     }
 *
 * Link with -ltacho and run the program under `tacho record -- ./program`. Without the tool nothing
 * is recorded unless tacho_start() is called or TACHO_ENABLED=1 is set, and each call costs one
 * predictable branch.
 *
 * Rules that hold for every function here:
 *  - Thread safe, and safe in a signal handler unless its comment says otherwise.
 *  - Never blocks, exits, prints or changes errno; takes no lock and allocates nothing on the hot
 *    path (begin, end, arguments, counters, marks with a known name).
 *  - When nothing is recorded it does nothing. When there is no room the event is dropped and
 *    counted, and the count is in the trace's ledger; nesting stays right.
 *  - Strings are copied; a NULL string is taken as "". Text is UTF-8; other bytes are kept as they
 *    are and shown escaped.
 *  - A child made by fork() records on its own from its first event.
 *
 * Names: where a parameter is called `name`, its text is looked up in a table at each call (some
 * 20 ns). The macros TACHO_BEGIN, TACHO_SCOPE, TACHO_MARK, TACHO_COUNTER_* keep the answer in a
 * static variable at the call site, so their name must not change between calls.
 *
 * With TACHO_DISABLE defined before the include, the macros vanish without a trace; the functions
 * stay declared. */
#ifndef TACHO_TACHO_H
#define TACHO_TACHO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TACHO_API         __attribute__((visibility("default")))
#define TACHO_EXPECT_(x)  __builtin_expect(!!(x), 1)
#define TACHO_LOAD_(p)    __atomic_load_n((p), __ATOMIC_RELAXED)
#define TACHO_CLEANUP_(f) __attribute__((cleanup(f), unused))
#else
#error "tacho.h needs a compiler with GNU extensions (gcc or clang)"
#endif

/* ---------------------------------------------------------------------------------------------
 * Whether anything is recorded */

/* Points to a word that is not zero while events are recorded. Read it through tacho_on(). */
extern TACHO_API const uint32_t *tacho_switch;

/* 1 while events are recorded. Use it to skip work that only serves the recording. */
static inline int tacho_on(void)
{
	return __builtin_expect(TACHO_LOAD_(TACHO_LOAD_(&tacho_switch)) != 0, 0);
}

/* ---------------------------------------------------------------------------------------------
 * Starting and stopping */

enum tacho_state {
	TACHO_OFF = 0,       /* nothing is recorded and nobody asked for it */
	TACHO_RECORDING = 1, /* events are recorded */
	TACHO_PAUSED = 2,    /* a session exists; its schedule or tacho_stop() paused it */
	TACHO_FAILED = 3     /* recording was asked for and is impossible: tacho_status_text() */
};

/* Error codes of tacho_start(); 0 is success. The numbers never change. */
enum tacho_error {
	TACHO_OK = 0,
	TACHO_ERROR_OPTION = -1, /* unknown setting, bad value or options of a newer version */
	TACHO_ERROR_COLLECTOR =
		-2,              /* no collector could be started: tacho_status_text() says why */
	TACHO_ERROR_MEMORY = -3, /* no room in shared memory */
	TACHO_ERROR_KERNEL = -4  /* the kernel lacks something needed (Linux 4.14 or newer) */
};

/* How to record. Set `size` to sizeof(struct tacho_options) and the rest to zero first
 * (TACHO_OPTIONS_INIT). A library that is older than the program refuses fields it does not know
 * unless they are zero. */
struct tacho_options {
	size_t size;
	const char *output;     /* file to write; NULL: the setting `output`, else a default name */
	const char *const *set; /* settings as "key=value", see docs/settings.md */
	size_t set_count;
};
#define TACHO_OPTIONS_INIT                                  \
	{                                                   \
		sizeof(struct tacho_options), NULL, NULL, 0 \
	}

/* Starts recording. Under `tacho record` the session is already there: then this resumes it after
 * tacho_stop() and ignores the options, since the tool decides. Otherwise a collector is started: a
 * separate process that the program cannot see as a child. `options` may be NULL. Not for signal
 * handlers. Returns TACHO_OK or an error of enum tacho_error. */
TACHO_API int tacho_start(const struct tacho_options *options);

/* Pauses recording in the whole session; tacho_start() resumes it. */
TACHO_API void tacho_stop(void);

/* Waits until everything recorded so far by the calling process has been taken over by the
 * collector and is safe from a death of this process, but at most `timeout_ns`. Returns 0, or -1 on
 * timeout or when nothing is recorded. This is the one call that waits. Not for signal handlers. */
TACHO_API int tacho_flush(uint64_t timeout_ns);

TACHO_API enum tacho_state tacho_status(void);

/* Why the state is what it is, in a sentence; never NULL; valid until the next call of
 * tacho_start() or tacho_stop(). */
TACHO_API const char *tacho_status_text(void);

/* The version of the library, "0.1.0". */
TACHO_API const char *tacho_version(void);

/* ---------------------------------------------------------------------------------------------
 * Scopes: spans that nest on a thread */

/* A static call site: its name and, once known, the name's number. */
struct tacho_site {
	uint32_t id; /* 0 until first used */
	uint32_t reserved;
	const char *name;
	const char *category;
};
#define TACHO_SITE_INIT(name_, category_)  \
	{                                  \
		0, 0, (name_), (category_) \
	}

/* The number of a name and category, valid in this process and its forks; 0 when the name table is
 * full. May be called before recording starts. Not for signal handlers when the name is new. */
TACHO_API uint32_t tacho_name(const char *name, const char *category);

/* Opens a scope on the calling thread. Prefer TACHO_BEGIN, TACHO_SCOPE or tacho_begin(), which
 * check tacho_on() before they call. */
TACHO_API void tacho_begin_site(struct tacho_site *site);
TACHO_API void tacho_begin_id(uint32_t name_id);
TACHO_API void tacho_begin_name(const char *name, const char *category);

/* Closes the innermost open scope of the calling thread, and any phase or step opened inside it. An
 * end without a begin is counted in the ledger and otherwise ignored. Prefer tacho_end(). */
TACHO_API void tacho_end_scope(void);

/* Opens a scope whose name is only known at run time. */
static inline void tacho_begin(const char *name)
{
	if (tacho_on())
		tacho_begin_name(name, "");
}

/* Closes the innermost scope. */
static inline void tacho_end(void)
{
	if (tacho_on())
		tacho_end_scope();
}

/* For TACHO_SCOPE: the scope is closed if it was opened, whatever happened to tacho_on() since. */
static inline int tacho_scope_enter_(struct tacho_site *site)
{
	if (!tacho_on())
		return 0;
	tacho_begin_site(site);
	return 1;
}
static inline void tacho_scope_exit_(const int *entered)
{
	if (*entered)
		tacho_end_scope();
}

/* ---------------------------------------------------------------------------------------------
 * Steps and phases */

/* Begins step `number` (one training iteration, one request) on the calling thread and ends the
 * step before it. A step also ends when the scope it was begun in ends. The session's schedule
 * counts these calls in the first process that makes one. */
TACHO_API void tacho_step(uint64_t number);

/* Ends the current step without beginning another. */
TACHO_API void tacho_step_end(void);

/* Begins a named phase ("forward", "backward", "optimizer") and ends the phase before it at the
 * same level. A phase also ends with its step or the scope it was begun in. NULL only ends. */
TACHO_API void tacho_phase(const char *name);

/* ---------------------------------------------------------------------------------------------
 * What is known of the innermost open scope */

TACHO_API void tacho_arg_int(const char *key, int64_t value);
TACHO_API void tacho_arg_double(const char *key, double value);
/* Values above 4000 bytes are cut, and the ledger says so. */
TACHO_API void tacho_arg_string(const char *key, const char *value);

/* The same with a key whose number is known (tacho_name(key, "")): the hot way. */
TACHO_API void tacho_arg_int_id(uint32_t key_id, int64_t value);
TACHO_API void tacho_arg_double_id(uint32_t key_id, double value);

/* Floating-point operations done in the innermost scope; a multiply-add counts as two. Ignored when
 * the setting `with_flops` is off. Several calls add up. */
TACHO_API void tacho_flops(double flops);

/* Bytes moved by the innermost scope. Several calls add up. */
TACHO_API void tacho_bytes(uint64_t bytes);

/* The correlation id of the innermost scope: spans with the same id, on any track of the process,
 * belong together (a launch and its kernel). */
TACHO_API void tacho_correlate(uint64_t correlation_id);

/* ---------------------------------------------------------------------------------------------
 * Operations: scopes that know their tensors */

enum tacho_dtype {
	TACHO_DTYPE_UNKNOWN = 0,
	TACHO_FLOAT32 = 1,
	TACHO_FLOAT64 = 2,
	TACHO_FLOAT16 = 3,
	TACHO_BFLOAT16 = 4,
	TACHO_INT8 = 5,
	TACHO_UINT8 = 6,
	TACHO_INT16 = 7,
	TACHO_INT32 = 8,
	TACHO_INT64 = 9,
	TACHO_BOOL = 10,
	TACHO_FLOAT8_E4M3 = 11,
	TACHO_FLOAT8_E5M2 = 12,
	TACHO_COMPLEX64 = 13,
	TACHO_COMPLEX128 = 14
};

struct tacho_tensor {
	const int64_t *shape;
	uint32_t dimensions; /* at most 16 are kept */
	uint32_t dtype;      /* enum tacho_dtype */
};

/* Opens a scope of category "op" with the shapes and dtypes of its inputs (at most 32 are kept);
 * close it with tacho_end(). Shapes are left out when the setting `record_shapes` is off. Further
 * attributes go in by tacho_arg_*(). */
TACHO_API void tacho_op_begin(
	const char *name, const struct tacho_tensor *inputs, size_t input_count);

/* ---------------------------------------------------------------------------------------------
 * Points and values */

/* A named instant on the calling thread. */
TACHO_API void tacho_mark(const char *name);
TACHO_API void tacho_mark_site(struct tacho_site *site);

/* The value of a named counter of this process from now on. `unit` is a word such as "bytes",
 * "items/s", "" for a plain number. */
TACHO_API void tacho_counter_int(const char *name, const char *unit, int64_t value);
TACHO_API void tacho_counter_double(const char *name, const char *unit, double value);
TACHO_API void tacho_counter_int_site(struct tacho_site *site, int64_t value);
TACHO_API void tacho_counter_double_site(struct tacho_site *site, double value);

/* ---------------------------------------------------------------------------------------------
 * Spans that do not nest on one thread */

/* An operation that begins on one thread and may end on another. `id` tells apart operations of the
 * same name that overlap; it must be the same at both ends. */
TACHO_API void tacho_async_begin(const char *name, uint64_t id);
TACHO_API void tacho_async_end(const char *name, uint64_t id);

/* An arrow from the innermost scope here to the innermost scopes at the later calls with the same
 * name and id, on any thread of the process. */
TACHO_API void tacho_flow_begin(const char *name, uint64_t id);
TACHO_API void tacho_flow_step(const char *name, uint64_t id);
TACHO_API void tacho_flow_end(const char *name, uint64_t id);

/* Clocks for explicit times. */
enum tacho_clock {
	TACHO_CLOCK_MONOTONIC = 0, /* nanoseconds of CLOCK_MONOTONIC, tacho_now() */
	TACHO_CLOCK_REALTIME = 1,  /* nanoseconds of CLOCK_REALTIME */
	TACHO_CLOCK_TICKS = 2      /* tacho_ticks() */
};

enum tacho_track_kind {
	TACHO_TRACK_OTHER = 0,
	TACHO_TRACK_DEVICE = 1, /* a queue or stream of an accelerator */
	TACHO_TRACK_REMOTE = 2  /* a worker elsewhere */
};

/* The number of a named track of this process ("GPU 0 stream 7"); the same name and kind give the
 * same number; 0 when the name table is full. Not for signal handlers when the name is new. */
TACHO_API uint32_t tacho_track(const char *name, enum tacho_track_kind kind);

/* A finished span with explicit times on a track of tacho_track(). `correlation_id` joins it to the
 * scope that caused it (tacho_correlate()); 0 means none. Spans may come in any order. */
TACHO_API void tacho_span(uint32_t track, const char *name, const char *category,
	enum tacho_clock clock, uint64_t start, uint64_t end, uint64_t correlation_id);

/* CLOCK_MONOTONIC in nanoseconds; the cheapest counter of the platform. */
TACHO_API uint64_t tacho_now(void);
TACHO_API uint64_t tacho_ticks(void);

/* ---------------------------------------------------------------------------------------------
 * Stacks and memory */

/* A sample of the calling thread's stack, innermost frame first, by names (for interpreters) or by
 * program counters. At most 128 frames are kept. */
TACHO_API void tacho_stack_names(const char *const *frames, size_t count);
TACHO_API void tacho_stack_addresses(const uint64_t *program_counters, size_t count);

enum tacho_memory_kind { TACHO_MEMORY_HOST = 0, TACHO_MEMORY_DEVICE = 1 };

/* An allocation or a free of a custom allocator. `pool` names the allocator ("arena", "cuda:0"). */
TACHO_API void tacho_memory_alloc(
	const char *pool, enum tacho_memory_kind kind, uint64_t address, uint64_t bytes);
TACHO_API void tacho_memory_free(const char *pool, enum tacho_memory_kind kind, uint64_t address);

/* ---------------------------------------------------------------------------------------------
 * Names of things */

/* The calling thread's name in the trace; without it the name the system knows. */
TACHO_API void tacho_thread_name(const char *name);

/* A fact about this run ("model" = "resnet50"), stored with the trace. */
TACHO_API void tacho_metadata(const char *key, const char *value);

/* ---------------------------------------------------------------------------------------------
 * Macros: the name is looked up once per call site */

#define TACHO_JOIN2_(a, b) a##b
#define TACHO_JOIN_(a, b)  TACHO_JOIN2_(a, b)

#ifndef TACHO_DISABLE

/* Opens a scope; close it with TACHO_END(). */
#define TACHO_BEGIN(name_) TACHO_BEGIN_CATEGORY(name_, "")
#define TACHO_BEGIN_CATEGORY(name_, category_)                                            \
	do {                                                                              \
		static struct tacho_site tacho_site_ = TACHO_SITE_INIT(name_, category_); \
		if (tacho_on())                                                           \
			tacho_begin_site(&tacho_site_);                                   \
	} while (0)
#define TACHO_END() tacho_end()

/* A scope from here to the end of the enclosing block, however it is left. A declaration. */
#define TACHO_SCOPE(name_) TACHO_SCOPE_CATEGORY(name_, "")
#define TACHO_SCOPE_CATEGORY(name_, category_)                        \
	static struct tacho_site TACHO_JOIN_(tacho_site_, __LINE__) = \
		TACHO_SITE_INIT(name_, category_);                    \
	TACHO_CLEANUP_(tacho_scope_exit_)                             \
	const int TACHO_JOIN_(tacho_scope_, __LINE__) =               \
		tacho_scope_enter_(&TACHO_JOIN_(tacho_site_, __LINE__))

#define TACHO_STEP(number_)          \
	do {                         \
		tacho_step(number_); \
	} while (0)
#define TACHO_PHASE(name_)                  \
	do {                                \
		if (tacho_on())             \
			tacho_phase(name_); \
	} while (0)
#define TACHO_MARK(name_)                                                          \
	do {                                                                       \
		static struct tacho_site tacho_site_ = TACHO_SITE_INIT(name_, ""); \
		if (tacho_on())                                                    \
			tacho_mark_site(&tacho_site_);                             \
	} while (0)
#define TACHO_COUNTER_INT(name_, unit_, value_)                                       \
	do {                                                                          \
		static struct tacho_site tacho_site_ = TACHO_SITE_INIT(name_, unit_); \
		if (tacho_on())                                                       \
			tacho_counter_int_site(&tacho_site_, (value_));               \
	} while (0)
#define TACHO_COUNTER_DOUBLE(name_, unit_, value_)                                    \
	do {                                                                          \
		static struct tacho_site tacho_site_ = TACHO_SITE_INIT(name_, unit_); \
		if (tacho_on())                                                       \
			tacho_counter_double_site(&tacho_site_, (value_));            \
	} while (0)
#define TACHO_ARG_INT(key_, value_)                                                       \
	do {                                                                              \
		static uint32_t tacho_key_;                                               \
		if (tacho_on()) {                                                         \
			uint32_t key_id_ = TACHO_LOAD_(&tacho_key_);                      \
			if (!key_id_) {                                                   \
				key_id_ = tacho_name(key_, "");                           \
				__atomic_store_n(&tacho_key_, key_id_, __ATOMIC_RELEASE); \
			}                                                                 \
			tacho_arg_int_id(key_id_, (value_));                              \
		}                                                                         \
	} while (0)
#define TACHO_FLOPS(flops_)                  \
	do {                                 \
		if (tacho_on())              \
			tacho_flops(flops_); \
	} while (0)

#else /* TACHO_DISABLE */

#define TACHO_BEGIN(name_)                         ((void)0)
#define TACHO_BEGIN_CATEGORY(name_, category_)     ((void)0)
#define TACHO_END()                                ((void)0)
#define TACHO_SCOPE(name_)                         enum { TACHO_JOIN_(tacho_no_scope_, __LINE__) }
#define TACHO_SCOPE_CATEGORY(name_, category_)     TACHO_SCOPE(name_)
#define TACHO_STEP(number_)                        ((void)0)
#define TACHO_PHASE(name_)                         ((void)0)
#define TACHO_MARK(name_)                          ((void)0)
#define TACHO_COUNTER_INT(name_, unit_, value_)    ((void)0)
#define TACHO_COUNTER_DOUBLE(name_, unit_, value_) ((void)0)
#define TACHO_ARG_INT(key_, value_)                ((void)0)
#define TACHO_FLOPS(flops_)                        ((void)0)

#endif

#ifdef __cplusplus
}
#endif

#endif
