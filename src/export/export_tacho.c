// SPDX-License-Identifier: MIT OR Apache-2.0
/* A trace written anew: a file that had to be repaired becomes a whole one, a window is cut out.
 * Times then count from the window's start. The ledger goes along and says what was done. */
#include "base/units.h"
#include "export/tacho_rewriter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROWS_PER_BLOCK 32768u

static int flush_rows(struct tacho_rewriter *rewriter)
{
	int status = trace_writer_dict(&rewriter->writer, &rewriter->dict, rewriter->err);

	if (status == STATUS_OK)
		status = trace_writer_rows(
			&rewriter->writer, rewriter->table, &rewriter->rows, rewriter->err);
	rewriter->rows.count = 0;
	return status;
}

/* Translates the cells that are numbers of names, strings or stacks. */
static int translate(struct tacho_rewriter *rewriter, uint64_t *row)
{
	uint32_t fresh = 0;
	uint64_t *cell = NULL;
	int status = STATUS_OK;

	switch (rewriter->table) {
	case TABLE_MARKS:
		cell = &row[MARKS_NAME];
		status = tacho_rewriter_name(rewriter, *cell, &fresh);
		break;
	case TABLE_LINKS:
		cell = &row[LINKS_NAME];
		status = tacho_rewriter_name(rewriter, *cell, &fresh);
		break;
	case TABLE_ALLOCATIONS:
		cell = &row[ALLOCATIONS_POOL];
		status = tacho_rewriter_name(rewriter, *cell, &fresh);
		break;
	case TABLE_SAMPLES:
		cell = &row[SAMPLES_STACK];
		status = tacho_rewriter_stack(rewriter, *cell, &fresh);
		break;
	default:
		break;
	}
	if (cell)
		*cell = fresh;
	return status;
}

static int add_row(void *context, const uint64_t *old)
{
	struct tacho_rewriter *rewriter = context;
	const struct table_schema *schema = table_schema(rewriter->table);
	uint64_t row[TABLE_COLUMNS_MAX];
	int status;

	memcpy(row, old, schema->column_count * sizeof *row);
	row[schema->time_column] -= rewriter->options->window.from_ns;
	status = translate(rewriter, row);
	if (status != STATUS_OK)
		return status;
	if (table_rows_add(&rewriter->rows, schema, row) != STATUS_OK)
		return error_set(rewriter->err, STATUS_NOMEM, "out of memory for rows");
	return rewriter->rows.count < ROWS_PER_BLOCK ? STATUS_OK : flush_rows(rewriter);
}

static int copy_rows(struct tacho_rewriter *rewriter, struct export_walk *walk, struct error *err)
{
	static const enum block_table tables[] = { TABLE_COUNTERS, TABLE_MARKS, TABLE_LINKS,
		TABLE_ALLOCATIONS, TABLE_SAMPLES };
	int status = STATUS_OK;

	for (size_t i = 0; i < sizeof tables / sizeof tables[0] && status == STATUS_OK; i++) {
		table_rows_release(&rewriter->rows);
		rewriter->table = tables[i];
		status = export_walk_rows(walk, tables[i], add_row, rewriter, err);
		if (status == STATUS_OK && rewriter->rows.count)
			status = flush_rows(rewriter);
	}
	return status;
}

static int add_fact(struct tacho_rewriter *rewriter, const char *key, const char *value)
{
	uint32_t key_id, value_id;

	if (trace_dict_string(&rewriter->dict, key, strlen(key), &key_id) ||
		trace_dict_string(&rewriter->dict, value, strlen(value), &value_id))
		return STATUS_NOMEM;
	uint64_t row[] = { [METADATA_KEY] = key_id, [METADATA_VALUE] = value_id };

	return table_rows_add(&rewriter->rows, table_schema(TABLE_METADATA), row);
}

