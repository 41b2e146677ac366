// SPDX-License-Identifier: MIT OR Apache-2.0
/* The hot path: begin and end of scopes. Two stores of a record, one release store, one flag. No
 * call leaves this file unless the sub-buffer is full or the thread is new. */
#include "record/record_internal.h"

#include <tacho/tacho.h>

static const uint32_t never;

RECORD_API const uint32_t *tacho_switch = &never;
uint32_t record_hardware_clock;
struct thread_state record_no_state = { .busy = 1 };
__thread struct thread_state *record_current __attribute__((tls_model("initial-exec"))) =
	&record_no_state;

/* Writes a record of two words; false when the slow path has to do it. */
static inline __attribute__((always_inline)) bool hot_write(uint64_t head)
{
	struct thread_state *thread = record_current;
	uint32_t position;
	uint64_t *record;

	if (UNLIKELY(record_is_busy(thread)))
		return false;
	record_set_busy(thread, 1);
	position = thread->position;
	if (UNLIKELY(position + 16 > __atomic_load_n(&thread->limit, __ATOMIC_RELAXED))) {
		record_set_busy(thread, 0);
		return false;
	}
	record = (uint64_t *)(void *)(thread->base + position);
	record[0] = head;
	record[1] = record_ticks();
	record_commit(thread, 16);
	return true;
}

RECORD_API void tacho_begin_id(uint32_t name_id)
{
	uint64_t head = shm_head(SHM_BEGIN, 1, 0, name_id);

	if (UNLIKELY(!hot_write(head)))
		record_slow_begin(head, 0);
}

static __attribute__((noinline)) void begin_new_site(struct tacho_site *site)
{
	uint32_t id;

	if (!record_has_session())
		return;
	id = record_name(site->name, site->category);
	__atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
	tacho_begin_id(id);
}

RECORD_API void tacho_begin_site(struct tacho_site *site)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);
	uint64_t head = shm_head(SHM_BEGIN, 1, 0, id);

	if (UNLIKELY(id == 0)) {
		begin_new_site(site);
		return;
	}
	if (UNLIKELY(!hot_write(head)))
		record_slow_begin(head, 0);
}

RECORD_API void tacho_begin_name(const char *name, const char *category)
{
	if (record_has_session())
		tacho_begin_id(record_name(name, category));
}

RECORD_API void tacho_end_scope(void)
{
	if (UNLIKELY(!hot_write(shm_head(SHM_END, 1, 0, 0))))
		record_slow_end();
}
