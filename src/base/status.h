/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The outcomes a function can report. One list; the enum, the names and the texts come from it. */
#pragma once

#define STATUS_MAP(XX)                                          \
	XX(OK, 0, "done")                                       \
	XX(NOMEM, -1, "out of memory")                          \
	XX(LIMIT, -2, "a limit was reached")                    \
	XX(IO, -3, "input or output failed")                    \
	XX(FORMAT, -4, "the bytes are not what they should be") \
	XX(VERSION, -5, "made by another version")              \
	XX(USAGE, -6, "wrong use")                              \
	XX(NOTFOUND, -7, "not found")                           \
	XX(DENIED, -8, "not allowed")                           \
	XX(BUSY, -9, "in use")                                  \
	XX(UNSUPPORTED, -10, "not supported here")

enum status {
#define XX(name, code, text) STATUS_##name = (code),
	STATUS_MAP(XX)
#undef XX
};

/* The text of a status code, never NULL. */
const char *status_text(int status);

#define MUST_USE __attribute__((warn_unused_result))
