// SPDX-License-Identifier: MIT OR Apache-2.0
/* From ticks to nanoseconds, with clocks of our own making: rates that drift, anchors that are off,
 * a wall clock that is set. Time never goes back, and the error stays within what is stated. */
#include "collect/clock_sync.h"
#include "tests/unit/unit.h"

#define START_MONO UINT64_C(5000000000000)
#define START_REAL UINT64_C(1700000000000000000)

/* What the wrapped clock_take_anchor() says. */
static struct {
	uint64_t mono_ns, ticks, error_ns;
	int64_t real_step_ns;
	double ticks_per_ns;
} fake;

void __wrap_clock_take_anchor(
	enum clock_kind kind, double ns_per_tick, struct clock_anchor *anchor);

static void advance(uint64_t ns)
{
	fake.mono_ns += ns;
	fake.ticks += (uint64_t)((double)ns * fake.ticks_per_ns);
}

void __wrap_clock_take_anchor(enum clock_kind kind, double ns_per_tick, struct clock_anchor *anchor)
{
	(void)kind, (void)ns_per_tick;
	advance(2000000);
	*anchor = (struct clock_anchor){ .ticks = fake.ticks,
		.mono_ns = fake.mono_ns,
		.real_ns = START_REAL + (fake.mono_ns - START_MONO) + (uint64_t)fake.real_step_ns,
		.error_ns = fake.error_ns };
}

static void begin(struct clock_sync *sync, double ticks_per_ns)
{
	fake.mono_ns = START_MONO;
	fake.ticks = UINT64_C(1) << 50;
	fake.ticks_per_ns = ticks_per_ns;
	fake.error_ns = 30;
	fake.real_step_ns = 0;
	clock_sync_init(sync, CLOCK_KIND_TSC);
}

static int64_t error_now(const struct clock_sync *sync)
{
	return (int64_t)(clock_sync_ns(sync, fake.ticks) - (fake.mono_ns - sync->first.mono_ns));
}

static int64_t magnitude(int64_t value)
{
	return value < 0 ? -value : value;
}

static void time_never_goes_back(void)
{
	static const double rates[] = { 3.0, 2.999, 0.0245, 1.0, 5.1 };
	struct clock_sync sync;

	for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
		uint64_t before = 0;

		begin(&sync, rates[r]);
		for (int i = 0; i < 20000; i++) {
			uint64_t now;

			/* A drift of some ppm, to and fro. */
			fake.ticks_per_ns = rates[r] * (1 + (i / 1000 % 2 ? 20e-6 : -20e-6));
			advance(1000000);
			clock_sync_update(&sync, fake.mono_ns);
			now = clock_sync_ns(&sync, fake.ticks);
			if (!CHECK(now >= before))
				return;
			before = now;
		}
		CHECK(magnitude(error_now(&sync)) < 100000);
	}
}

static void the_stated_error_holds(void)
{
	struct clock_sync sync;
	int64_t worst = 0;

	begin(&sync, 2.1);
	for (int i = 0; i < 5000; i++) {
		advance(1000000);
		clock_sync_update(&sync, fake.mono_ns);
		if (magnitude(error_now(&sync)) > worst)
			worst = magnitude(error_now(&sync));
	}
	CHECK(worst <= (int64_t)sync.worst_ns + 2);
	CHECK(sync.worst_ns < 2000);
	CHECK(sync.anchors > 5);
}

/* An event converted once would convert to the same again, while its segment is kept. */
static void old_times_do_not_change(void)
{
	struct clock_sync sync;
	uint64_t ticks[50], ns[50];

	begin(&sync, 3.0);
	for (int i = 0; i < 50; i++) {
		fake.ticks_per_ns = i % 2 ? 3.00003 : 2.99997;
		advance(300000000);
		clock_sync_update(&sync, fake.mono_ns);
		ticks[i] = fake.ticks;
		ns[i] = clock_sync_ns(&sync, ticks[i]);
	}
	for (int i = 0; i < 50; i++)
		CHECK_EQ(clock_sync_ns(&sync, ticks[i]), ns[i]);
}

/* Somebody sets the wall clock, by hours, both ways: trace time does not notice, and explicit times
 * of the wall clock land where they belong. */
static void the_wall_clock_is_set(void)
{
	static const int64_t steps[] = { 3600000000000, -7200000000000, 1000, -86400000000000000 };
	struct clock_sync sync;
	uint64_t before = 0;

	begin(&sync, 3.0);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		fake.real_step_ns = steps[i];
		for (int k = 0; k < 3000; k++) {
			uint64_t now;

			advance(1000000);
			clock_sync_update(&sync, fake.mono_ns);
			now = clock_sync_ns(&sync, fake.ticks);
			CHECK(now >= before);
			before = now;
		}
		CHECK(magnitude(error_now(&sync)) < 2000);
		CHECK_NEAR(clock_sync_from_real(&sync, START_REAL + (fake.mono_ns - START_MONO) +
							       (uint64_t)fake.real_step_ns),
			fake.mono_ns - sync.first.mono_ns, 2000);
	}
}

/* The monotonic clock as ticks: nothing to convert. */
static void the_system_clock_is_exact(void)
{
	struct clock_sync sync;

	begin(&sync, 1.0);
	clock_sync_init(&sync, CLOCK_KIND_MONOTONIC);
	for (int i = 0; i < 100; i++) {
		uint64_t ticks = sync.first.ticks + (uint64_t)i * 1000003;

		clock_sync_update(&sync, sync.first.mono_ns + (uint64_t)i * 1000003);
		CHECK_EQ(clock_sync_ns(&sync, ticks), (uint64_t)i * 1000003);
	}
	CHECK_EQ(sync.worst_ns, 0);
}

/* Ticks from before the start, from far ahead, or at the end of the range are answered, not
 * trusted. */
static void impossible_ticks(void)
{
	struct clock_sync sync;

	begin(&sync, 3.0);
	CHECK_EQ(clock_sync_ns(&sync, 0), 0);
	CHECK_EQ(clock_sync_ns(&sync, sync.first.ticks - 1), 0);
	CHECK(clock_sync_ns(&sync, UINT64_MAX) > 0);
	CHECK_EQ(clock_sync_from_mono(&sync, 0), 0);
	CHECK_EQ(clock_sync_from_mono(&sync, sync.first.mono_ns + 5), 5);
}

static const struct unit_test tests[] = {
	UNIT(time_never_goes_back),
	UNIT(the_stated_error_holds),
	UNIT(old_times_do_not_change),
	UNIT(the_wall_clock_is_set),
	UNIT(the_system_clock_is_exact),
	UNIT(impossible_ticks),
};

int main(int argc, char **argv)
{
	return unit_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
