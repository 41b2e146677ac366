/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The settings of a recording as the tool gathers them: command line over environment over file. */
#pragma once

#include "base/settings.h"
#include "cli/cli.h"

/* Defaults, then tacho.conf (or TACHO_CONFIG), then TACHO_* variables. The first mistake is
 * printed; returns 0 or EXIT_USAGE. Command-line values are set afterwards by the caller. */
int recording_settings_load(const struct cli *cli, struct settings *settings);
/* Sets one from the command line; NULL values are passed over. */
int recording_settings_set(
	const struct cli *cli, struct settings *settings, const char *key, const char *value);
/* All of --set KEY=VALUE. */
int recording_settings_assign(
	const struct cli *cli, struct settings *settings, const struct option_list *list);
