// SPDX-License-Identifier: MIT OR Apache-2.0
/* Gathering the settings of a recording. */
#include "cli/recording_settings.h"

#include <stdlib.h>

extern char **environ;

static int print_first(void *context, const struct error *err)
{
	cli_fail_error(context, err);
	return 1;
}

int recording_settings_load(const struct cli *cli, struct settings *settings)
{
	const char *file = getenv("TACHO_CONFIG");
	int status;

	settings_init(settings);
	status = settings_load_file(
		settings, file ? file : "tacho.conf", print_first, (void *)(uintptr_t)cli);
	if (status == STATUS_NOTFOUND && file)
		return cli_fail(cli, "TACHO_CONFIG: %s: no such file", file);
	if (status != STATUS_OK && status != STATUS_NOTFOUND)
		return EXIT_USAGE;
	if (settings_load_environment(settings, environ, print_first, (void *)(uintptr_t)cli) != 0)
		return EXIT_USAGE;
	return EXIT_FINE;
}

int recording_settings_set(
	const struct cli *cli, struct settings *settings, const char *key, const char *value)
{
	struct error err = ERROR_INIT;

	if (!value ||
		settings_set(settings, key, value, SETTING_FROM_COMMAND_LINE, &err) == STATUS_OK)
		return EXIT_FINE;
	return cli_fail_error(cli, &err);
}

int recording_settings_assign(
	const struct cli *cli, struct settings *settings, const struct option_list *list)
{
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < list->count; i++) {
		if (settings_assign(settings, list->items[i], SETTING_FROM_COMMAND_LINE, &err) ==
			STATUS_OK)
			continue;
		error_prefix(&err, "--set: ");
		return cli_fail_error(cli, &err);
	}
	return EXIT_FINE;
}