/* All facts; the start is another one when a window is cut out. */
static int copy_metadata(struct tacho_rewriter *rewriter)
{
	const struct trace *trace = rewriter->trace;
	char start[24];

	table_rows_release(&rewriter->rows);
	rewriter->table = TABLE_METADATA;
	snprintf(start, sizeof start, "%" PRIu64,
		trace->header.start_unix_ns + rewriter->options->window.from_ns);
	for (size_t i = 0; i < trace->metadata_count; i++) {
		const struct trace_pair *pair = &trace->metadata[i];
		bool is_start = strcmp(pair->key, "start_unix_ns") == 0;

		if (add_fact(rewriter, pair->key, is_start ? start : pair->value) != STATUS_OK)
			return error_set(rewriter->err, STATUS_NOMEM, "out of memory for metadata");
	}
	return rewriter->rows.count ? flush_rows(rewriter) : STATUS_OK;
}

static void note_cut(struct ledger *ledger, const struct export_options *options)
{
	char from[UNITS_TEXT], until[UNITS_TEXT], where[80];

	if (options->window.from_ns || options->window.until_ns) {
		units_duration(from, (double)options->window.from_ns);
		units_duration(until, (double)options->window.until_ns);
		snprintf(where, sizeof where, "from %s until %s", from,
			options->window.until_ns ? until : "the end");
		ledger_add(ledger, 1, "a window was cut out of the recording", where,
			"what was before and after is not in this file; spans are cut at the "
			"edges");
	}
	if (options->filter) {
		snprintf(where, sizeof where, "%s", options->filter);
		ledger_add(ledger, 1, "only spans and marks of some names were copied", where,
			"other spans are not in this file; self time counts as total time");
	}
}

static int copy_ledger(struct tacho_rewriter *rewriter, uint64_t damaged_blocks)
{
	const struct ledger *old = &rewriter->trace->ledger;
	struct ledger ledger = *old;
	int status;

	/* A copy of the entries: the trace's own are not ours to change. */
	ledger.entries = NULL;
	ledger.count = ledger.capacity = 0;
	for (size_t i = 0; i < old->count; i++)
		ledger_add(&ledger, old->entries[i].count, old->entries[i].what,
			old->entries[i].where, old->entries[i].effect);
	note_cut(&ledger, rewriter->options);
	if (damaged_blocks) {
		ledger.skipped += damaged_blocks;
		ledger_add(&ledger, damaged_blocks, EXPORT_DAMAGED_WHAT, "", EXPORT_DAMAGED_EFFECT);
	}
	status = trace_writer_ledger(&rewriter->writer, &rewriter->dict, &ledger, rewriter->err);
	ledger_release(&ledger);
	return status;
}

static int write_trace(struct tacho_rewriter *rewriter, struct export_walk *walk, struct error *err)
{
	struct file_header header = rewriter->trace->header;
	int status;

	header.version = FORMAT_VERSION;
	header.start_unix_ns += rewriter->options->window.from_ns;
	header.start_mono_ns += rewriter->options->window.from_ns;
	status = trace_writer_open(&rewriter->writer, rewriter->options->path, false, &header, err);
	if (status == STATUS_OK)
		status = export_walk_spans(walk, false, tacho_spans_add, rewriter, err);
	if (status == STATUS_OK)
		status = tacho_spans_flush(rewriter);
	if (status == STATUS_OK)
		status = copy_rows(rewriter, walk, err);
	if (status == STATUS_OK)
		status = copy_metadata(rewriter);
	if (status == STATUS_OK)
		status = copy_ledger(rewriter, walk->result.damaged_blocks);
	if (status == STATUS_OK)
		status = trace_writer_finish(&rewriter->writer, err);
	return status;
}

static int run_tacho(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct tacho_rewriter rewriter;
	struct export_walk walk;
	int status = export_walk_init(&walk, trace, options, err);

	if (status != STATUS_OK)
		return status;
	status = tacho_rewriter_init(&rewriter, trace, options, err);
	if (status == STATUS_OK) {
		status = write_trace(&rewriter, &walk, err);
		tacho_rewriter_release(&rewriter);
	}
	*ret_result = walk.result;
	export_walk_release(&walk);
	return status;
}

const struct exporter export_tacho = {
	.name = "tacho",
	.summary = "a trace written anew: repaired, or a window cut out",
	.extensions = ".tacho",
	.needs_path = true,
	.run = run_tacho,
};
