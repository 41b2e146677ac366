// SPDX-License-Identifier: MIT OR Apache-2.0
/* Exporters: a trace written anew equals the old one, a cut window equals an analysis of the
 * window, a damaged trace becomes a whole one with a ledger entry; names, paths and failing output.
 */
#include "export/export.h"

#include "analyze/analyze.h"
#include "export/export_walk.h"
#include "export/output_file.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tacho-export-XXXXXX";
static char sample_path[128], copy_path[128];
static struct trace *sample;

static bool export_to(const struct trace *trace, const char *name, struct export_options options,
	struct export_result *ret_result)
{
	struct error err = ERROR_INIT;

	if (!options.path)
		options.path = copy_path;
	return CHECK_EQ(exporter_find(name)->run(trace, &options, ret_result, &err), STATUS_OK) &&
	       CHECK_STR(err.message, "");
}

static struct trace *open_copy(void)
{
	struct error err = ERROR_INIT;
	struct trace *trace = NULL;

	CHECK_EQ(trace_open(copy_path, &trace, &err), STATUS_OK);
	CHECK_STR(err.message, "");
	return trace;
}

/* Everything in a trace as text, by names and not by numbers. */
struct listing {
	const struct trace *trace;
	struct buffer text;
	enum block_table table;
};

static int list_span(void *context, const struct export_span *span)
{
	struct listing *listing = context;
	const struct trace_name *name = &listing->trace->names[span->name];

	buffer_printf(&listing->text, "span %u %s %s %u %llu %llu %llu", span->track, name->name,
		name->category, span->depth, (unsigned long long)span->start_ns,
		(unsigned long long)span->duration_ns, (unsigned long long)span->self_ns);
	for (size_t i = 0; i < span->arg_count; i++)
		buffer_printf(&listing->text, " %s=%llu",
			export_string(listing->trace, span->args[i].key),
			span->args[i].type == ARG_STRING
				? (unsigned long long)strlen(
					  export_string(listing->trace, span->args[i].value))
				: (unsigned long long)span->args[i].value);
	buffer_byte(&listing->text, '\n');
	return STATUS_OK;
}

static int list_row(void *context, const uint64_t *row)
{
	struct listing *listing = context;
	const struct table_schema *schema = table_schema(listing->table);
	int name = listing->table == TABLE_MARKS         ? MARKS_NAME
		   : listing->table == TABLE_LINKS       ? LINKS_NAME
		   : listing->table == TABLE_ALLOCATIONS ? ALLOCATIONS_POOL
							 : -1;

	buffer_text(&listing->text, block_table_name(listing->table));
	for (int c = 0; c < (int)schema->column_count; c++) {
		size_t count;
		const uint32_t *frames;

		if (c == name) {
			buffer_printf(&listing->text, " %s", export_name(listing->trace, row[c]));
			continue;
		}
		if (listing->table != TABLE_SAMPLES || c != SAMPLES_STACK) {
			buffer_printf(&listing->text, " %llu", (unsigned long long)row[c]);
			continue;
		}
		frames = trace_stack(listing->trace, (uint32_t)row[c], &count);
		for (size_t i = 0; i < count; i++)
			buffer_printf(
				&listing->text, " %s", export_string(listing->trace, frames[i]));
	}
	buffer_byte(&listing->text, '\n');
	return STATUS_OK;
}

