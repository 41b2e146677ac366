/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A line of an XPlane file, a row of events, and what has to be known to read it. */
#pragma once

#include "import/wire_input.h"
#include "import/xplane_meta.h"

struct xplane_import {
	struct import_sink *sink;
	struct wire_input input;
	struct xplane_meta meta;
	struct event_args args;
	struct buffer text;
	/* the plane */
	char plane[128];
	bool device, gpu;
	uint64_t plane_index, line_count;
	uint32_t process;
	bool has_process;
	uint64_t pid;
	/* the line */
	uint32_t track;
	int64_t line_ns;
	bool steps, work;
	char category[64];
	/* the file */
	int64_t first_line_ns;
	bool has_start;
	uint64_t start_unix_ns, events;
	struct error *err;
};

/* Reads an XLine of the plane at hand. STATUS_FORMAT: it is damaged. */
int xplane_line_read(struct xplane_import *import, struct reader bytes) MUST_USE;
