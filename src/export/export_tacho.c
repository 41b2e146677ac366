// SPDX-License-Identifier: MIT OR Apache-2.0
/* A trace written anew: a file that had to be repaired becomes a whole one, a window is cut out,
 * several traces become one. Times then count from the window's start. The ledger goes along and
 * says what was done. */
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
		if (row[LINKS_KIND] & LINK_TEXT_ID) {
			status = tacho_rewriter_string(rewriter, row[LINKS_ID], &fresh);
			row[LINKS_ID] = fresh;
		}
		cell = &row[LINKS_NAME];
		if (status == STATUS_OK)
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
	row[schema->time_column] += rewriter->shift_ns - rewriter->options->window.from_ns;
	/* The track is the first column of every table with times. */
	row[0] += rewriter->track_base;
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

/* The key under which a fact of trace number `number` is found: facts of the first keep theirs.
 * Facts about a track end with, or hold, its number. */
static void fact_key(const struct tacho_rewriter *rewriter, const char *key, size_t number,
	char *out, size_t bytes)
{
	unsigned track;
	int end = 0;

	if (sscanf(key, "track.%u%n", &track, &end) == 1 && strcmp(key + end, ".name") == 0)
		snprintf(out, bytes, "track.%u.name", track + rewriter->track_base);
	else if (sscanf(key, "chrome.pid.%u%n", &track, &end) == 1 && !key[end])
		snprintf(out, bytes, "chrome.pid.%u", track + rewriter->track_base);
	else if (sscanf(key, "chrome.tid.%u%n", &track, &end) == 1 && !key[end])
		snprintf(out, bytes, "chrome.tid.%u", track + rewriter->track_base);
	else if (number == 0)
		snprintf(out, bytes, "%s", key);
	else
		snprintf(out, bytes, "merged.%zu.%s", number, key);
}

/* All facts; the start is another one when a window is cut out. */
static int copy_metadata(struct tacho_rewriter *rewriter, size_t number)
{
	const struct trace *trace = rewriter->trace;
	char start[24], key[512];

	table_rows_release(&rewriter->rows);
	rewriter->table = TABLE_METADATA;
	snprintf(start, sizeof start, "%" PRIu64,
		trace->header.start_unix_ns + rewriter->options->window.from_ns);
	for (size_t i = 0; i < trace->metadata_count; i++) {
		const struct trace_pair *pair = &trace->metadata[i];
		bool is_start = strcmp(pair->key, "start_unix_ns") == 0;

		fact_key(rewriter, pair->key, number, key, sizeof key);
		if (add_fact(rewriter, key, is_start ? start : pair->value) != STATUS_OK)
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

/* The traces to be written as one. */
struct merge {
	const struct trace *const *traces;
	const uint64_t *shifts_ns;
	size_t count;
};

/* Adds up what the traces' own ledgers say. */
static void add_ledger(struct ledger *sum, const struct ledger *one)
{
	sum->produced += one->produced;
	sum->recorded += one->recorded;
	sum->dropped += one->dropped;
	sum->repaired += one->repaired;
	sum->skipped += one->skipped;
	if (one->clock_error_ns > sum->clock_error_ns)
		sum->clock_error_ns = one->clock_error_ns;
	if (one->overhead_percent > sum->overhead_percent)
		sum->overhead_percent = one->overhead_percent;
	for (size_t i = 0; i < one->count; i++)
		ledger_add(sum, one->entries[i].count, one->entries[i].what, one->entries[i].where,
			one->entries[i].effect);
}

static int copy_ledger(
	struct tacho_rewriter *rewriter, const struct merge *merge, uint64_t damaged_blocks)
{
	struct ledger ledger;
	int status;

	ledger_init(&ledger);
	for (size_t i = 0; i < merge->count; i++)
		add_ledger(&ledger, &merge->traces[i]->ledger);
	note_cut(&ledger, rewriter->options);
	if (damaged_blocks) {
		ledger.skipped += damaged_blocks;
		ledger_add(&ledger, damaged_blocks, EXPORT_DAMAGED_WHAT, "", EXPORT_DAMAGED_EFFECT);
	}
	status = trace_writer_ledger(&rewriter->writer, &rewriter->dict, &ledger, rewriter->err);
	ledger_release(&ledger);
	return status;
}

/* One of the traces, whole. */
static int copy_trace(struct tacho_rewriter *rewriter, const struct merge *merge, size_t number,
	struct export_result *result)
{
	struct export_walk walk;
	int status =
		export_walk_init(&walk, merge->traces[number], rewriter->options, rewriter->err);

	if (status != STATUS_OK)
		return status;
	status = tacho_rewriter_take(rewriter, merge->traces[number], merge->shifts_ns[number]);
	if (status == STATUS_OK)
		status = export_walk_spans(&walk, false, tacho_spans_add, rewriter, rewriter->err);
	if (status == STATUS_OK)
		status = tacho_spans_flush(rewriter);
	rewriter->building = false;
	if (status == STATUS_OK)
		status = copy_rows(rewriter, &walk, rewriter->err);
	if (status == STATUS_OK)
		status = copy_metadata(rewriter, number);
	result->rows += walk.result.rows;
	result->damaged_blocks += walk.result.damaged_blocks;
	export_walk_release(&walk);
	return status;
}

static int write_traces(struct tacho_rewriter *rewriter, const struct merge *merge,
	struct export_result *result, struct error *err)
{
	struct file_header header = merge->traces[0]->header;
	uint64_t from = rewriter->options->window.from_ns - merge->shifts_ns[0];
	int status;

	header.version = FORMAT_VERSION;
	header.start_unix_ns += from;
	header.start_mono_ns += from;
	status = trace_writer_open(&rewriter->writer, rewriter->options->path, false, &header, err);
	for (size_t i = 0; status == STATUS_OK && i < merge->count; i++)
		status = copy_trace(rewriter, merge, i, result);
	if (status == STATUS_OK)
		status = copy_ledger(rewriter, merge, result->damaged_blocks);
	if (status == STATUS_OK)
		status = trace_writer_finish(&rewriter->writer, err);
	return status;
}

int export_merge(const struct trace *const *traces, const uint64_t *shifts_ns, size_t count,
	const struct export_options *options, struct export_result *ret_result, struct error *err)
{
	struct merge merge = { .traces = traces, .shifts_ns = shifts_ns, .count = count };
	struct export_result result = { 0 };
	struct tacho_rewriter rewriter;
	int status = tacho_rewriter_init(&rewriter, options, err);

	if (status != STATUS_OK)
		return status;
	status = write_traces(&rewriter, &merge, &result, err);
	tacho_rewriter_release(&rewriter);
	*ret_result = result;
	return status;
}

static int run_tacho(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	static const uint64_t no_shift;

	return export_merge(&trace, &no_shift, 1, options, ret_result, err);
}

const struct exporter export_tacho = {
	.name = "tacho",
	.summary = "a trace written anew: repaired, a window cut out, several merged",
	.extensions = ".tacho",
	.needs_path = true,
	.run = run_tacho,
};
