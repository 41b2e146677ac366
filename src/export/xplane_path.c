// SPDX-License-Identifier: MIT OR Apache-2.0
/* Folders of a TensorBoard log. */
#include "export/xplane_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

const char *xplane_host(const struct trace *trace)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
	const char *host = trace_metadata(trace, "env.host.name");

	return host && host[0] && host[0] != '.' && !host[strspn(host, allowed)] ? host : "tacho";
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Makes every folder that leads to the file. */
static int make_folders(char *path, struct error *err)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		int made;

		*at = '\0';
		made = mkdir(path, 0777);
		if (made != 0 && errno != EEXIST) {
			int status = error_set_errno(err, STATUS_IO, "cannot make folder %s", path);

			*at = '/';
			return status;
		}
		*at = '/';
	}
	return STATUS_OK;
}

int xplane_path(const struct trace *trace, const char *given, char **ret_path, struct error *err)
{
	time_t start = (time_t)(trace->header.start_unix_ns / 1000000000);
	struct stat info;
	char run[32];
	struct tm parts;
	char *path;
	int status;

	if (!given) {
		*ret_path = NULL;
		return STATUS_OK;
	}
	if (ends_with(given, ".pb") || (stat(given, &info) == 0 && !S_ISDIR(info.st_mode))) {
		path = strdup(given);
		*ret_path = path;
		return path ? STATUS_OK : error_set(err, STATUS_NOMEM, "out of memory");
	}
	gmtime_r(&start, &parts);
	strftime(run, sizeof run, "%Y_%m_%d_%H_%M_%S", &parts);
	if (asprintf(&path, "%s/plugins/profile/%s/%s.xplane.pb", given, run, xplane_host(trace)) <
		0)
		return error_set(err, STATUS_NOMEM, "out of memory");
	status = make_folders(path, err);
	if (status != STATUS_OK) {
		free(path);
		return status;
	}
	*ret_path = path;
	return STATUS_OK;
}
