// SPDX-License-Identifier: MIT OR Apache-2.0
/* Everything that is recorded besides begin and end: arguments, operations, counters, marks, async
 * spans, flows, explicit spans, stacks, memory, names. Each is one record. */
#include "record/record_internal.h"

#include "format/table.h"

#include <tacho/tacho.h>

#include <string.h>

#define STRING_MAX     4000u
#define TENSORS_MAX    32u
#define DIMENSIONS_MAX 16u
#define FRAMES_MAX     128u

/* A record of one or two pairs of words. */
static void put(enum shm_record_kind kind, uint32_t small, uint32_t name, uint64_t second)
{
	struct thread_state *thread;
	uint64_t *record = record_reserve(16, &thread);

	if (!record)
		return;
	record[0] = shm_head(kind, 1, small, name);
	record[1] = second;
	record_commit(thread, 16);
}

static void put_timed(
	enum shm_record_kind kind, uint32_t small, uint32_t name, uint64_t third, uint64_t fourth)
{
	struct thread_state *thread;
	uint64_t *record = record_reserve(32, &thread);

	if (!record)
		return;
	record[0] = shm_head(kind, 2, small, name);
	record[1] = record_ticks();
	record[2] = third;
	record[3] = fourth;
	record_commit(thread, 32);
}

/* A name and some bytes. */
static void put_bytes(enum shm_record_kind kind, uint32_t name, const char *value)
{
	size_t length = strnlen(value, STRING_MAX + 1);
	struct thread_state *thread;
	uint32_t bytes;
	uint64_t *record;

	if (length > STRING_MAX) {
		length = STRING_MAX;
		if (record_process_ready())
			atomic_fetch_add(&record_globals.pool->cut_strings, 1);
	}
	bytes = 16 + (((uint32_t)length + 15) & ~15u);
	record = record_reserve(bytes, &thread);
	if (!record)
		return;
	record[0] = shm_head(kind, bytes / 16, 0, name);
	record[1] = length;
	memcpy(record + 2, value, length);
	record_commit(thread, bytes);
}

static uint64_t double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static uint32_t site_id(struct tacho_site *site)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

	if (UNLIKELY(!id)) {
		id = record_name(site->name, site->category);
		__atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
	}
	return id;
}

RECORD_API uint32_t tacho_name(const char *name, const char *category)
{
	return record_name(name, category);
}

RECORD_API void tacho_arg_int_id(uint32_t key_id, int64_t value)
{
	if (tacho_on())
		put(SHM_ARG_INT, 0, key_id, (uint64_t)value);
}

RECORD_API void tacho_arg_double_id(uint32_t key_id, double value)
{
	if (tacho_on())
		put(SHM_ARG_DOUBLE, 0, key_id, double_bits(value));
}

RECORD_API void tacho_arg_int(const char *key, int64_t value)
{
	if (tacho_on())
		put(SHM_ARG_INT, 0, record_name(key, ""), (uint64_t)value);
}

RECORD_API void tacho_arg_double(const char *key, double value)
{
	if (tacho_on())
		put(SHM_ARG_DOUBLE, 0, record_name(key, ""), double_bits(value));
}

RECORD_API void tacho_arg_string(const char *key, const char *value)
{
	if (tacho_on())
		put_bytes(SHM_ARG_STRING, record_name(key, ""), value ? value : "");
}

RECORD_API void tacho_flops(double flops)
{
	static uint32_t id;

	if (!tacho_on() || !(record_globals.session->flags & SHM_WITH_FLOPS))
		return;
	if (!__atomic_load_n(&id, __ATOMIC_ACQUIRE))
		__atomic_store_n(&id, record_name("flops", ""), __ATOMIC_RELEASE);
	/* small 1: add to an earlier value */
	put(SHM_ARG_DOUBLE, 1, __atomic_load_n(&id, __ATOMIC_RELAXED), double_bits(flops));
}

