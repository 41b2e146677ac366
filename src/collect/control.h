/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Asking a running collector for something: a Unix socket in the session folder, one line each way.
 *   request  "dump <nanoseconds> <reason> <path or ->\n"
 *   answer   "ok <path>\n" or "error <message>\n" */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* A listening socket in `folder`, or -1. */
int control_listen(const char *folder);
/* Answers at most one request; `dump` writes a trace and fills `ret_path` or `err`. */
typedef int control_dump(void *context, uint64_t last_ns, const char *path, const char *reason,
	char *ret_path, size_t path_bytes, struct error *err);
void control_serve(int listener, control_dump *dump, void *context);

/* The other side: asks the collector of `folder` for a dump and waits for its answer. */
int control_ask_dump(const char *folder, uint64_t last_ns, const char *path, char *ret_path,
	size_t path_bytes, struct error *err) MUST_USE;
