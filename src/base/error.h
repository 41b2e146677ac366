/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An error a person can act on: a status, a message of fixed size, and where it was found.
 * Reporting never allocates. A caller adds its context in front with error_prefix(). */
#pragma once

#include "base/status.h"

#include <stdint.h>

#define ERROR_NO_OFFSET (-1)

struct error {
	int status;
	int64_t offset; /* byte offset in the input, or ERROR_NO_OFFSET */
	char message[256];
};

#define ERROR_INIT                        \
	{                                 \
		.offset = ERROR_NO_OFFSET \
	}

/* Sets status and message and returns the status, so that `return error_set(...)` is one line.
 * `err` may be NULL: then only the status is returned. */
int error_set(struct error *err, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with the byte offset at which the input is wrong. */
int error_set_at(struct error *err, int status, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same with the text of errno appended: "open: No such file or directory". */
int error_set_errno(struct error *err, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts context in front of the message and returns err's status. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
