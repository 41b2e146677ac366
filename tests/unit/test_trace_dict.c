// SPDX-License-Identifier: MIT OR Apache-2.0
/* Dictionaries of a trace being written. */
#include "format/trace_dict.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

static uint32_t string(struct trace_dict *dict, const char *text)
{
	uint32_t id = UINT32_MAX;

	CHECK_EQ(trace_dict_string(dict, text, strlen(text), &id), STATUS_OK);
	return id;
}

static void names_are_pairs(void)
{
	struct trace_dict dict;
	uint32_t forward, op, kernel, a, b, c;

	CHECK_EQ(trace_dict_init(&dict), STATUS_OK);
	forward = string(&dict, "forward");
	op = string(&dict, "op");
	kernel = string(&dict, "kernel");
	CHECK_EQ(trace_dict_name(&dict, forward, op, &a), STATUS_OK);
	CHECK_EQ(trace_dict_name(&dict, forward, kernel, &b), STATUS_OK);
	CHECK_EQ(trace_dict_name(&dict, forward, op, &c), STATUS_OK);
	CHECK_EQ(a, 0);
	CHECK_EQ(b, 1);
	CHECK_EQ(c, a);
	CHECK_EQ(dict.names.count, 2);
	CHECK_EQ(dict.names.cells[NAMES_CATEGORY][1], kernel);
	trace_dict_release(&dict);
}

static void tracks_are_always_new(void)
{
	struct trace_dict dict;
	uint32_t machine, process, again;

	CHECK_EQ(trace_dict_init(&dict), STATUS_OK);
	CHECK_EQ(trace_dict_track(&dict, 0, TRACK_MACHINE, 0, 0, 0, &machine), STATUS_OK);
	CHECK_EQ(trace_dict_track(
			 &dict, machine, TRACK_PROCESS, 4711, string(&dict, "train"), 0, &process),
		STATUS_OK);
	CHECK_EQ(trace_dict_track(
			 &dict, machine, TRACK_PROCESS, 4711, string(&dict, "train"), 0, &again),
		STATUS_OK);
	CHECK_EQ(machine, 0);
	CHECK_EQ(process, 1);
	CHECK_EQ(again, 2);
	CHECK_EQ(dict.tracks.cells[TRACKS_OS_ID][1], 4711);
	CHECK_EQ(dict.tracks.cells[TRACKS_KIND][1], TRACK_PROCESS);
	trace_dict_release(&dict);
}

static void stacks_are_shared(void)
{
	static const uint32_t first[] = { 1, 2, 3 }, second[] = { 1, 2 }, third[] = { 1, 2, 3 };
	struct trace_dict dict;
	uint32_t a, b, c, empty;

	CHECK_EQ(trace_dict_init(&dict), STATUS_OK);
	CHECK_EQ(trace_dict_stack(&dict, first, 3, &a), STATUS_OK);
	CHECK_EQ(trace_dict_stack(&dict, second, 2, &b), STATUS_OK);
	CHECK_EQ(trace_dict_stack(&dict, NULL, 0, &empty), STATUS_OK);
	CHECK_EQ(trace_dict_stack(&dict, third, 3, &c), STATUS_OK);
	CHECK_EQ(a, 0);
	CHECK_EQ(b, 1);
	CHECK_EQ(empty, 2);
	CHECK_EQ(c, a);
	CHECK_EQ(dict.stack_ends[0], 3);
	CHECK_EQ(dict.stack_ends[1], 5);
	CHECK_EQ(dict.stack_ends[2], 5);
	CHECK_EQ(dict.frames[4], 2);
	trace_dict_release(&dict);
}

static void many_names(void)
{
	enum { COUNT = 200000 };
	struct trace_dict dict;
	char text[32];
	uint32_t id, name;
	int wrong = 0;

	CHECK_EQ(trace_dict_init(&dict), STATUS_OK);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < COUNT; i++) {
			snprintf(text, sizeof text, "n%u", i);
			wrong += trace_dict_string(&dict, text, strlen(text), &id) != STATUS_OK;
			wrong += trace_dict_name(&dict, id, 0, &name) != STATUS_OK || name != i;
		}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(dict.names.count, COUNT);
	trace_dict_release(&dict);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(names_are_pairs),
		UNIT(tracks_are_always_new),
		UNIT(stacks_are_shared),
		UNIT(many_names),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
