/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Numbers with units, read from people and written for them. */
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* "250ms", "1.5s", "2m", "1h", "10us", "5ns"; a bare number is seconds. */
int units_parse_duration(const char *text, uint64_t *ret_ns) MUST_USE;
/* "64MiB", "10M", "4k", "123"; K, M, G, T are powers of 1024, with or without "iB" or "B". */
int units_parse_bytes(const char *text, uint64_t *ret_bytes) MUST_USE;
int units_parse_u64(const char *text, uint64_t *ret_value) MUST_USE;
int units_parse_double(const char *text, double *ret_value) MUST_USE;
/* on, off, true, false, yes, no, 1, 0 */
int units_parse_bool(const char *text, int *ret_value) MUST_USE;

#define UNITS_TEXT 32
/* "1.234 ms"; fits in UNITS_TEXT bytes; returns `text`. */
char *units_duration(char text[UNITS_TEXT], double ns);
char *units_bytes(char text[UNITS_TEXT], double bytes);
/* "12.3 M" */
char *units_count(char text[UNITS_TEXT], double count);
