// SPDX-License-Identifier: MIT OR Apache-2.0
/* Pairing of begins and ends. */
#include "import/slice_stack.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

int slice_stack_init(struct slice_stack *stack, struct event_args *args)
{
	memset(stack, 0, sizeof *stack);
	stack->args = args;
	stack->joined = malloc(sizeof *stack->joined);
	if (!stack->joined)
		return STATUS_NOMEM;
	event_args_init(stack->joined, args->sink);
	return STATUS_OK;
}

void slice_stack_release(struct slice_stack *stack)
{
	for (size_t i = 0; i < stack->open_count; i++)
		free(stack->open[i].arguments);
	for (size_t i = 0; i < stack->late_count; i++)
		free(stack->late[i].arguments);
	free(stack->open);
	free(stack->late);
	free(stack->joined);
	id_map_release(&stack->tops);
	id_map_release(&stack->writers);
}

static size_t event_bytes(const struct slice_event *event)
{
	return sizeof *event + event->argument_count * 13;
}

/* The event at hand, with a copy of its arguments. */
static int make_event(struct slice_stack *stack, struct slice_event *event)
{
	const struct event_args *args = stack->args;
	size_t count = args->count;

	event->order = stack->order++;
	event->argument_count = (uint32_t)count;
	if (import_sink_room(args->sink) < event_bytes(event))
		return STATUS_LIMIT;
	if (count) {
		event->arguments = malloc(count * 13);
		if (!event->arguments)
			return STATUS_NOMEM;
		memcpy(event->arguments, args->values, count * 8);
		memcpy(event->arguments + count * 8, args->keys, count * 4);
		memcpy(event->arguments + count * 12, args->types, count);
	}
	import_sink_reserve(args->sink, (int64_t)event_bytes(event));
	return args->status;
}

static void take_arguments(struct slice_stack *stack, struct slice_event *event)
{
	size_t count = event->argument_count;

	for (size_t i = 0; i < count; i++) {
		uint64_t value;
		uint32_t key;

		memcpy(&value, event->arguments + i * 8, sizeof value);
		memcpy(&key, event->arguments + count * 8 + i * 4, sizeof key);
		event_args_add(stack->joined, key, event->arguments[count * 12 + i], value);
	}
	import_sink_reserve(stack->args->sink, -(int64_t)event_bytes(event));
	free(event->arguments);
	event->arguments = NULL;
	event->argument_count = 0;
}

/* Whether events of this track may still be paired as they come. */
static bool single_writer(
	struct slice_stack *stack, uint32_t track, uint64_t writer, int *ret_status)
{
	uint64_t known = 0;

	*ret_status = STATUS_OK;
	if (id_map_get(&stack->writers, track, &known) && known == writer + 1)
		return true;
	if (known == 0 && !id_map_get(&stack->writers, track, &known)) {
		*ret_status = id_map_put(&stack->writers, track, writer + 1);
		return true;
	}
	if (known)
		*ret_status = id_map_put(&stack->writers, track, 0);
	return false;
}

static int keep_late(struct slice_stack *stack, const struct slice_event *event)
{
	if (array_grow((void **)&stack->late, &stack->late_capacity, stack->late_count + 1,
		    sizeof *stack->late))
		return STATUS_NOMEM;
	stack->late[stack->late_count++] = *event;
	return STATUS_OK;
}

/* Ends come mostly in the reverse order of begins, so the list stays short. */
static void trim(struct slice_stack *stack)
{
	while (stack->open_count && stack->open[stack->open_count - 1].track == UINT32_MAX)
		stack->open_count--;
}

/* The begins that are open on a track join the events kept for later. */
static int move_open(struct slice_stack *stack, uint32_t track)
{
	uint64_t top = 0;
	int status = STATUS_OK;

	id_map_take(&stack->tops, track, &top);
	while (status == STATUS_OK && top) {
		struct slice_event *event = &stack->open[top - 1];

		top = event->below;
		status = keep_late(stack, event);
		if (status == STATUS_OK) {
			event->arguments = NULL;
			event->track = UINT32_MAX;
		}
	}
	trim(stack);
	return status;
}

static int push(struct slice_stack *stack, struct slice_event *event)
{
	uint64_t below = 0;
	int status;

	id_map_get(&stack->tops, event->track, &below);
	event->below = (size_t)below;
	status = array_grow((void **)&stack->open, &stack->open_capacity, stack->open_count + 1,
		sizeof *stack->open);
	if (status != STATUS_OK)
		return status;
	stack->open[stack->open_count++] = *event;
	return id_map_put(&stack->tops, event->track, stack->open_count);
}

