/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A file being written: under a temporary name beside its path and renamed when it is whole, so
 * that nobody ever sees half a file; or an open descriptor such as standard output. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct output_file {
	int fd;
	char *path, *temporary; /* NULL for a descriptor of the caller's */
	int saved_errno;        /* of the first write that failed; 0: none did */
};

/* `path` NULL: writes to `fd`, which stays open. */
int output_file_open(
	struct output_file *file, const char *path, int fd, struct error *err) MUST_USE;
/* 0, or STATUS_IO, remembered until output_file_finish(). Has the shape of json_writer's flush. */
int output_file_write(void *file, const void *bytes, size_t count);
/* Closes and renames, or says what went wrong. The file is released either way. */
int output_file_finish(struct output_file *file, struct error *err) MUST_USE;
/* Gives up and removes what was written. Harmless after finish. */
void output_file_release(struct output_file *file);
