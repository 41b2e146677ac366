// SPDX-License-Identifier: MIT OR Apache-2.0
/* What is in a trace, from what opening it has read: never touches a block, so its cost does not
 * depend on the size of the file. */
#include "base/string_table.h"
#include "base/units.h"
#include "report/report.h"
#include "report/report_internal.h"
#include "report/text_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRACK_LINES_MAX 60
#define LABEL_COLUMNS   14

/* Keys that are shown under headings of their own. */
static const char env_prefix[] = "env.";
static const char setting_prefix[] = "setting.";

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The pairs that count: of each key the last. Returns a mark per pair, to be freed, or NULL. */
static bool *last_pairs(const struct trace *trace)
{
	struct string_table seen;
	bool *marks = calloc(trace->metadata_count + 1, sizeof *marks);

	if (!marks || string_table_init(&seen, (size_t)1 << 30) != STATUS_OK) {
		free(marks);
		return NULL;
	}
	for (size_t i = trace->metadata_count; i-- > 0;) {
		const char *key = trace->metadata[i].key;
		size_t before = seen.count;
		uint32_t id;

		if (string_table_add(&seen, key, strlen(key), &id) == STATUS_OK)
			marks[i] = seen.count > before;
	}
	string_table_release(&seen);
	return marks;
}

static void json_metadata(const struct trace *trace, struct json_writer *json)
{
	bool *marks = last_pairs(trace);

	json_key(json, "metadata");
	json_object(json);
	json_key_u64(json, "start_unix_ns", trace->header.start_unix_ns);
	for (size_t i = 0; marks && i < trace->metadata_count; i++)
		if (marks[i] && strcmp(trace->metadata[i].key, "start_unix_ns") != 0)
			json_key_string(json, trace->metadata[i].key, trace->metadata[i].value);
	json_object_end(json);
	json->failed = json->failed || !marks;
	free(marks);
}

static void json_tracks(const struct trace *trace, struct json_writer *json)
{
	json_key(json, "tracks");
	json_array(json);
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct trace_track *track = &trace->tracks[i];

		json_object(json);
		json_key_u64(json, "id", track->id);
		json_key_string(json, "kind", track_kind_name(track->kind));
		json_key_u64(json, "process", track->process);
		json_key_string(json, "name", track->name);
		json_key_u64(json, "parent", track->parent);
		json_key_u64(json, "os_id", track->os_id);
		if (track->unit[0])
			json_key_string(json, "unit", track->unit);
		json_key_u64(json, "spans", track->span_count);
		json_object_end(json);
	}
	json_array_end(json);
}

/* A recording names its sources in metadata: "source" = "libtacho", "source.cupti" = "12.4". */
static void json_sources(const struct trace *trace, struct json_writer *json)
{
	json_key(json, "sources");
	json_array(json);
	for (size_t i = 0; i < trace->metadata_count; i++) {
		if (strcmp(trace->metadata[i].key, "source") == 0)
			json_string(json, trace->metadata[i].value);
		else if (has_prefix(trace->metadata[i].key, "source."))
			json_string(json, trace->metadata[i].key + strlen("source."));
	}
	json_array_end(json);
}

void report_info_json(const struct trace *trace, struct json_writer *json)
{
	static const struct {
		const char *key;
		unsigned table;
	} counts[] = {
		{ "spans", TABLE_SPANS },
		{ "counters", TABLE_COUNTERS },
		{ "allocations", TABLE_ALLOCATIONS },
		{ "links", TABLE_LINKS },
		{ "marks", TABLE_MARKS },
		{ "samples", TABLE_SAMPLES },
	};

	json_object(json);
	report_json_head(json, "info");
	json_key_string(json, "file", trace->path);
	json_key_string(json, "format", "tacho");
	json_key_u64(json, "format_version", trace->header.version);
	json_key_u64(json, "file_bytes", trace->file_bytes);
	json_key_u64(json, "span_ns", trace->span_ns);
	json_key(json, "counts");
	json_object(json);
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		json_key_u64(json, counts[i].key, trace->row_counts[counts[i].table]);
	json_key_u64(json, "strings", trace->strings.count);
	json_key_u64(json, "names", trace->name_count);
	json_key_u64(json, "blocks", trace->block_count);
	json_object_end(json);
	json_tracks(trace, json);
	json_sources(trace, json);
	json_metadata(trace, json);
	report_json_ledger(json, &trace->ledger);
	json_key_bool(json, "repaired", trace->repaired);
	json_object_end(json);
}

