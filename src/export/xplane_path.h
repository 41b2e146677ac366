/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where TensorBoard's profile plugin looks for a profile. */
#pragma once

#include "trace/trace.h"

/* The file to write for what the user gave: itself when it ends in .pb, NULL for NULL, else
 * GIVEN/plugins/profile/RUN/HOST.xplane.pb, whose folders are made. RUN is the start of the trace
 * in UTC. The caller frees it. */
int xplane_path(
	const struct trace *trace, const char *given, char **ret_path, struct error *err) MUST_USE;
/* Name of the machine, as a file name: letters, digits, dots and dashes. Belongs to the trace, or
 * is a constant. */
const char *xplane_host(const struct trace *trace);
