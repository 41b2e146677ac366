// SPDX-License-Identifier: MIT OR Apache-2.0
/* One table as comma-separated values, quoted as RFC 4180 says, lines ended by a line feed. Bytes
 * that are not UTF-8 become U+FFFD, since readers of CSV refuse them. */
#include "base/utf8.h"
#include "export/export_walk.h"
#include "export/output_file.h"

#include <inttypes.h>
#include <string.h>

#define FLUSH_BYTES (256u << 10)

struct csv_export {
	const struct trace *trace;
	struct output_file file;
	struct buffer line;
	struct json_writer args;
	bool begun; /* a cell of this line is written */
};

static void separate(struct csv_export *export)
{
	if (export->begun)
		buffer_byte(&export->line, ',');
	export->begun = true;
}

static void put_text_n(struct csv_export *export, const char *text, size_t length)
{
	struct buffer *line = &export->line;
	bool quote = false;

	separate(export);
	for (size_t i = 0; i < length && !quote; i++)
		quote = strchr("\",\r\n", text[i]) != NULL;
	if (quote)
		buffer_byte(line, '"');
	for (size_t i = 0, step; i < length; i += step) {
		step = utf8_decode(text + i, length - i, NULL);
		if (text[i] == '"')
			buffer_byte(line, '"');
		if (step)
			buffer_append(line, text + i, step);
		else
			buffer_text(line, UTF8_REPLACEMENT);
		step = step ? step : 1;
	}
	if (quote)
		buffer_byte(line, '"');
}

static void put_text(struct csv_export *export, const char *text)
{
	put_text_n(export, text, strlen(text));
}

static void put_u64(struct csv_export *export, uint64_t value)
{
	separate(export);
	buffer_printf(&export->line, "%" PRIu64, value);
}

static int end_line(struct csv_export *export)
{
	int status = STATUS_OK;

	buffer_byte(&export->line, '\n');
	export->begun = false;
	if (!buffer_ok(&export->line))
		return STATUS_NOMEM;
	if (export->line.length >= FLUSH_BYTES) {
		status = output_file_write(&export->file, export->line.data, export->line.length);
		buffer_reset(&export->line);
	}
	return status;
}

/* track, process, thread: the first columns of everything that happens on a track. */
static void put_track(struct csv_export *export, uint64_t id)
{
	const struct trace_track *track = &export->trace->tracks[id];

	put_u64(export, id);
	put_text(export, export->trace->tracks[track->process].name);
	put_text(export, track->name);
}

static int put_span(void *context, const struct export_span *span)
{
	struct csv_export *export = context;
	const struct trace_name *name = &export->trace->names[span->name];

	put_track(export, span->track);
	put_text(export, name->name);
	put_text(export, name->category);
	put_u64(export, span->start_ns);
	put_u64(export, span->duration_ns);
	put_u64(export, span->self_ns);
	put_u64(export, span->depth);
	if (span->arg_count) {
		buffer_reset(&export->args.out);
		export->args.first[0] = true;
		export_json_args(&export->args, export->trace, span);
		if (!buffer_ok(&export->args.out))
			return STATUS_NOMEM;
		put_text_n(export, (const char *)export->args.out.data, export->args.out.length);
	} else {
		put_text(export, "");
	}
	return end_line(export);
}

static int put_counter(void *context, const uint64_t *row)
{
	struct csv_export *export = context;
	const struct trace_track *track = &export->trace->tracks[row[COUNTERS_TRACK]];

	put_track(export, row[COUNTERS_TRACK]);
	put_text(export, track->unit);
	put_u64(export, row[COUNTERS_TIME]);
	buffer_reset(&export->args.out);
	export->args.first[0] = true;
	export_json_counter(&export->args, row);
	put_text_n(export, (const char *)export->args.out.data, export->args.out.length);
	return end_line(export);
}

static int put_mark(void *context, const uint64_t *row)
{
	struct csv_export *export = context;
	const struct trace_name *name = &export->trace->names[row[MARKS_NAME]];

	put_track(export, row[MARKS_TRACK]);
	put_text(export, name->name);
	put_text(export, name->category);
	put_u64(export, row[MARKS_TIME]);
	return end_line(export);
}

