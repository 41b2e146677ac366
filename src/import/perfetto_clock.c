// SPDX-License-Identifier: MIT OR Apache-2.0
/* Offsets between clocks, from snapshots. */
#include "import/perfetto_clock.h"

#include "base/array.h"
#include "base/wire.h"

#include <stdlib.h>
#include <string.h>

#define READINGS_MAX 64
/* Readings of one snapshot are taken one after the other, so later ones differ by microseconds;
 * only a real jump (the machine slept) may move events against those before it. */
#define JUMP_NS 1000000

struct clock_reading {
	uint32_t id;
	uint64_t ticks, unit_ns;
	bool incremental;
};

void perfetto_clocks_init(struct perfetto_clocks *clocks)
{
	memset(clocks, 0, sizeof *clocks);
}

void perfetto_clocks_release(struct perfetto_clocks *clocks)
{
	free(clocks->items);
	id_map_release(&clocks->ids);
}

static bool is_local(uint32_t clock)
{
	return clock >= 64 && clock < 128;
}

static int find(struct perfetto_clocks *clocks, uint32_t sequence, uint32_t clock,
	struct perfetto_clock **ret_clock)
{
	uint64_t key = (uint64_t)(is_local(clock) ? sequence : 0) << 32 | clock, place;

	if (!id_map_get(&clocks->ids, key, &place)) {
		place = clocks->count;
		if (array_grow((void **)&clocks->items, &clocks->capacity, clocks->count + 1,
			    sizeof *clocks->items) ||
			id_map_put(&clocks->ids, key, place))
			return STATUS_NOMEM;
		clocks->items[clocks->count++] = (struct perfetto_clock){ .unit_ns = 1 };
	}
	*ret_clock = &clocks->items[place];
	return STATUS_OK;
}

static int read_reading(struct reader bytes, struct clock_reading *ret_reading)
{
	struct wire_field field;
	int more;

	*ret_reading = (struct clock_reading){ .unit_ns = 1 };
	while ((more = wire_next(&bytes, &field)) == 1) {
		if (field.type != WIRE_VARINT)
			continue;
		if (field.field == 1)
			ret_reading->id = (uint32_t)field.number;
		else if (field.field == 2)
			ret_reading->ticks = field.number;
		else if (field.field == 3)
			ret_reading->incremental = field.number != 0;
		else if (field.field == 4 && field.number)
			ret_reading->unit_ns = field.number;
	}
	return more;
}

/* Ticks to ns, without a care for wrapping: an impossible time is noticed where it is used. */
static int64_t in_ns(uint64_t ticks, uint64_t unit_ns)
{
	return (int64_t)(ticks * unit_ns);
}

/* The trace's time at the snapshot, by the best clock in it whose offset is known. */
static bool trace_time(struct perfetto_clocks *clocks, uint32_t sequence,
	const struct clock_reading *readings, size_t count, int64_t *ret_ns)
{
	static const uint32_t order[] = { CLOCK_ID_BOOTTIME, CLOCK_ID_MONOTONIC,
		CLOCK_ID_REALTIME };

	for (size_t i = 0; i < count + 3; i++) {
		const struct clock_reading *reading = i >= 3 ? &readings[i - 3] : NULL;
		struct perfetto_clock *clock;

		for (size_t r = 0; i < 3 && r < count; r++)
			if (readings[r].id == order[i])
				reading = &readings[r];
		if (reading && find(clocks, sequence, reading->id, &clock) == STATUS_OK &&
			clock->known) {
			*ret_ns = (int64_t)((uint64_t)in_ns(reading->ticks, reading->unit_ns) +
					    (uint64_t)clock->offset_ns);
			return true;
		}
	}
	return false;
}

/* The first snapshot decides which clock the trace has: BOOTTIME where it is told. */
static void choose_clock(struct perfetto_clocks *clocks, uint32_t sequence,
	const struct clock_reading *readings, size_t count)
{
	static const uint32_t order[] = { CLOCK_ID_BOOTTIME, CLOCK_ID_MONOTONIC };
	const struct clock_reading *chosen = &readings[0];
	struct perfetto_clock *clock;

	for (size_t o = 2; o-- > 0;)
		for (size_t r = 0; r < count; r++)
			if (readings[r].id == order[o])
				chosen = &readings[r];
	if (find(clocks, sequence, chosen->id, &clock) == STATUS_OK) {
		clock->known = true;
		clock->unit_ns = chosen->unit_ns;
		clocks->has_trace_clock = true;
	}
}

static int apply(struct perfetto_clocks *clocks, uint32_t sequence,
	const struct clock_reading *reading, int64_t now_ns)
{
	int64_t own_ns = in_ns(reading->ticks, reading->unit_ns);
	int64_t offset_ns = (int64_t)((uint64_t)now_ns - (uint64_t)own_ns);
	uint64_t moved;
	struct perfetto_clock *clock;
	int status = find(clocks, sequence, reading->id, &clock);

	if (status != STATUS_OK)
		return status;
	moved = offset_ns > clock->offset_ns ? (uint64_t)offset_ns - (uint64_t)clock->offset_ns
					     : (uint64_t)clock->offset_ns - (uint64_t)offset_ns;
	if (!clock->known || is_local(reading->id) || moved > JUMP_NS)
		clock->offset_ns = offset_ns;
	clock->known = true;
	clock->unit_ns = reading->unit_ns;
	clock->incremental = reading->incremental;
	clock->last = reading->ticks;
	if (reading->id == CLOCK_ID_REALTIME && !clocks->has_epoch) {
		clocks->has_epoch = true;
		clocks->epoch_ns = (int64_t)(0 - (uint64_t)offset_ns);
	}
	return STATUS_OK;
}

int perfetto_clocks_snapshot(
	struct perfetto_clocks *clocks, uint32_t sequence, struct reader snapshot)
{
	struct clock_reading readings[READINGS_MAX];
	struct wire_field field;
	size_t count = 0;
	int64_t now_ns;
	int status = STATUS_OK, more;

	while (status == STATUS_OK && (more = wire_next(&snapshot, &field)) == 1)
		if (field.field == 1 && field.type == WIRE_BYTES && count < READINGS_MAX)
			status = read_reading(field.bytes, &readings[count++]);
	if (status != STATUS_OK || more < 0)
		return status != STATUS_OK ? status : more;
	if (!count)
		return STATUS_OK;
	if (!trace_time(clocks, sequence, readings, count, &now_ns)) {
		if (clocks->has_trace_clock)
			return STATUS_OK; /* relates clocks that lead nowhere */
		choose_clock(clocks, sequence, readings, count);
		if (!trace_time(clocks, sequence, readings, count, &now_ns))
			return STATUS_NOMEM;
	}
	for (size_t i = 0; status == STATUS_OK && i < count; i++)
		status = apply(clocks, sequence, &readings[i], now_ns);
	return status;
}

int perfetto_clocks_time(struct perfetto_clocks *clocks, uint32_t sequence, uint32_t clock_id,
	uint64_t timestamp, int64_t *ret_ns)
{
	struct perfetto_clock *clock;
	int status = find(clocks, sequence, clock_id, &clock);

	if (status != STATUS_OK)
		return status;
	/* BOOTTIME is what times are in when nothing is said. */
	if (!clock->known && clock_id != CLOCK_ID_BOOTTIME)
		clocks->unrelated++;
	if (clock->incremental) {
		clock->last += timestamp;
		timestamp = clock->last;
	}
	*ret_ns =
		(int64_t)((uint64_t)in_ns(timestamp, clock->unit_ns) + (uint64_t)clock->offset_ns);
	return STATUS_OK;
}