static void put_heading(struct buffer *out, bool colour, const char *text)
{
	buffer_printf(out, colour ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

static void put_label(struct buffer *out, const char *label)
{
	buffer_printf(out, "%-*s", LABEL_COLUMNS, label);
}

static void put_start(const struct trace *trace, struct buffer *out)
{
	time_t seconds = (time_t)(trace->header.start_unix_ns / 1000000000u);
	char text[64] = "unknown";
	struct tm parts;

	if (trace->header.start_unix_ns && gmtime_r(&seconds, &parts))
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
	put_label(out, "start");
	buffer_printf(out, "%s\n", text);
}

static void put_head(const struct trace *trace, struct buffer *out)
{
	static const struct {
		unsigned table;
		const char *name;
	} contents[] = {
		{ TABLE_SPANS, "spans" },
		{ TABLE_COUNTERS, "counter values" },
		{ TABLE_MARKS, "marks" },
		{ TABLE_LINKS, "links" },
		{ TABLE_ALLOCATIONS, "allocations" },
		{ TABLE_SAMPLES, "stack samples" },
	};
	char text[UNITS_TEXT], item[96];
	size_t column = 0;

	put_label(out, "file");
	text_plain(out, trace->path);
	buffer_byte(out, '\n');
	put_label(out, "size");
	buffer_printf(out, "%s in %zu blocks\n", units_bytes(text, (double)trace->file_bytes),
		trace->block_count);
	put_label(out, "format");
	buffer_printf(out, "tacho %u\n", trace->header.version);
	put_start(trace, out);
	put_label(out, "span");
	buffer_printf(out, "%s\n", units_duration(text, (double)trace->span_ns));
	put_label(out, "content");
	for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
		if (!trace->row_counts[contents[i].table] && contents[i].table != TABLE_SPANS)
			continue;
		snprintf(item, sizeof item, "%s %s",
			units_count(text, (double)trace->row_counts[contents[i].table]),
			contents[i].name);
		if (column && column + strlen(item) > 60) {
			buffer_printf(out, ",\n%-*s", LABEL_COLUMNS, "");
			column = 0;
		}
		buffer_printf(out, "%s%s", column ? ", " : "", item);
		column += strlen(item) + 2;
	}
	buffer_printf(out, "\n%-*s%u names, %zu strings\n", LABEL_COLUMNS, "", trace->name_count,
		trace->strings.count);
}

/* A track and below it what belongs to it; counters come together in one line. */
struct track_printer {
	const struct trace *trace;
	struct buffer *out;
	unsigned lines, left_out;
	unsigned width;
};

static void put_counters(struct track_printer *printer, uint32_t parent, unsigned depth)
{
	const struct trace *trace = printer->trace;
	struct buffer *out = printer->out;
	size_t column = 0;
	bool first = true;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct trace_track *track = &trace->tracks[i];

		if (track->kind != TRACK_COUNTER || track->parent != parent || i == parent)
			continue;
		if (column && column + text_width(track->name) + 2 > printer->width) {
			buffer_text(out, ",\n");
			column = 0;
		} else if (column) {
			buffer_text(out, ", ");
			column += 2;
		}
		if (!column) {
			buffer_printf(out, "%*s%s", (int)(2 * depth + 2), "",
				first ? "counters: " : "          ");
			column = 2 * depth + 2 + strlen("counters: ");
			first = false;
		}
		text_plain(out, track->name);
		column += text_width(track->name);
	}
	if (column)
		buffer_byte(out, '\n');
}

static void put_track(struct track_printer *printer, uint32_t id, unsigned depth)
{
	const struct trace_track *track = &printer->trace->tracks[id];
	struct buffer *out = printer->out;
	char text[UNITS_TEXT];

	if (printer->lines >= TRACK_LINES_MAX) {
		printer->left_out++;
		return;
	}
	printer->lines++;
	buffer_printf(out, "%*s%s", (int)(2 * depth + 2), "", track_kind_name(track->kind));
	if (track->name[0] && strcmp(track->name, track_kind_name(track->kind)) != 0) {
		buffer_byte(out, ' ');
		text_plain(out, track->name);
	}
	if (track->os_id)
		buffer_printf(out, " %" PRIu64, track->os_id);
	if (track->span_count)
		buffer_printf(out, ": %s spans", units_count(text, (double)track->span_count));
	buffer_byte(out, '\n');
	put_counters(printer, id, depth + 1);
}

