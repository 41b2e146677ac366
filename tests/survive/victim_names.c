// SPDX-License-Identifier: MIT OR Apache-2.0
/* The victim's modes with names and nesting that nobody should have. */
#define _GNU_SOURCE
#include "victim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* COUNT: distinct names, each used once */
static int run_names(int argc, char **argv)
{
	long count = number(argc, argv, 0, 1000000);

	for (long i = 0; i < count; i++) {
		char name[40];

		snprintf(name, sizeof name, "name number %ld", i);
		scopes(1, name);
	}
	return 0;
}

/* BYTES...: one scope with a name of each length */
static int run_long_names(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		size_t bytes = (size_t)atol(argv[i]);
		char *name = malloc(bytes + 1);

		if (!name)
			return 3;
		memset(name, 'a' + i % 26, bytes);
		name[bytes] = 0;
		scopes(1, name);
		tacho_begin("with a long argument");
		tacho_arg_string("text", name);
		tacho_end();
		free(name);
	}
	return 0;
}

static int run_bad_names(int argc, char **argv)
{
	(void)argc, (void)argv;
	scopes(1, "bad \xff\xfe utf-8 \xc3");
	scopes(1, "");
	scopes(1, NULL);
	scopes(1, "line\nbreak \"quote\" \\ \x01 tab\t");
	scopes(1, "$(touch pwned) `touch pwned`; touch pwned");
	tacho_arg_string(NULL, NULL);
	tacho_mark(NULL);
	tacho_counter_int(NULL, NULL, 1);
	tacho_metadata(NULL, NULL);
	tacho_metadata("key \xff", "value \xff");
	tacho_thread_name(NULL);
	tacho_thread_name("thread \xff");
	tacho_phase("");
	tacho_phase(NULL);
	tacho_stack_names(NULL, 5);
	tacho_op_begin(NULL, NULL, 3);
	tacho_end();
	return 0;
}

/* DEPTH: scopes inside scopes */
static int run_depth(int argc, char **argv)
{
	long depth = number(argc, argv, 0, 1000);

	for (int round = 0; round < 2; round++) {
		for (long i = 0; i < depth; i++)
			TACHO_BEGIN("down");
		for (long i = 0; i < depth; i++)
			TACHO_END();
	}
	scopes(1, "after");
	return 0;
}

const struct mode name_modes[] = {
	{ "names", run_names },
	{ "long_names", run_long_names },
	{ "bad_names", run_bad_names },
	{ "depth", run_depth },
	{ NULL, NULL },
};