static char *list_trace(const struct trace *trace, uint64_t *ret_damaged)
{
	static const enum block_table tables[] = { TABLE_COUNTERS, TABLE_MARKS, TABLE_LINKS,
		TABLE_ALLOCATIONS, TABLE_SAMPLES };
	struct export_options options = { 0 };
	struct listing listing = { .trace = trace };
	struct error err = ERROR_INIT;
	struct export_walk walk;

	CHECK_EQ(export_walk_init(&walk, trace, &options, &err), STATUS_OK);
	CHECK_EQ(export_walk_spans(&walk, false, list_span, &listing, &err), STATUS_OK);
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		listing.table = tables[i];
		CHECK_EQ(export_walk_rows(&walk, tables[i], list_row, &listing, &err), STATUS_OK);
	}
	for (size_t i = 0; i < trace->metadata_count; i++)
		buffer_printf(&listing.text, "fact %s=%s\n", trace->metadata[i].key,
			trace->metadata[i].value);
	for (uint32_t i = 0; i < trace->track_count; i++)
		buffer_printf(&listing.text, "track %u %u %u %llu %s %s\n", trace->tracks[i].id,
			trace->tracks[i].parent, trace->tracks[i].kind,
			(unsigned long long)trace->tracks[i].os_id, trace->tracks[i].name,
			trace->tracks[i].unit);
	buffer_byte(&listing.text, 0);
	CHECK(buffer_ok(&listing.text));
	*ret_damaged = walk.result.damaged_blocks;
	export_walk_release(&walk);
	return (char *)listing.text.data;
}

static void rewritten_trace_is_equal(void)
{
	struct export_result result;
	struct trace *copy;
	uint64_t damaged;
	char *left, *right;

	if (!export_to(sample, "tacho", (struct export_options){ 0 }, &result))
		return;
	copy = open_copy();
	CHECK(!copy->repaired);
	left = list_trace(sample, &damaged);
	right = list_trace(copy, &damaged);
	CHECK_STR(left, right);
	CHECK_EQ(copy->header.start_unix_ns, SAMPLE_START_NS);
	CHECK_EQ(copy->ledger.dropped, sample->ledger.dropped);
	CHECK_EQ(copy->ledger.count, sample->ledger.count);
	CHECK_NEAR(copy->ledger.overhead_percent, sample->ledger.overhead_percent, 1e-9);
	CHECK_EQ(copy->span_ns, sample->span_ns);
	free(left);
	free(right);
	trace_close(copy);
}

/* An analysis of a window of the trace, and one of the file that the window was cut out to, must
 * agree in everything but when things began. */
static void cut_window_equals_analysed_window(void)
{
	static const struct trace_window windows[] = { { 22000000, 32000000 },
		{ 15000000, 70000000 }, { 1250000, 1260000 }, { 0, 45000001 }, { 54000000, 0 } };

	for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
		struct analyze_options options = { .window = windows[i], .threads = 1 };
		struct analyze_options all = { .threads = 1 };
		struct analyze_spans window, cut;
		struct export_result result;
		struct error err = ERROR_INIT;
		struct trace *copy;

		if (!export_to(sample, "tacho", (struct export_options){ .window = windows[i] },
			    &result))
			return;
		copy = open_copy();
		CHECK_EQ(analyze_spans(sample, &options, &window, &err), STATUS_OK);
		CHECK_EQ(analyze_spans(copy, &all, &cut, &err), STATUS_OK);
		CHECK_EQ(cut.span_count, window.span_count);
		CHECK_EQ(cut.names.count, window.names.count);
		CHECK_EQ(cut.step_count, window.step_count);
		CHECK_EQ(cut.kernel_time_ns, window.kernel_time_ns);
		CHECK_EQ(cut.gpu_busy_ns, window.gpu_busy_ns);
		for (size_t a = 0; a < window.names.count; a++)
			for (size_t b = 0; b < cut.names.count; b++) {
				const struct analyze_group *x = &window.names.items[a];
				const struct analyze_group *y = &cut.names.items[b];

				if (strcmp(x->name, y->name) || strcmp(x->category, y->category))
					continue;
				CHECK_EQ(y->stats.count, x->stats.count);
				CHECK_EQ(y->stats.total_ns, x->stats.total_ns);
				CHECK_EQ(y->stats.self_ns, x->stats.self_ns);
				CHECK_EQ(y->stats.max_ns, x->stats.max_ns);
			}
		CHECK_EQ(copy->header.start_unix_ns, SAMPLE_START_NS + windows[i].from_ns);
		CHECK_EQ(copy->ledger.count, sample->ledger.count + 1);
		analyze_spans_release(&window);
		analyze_spans_release(&cut);
		trace_close(copy);
	}
}