/* Two levels: what hangs on the machine or on nothing, then what belongs to a process. A track's
 * parent has a smaller number, but a damaged file may lie, so this never follows a chain. */
static void put_tracks(const struct trace *trace, unsigned width, bool colour, struct buffer *out)
{
	struct track_printer printer = { .trace = trace, .out = out, .width = width };

	put_heading(out, colour, "tracks");
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct trace_track *track = &trace->tracks[i];
		bool root = track->kind == TRACK_MACHINE || track->kind == TRACK_PROCESS ||
			    track->process == i;

		if (!root || track->kind == TRACK_COUNTER)
			continue;
		put_track(&printer, i, 0);
		for (uint32_t j = 0; j < trace->track_count; j++) {
			enum track_kind kind = trace->tracks[j].kind;

			if (j != i && trace->tracks[j].process == i && kind != TRACK_COUNTER &&
				kind != TRACK_PROCESS && kind != TRACK_MACHINE)
				put_track(&printer, j, 1);
		}
	}
	if (printer.left_out)
		buffer_printf(out, "  and %u more; --json lists all\n", printer.left_out);
}

/* Pairs whose key begins with `prefix`; NULL: those that no other heading shows. */
static void put_pairs(const struct trace *trace, const bool *marks, const char *prefix,
	const char *heading, bool colour, struct buffer *out)
{
	size_t skip = prefix ? strlen(prefix) : 0;
	bool any = false;

	for (size_t i = 0; i < trace->metadata_count; i++) {
		const struct trace_pair *pair = &trace->metadata[i];

		/* The start and the names of tracks have places of their own. */
		if (!marks[i] || strcmp(pair->key, "start_unix_ns") == 0 ||
			has_prefix(pair->key, "track.") ||
			(prefix ? !has_prefix(pair->key, prefix)
				: has_prefix(pair->key, env_prefix) ||
						has_prefix(pair->key, setting_prefix)))
			continue;
		if (!any)
			put_heading(out, colour, heading);
		any = true;
		buffer_text(out, "  ");
		text_plain(out, pair->key + skip);
		buffer_printf(out, "%*s ",
			(int)(text_width(pair->key + skip) < 24 ? 24 - text_width(pair->key + skip)
								: 1),
			"");
		text_plain(out, pair->value);
		buffer_byte(out, '\n');
	}
}

static void put_entry(const struct ledger_entry *entry, struct buffer *out)
{
	buffer_printf(out, "  %8" PRIu64 "  ", entry->count);
	text_plain(out, entry->what);
	if (entry->where[0]) {
		buffer_text(out, ", ");
		text_plain(out, entry->where);
	}
	if (entry->effect[0]) {
		buffer_printf(out, "\n  %8s  ", "");
		text_plain(out, entry->effect);
	}
	buffer_byte(out, '\n');
}

static void put_ledger(const struct trace *trace, bool colour, struct buffer *out)
{
	const struct ledger *ledger = &trace->ledger;
	const char *derivation = trace_metadata(trace, "overhead.derivation");
	char text[UNITS_TEXT];

	put_heading(out, colour, "ledger");
	buffer_printf(out,
		"  produced %" PRIu64 ", recorded %" PRIu64 ", dropped %" PRIu64
		", repaired %" PRIu64 ", skipped %" PRIu64 "\n",
		ledger->produced, ledger->recorded, ledger->dropped, ledger->repaired,
		ledger->skipped);
	if (ledger->overhead_percent >= 0)
		buffer_printf(out, "  overhead %.3g %%", ledger->overhead_percent);
	else
		buffer_text(out, "  overhead not known");
	if (derivation) {
		buffer_text(out, ": ");
		text_plain(out, derivation);
	}
	buffer_printf(
		out, "\n  clock error %s\n", units_duration(text, (double)ledger->clock_error_ns));
	for (size_t i = 0; i < ledger->count; i++)
		put_entry(&ledger->entries[i], out);
}

void report_info_text(const struct trace *trace, unsigned width, bool colour, struct buffer *out)
{
	bool *marks = last_pairs(trace);

	put_head(trace, out);
	if (trace->track_count)
		put_tracks(trace, width, colour, out);
	if (marks) {
		put_pairs(trace, marks, NULL, "metadata", colour, out);
		put_pairs(trace, marks, setting_prefix, "settings", colour, out);
		put_pairs(trace, marks, env_prefix, "environment", colour, out);
	}
	put_ledger(trace, colour, out);
	out->failed = out->failed || !marks;
	free(marks);
}
