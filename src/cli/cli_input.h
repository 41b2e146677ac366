/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Opening what the user names: a .tacho file as it is, any other trace through its importer and the
 * cache. "-" is standard input. */
#pragma once

#include "cli/cli.h"
#include "trace/trace.h"

/* The options that go with it; every command that reads a trace has them. */
struct cli_input_options {
	bool no_cache;
	uint64_t max_memory; /* of an import; 0: half of the machine's */
};
#define CLI_INPUT_SPECS(type, field)                                                            \
	{ OPTION_FLAG, 0, "no-cache", NULL,                                                     \
		offsetof(type, field) + offsetof(struct cli_input_options, no_cache),           \
		"convert a foreign trace anew and keep nothing of it" },                        \
	{                                                                                       \
		OPTION_BYTES, 0, "max-memory", "SIZE",                                          \
			offsetof(type, field) + offsetof(struct cli_input_options, max_memory), \
			"memory that an import may take (default: half of the machine's)"       \
	}

int cli_input_open(const struct cli *cli, const char *path, const struct cli_input_options *options,
	struct trace **ret_trace, struct error *err) MUST_USE;
