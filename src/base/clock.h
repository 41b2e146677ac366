/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Time: the cheapest counter of the machine ("ticks") and the system's clocks in nanoseconds.
 * Safe in a foreign process: no state but what the caller holds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum clock_kind {
	CLOCK_KIND_MONOTONIC = 0, /* ticks are CLOCK_MONOTONIC nanoseconds */
	CLOCK_KIND_TSC = 1,       /* x86 time stamp counter, invariant */
	CLOCK_KIND_CNTVCT = 2,    /* AArch64 virtual counter */
};

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_mono_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_real_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

/* The hardware counter; only meaningful when clock_best_kind() says so. */
static inline uint64_t clock_hardware(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#else
	return clock_mono_ns();
#endif
}

static inline uint64_t clock_ticks(enum clock_kind kind)
{
	return kind == CLOCK_KIND_MONOTONIC ? clock_mono_ns() : clock_hardware();
}

/* The cheapest trustworthy counter here: the TSC only where the kernel itself trusts it. */
enum clock_kind clock_best_kind(void);
const char *clock_kind_name(enum clock_kind kind);

/* One reading of all clocks at the same instant, the tightest of several tries. */
struct clock_anchor {
	uint64_t ticks;
	uint64_t mono_ns;
	uint64_t real_ns;
	uint64_t error_ns; /* half the width of the bracket around it */
};

void clock_take_anchor(enum clock_kind kind, double ns_per_tick, struct clock_anchor *ret_anchor);
