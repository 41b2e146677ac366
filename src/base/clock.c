// SPDX-License-Identifier: MIT OR Apache-2.0
/* Choice of the clock, and anchors between ticks and the system's clocks. */
#include "base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

static bool tsc_is_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
}

/* The kernel watches the TSC at run time and leaves it when it drifts; follow its judgement. */
static bool kernel_trusts_tsc(void)
{
	char name[32] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, name, sizeof name - 1);
	close(fd);
	/* Para-virtual clocks are computed from the TSC, so an invariant TSC is as good. */
	return got > 0 && (strncmp(name, "tsc", 3) == 0 || strncmp(name, "kvm-clock", 9) == 0 ||
				  strncmp(name, "hyperv_clocksource_tsc_page", 27) == 0);
}
#endif

enum clock_kind clock_best_kind(void)
{
#if defined(__x86_64__)
	return tsc_is_invariant() && kernel_trusts_tsc() ? CLOCK_KIND_TSC : CLOCK_KIND_MONOTONIC;
#elif defined(__aarch64__)
	return CLOCK_KIND_CNTVCT;
#else
	return CLOCK_KIND_MONOTONIC;
#endif
}

const char *clock_kind_name(enum clock_kind kind)
{
	switch (kind) {
	case CLOCK_KIND_TSC:
		return "tsc";
	case CLOCK_KIND_CNTVCT:
		return "cntvct";
	case CLOCK_KIND_MONOTONIC:
		break;
	}
	return "monotonic";
}

void clock_take_anchor(enum clock_kind kind, double ns_per_tick, struct clock_anchor *ret_anchor)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = clock_ticks(kind);
		uint64_t mono = clock_mono_ns();
		uint64_t real = clock_real_ns();
		uint64_t after = clock_ticks(kind);

		if (after - before >= best)
			continue;
		best = after - before;
		/* mono was read about a third of the way through the bracket. */
		ret_anchor->ticks = before + best / 3;
		ret_anchor->mono_ns = mono;
		ret_anchor->real_ns = real;
	}
	ret_anchor->error_ns = (uint64_t)((double)best * ns_per_tick / 2) + 1;
}
