/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Names of trace files: {pid}, {rank}, {host}, {time}, {name} replaced. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* Expands `pattern`, or "{name}-{time}.tacho" when it is empty ("{name}-rank{rank}-{time}.tacho"
 * when there is a rank). An unknown placeholder is STATUS_USAGE. */
int output_name(const char *pattern, const char *program, pid_t pid, char *ret_path,
	size_t path_bytes, struct error *err) MUST_USE;
