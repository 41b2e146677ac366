// SPDX-License-Identifier: MIT OR Apache-2.0
/* The ledger: as JSON, and as the one sentence that a report cannot do without. */
#include "report/report.h"

#include <inttypes.h>

void report_json_ledger(struct json_writer *json, const struct ledger *ledger)
{
	json_key(json, "ledger");
	json_object(json);
	json_key_u64(json, "produced", ledger->produced);
	json_key_u64(json, "recorded", ledger->recorded);
	json_key_u64(json, "dropped", ledger->dropped);
	json_key_u64(json, "repaired", ledger->repaired);
	json_key_u64(json, "skipped", ledger->skipped);
	json_key(json, "overhead_percent");
	if (ledger->overhead_percent < 0)
		json_null(json);
	else
		json_double(json, ledger->overhead_percent);
	json_key_u64(json, "clock_error_ns", ledger->clock_error_ns);
	json_key(json, "entries");
	json_array(json);
	for (size_t i = 0; i < ledger->count; i++) {
		const struct ledger_entry *entry = &ledger->entries[i];

		json_object(json);
		json_key_string(json, "what", entry->what);
		json_key_u64(json, "count", entry->count);
		json_key_string(json, "where", entry->where);
		json_key_string(json, "effect", entry->effect);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

void report_warning(const struct trace *trace, uint64_t damaged_blocks, struct buffer *out)
{
	const struct ledger *ledger = &trace->ledger;
	uint64_t unreadable = ledger->skipped + damaged_blocks;
	size_t start = out->length;

	if (ledger->dropped) {
		buffer_printf(out, "%" PRIu64 " of %" PRIu64 " events were dropped",
			ledger->dropped, ledger->produced);
		if (ledger->produced)
			buffer_printf(out, " (%.2f %%)",
				100.0 * (double)ledger->dropped / (double)ledger->produced);
		buffer_text(out, ": counts and totals are too low");
	}
	if (unreadable) {
		buffer_text(out, out->length > start ? "; " : "");
		buffer_printf(out,
			"%" PRIu64
			" damaged part%s of the file left out: what was in %s is missing",
			unreadable, unreadable == 1 ? "" : "s", unreadable == 1 ? "it" : "them");
	} else if (trace->repaired) {
		buffer_text(out, out->length > start ? "; " : "");
		buffer_text(out,
			"the file was not whole and was repaired while reading: its end may "
			"be missing");
	}
	if (ledger->repaired && !trace->repaired) {
		buffer_text(out, out->length > start ? "; " : "");
		buffer_printf(out, "%" PRIu64 " repair%s: times of these events are estimates",
			ledger->repaired, ledger->repaired == 1 ? "" : "s");
	}
	if (out->length > start)
		buffer_text(out, " ('tacho info' shows the ledger)");
}
