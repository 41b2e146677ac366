// SPDX-License-Identifier: MIT OR Apache-2.0
/* Output that appears whole or not at all. */
#include "export/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A device or a pipe given as output (/dev/null, /dev/stdout) is written to, not replaced. */
static bool is_special(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

int output_file_open(struct output_file *file, const char *path, int fd, struct error *err)
{
	const char *target;

	memset(file, 0, sizeof *file);
	file->fd = fd;
	if (!path)
		return STATUS_OK;
	file->path = strdup(path);
	if (!is_special(path) && asprintf(&file->temporary, "%s.%d.tmp", path, (int)getpid()) < 0)
		file->temporary = NULL;
	if (!file->path) {
		output_file_release(file);
		return error_set(err, STATUS_NOMEM, "%s: out of memory", path);
	}
	target = file->temporary ? file->temporary : file->path;
	file->fd = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file->fd < 0) {
		int status = error_set_errno(err, STATUS_IO, "cannot write %s", path);

		output_file_release(file);
		return status;
	}
	return STATUS_OK;
}

int output_file_write(void *context, const void *bytes, size_t count)
{
	struct output_file *file = context;
	const char *at = bytes;

	while (count && !file->saved_errno) {
		ssize_t done = write(file->fd, at, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			file->saved_errno = done < 0 ? errno : EIO;
			break;
		}
		at += done;
		count -= (size_t)done;
	}
	return file->saved_errno ? STATUS_IO : STATUS_OK;
}

int output_file_finish(struct output_file *file, struct error *err)
{
	const char *shown = file->path ? file->path : "to standard output";
	int status = STATUS_OK;

	if (file->path) {
		/* Some file systems tell of a full disk only now. */
		if (close(file->fd) != 0 && !file->saved_errno)
			file->saved_errno = errno;
		file->fd = -1;
	}
	if (!file->saved_errno && file->temporary) {
		if (rename(file->temporary, file->path) == 0) {
			free(file->temporary);
			file->temporary = NULL;
		} else {
			file->saved_errno = errno;
		}
	}
	if (file->saved_errno) {
		errno = file->saved_errno;
		status = error_set_errno(err, STATUS_IO, "cannot write %s", shown);
	}
	output_file_release(file);
	return status;
}

void output_file_release(struct output_file *file)
{
	if (file->path && file->fd >= 0)
		close(file->fd);
	if (file->temporary)
		unlink(file->temporary);
	free(file->path);
	free(file->temporary);
	memset(file, 0, sizeof *file);
	file->fd = -1;
}
