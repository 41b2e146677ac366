/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* --from and --until, which several commands take. */
#pragma once

#include "cli/cli.h"
#include "trace/trace.h"

/* EXIT_FINE, or says why there is nothing between the two and returns EXIT_USAGE. */
int cli_check_window(
	const struct cli *cli, const struct trace *trace, const struct trace_window *window);