static void filtered(void)
{
	struct export_result result;
	struct trace *copy;

	if (!export_to(sample, "tacho", (struct export_options){ .filter = "MATmul" }, &result))
		return;
	copy = open_copy();
	CHECK_EQ(copy->row_counts[TABLE_SPANS], SAMPLE_MATMULS);
	CHECK_EQ(copy->row_counts[TABLE_MARKS], 0);
	CHECK_EQ(copy->row_counts[TABLE_COUNTERS], 24);
	trace_close(copy);
}

/* Damages the stored bytes of the first span block of a track. */
static bool damage(const char *path, uint32_t track)
{
	for (size_t i = 0; i < sample->block_count; i++) {
		const struct trace_block *block = &sample->blocks[i];
		int fd;

		if (block->table != TABLE_SPANS || block->track != track)
			continue;
		fd = open(path, O_WRONLY);
		CHECK_EQ(pwrite(fd, "\xff\xff\xff\xff", 4,
				 (off_t)(block->offset + BLOCK_HEADER_BYTES + 8)),
			4);
		close(fd);
		return true;
	}
	return false;
}

static void damaged_trace_becomes_whole(void)
{
	struct export_result result;
	struct error err = ERROR_INIT;
	struct trace *bad, *copy;
	char path[128];
	uint64_t damaged, spans = 0;
	char *listing;

	if (!export_to(sample, "tacho", (struct export_options){ 0 }, &result))
		return;
	snprintf(path, sizeof path, "%s/bad.tacho", folder);
	CHECK_EQ(rename(copy_path, path), 0);
	/* The copy has the blocks of the sample in another order: damage the sample's own bytes. */
	CHECK_EQ(sample_trace_write(path, &err), STATUS_OK);
	CHECK(damage(path, SAMPLE_MAIN));
	if (!CHECK_EQ(trace_open(path, &bad, &err), STATUS_OK))
		return;
	if (export_to(bad, "tacho", (struct export_options){ 0 }, &result)) {
		copy = open_copy();
		CHECK(!copy->repaired);
		CHECK(result.damaged_blocks + bad->ledger.skipped >= 1);
		CHECK(copy->ledger.skipped >= 1);
		CHECK(copy->ledger.count > sample->ledger.count);
		listing = list_trace(copy, &damaged);
		CHECK_EQ(damaged, 0);
		/* What is left keeps its times, although the scopes around it began in the lost
		 * block: the slow step and its self time. */
		CHECK(strstr(listing, "span 2 step step 0 53500000 25000000 0 step=5\n") != NULL);
		CHECK(strstr(listing, "span 2 forward phase 1 32500000 4000000 ") != NULL);
		for (const char *at = listing; (at = strstr(at, "span ")); at++)
			spans++;
		CHECK(spans < SAMPLE_SPANS && spans > SAMPLE_SPANS / 2);
		free(listing);
		trace_close(copy);
	}
	trace_close(bad);
	unlink(path);
}

static char *read_file(const char *path)
{
	static char text[1u << 20];
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;

	text[length] = '\0';
	if (file)
		fclose(file);
	return text;
}

static void csv_quotes(void)
{
	struct export_result result;
	const char *text;

	if (!export_to(sample, "csv", (struct export_options){ .table = TABLE_SPANS }, &result))
		return;
	text = read_file(copy_path);
	CHECK_EQ(result.rows, SAMPLE_SPANS);
	CHECK(strstr(text, ",\"say \"\"hi\"\", twice\nor more\",") != NULL);
	CHECK(strstr(text, ",bad \xef\xbf\xbd name,") != NULL);
	CHECK(strstr(text, ",\"{\"\"flops\"\":4194304,\"\"index\"\":0,") != NULL);
}

/* A parent comes before its children even when both begin at the same time. */
static void chrome_order(void)
{
	struct export_result result;
	const char *text, *step, *forward;

	if (!export_to(sample, "chrome", (struct export_options){ 0 }, &result))
		return;
	text = read_file(copy_path);
	step = strstr(text, "\"name\":\"step\",\"cat\":\"step\",\"ts\":1000.000,\"dur\":10000.000");
	forward = strstr(text, "\"name\":\"forward\",\"cat\":\"phase\",\"ts\":1000.000,");
	CHECK(step && forward && step < forward);
	CHECK(strstr(text, "bad \xef\xbf\xbd name") != NULL);
	CHECK(strstr(text, "\"ph\":\"C\",\"pid\":1000,") != NULL);
	CHECK(strstr(text, "\"name\":\"rss [bytes]\"") != NULL);
}