static int put_link(void *context, const uint64_t *row)
{
	struct csv_export *export = context;

	put_track(export, row[LINKS_TRACK]);
	put_text(export, link_kind_name((unsigned)row[LINKS_KIND]));
	put_text(export, export->trace->names[row[LINKS_NAME]].name);
	put_u64(export, row[LINKS_ID]);
	put_u64(export, row[LINKS_TIME]);
	return end_line(export);
}

static int put_allocation(void *context, const uint64_t *row)
{
	struct csv_export *export = context;

	put_track(export, row[ALLOCATIONS_TRACK]);
	put_text(export, row[ALLOCATIONS_KIND] & ALLOCATION_FREE ? "free" : "alloc");
	put_text(export, row[ALLOCATIONS_KIND] & ALLOCATION_DEVICE ? "device" : "host");
	put_text(export, export_name(export->trace, row[ALLOCATIONS_POOL]));
	put_u64(export, row[ALLOCATIONS_ADDRESS]);
	put_u64(export, row[ALLOCATIONS_BYTES]);
	put_u64(export, row[ALLOCATIONS_TIME]);
	return end_line(export);
}

/* Frames from the outermost on, with semicolons between them, as flame graph tools take them. */
static int put_sample(void *context, const uint64_t *row)
{
	struct csv_export *export = context;
	size_t count;
	const uint32_t *frames = trace_stack(export->trace, (uint32_t)row[SAMPLES_STACK], &count);
	struct buffer stack;

	put_track(export, row[SAMPLES_TRACK]);
	put_u64(export, row[SAMPLES_TIME]);
	buffer_init(&stack);
	for (size_t i = count; frames && i-- > 0;) {
		buffer_text(&stack, export_string(export->trace, frames[i]));
		buffer_text(&stack, i ? ";" : "");
	}
	if (buffer_ok(&stack))
		put_text_n(export, (const char *)stack.data, stack.length);
	buffer_release(&stack);
	return end_line(export);
}

static int put_table(struct csv_export *export, struct export_walk *walk, enum block_table table,
	struct error *err)
{
	static const struct {
		enum block_table table;
		const char *head;
		int (*put)(void *context, const uint64_t *row);
	} tables[] = {
		{ TABLE_COUNTERS, "track,process,name,unit,time_ns,value\n", put_counter },
		{ TABLE_MARKS, "track,process,thread,name,category,time_ns\n", put_mark },
		{ TABLE_LINKS, "track,process,thread,kind,name,id,time_ns\n", put_link },
		{ TABLE_ALLOCATIONS,
			"track,process,thread,kind,memory,pool,address,bytes,time_ns\n",
			put_allocation },
		{ TABLE_SAMPLES, "track,process,thread,time_ns,stack\n", put_sample },
	};

	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		if (tables[i].table != table)
			continue;
		buffer_text(&export->line, tables[i].head);
		return export_walk_rows(walk, table, tables[i].put, export, err);
	}
	buffer_text(&export->line,
		"track,process,thread,name,category,start_ns,duration_ns,self_ns,depth,args\n");
	return export_walk_spans(walk, false, put_span, export, err);
}

static int run_csv(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct csv_export export = { .trace = trace };
	struct export_walk walk;
	int status = export_walk_init(&walk, trace, options, err);

	if (status != STATUS_OK)
		return status;
	buffer_init(&export.line);
	json_writer_init(&export.args, NULL, NULL);
	status = output_file_open(&export.file, options->path, options->fd, err);
	if (status == STATUS_OK) {
		status = put_table(&export, &walk, options->table, err);
		if (status == STATUS_OK)
			output_file_write(&export.file, export.line.data, export.line.length);
		if (status == STATUS_OK || export.file.saved_errno)
			status = output_file_finish(&export.file, err);
		else if (!err->message[0])
			error_set(err, status, "out of memory");
		output_file_release(&export.file);
	}
	*ret_result = walk.result;
	json_writer_release(&export.args);
	buffer_release(&export.line);
	export_walk_release(&walk);
	return status;
}

const struct exporter export_csv = {
	.name = "csv",
	.summary = "one table as comma-separated values",
	.extensions = ".csv",
	.has_tables = true,
	.run = run_csv,
};