RECORD_API void tacho_bytes(uint64_t bytes)
{
	static uint32_t id;

	if (!tacho_on())
		return;
	if (!__atomic_load_n(&id, __ATOMIC_ACQUIRE))
		__atomic_store_n(&id, record_name("bytes", ""), __ATOMIC_RELEASE);
	put(SHM_ARG_INT, 1, __atomic_load_n(&id, __ATOMIC_RELAXED), bytes);
}

RECORD_API void tacho_correlate(uint64_t correlation_id)
{
	if (tacho_on())
		put(SHM_CORRELATE, 0, 0, correlation_id);
}

RECORD_API void tacho_op_begin(
	const char *name, const struct tacho_tensor *inputs, size_t input_count)
{
	uint64_t words[TENSORS_MAX * (DIMENSIONS_MAX + 1)];
	size_t used = 0, kept = 0;
	struct thread_state *thread;
	uint64_t *record;
	uint32_t bytes;

	if (!tacho_on())
		return;
	tacho_begin_id(record_name(name, "op"));
	if (!inputs || !(record_globals.session->flags & SHM_RECORD_SHAPES))
		return;
	for (; kept < input_count && kept < TENSORS_MAX; kept++) {
		uint32_t dimensions = inputs[kept].dimensions;

		if (dimensions > DIMENSIONS_MAX)
			dimensions = DIMENSIONS_MAX;
		if (!inputs[kept].shape)
			dimensions = 0;
		if ((used + 1 + dimensions) * 8 + 16 > SHM_RECORD_MAX)
			break;
		words[used++] = (inputs[kept].dtype & 0xff) | (uint64_t)dimensions << 8;
		for (uint32_t d = 0; d < dimensions; d++)
			words[used++] = (uint64_t)inputs[kept].shape[d];
	}
	if (used & 1)
		words[used++] = 0;
	bytes = 16 + (uint32_t)used * 8;
	record = record_reserve(bytes, &thread);
	if (!record)
		return;
	record[0] = shm_head(SHM_TENSORS, bytes / 16, 0, 0);
	record[1] = kept;
	memcpy(record + 2, words, used * 8);
	record_commit(thread, bytes);
}

RECORD_API void tacho_mark(const char *name)
{
	if (tacho_on())
		put_timed(SHM_MARK, 0, record_name(name, ""), 0, 0);
}

RECORD_API void tacho_mark_site(struct tacho_site *site)
{
	if (tacho_on())
		put_timed(SHM_MARK, 0, site_id(site), 0, 0);
}

/* A counter's unit takes the place of the category in its name. */
RECORD_API void tacho_counter_int(const char *name, const char *unit, int64_t value)
{
	if (tacho_on())
		put_timed(SHM_COUNTER_INT, 0, record_name(name, unit), (uint64_t)value, 0);
}

RECORD_API void tacho_counter_double(const char *name, const char *unit, double value)
{
	if (tacho_on())
		put_timed(SHM_COUNTER_DOUBLE, 0, record_name(name, unit), double_bits(value), 0);
}

RECORD_API void tacho_counter_int_site(struct tacho_site *site, int64_t value)
{
	if (tacho_on())
		put_timed(SHM_COUNTER_INT, 0, site_id(site), (uint64_t)value, 0);
}

RECORD_API void tacho_counter_double_site(struct tacho_site *site, double value)
{
	if (tacho_on())
		put_timed(SHM_COUNTER_DOUBLE, 0, site_id(site), double_bits(value), 0);
}

RECORD_API void tacho_async_begin(const char *name, uint64_t id)
{
	if (tacho_on())
		put_timed(SHM_ASYNC_BEGIN, 0, record_name(name, "async"), id, 0);
}

RECORD_API void tacho_async_end(const char *name, uint64_t id)
{
	if (tacho_on())
		put_timed(SHM_ASYNC_END, 0, record_name(name, "async"), id, 0);
}

RECORD_API void tacho_flow_begin(const char *name, uint64_t id)
{
	if (tacho_on())
		put_timed(SHM_FLOW, LINK_FLOW_BEGIN, record_name(name, "flow"), id, 0);
}

