// SPDX-License-Identifier: MIT OR Apache-2.0
/* What happens when a record does not fit: move to the next sub-buffer, and if none is free, drop
 * so that nesting stays right.
 *
 * While no sub-buffer is free ("starving"), scopes that begin are only noted in thread->pending. A
 * scope that also ends then is dropped and counted once. Ends of scopes that began before go into
 * the tail that every sub-buffer keeps for them, or are counted in lost_ends when even that is
 * full. As soon as a sub-buffer is free again, the scopes still pending are written with the times
 * they really began at. So nothing is lost but scopes that began and ended without room. */
#include "record/record_internal.h"

#include <errno.h>

static void count_scope(struct thread_state *thread)
{
	atomic_fetch_add_explicit(&thread->slot->dropped_scopes, 1, memory_order_relaxed);
}

static void set_limit(struct thread_state *thread, uint32_t limit)
{
	__atomic_store_n(&thread->limit, limit, __ATOMIC_RELAXED);
}

static void count_event(struct thread_state *thread)
{
	atomic_fetch_add_explicit(&thread->slot->dropped_events, 1, memory_order_relaxed);
}

/* Whether a record opens a span; a phase or step may only end one. */
static bool opens(uint64_t head)
{
	uint32_t kind = shm_head_kind(head);

	return kind == SHM_BEGIN || (kind == SHM_PHASE && shm_head_name(head)) ||
	       (kind == SHM_STEP && !shm_head_small(head));
}

/* The thread's state with `busy` set by us, or NULL: nothing can be recorded, or a signal handler
 * interrupted a record being written (then *ret_interrupted is that thread's state). */
static struct thread_state *enter(struct thread_state **ret_interrupted)
{
	struct thread_state *thread = record_current;

	*ret_interrupted = NULL;
	if (thread != &record_no_state && thread->magic == RECORD_MAGIC &&
		thread->pool == record_globals.pool) {
		if (record_is_busy(thread)) {
			*ret_interrupted = thread;
			return NULL;
		}
		record_set_busy(thread, 1);
		return thread;
	}
	thread = record_thread_attach();
	if (thread)
		record_set_busy(thread, 1);
	return thread;
}

static void write_words(struct thread_state *thread, uint64_t head, uint64_t ticks, uint64_t value)
{
	uint32_t bytes = shm_head_units(head) * 16;
	uint64_t *record = (uint64_t *)(void *)(thread->base + thread->position);

	record[0] = head;
	record[1] = ticks;
	if (bytes > 16) {
		record[2] = value;
		record[3] = 0;
	}
	thread->position += bytes;
	atomic_store_explicit(&thread->sub->committed, thread->position, memory_order_release);
}

/* Moves to a new sub-buffer, if there is one, and writes what waited for it. */
static bool move_on(struct thread_state *thread)
{
	if (!record_next_sub(thread))
		return false;
	set_limit(thread, SHM_SUB_SOFT);
	if (!thread->starving)
		return true;
	if (thread->lost_ends)
		write_words(thread, shm_head(SHM_LOST_ENDS, 2, 0, 0), thread->lost_ticks,
			thread->lost_ends);
	for (uint32_t i = 0; i < thread->pending_count; i++)
		write_words(thread, thread->pending[i].head, thread->pending[i].ticks,
			thread->pending[i].value);
	thread->lost_ends = 0;
	thread->pending_count = 0;
	thread->starving = 0;
	return true;
}

/* Room for `bytes` in the current or a new sub-buffer. Scopes noted beyond PENDING_MAX must all end
 * before order can be restored, so until then nothing is written. */
static bool have_room(struct thread_state *thread, uint32_t bytes)
{
	if (!thread->starving && thread->position + bytes <= thread->limit)
		return true;
	if (thread->pending_skip == 0 && move_on(thread))
		return true;
	thread->starving = 1;
	set_limit(thread, 0);
	return false;
}

static bool is_scope(const struct pending *pending)
{
	return shm_head_kind(pending->head) == SHM_BEGIN;
}

static void drop_pending(struct thread_state *thread)
{
	thread->pending_count--;
	if (opens(thread->pending[thread->pending_count].head))
		count_scope(thread);
}

/* A phase or step replaces the one before it at the same level. */
static void note_pending(struct thread_state *thread, uint64_t head, uint64_t value)
{
	uint32_t kind = shm_head_kind(head);

	if (thread->pending_skip == 0)
		while (kind != SHM_BEGIN && thread->pending_count &&
			!is_scope(&thread->pending[thread->pending_count - 1]) &&
			(kind == SHM_STEP ||
				shm_head_kind(thread->pending[thread->pending_count - 1].head) ==
					SHM_PHASE))
			drop_pending(thread);
	if (thread->pending_skip || thread->pending_count == PENDING_MAX) {
		if (kind == SHM_BEGIN)
			thread->pending_skip++;
		else if (opens(head))
			count_scope(thread);
		return;
	}
	thread->pending[thread->pending_count++] =
		(struct pending){ .head = head, .ticks = record_ticks(), .value = value };
}

void record_slow_begin(uint64_t head, uint64_t value)
{
	struct thread_state *interrupted, *thread = enter(&interrupted);

	if (!thread) {
		if (interrupted && opens(head))
			count_scope(interrupted);
		else if (opens(head))
			record_count_early();
		return;
	}
	if (have_room(thread, shm_head_units(head) * 16))
		write_words(thread, head, record_ticks(), value);
	else
		note_pending(thread, head, value);
	record_set_busy(thread, 0);
}

/* The end of a scope that was itself never written. */
static bool end_pending(struct thread_state *thread)
{
	if (thread->pending_skip) {
		thread->pending_skip--;
		count_scope(thread);
		return true;
	}
	while (thread->pending_count) {
		drop_pending(thread);
		if (is_scope(&thread->pending[thread->pending_count]))
			return true;
	}
	return false;
}

void record_slow_end(void)
{
	struct thread_state *interrupted, *thread = record_current;

	/* A thread without a state has no open scope: nothing to end, and no reason to attach. */
	if (thread == &record_no_state || thread->magic != RECORD_MAGIC ||
		thread->pool != record_globals.pool)
		return;
	thread = enter(&interrupted);
	if (!thread)
		return;
	if (thread->starving && end_pending(thread)) {
		(void)have_room(thread, 16);
	} else if (have_room(thread, 16)) {
		write_words(thread, shm_head(SHM_END, 1, 0, 0), record_ticks(), 0);
	} else if (thread->sub && thread->position + 16 <= SHM_SUB_BYTES && !thread->lost_ends) {
		write_words(thread, shm_head(SHM_END, 1, 0, 0), record_ticks(), 0);
	} else {
		thread->lost_ends++;
		thread->lost_ticks = record_ticks();
	}
	record_set_busy(thread, 0);
}

uint64_t *record_reserve(uint32_t bytes, struct thread_state **ret_thread)
{
	struct thread_state *interrupted, *thread;
	int saved = errno;

	thread = enter(&interrupted);
	errno = saved;
	if (!thread) {
		if (interrupted)
			count_event(interrupted);
		else
			record_count_early();
		return NULL;
	}
	if (!have_room(thread, bytes)) {
		count_event(thread);
		record_set_busy(thread, 0);
		return NULL;
	}
	*ret_thread = thread;
	return (uint64_t *)(void *)(thread->base + thread->position);
}