/* Ends the newest slice of a track; the end's arguments are in `joined` behind the begin's. */
static int pop(struct slice_stack *stack, uint32_t track, int64_t time_ns, struct slice_event *end)
{
	struct slice_event *begin;
	uint64_t top = 0;
	uint32_t name;
	int64_t start_ns;
	int status;

	event_args_reset(stack->joined);
	if (!id_map_get(&stack->tops, track, &top) || !top) {
		if (end)
			take_arguments(stack, end);
		stack->unmatched++;
		return STATUS_OK;
	}
	begin = &stack->open[top - 1];
	name = begin->name;
	start_ns = begin->time_ns;
	status = id_map_put(&stack->tops, track, begin->below);
	take_arguments(stack, begin);
	begin->track = UINT32_MAX;
	trim(stack);
	if (end)
		take_arguments(stack, end);
	else
		for (uint32_t i = 0; i < stack->args->count; i++)
			event_args_add(stack->joined, stack->args->keys[i], stack->args->types[i],
				stack->args->values[i]);
	return status == STATUS_OK ? event_span(stack->joined, track, name, start_ns, time_ns)
				   : status;
}

int slice_stack_begin(
	struct slice_stack *stack, uint32_t track, uint64_t writer, uint32_t name, int64_t time_ns)
{
	struct slice_event event = {
		.time_ns = time_ns, .track = track, .name = name, .begin = true
	};
	bool single;
	int status = make_event(stack, &event);

	if (status != STATUS_OK) {
		free(event.arguments);
		return status;
	}
	single = single_writer(stack, track, writer, &status);
	if (status == STATUS_OK && !single)
		status = move_open(stack, track);
	if (status == STATUS_OK)
		status = single ? push(stack, &event) : keep_late(stack, &event);
	if (status != STATUS_OK)
		free(event.arguments);
	return status;
}

int slice_stack_end(struct slice_stack *stack, uint32_t track, uint64_t writer, int64_t time_ns)
{
	struct slice_event event = { .time_ns = time_ns, .track = track };
	int status;

	if (single_writer(stack, track, writer, &status)) {
		uint64_t top = 0;

		/* An end without a begin may be that of a writer yet to come. */
		if (status != STATUS_OK || (id_map_get(&stack->tops, track, &top) && top))
			return status == STATUS_OK ? pop(stack, track, time_ns, NULL) : status;
	} else if (status == STATUS_OK) {
		status = move_open(stack, track);
	}
	if (status == STATUS_OK)
		status = make_event(stack, &event);
	if (status == STATUS_OK)
		status = keep_late(stack, &event);
	if (status != STATUS_OK)
		free(event.arguments);
	return status;
}

static int compare_events(const void *a, const void *b)
{
	const struct slice_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

int slice_stack_finish(struct slice_stack *stack, int64_t end_ns)
{
	struct ledger *ledger = import_sink_ledger(stack->args->sink);
	int status = STATUS_OK;

	for (size_t i = 0, count = stack->late_count; status == STATUS_OK && i < count; i++)
		status = move_open(stack, stack->late[i].track);
	if (stack->late_count)
		qsort(stack->late, stack->late_count, sizeof *stack->late, compare_events);
	for (size_t i = 0; status == STATUS_OK && i < stack->late_count; i++) {
		struct slice_event *event = &stack->late[i];

		if (event->begin) {
			status = push(stack, event);
			if (status == STATUS_OK)
				event->arguments = NULL;
		} else {
			status = pop(stack, event->track, event->time_ns, event);
		}
	}
	event_args_reset(stack->args);
	while (status == STATUS_OK && stack->open_count) {
		const struct slice_event *last = &stack->open[stack->open_count - 1];

		/* Each was above all that are left of its track. */
		stack->unended++;
		status = pop(
			stack, last->track, end_ns > last->time_ns ? end_ns : last->time_ns, NULL);
	}
	if (stack->unmatched)
		ledger_add(ledger, stack->unmatched, "ends without a begin", "import", "left out");
	if (stack->unended)
		ledger_add(ledger, stack->unended, "begins without an end", "import",
			"shown until the end of the trace");
	ledger->skipped += stack->unmatched;
	return status;
}
