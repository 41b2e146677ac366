/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The peer's tracepoints: a begin with a name number and an end, as small as LTTng-UST has them. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tacho_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench_lttng_tp.h"

#if !defined(BENCH_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_TP_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(tacho_bench, scope_begin, LTTNG_UST_TP_ARGS(uint32_t, name),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, name, name)))
LTTNG_UST_TRACEPOINT_EVENT(tacho_bench, scope_end, LTTNG_UST_TP_ARGS(uint32_t, name),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, name, name)))

#endif

#include <lttng/tracepoint-event.h>
