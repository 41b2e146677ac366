/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The clocks of a Perfetto trace, all brought to one of them. Clocks 64 to 127 belong to a sequence
 * of packets, and may count from packet to packet. */
#pragma once

#include "base/id_map.h"
#include "base/reader.h"

enum perfetto_clock_id { CLOCK_ID_REALTIME = 1, CLOCK_ID_MONOTONIC = 3, CLOCK_ID_BOOTTIME = 6 };

struct perfetto_clock {
	int64_t offset_ns; /* from its time in ns to that of the trace */
	uint64_t unit_ns;  /* ns per tick */
	uint64_t last;     /* ticks, of a clock that counts from packet to packet */
	bool known, incremental;
};

struct perfetto_clocks {
	struct perfetto_clock *items;
	size_t count, capacity;
	struct id_map ids;  /* sequence << 32 | clock -> place */
	uint64_t unrelated; /* times on clocks that no snapshot relates */
	bool has_trace_clock, has_epoch;
	int64_t epoch_ns; /* unix time of the trace clock's zero */
};

void perfetto_clocks_init(struct perfetto_clocks *clocks);
void perfetto_clocks_release(struct perfetto_clocks *clocks);

/* A ClockSnapshot that came on `sequence`. */
int perfetto_clocks_snapshot(
	struct perfetto_clocks *clocks, uint32_t sequence, struct reader snapshot) MUST_USE;
/* The time of a packet in nanoseconds. */
int perfetto_clocks_time(struct perfetto_clocks *clocks, uint32_t sequence, uint32_t clock,
	uint64_t timestamp, int64_t *ret_ns) MUST_USE;
