// SPDX-License-Identifier: MIT OR Apache-2.0
/* Windows that hold nothing are mistakes, and said to be. */
#include "cli/cli_window.h"

#include "base/units.h"

int cli_check_window(
	const struct cli *cli, const struct trace *trace, const struct trace_window *window)
{
	char from[UNITS_TEXT], end[UNITS_TEXT];

	if (window->until_ns && window->until_ns <= window->from_ns)
		return cli_fail(cli, "--until must be later than --from");
	if (window->from_ns > trace->span_ns)
		return cli_fail(cli, "--from %s is behind the end of the trace at %s",
			units_duration(from, (double)window->from_ns),
			units_duration(end, (double)trace->span_ns));
	return EXIT_FINE;
}
