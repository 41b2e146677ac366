// SPDX-License-Identifier: MIT OR Apache-2.0
/* Filling struct error. A message that does not fit is cut, never lost. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 4, 0))) static void error_fill(
	struct error *err, int status, int64_t offset, const char *format, va_list ap)
{
	err->status = status;
	err->offset = offset;
	vsnprintf(err->message, sizeof err->message, format, ap);
}

int error_set(struct error *err, int status, const char *format, ...)
{
	va_list ap;

	if (!err)
		return status;
	va_start(ap, format);
	error_fill(err, status, ERROR_NO_OFFSET, format, ap);
	va_end(ap);
	return status;
}

int error_set_at(struct error *err, int status, uint64_t offset, const char *format, ...)
{
	va_list ap;
	size_t used;

	if (!err)
		return status;
	va_start(ap, format);
	error_fill(err, status, (int64_t)offset, format, ap);
	va_end(ap);
	used = strlen(err->message);
	snprintf(err->message + used, sizeof err->message - used, " (at byte %llu)",
		(unsigned long long)offset);
	return status;
}

int error_set_errno(struct error *err, int status, const char *format, ...)
{
	int saved = errno;
	va_list ap;
	size_t used;

	if (!err)
		return status;
	va_start(ap, format);
	error_fill(err, status, ERROR_NO_OFFSET, format, ap);
	va_end(ap);
	used = strlen(err->message);
	snprintf(err->message + used, sizeof err->message - used, ": %s", strerror(saved));
	return status;
}

int error_prefix(struct error *err, const char *format, ...)
{
	char old[sizeof err->message];
	va_list ap;
	size_t used;

	if (!err)
		return STATUS_FORMAT;
	memcpy(old, err->message, sizeof old);
	va_start(ap, format);
	vsnprintf(err->message, sizeof err->message, format, ap);
	va_end(ap);
	used = strlen(err->message);
	snprintf(err->message + used, sizeof err->message - used, "%s", old);
	return err->status;
}
