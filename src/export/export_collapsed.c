// SPDX-License-Identifier: MIT OR Apache-2.0
/* Collapsed stacks, as flame graph tools read them: `outer;inner 1234` with the nanoseconds spent
 * in the inner scope itself, or the number of samples. A semicolon in a name becomes a comma and a
 * line break a blank: the format has no way to escape them. */
#include "base/utf8.h"
#include "export/export_sink.h"
#include "export/export_stacks.h"

#include <inttypes.h>
#include <string.h>

struct collapsed_export {
	const struct trace *trace;
	struct export_sink sink;
	bool sampled;
};

static void put_frame(struct buffer *out, const char *text)
{
	size_t length = strlen(text);

	if (!length)
		buffer_byte(out, '?');
	for (size_t i = 0, step; i < length; i += step) {
		step = utf8_decode(text + i, length - i, NULL);
		if (!step)
			buffer_text(out, UTF8_REPLACEMENT);
		else if (text[i] == ';')
			buffer_byte(out, ',');
		else if ((unsigned char)text[i] < ' ')
			buffer_byte(out, ' ');
		else
			buffer_append(out, text + i, step);
		step = step ? step : 1;
	}
}

static int put_stack(void *context, const struct export_stack *stack)
{
	struct collapsed_export *export = context;
	struct buffer *out = &export->sink.out;
	uint64_t value = export->sampled ? stack->hits : stack->self_ns;

	if (!value)
		return STATUS_OK;
	for (size_t i = 0; i < stack->count; i++) {
		if (i)
			buffer_byte(out, ';');
		put_frame(out, export_frame(export->trace, stack->frames[i]));
	}
	buffer_printf(out, " %" PRIu64 "\n", value);
	return export_sink_spill(&export->sink);
}

static int run_collapsed(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct collapsed_export export = { .trace = trace,
		.sampled = export_stacks_sampled(trace, options) };
	int status = export_sink_open(&export.sink, options, false, err);

	if (status != STATUS_OK)
		return status;
	status = export_stacks(trace, options, put_stack, &export, ret_result, err);
	return export_sink_finish(&export.sink, status, err);
}

const struct exporter export_collapsed = {
	.name = "collapsed",
	.summary = "collapsed stacks for flame graph tools",
	.extensions = ".collapsed .folded",
	.has_tables = true, /* spans or samples */
	.run = run_collapsed,
};
