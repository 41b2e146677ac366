/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* DebugAnnotation: an argument of a Perfetto event, plain or nested. */
#pragma once

#include "import/event_args.h"
#include "import/perfetto_state.h"

struct perfetto_args {
	struct perfetto_sequences *sequences;
	struct event_args *args;
	uint64_t too_deep;
};

int perfetto_args_add(struct perfetto_args *args, const struct perfetto_sequence *sequence,
	struct reader annotation) MUST_USE;
