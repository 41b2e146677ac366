// SPDX-License-Identifier: MIT OR Apache-2.0
/* Input of every kind. */
#include "cli/cli_input.h"

#include "base/progress.h"
#include "import/import.h"
#include "import/import_cache.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a regular file begins as a .tacho file does. What cannot be opened is left to
 * trace_open(), which says why. */
static bool is_tacho(const char *path)
{
	static const char magic[] = "TACHO";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[sizeof magic - 1];
	struct stat info;
	bool tacho = true;

	if (fd < 0)
		return true;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
		tacho = pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
			memcmp(head, magic, sizeof head) == 0;
	else if (S_ISFIFO(info.st_mode))
		tacho = false;
	close(fd);
	return tacho;
}

/* A file of its own for a conversion that is not to be kept; gone as soon as it is closed. */
static int convert_once(const char *path, const struct import_options *options,
	struct trace **ret_trace, struct error *err)
{
	const char *folder = getenv("TMPDIR");
	char output[PATH_MAX];
	int fd, status;

	snprintf(output, sizeof output, "%s/tacho-import-XXXXXX",
		folder && folder[0] ? folder : "/tmp");
	fd = mkstemp(output);
	if (fd < 0)
		return error_set_errno(err, STATUS_IO, "cannot make a file in %s",
			folder && folder[0] ? folder : "/tmp");
	close(fd);
	status = import_convert(path, output, options, err);
	if (status == STATUS_OK)
		status = trace_open(output, ret_trace, err);
	unlink(output);
	return status;
}

static int convert_cached(const char *path, const char *entry, const struct import_options *options,
	struct trace **ret_trace, struct error *err)
{
	int status;

	/* An entry that does not open is made anew. */
	if (import_cache_touch(entry) && trace_open(entry, ret_trace, err) == STATUS_OK) {
		if (!(*ret_trace)->repaired)
			return STATUS_OK;
		trace_close(*ret_trace);
	}
	status = import_convert(path, entry, options, err);
	if (status != STATUS_OK)
		return status;
	import_cache_trim(entry);
	return trace_open(entry, ret_trace, err);
}

int cli_input_open(const struct cli *cli, const char *path, const struct cli_input_options *options,
	struct trace **ret_trace, struct error *err)
{
	struct import_options import = { .max_memory = options->max_memory };
	const struct importer *importer;
	char entry[PATH_MAX];
	bool stream = strcmp(path, "-") == 0;
	struct stat info;
	int status = STATUS_OK;

	(void)cli;
	if (!stream && is_tacho(path))
		return trace_open(path, ret_trace, err);
	stream = stream || (stat(path, &info) == 0 && !S_ISREG(info.st_mode));
	/* A stream can be looked at only once: the conversion itself does it. */
	if (!stream)
		status = import_detect(path, &importer, err);
	if (status == STATUS_OK && !stream && !options->no_cache &&
		import_cache_path(path, importer, entry, sizeof entry))
		status = convert_cached(path, entry, &import, ret_trace, err);
	else if (status == STATUS_OK)
		status = convert_once(path, &import, ret_trace, err);
	if (status != STATUS_OK)
		return error_prefix(
			err, "%.100s: ", stream && path[0] == '-' ? "standard input" : path);
	/* The user knows the trace by the name of the original. */
	(*ret_trace)->path = arena_copy(&(*ret_trace)->arena, path, strlen(path));
	return STATUS_OK;
}
