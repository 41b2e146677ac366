// SPDX-License-Identifier: MIT OR Apache-2.0
/* The table of commands: one line each, sorted by name. */
#include "cli/cli.h"

#define COMMANDS(XX) \
	XX(dump)     \
	XX(export)   \
	XX(help)     \
	XX(info)     \
	XX(query)    \
	XX(record)   \
	XX(report)   \
	XX(selftest) \
	XX(version)

#define XX(name) extern const struct command cmd_##name;
COMMANDS(XX)
#undef XX

const struct command *const commands[] = {
#define XX(name) &cmd_##name,
	COMMANDS(XX)
#undef XX
		NULL,
};
