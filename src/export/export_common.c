// SPDX-License-Identifier: MIT OR Apache-2.0
/* What several formats write the same way. */
#include "base/json_scan.h"
#include "export/export_walk.h"
#include "export/output_file.h"

#include <string.h>

const char *export_string(const struct trace *trace, uint64_t id)
{
	return id <= UINT32_MAX ? string_table_borrow(&trace->strings, (uint32_t)id) : "";
}

const char *export_name(const struct trace *trace, uint64_t id)
{
	return id < trace->name_count ? trace->names[id].name : "";
}

void export_json_kept(struct json_writer *json, const char *text)
{
	const char *at = text, *end = text + strlen(text);
	struct json_slice slice;

	/* A damaged trace must not make a damaged document. */
	if (json_scan_value(&at, end, true, &slice) == JSON_OK && at == end)
		json_raw(json, text);
	else
		json_string(json, text);
}

void export_json_value(
	struct json_writer *json, const struct trace *trace, const struct span_arg *arg)
{
	double real;

	if (arg->type == ARG_INTEGER) {
		json_i64(json, (int64_t)arg->value);
	} else if (arg->type == ARG_DOUBLE) {
		memcpy(&real, &arg->value, sizeof real);
		json_double(json, real);
	} else if (arg->type == ARG_JSON) {
		export_json_kept(json, export_string(trace, arg->value));
	} else {
		json_string(json, export_string(trace, arg->value));
	}
}

void export_json_args(
	struct json_writer *json, const struct trace *trace, const struct export_span *span)
{
	json_object(json);
	for (size_t i = 0; i < span->arg_count; i++) {
		json_key(json, export_string(trace, span->args[i].key));
		export_json_value(json, trace, &span->args[i]);
	}
	json_object_end(json);
}

void export_json_counter(struct json_writer *json, const uint64_t *row)
{
	double real;

	if (row[COUNTERS_KIND] == COUNTER_DOUBLE) {
		memcpy(&real, &row[COUNTERS_VALUE], sizeof real);
		json_double(json, real);
	} else {
		json_i64(json, (int64_t)row[COUNTERS_VALUE]);
	}
}

void export_json_metadata(struct json_writer *json, const struct trace *trace)
{
	json_object(json);
	for (size_t i = 0; i < trace->metadata_count; i++) {
		const struct trace_pair *pair = &trace->metadata[i];

		/* trace_metadata() gives the last value of the key: is it this one? */
		if (trace_metadata(trace, pair->key) == pair->value)
			json_key_string(json, pair->key, pair->value);
	}
	json_object_end(json);
}

static void put_entry(struct json_writer *json, const char *what, uint64_t count, const char *where,
	const char *effect)
{
	json_object(json);
	json_key_string(json, "what", what);
	json_key_u64(json, "count", count);
	json_key_string(json, "where", where);
	json_key_string(json, "effect", effect);
	json_object_end(json);
}

void export_json_ledger(
	struct json_writer *json, const struct trace *trace, uint64_t damaged_blocks)
{
	const struct ledger *ledger = &trace->ledger;

	json_object(json);
	json_key_u64(json, "produced", ledger->produced);
	json_key_u64(json, "recorded", ledger->recorded);
	json_key_u64(json, "dropped", ledger->dropped);
	json_key_u64(json, "repaired", ledger->repaired);
	json_key_u64(json, "skipped", ledger->skipped + damaged_blocks);
	json_key(json, "overhead_percent");
	if (ledger->overhead_percent < 0)
		json_null(json);
	else
		json_double(json, ledger->overhead_percent);
	json_key_u64(json, "clock_error_ns", ledger->clock_error_ns);
	json_key(json, "entries");
	json_array(json);
	for (size_t i = 0; i < ledger->count; i++)
		put_entry(json, ledger->entries[i].what, ledger->entries[i].count,
			ledger->entries[i].where, ledger->entries[i].effect);
	if (damaged_blocks)
		put_entry(json, EXPORT_DAMAGED_WHAT, damaged_blocks, trace->path,
			EXPORT_DAMAGED_EFFECT);
	json_array_end(json);
	json_object_end(json);
}

int export_json_finish(
	struct json_writer *json, struct output_file *file, int status, struct error *err)
{
	/* A failed write shows up here as STATUS_IO; the file knows why. */
	if (status == STATUS_OK || file->saved_errno)
		status = json_writer_finish(json);
	json_writer_release(json);
	if (status != STATUS_OK && !file->saved_errno) {
		output_file_release(file);
		return err->message[0] ? status : error_set(err, STATUS_NOMEM, "out of memory");
	}
	return output_file_finish(file, err);
}
