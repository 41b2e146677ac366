/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where a command's result goes: standard output, or a file that appears whole or not at all. */
#pragma once

#include "base/json_writer.h"
#include "cli/cli.h"
#include "export/output_file.h"

struct cli_output {
	struct output_file file;
	struct buffer text;      /* for results that are text */
	struct json_writer json; /* for results that are JSON; streams */
};

/* `path` NULL: standard output. */
int cli_output_open(struct cli_output *output, const char *path, struct error *err) MUST_USE;
/* Writes what was put into `text` or `json` and ends the output; err->status tells how it went. */
void cli_output_finish(struct cli_output *output, bool json, struct error *err);