RECORD_API void tacho_flow_step(const char *name, uint64_t id)
{
	if (tacho_on())
		put_timed(SHM_FLOW, LINK_FLOW_STEP, record_name(name, "flow"), id, 0);
}

RECORD_API void tacho_flow_end(const char *name, uint64_t id)
{
	if (tacho_on())
		put_timed(SHM_FLOW, LINK_FLOW_END, record_name(name, "flow"), id, 0);
}

/* A track is a name whose category says its kind. */
RECORD_API uint32_t tacho_track(const char *name, enum tacho_track_kind kind)
{
	static const char *const kinds[] = { "track:other", "track:device", "track:remote" };

	return record_name(name, kinds[(unsigned)kind < 3 ? kind : 0]);
}

RECORD_API void tacho_span(uint32_t track, const char *name, const char *category,
	enum tacho_clock clock, uint64_t start, uint64_t end, uint64_t correlation_id)
{
	struct thread_state *thread;
	uint64_t *record;

	if (!tacho_on() || !track)
		return;
	record = record_reserve(48, &thread);
	if (!record)
		return;
	record[0] = shm_head(SHM_SPAN, 3, (uint32_t)clock, 0);
	record[1] = start;
	record[2] = end;
	record[3] = correlation_id;
	record[4] = track;
	record[5] = 0;
	/* The name may need the slow way, so it is looked up with the room already taken: the
	 * lookup writes no record. */
	record[0] |= (uint64_t)record_name(name, category) << 32;
	record_commit(thread, 48);
}

RECORD_API uint64_t tacho_now(void)
{
	return clock_mono_ns();
}

RECORD_API uint64_t tacho_ticks(void)
{
	return record_ticks();
}

RECORD_API void tacho_stack_names(const char *const *frames, size_t count)
{
	uint32_t ids[FRAMES_MAX + 4] = { 0 };
	struct thread_state *thread;
	uint64_t *record;
	uint32_t bytes;

	if (!tacho_on() || !frames)
		return;
	count = count < FRAMES_MAX ? count : FRAMES_MAX;
	for (size_t i = 0; i < count; i++)
		ids[i] = record_name(frames[i], "");
	bytes = 16 + (((uint32_t)count * 4 + 15) & ~15u);
	record = record_reserve(bytes, &thread);
	if (!record)
		return;
	record[0] = shm_head(SHM_STACK_NAMES, bytes / 16, (uint32_t)count, 0);
	record[1] = record_ticks();
	memcpy(record + 2, ids, bytes - 16);
	record_commit(thread, bytes);
}

RECORD_API void tacho_stack_addresses(const uint64_t *program_counters, size_t count)
{
	struct thread_state *thread;
	uint64_t *record;
	uint32_t bytes;

	if (!tacho_on() || !program_counters)
		return;
	count = count < FRAMES_MAX ? count : FRAMES_MAX;
	bytes = 16 + (((uint32_t)count * 8 + 15) & ~15u);
	record = record_reserve(bytes, &thread);
	if (!record)
		return;
	record[0] = shm_head(SHM_STACK_PCS, bytes / 16, (uint32_t)count, 0);
	record[1] = record_ticks();
	memcpy(record + 2, program_counters, count * 8);
	record_commit(thread, bytes);
}

RECORD_API void tacho_memory_alloc(
	const char *pool, enum tacho_memory_kind kind, uint64_t address, uint64_t bytes)
{
	if (tacho_on())
		put_timed(SHM_ALLOC, kind, record_name(pool, "pool"), address, bytes);
}

RECORD_API void tacho_memory_free(const char *pool, enum tacho_memory_kind kind, uint64_t address)
{
	if (tacho_on())
		put_timed(SHM_FREE, kind, record_name(pool, "pool"), address, 0);
}

RECORD_API void tacho_thread_name(const char *name)
{
	if (record_has_session())
		put(SHM_THREAD_NAME, 0, record_name(name, "thread"), 0);
}

RECORD_API void tacho_metadata(const char *key, const char *value)
{
	if (record_has_session())
		put_bytes(SHM_METADATA, record_name(key, ""), value ? value : "");
}