static void exporter_table(void)
{
	char words[128] = "";

	for (size_t i = 0; exporters[i]; i++) {
		if (i)
			CHECK(strcmp(exporters[i - 1]->name, exporters[i]->name) < 0);
		snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i ? "|" : "",
			exporters[i]->name);
		CHECK(exporters[i]->summary && exporters[i]->extensions && exporters[i]->run);
	}
	CHECK_STR(words, EXPORTER_WORDS);
	CHECK(exporter_for_path("a.json") == exporter_find("json"));
	CHECK(exporter_for_path("a.chrome.json") == exporter_find("chrome"));
	CHECK(exporter_for_path("a.trace.json") == exporter_find("chrome"));
	CHECK(exporter_for_path("dir.csv/a.csv") == exporter_find("csv"));
	CHECK(exporter_for_path("a.tacho") == exporter_find("tacho"));
	CHECK(exporter_for_path("a.txt") == NULL);
	CHECK(exporter_for_path(".json") == NULL);
	CHECK(exporter_find("nothing") == NULL);
}

static void failing_output(void)
{
	static const char *const names[] = { "chrome", "csv", "json" };
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	for (size_t i = 0; i < 3; i++) {
		struct export_options options = { .table = TABLE_SPANS, .fd = full };
		struct export_result result;
		struct error err = ERROR_INIT;

		CHECK_EQ(exporter_find(names[i])->run(sample, &options, &result, &err), STATUS_IO);
		CHECK_STR(err.message, "cannot write to standard output: No space left on device");
		options.path = "/nonexistent/folder/file";
		CHECK_EQ(exporter_find(names[i])->run(sample, &options, &result, &err), STATUS_IO);
		CHECK(strstr(err.message, "cannot write /nonexistent/folder/file: ") != NULL);
	}
	close(full);
}

/* A file under its name is whole: what was there stays until then, and nothing else is left. */
static void output_appears_whole(void)
{
	struct output_file file;
	struct error err = ERROR_INIT;
	char path[128];
	struct stat info;

	snprintf(path, sizeof path, "%s/out", folder);
	CHECK_EQ(output_file_open(&file, path, -1, &err), STATUS_OK);
	CHECK_EQ(output_file_write(&file, "one", 3), STATUS_OK);
	CHECK(stat(path, &info) != 0);
	CHECK_EQ(output_file_finish(&file, &err), STATUS_OK);
	CHECK_STR(read_file(path), "one");
	CHECK_EQ(output_file_open(&file, path, -1, &err), STATUS_OK);
	CHECK_EQ(output_file_write(&file, "two", 3), STATUS_OK);
	output_file_release(&file);
	CHECK_STR(read_file(path), "one");
	unlink(path);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(rewritten_trace_is_equal),
		UNIT(cut_window_equals_analysed_window),
		UNIT(filtered),
		UNIT(damaged_trace_becomes_whole),
		UNIT(csv_quotes),
		UNIT(chrome_order),
		UNIT(exporter_table),
		UNIT(failing_output),
		UNIT(output_appears_whole),
	};
	struct error err = ERROR_INIT;
	int status = 1;

	if (!mkdtemp(folder))
		return 1;
	snprintf(sample_path, sizeof sample_path, "%s/sample.tacho", folder);
	snprintf(copy_path, sizeof copy_path, "%s/copy", folder);
	if (sample_trace_write(sample_path, &err) == STATUS_OK &&
		trace_open(sample_path, &sample, &err) == STATUS_OK) {
		status = unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
		trace_close(sample);
	} else {
		printf("%s\n", err.message);
	}
	unlink(sample_path);
	unlink(copy_path);
	rmdir(folder);
	return status;
}
