/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reading of /proc and /sys: short files into a buffer of the caller's, and a cursor over their
 * text. What they hold is foreign: nothing here trusts a length, a digit or a line end. Allocates
 * nothing and prints nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_PATH 512

/* Text not yet read; `end` is behind its last byte. */
struct proc_text {
	const char *at;
	const char *end;
};

/* Opens the file whose path the format gives, for reading; -1 with errno set when it is not there
 * or the path is longer than PROC_PATH. */
int proc_file_open(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One pread() from the start: enough for files the kernel writes in one piece. Returns the length,
 * which is less than `size`, and puts a NUL behind; -1 with errno set on failure. */
ssize_t proc_file_read(int fd, char *buffer, size_t size);

/* The same, reading on until the end or until the buffer is full: for files of many records, of
 * which the kernel hands out a page at a time. A last line cut off by the buffer is dropped. */
ssize_t proc_file_read_all(int fd, char *buffer, size_t size);

/* Opens, reads from the start and closes; -1 with errno set on failure. */
ssize_t proc_file_get(char *buffer, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* proc_file_get() for a file that holds one number; false when it does not. */
bool proc_file_get_u64(uint64_t *ret_value, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline struct proc_text proc_text_of(const char *text, ssize_t length)
{
	return (struct proc_text){ text, length > 0 ? text + length : text };
}

/* The next number after blanks. False without a digit, or when it does not fit. */
bool proc_text_u64(struct proc_text *text, uint64_t *ret_value);
/* The same with an optional minus. */
bool proc_text_i64(struct proc_text *text, int64_t *ret_value);
/* The next run of bytes that are not blank or line end. */
bool proc_text_word(struct proc_text *text, struct proc_text *ret_word);
/* The next line, without its end. False at the end of the text. */
bool proc_text_line(struct proc_text *text, struct proc_text *ret_line);
/* Steps over `prefix` if the text begins with it. */
bool proc_text_skip(struct proc_text *text, const char *prefix);
bool proc_text_equal(const struct proc_text *text, const char *other);

/* The number behind `key` at the start of a line, with blanks, ':' or '=' between. Searches from
 * where the text stands and leaves it behind the line found, so that keys in the file's order cost
 * one pass; false leaves the text untouched. */
bool proc_text_key(struct proc_text *text, const char *key, uint64_t *ret_value);
