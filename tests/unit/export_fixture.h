/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of exporters share: the sample trace, its spans as a list, and files written from
 * it, in memory. */
#pragma once

#include "export/export_walk.h"

struct fixture_span {
	uint32_t track, depth;
	const char *name, *category; /* as stored, not always UTF-8 */
	uint64_t start_ns, duration_ns, self_ns;
	char args[256]; /* "key=value key=value", in the order of the keys' first use */
};

extern struct trace *fixture_trace; /* the sample; tests/unit/sample_trace.h */
extern struct fixture_span *fixture_spans;
extern size_t fixture_span_count;

/* Runs the tests between making and removing all of this. */
struct unit_test;
int fixture_main(const struct unit_test *tests, size_t count, int argc, char **argv);

/* Exports `trace` and returns the file, with a NUL behind it, to be freed; NULL after a failed
 * check. `options.path` is set here, with the extension given. */
uint8_t *fixture_export(const struct trace *trace, const char *format, const char *extension,
	struct export_options options, size_t *ret_bytes);
/* A trace with nothing in it but a process and a thread. */
struct trace *fixture_empty(void);
/* Appends " key=value" as fixture_span.args has it. */
void fixture_arg(char args[256], const char *key, const char *value);
/* The text with U+FFFD in place of bytes that are no UTF-8, valid until the fourth call from now.
 */
const char *fixture_utf8(const char *text);
/* Unpacks a gzip file; to be freed. */
uint8_t *fixture_gunzip(const uint8_t *packed, size_t count, size_t *ret_bytes);
