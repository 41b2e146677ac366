// SPDX-License-Identifier: MIT OR Apache-2.0
/* Own number parsing: sscanf and strtoull cost more than the system call they follow, and depend on
 * the locale. */
#include "env/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 1, 0))) static int open_va(const char *format, va_list args)
{
	char path[PROC_PATH];
	int length = vsnprintf(path, sizeof path, format, args);

	if (length < 0 || (size_t)length >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

int proc_file_open(const char *format, ...)
{
	va_list args;
	int fd;

	va_start(args, format);
	fd = open_va(format, args);
	va_end(args);
	return fd;
}

static ssize_t read_some(int fd, char *buffer, size_t size, off_t offset)
{
	ssize_t got;

	do
		got = pread(fd, buffer, size, offset);
	while (got < 0 && errno == EINTR);
	return got;
}

ssize_t proc_file_read(int fd, char *buffer, size_t size)
{
	ssize_t got = read_some(fd, buffer, size - 1, 0);

	buffer[got > 0 ? got : 0] = '\0';
	return got;
}

ssize_t proc_file_read_all(int fd, char *buffer, size_t size)
{
	size_t length = 0;
	ssize_t got = 0;

	while (length < size - 1) {
		got = read_some(fd, buffer + length, size - 1 - length, (off_t)length);
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	if (got < 0 && length == 0) {
		buffer[0] = '\0';
		return -1;
	}
	if (got != 0)
		while (length > 0 && buffer[length - 1] != '\n')
			length--;
	buffer[length] = '\0';
	return (ssize_t)length;
}

__attribute__((format(printf, 3, 0))) static ssize_t get_va(
	char *buffer, size_t size, const char *format, va_list args)
{
	int fd = open_va(format, args);
	ssize_t got;
	int saved;

	buffer[0] = '\0';
	if (fd < 0)
		return -1;
	got = proc_file_read(fd, buffer, size);
	saved = errno;
	close(fd);
	errno = saved;
	return got;
}

ssize_t proc_file_get(char *buffer, size_t size, const char *format, ...)
{
	va_list args;
	ssize_t got;

	va_start(args, format);
	got = get_va(buffer, size, format, args);
	va_end(args);
	return got;
}

bool proc_file_get_u64(uint64_t *ret_value, const char *format, ...)
{
	struct proc_text text;
	char buffer[64];
	va_list args;
	ssize_t got;

	va_start(args, format);
	got = get_va(buffer, sizeof buffer, format, args);
	va_end(args);
	text = proc_text_of(buffer, got);
	return proc_text_u64(&text, ret_value);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct proc_text *text)
{
	while (text->at < text->end && is_blank(*text->at))
		text->at++;
}

bool proc_text_u64(struct proc_text *text, uint64_t *ret_value)
{
	uint64_t value = 0;
	const char *start;

	skip_blanks(text);
	start = text->at;
	for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*text->at - '0'), &value))
			return false;
	if (text->at == start)
		return false;
	*ret_value = value;
	return true;
}

bool proc_text_i64(struct proc_text *text, int64_t *ret_value)
{
	bool negative;
	uint64_t size;

	skip_blanks(text);
	negative = proc_text_skip(text, "-");
	if (!proc_text_u64(text, &size) || size > INT64_MAX)
		return false;
	*ret_value = negative ? -(int64_t)size : (int64_t)size;
	return true;
}

bool proc_text_word(struct proc_text *text, struct proc_text *ret_word)
{
	const char *start;

	skip_blanks(text);
	start = text->at;
	while (text->at < text->end && !is_blank(*text->at) && *text->at != '\n')
		text->at++;
	if (text->at == start)
		return false;
	*ret_word = (struct proc_text){ start, text->at };
	return true;
}

bool proc_text_line(struct proc_text *text, struct proc_text *ret_line)
{
	const char *end;

	if (text->at >= text->end)
		return false;
	end = memchr(text->at, '\n', (size_t)(text->end - text->at));
	*ret_line = (struct proc_text){ text->at, end ? end : text->end };
	text->at = end ? end + 1 : text->end;
	return true;
}

bool proc_text_skip(struct proc_text *text, const char *prefix)
{
	size_t length = strlen(prefix);

	if ((size_t)(text->end - text->at) < length || memcmp(text->at, prefix, length) != 0)
		return false;
	text->at += length;
	return true;
}

bool proc_text_equal(const struct proc_text *text, const char *other)
{
	size_t length = strlen(other);

	return (size_t)(text->end - text->at) == length && memcmp(text->at, other, length) == 0;
}

bool proc_text_key(struct proc_text *text, const char *key, uint64_t *ret_value)
{
	struct proc_text rest = *text, line;

	while (proc_text_line(&rest, &line)) {
		if (!proc_text_skip(&line, key) || line.at == line.end)
			continue;
		if (!is_blank(*line.at) && *line.at != ':' && *line.at != '=')
			continue;
		line.at++;
		if (!proc_text_u64(&line, ret_value))
			return false;
		*text = rest;
		return true;
	}
	return false;
}
