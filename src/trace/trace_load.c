// SPDX-License-Identifier: MIT OR Apache-2.0
/* Dictionaries, metadata and ledger of a trace being opened. Entries carry no numbers of their own:
 * a block says the number of its first. A block that cannot be read leaves "?" in the places of its
 * entries, so that the numbers behind it stay right. */
#include "base/array.h"
#include "base/reader.h"
#include "trace/trace_internal.h"

#include <stdlib.h>
#include <string.h>

struct loader {
	struct trace *trace;
	struct block_codec *codec;
	struct buffer stored, raw;
	struct table_rows rows;
	uint32_t *lengths; /* of strings or stacks in a block */
	size_t lengths_capacity;
	size_t names_capacity, tracks_capacity, metadata_capacity, frames_capacity, stacks_capacity;
	size_t frame_count;
	size_t string_limit; /* strings of the file; what is added behind them is ours */
	uint32_t unknown;    /* the string "?" */
	size_t made_up;      /* entries in place of lost ones */
	size_t ledger_from;  /* first block of the last ledger */
	bool lost_names, lost_tracks;
	struct error *err;
};

/* How many entries of a dictionary there are by now. */
static size_t *dictionary_count(struct loader *loader, unsigned table, size_t *scratch)
{
	struct trace *trace = loader->trace;

	switch (table) {
	case TABLE_STRINGS:
		return &trace->strings.count;
	case TABLE_STACKS:
		return &trace->stack_count;
	case TABLE_NAMES:
		*scratch = trace->name_count;
		return scratch;
	default:
		*scratch = trace->track_count;
		return scratch;
	}
}

/* The text of a string number, or NULL. */
static const char *text_of(const struct loader *loader, uint64_t id)
{
	return id < loader->string_limit ? loader->trace->strings.entries[id].text : NULL;
}

static int add_name(struct loader *loader, uint64_t name, uint64_t category)
{
	struct trace *trace = loader->trace;

	if (trace->name_count >= TRACE_ENTRIES_MAX)
		return error_set(
			loader->err, STATUS_LIMIT, "more than %u names", TRACE_ENTRIES_MAX);
	if (array_grow((void **)&trace->names, &loader->names_capacity,
		    (size_t)trace->name_count + 1, sizeof *trace->names) != STATUS_OK)
		return STATUS_NOMEM;
	trace->names[trace->name_count++] =
		(struct trace_name){ .name_string = name < UINT32_MAX ? (uint32_t)name : UINT32_MAX,
			.category_string =
				category < UINT32_MAX ? (uint32_t)category : UINT32_MAX };
	return STATUS_OK;
}

/* What a track says of others, and texts that are missing, is put right by trace_tracks_finish().
 */
static int add_track(struct loader *loader, const uint64_t cells[5])
{
	struct trace *trace = loader->trace;
	uint64_t kind = cells[TRACKS_KIND], parent = cells[TRACKS_PARENT];

	if (trace->track_count >= TRACE_TRACKS_MAX)
		return error_set(
			loader->err, STATUS_LIMIT, "more than %u tracks", TRACE_TRACKS_MAX);
	if (array_grow((void **)&trace->tracks, &loader->tracks_capacity,
		    (size_t)trace->track_count + 1, sizeof *trace->tracks) != STATUS_OK)
		return STATUS_NOMEM;
	trace->tracks[trace->track_count] = (struct trace_track){
		.id = trace->track_count,
		.parent = parent < UINT32_MAX ? (uint32_t)parent : UINT32_MAX,
		.kind = kind < TRACK_KINDS ? (enum track_kind)kind : TRACK_OTHER,
		.os_id = cells[TRACKS_OS_ID],
		.name = text_of(loader, cells[TRACKS_NAME]),
		.unit = text_of(loader, cells[TRACKS_UNIT]),
	};
	trace->track_count++;
	return STATUS_OK;
}

static int add_stack(struct loader *loader, size_t frames)
{
	struct trace *trace = loader->trace;

	if (trace->stack_count >= TRACE_ENTRIES_MAX)
		return error_set(
			loader->err, STATUS_LIMIT, "more than %u stacks", TRACE_ENTRIES_MAX);
	if (array_grow((void **)&trace->stack_ends, &loader->stacks_capacity,
		    trace->stack_count + 1, sizeof *trace->stack_ends) != STATUS_OK)
		return STATUS_NOMEM;
	loader->frame_count += frames;
	trace->stack_ends[trace->stack_count++] = loader->frame_count;
	return STATUS_OK;
}

static int add_string(struct loader *loader, const char *text, size_t length)
{
	struct string_table *strings = &loader->trace->strings;
	int status;

	if (strings->count >= TRACE_ENTRIES_MAX)
		return error_set(
			loader->err, STATUS_LIMIT, "more than %u strings", TRACE_ENTRIES_MAX);
	status = string_table_append(strings, text, length);
	if (status == STATUS_LIMIT)
		error_set(loader->err, status, "more than %zu bytes of strings",
			TRACE_STRINGS_BYTES_MAX);
	return status;
}

/* Puts "?" entries into a dictionary up to number `until`. A number that no honest loss explains is
 * left alone: the blocks behind it do not fit then and are skipped as well. */
static int fill_gap(struct loader *loader, unsigned table, size_t until)
{
	static const uint64_t unknown_track[5] = { [TRACKS_PARENT] = UINT32_MAX,
		[TRACKS_KIND] = TRACK_OTHER,
		[TRACKS_NAME] = UINT64_MAX };
	size_t scratch, have = *dictionary_count(loader, table, &scratch);
	uint64_t lost_blocks = loader->trace->ledger.skipped;
	int status = STATUS_OK;

	loader->lost_names |= table == TABLE_NAMES;
	loader->lost_tracks |= table == TABLE_TRACKS;
	if (until < have || until - have > lost_blocks * TRACE_GAP_PER_BLOCK ||
		until - have > TRACE_GAP_MAX - loader->made_up)
		return STATUS_OK;
	loader->made_up += until - have;
	while (status == STATUS_OK && *dictionary_count(loader, table, &scratch) < until) {
		if (table == TABLE_STRINGS)
			status = add_string(loader, "?", 1);
		else if (table == TABLE_NAMES)
			status = add_name(loader, UINT32_MAX, 0);
		else if (table == TABLE_TRACKS)
			status = add_track(loader, unknown_track);
		else
			status = add_stack(loader, 0);
	}
	return status;
}

/* A column of lengths and their sum. */
static int read_lengths(struct loader *loader, size_t rows, struct reader *in, uint64_t *ret_sum)
{
	*ret_sum = 0;
	if (array_grow((void **)&loader->lengths, &loader->lengths_capacity, rows + 1,
		    sizeof *loader->lengths) != STATUS_OK)
		return STATUS_NOMEM;
	if (column_get_u32(in, loader->lengths, rows) != STATUS_OK)
		return STATUS_FORMAT;
	for (size_t i = 0; i < rows; i++)
		*ret_sum += loader->lengths[i];
	return STATUS_OK;
}

static int load_strings(struct loader *loader, size_t rows, size_t first, struct reader *in)
{
	uint64_t sum;
	int status = read_lengths(loader, rows, in, &sum);
	const char *text;

	if (status != STATUS_OK)
		return status;
	/* Number 0 is the empty string, and is in every table from the start. */
	if (sum > reader_left(in) || (first == 0 && rows && loader->lengths[0] != 0))
		return STATUS_FORMAT;
	text = (const char *)in->at;
	for (size_t i = first == 0 ? 1 : 0; status == STATUS_OK && i < rows; i++) {
		status = add_string(loader, text, loader->lengths[i]);
		text += loader->lengths[i];
	}
	return status;
}

static int load_stacks(struct loader *loader, size_t rows, struct reader *in)
{
	struct trace *trace = loader->trace;
	uint64_t sum, wrong = 0;
	int status = read_lengths(loader, rows, in, &sum);

	if (status != STATUS_OK)
		return status;
	/* A frame that is not there would cost no byte: the sum is bounded by the block's size. */
	if (sum > BLOCK_RAW_MAX || loader->frame_count + sum > (uint64_t)TRACE_ENTRIES_MAX * 16)
		return STATUS_FORMAT;
	if (array_grow((void **)&trace->frames, &loader->frames_capacity,
		    loader->frame_count + (size_t)sum + 1, sizeof *trace->frames) != STATUS_OK)
		return STATUS_NOMEM;
	if (column_get_u32(in, trace->frames + loader->frame_count, (size_t)sum) != STATUS_OK)
		return STATUS_FORMAT;
	for (size_t i = loader->frame_count; i < loader->frame_count + sum; i++)
		if (trace->frames[i] >= loader->string_limit) {
			trace->frames[i] = loader->unknown;
			wrong++;
		}
	for (size_t i = 0; status == STATUS_OK && i < rows; i++)
		status = add_stack(loader, loader->lengths[i]);
	if (wrong)
		trace_note_repaired(trace, wrong, "frames of stacks without a string", "stacks",
			"shown as \"?\"");
	return status;
}

static int load_rows(struct loader *loader, unsigned table, size_t rows, struct reader *in)
{
	const struct table_schema *schema = table_schema((enum block_table)table);
	uint64_t **cells = loader->rows.cells;
	int status = table_rows_decode(&loader->rows, schema, rows, in);

	for (size_t i = 0; status == STATUS_OK && i < loader->rows.count; i++) {
		uint64_t row[TABLE_COLUMNS_MAX] = { 0 };

		for (unsigned c = 0; c < schema->column_count; c++)
			row[c] = cells[c][i];
		status = table == TABLE_NAMES
				 ? add_name(loader, row[NAMES_NAME], row[NAMES_CATEGORY])
				 : add_track(loader, row);
	}
	return status;
}

static bool is_dictionary(unsigned table)
{
	return table == TABLE_STRINGS || table == TABLE_NAMES || table == TABLE_TRACKS ||
	       table == TABLE_STACKS;
}

/* Loads a dictionary block, or puts "?" in the places of its entries. */
static int load_dictionary(struct loader *loader, size_t number)
{
	struct trace *trace = loader->trace;
	const struct trace_block *block = &trace->blocks[number];
	size_t scratch, have = *dictionary_count(loader, block->table, &scratch);
	/* The string table is born with its number 0. */
	bool fits = have == block->track ||
		    (block->table == TABLE_STRINGS && block->track == 0 && have == 1);
	struct error inner = ERROR_INIT;
	struct reader in;
	int status;

	if (block->track > have) {
		trace_note_skipped(trace, 1, "a block of a dictionary is missing", block->offset,
			"its entries are shown as \"?\"");
		status = fill_gap(loader, block->table, block->track);
		if (status != STATUS_OK)
			return status;
		fits = *dictionary_count(loader, block->table, &scratch) == block->track;
	}
	status = trace_read_block(
		trace, number, loader->codec, &loader->stored, &loader->raw, &inner);
	if (status == STATUS_OK && fits) {
		reader_init(&in, loader->raw.data, loader->raw.length);
		if (block->table == TABLE_STRINGS)
			status = load_strings(loader, block->rows, block->track, &in);
		else if (block->table == TABLE_STACKS)
			status = load_stacks(loader, block->rows, &in);
		else
			status = load_rows(loader, block->table, block->rows, &in);
	}
	if (status == STATUS_NOMEM || status == STATUS_LIMIT || status == STATUS_IO)
		return status;
	if (status == STATUS_OK && fits)
		return STATUS_OK;
	trace_note_skipped(trace, 1, "a damaged block of a dictionary", block->offset,
		"its entries are shown as \"?\"");
	return fits ? fill_gap(loader, block->table, (size_t)block->track + block->rows)
		    : STATUS_OK;
}

static int load_metadata(struct loader *loader)
{
	struct trace *trace = loader->trace;

	if (trace->metadata_count + loader->rows.count > TRACE_ENTRIES_MAX)
		return error_set(
			loader->err, STATUS_LIMIT, "more than %u metadata", TRACE_ENTRIES_MAX);
	if (array_grow((void **)&trace->metadata, &loader->metadata_capacity,
		    trace->metadata_count + loader->rows.count,
		    sizeof *trace->metadata) != STATUS_OK)
		return STATUS_NOMEM;
	for (size_t i = 0; i < loader->rows.count; i++) {
		const char *key = text_of(loader, loader->rows.cells[METADATA_KEY][i]);
		const char *value = text_of(loader, loader->rows.cells[METADATA_VALUE][i]);

		if (!key || !value)
			trace_note_repaired(trace, 1, "metadata without a string", "metadata",
				"shown as \"?\"");
		trace->metadata[trace->metadata_count++] =
			(struct trace_pair){ .key = key ? key : "?", .value = value ? value : "?" };
	}
	return STATUS_OK;
}

static void add_total(struct ledger *ledger, const char *what, uint64_t count)
{
	if (strcmp(what, "produced") == 0)
		ledger->produced += count;
	else if (strcmp(what, "recorded") == 0)
		ledger->recorded += count;
	else if (strcmp(what, "dropped") == 0)
		ledger->dropped += count;
	else if (strcmp(what, "repaired") == 0)
		ledger->repaired += count;
	else if (strcmp(what, "skipped") == 0)
		ledger->skipped += count;
	else if (strcmp(what, "clock_error_ns") == 0)
		ledger->clock_error_ns = count;
	else if (strcmp(what, "overhead_millionths") == 0)
		ledger->overhead_percent = (double)count / 1e4;
}

static void load_ledger(struct loader *loader)
{
	struct trace *trace = loader->trace;
	struct ledger *ledger = &trace->ledger;
	uint64_t **cells = loader->rows.cells;

	for (size_t i = 0; i < loader->rows.count; i++) {
		const char *what = text_of(loader, cells[LEDGER_WHAT][i]);
		const char *where = text_of(loader, cells[LEDGER_WHERE][i]);
		const char *effect = text_of(loader, cells[LEDGER_EFFECT][i]);
		uint64_t count = cells[LEDGER_COUNT][i];

		if (!what || !where || !effect)
			trace_note_repaired(trace, 1, "ledger entries without a string", "ledger",
				"shown as \"?\"");
		if (cells[LEDGER_KIND][i] == 1 && what)
			add_total(ledger, what, count);
		else if (ledger->count < TRACE_LEDGER_MAX)
			ledger_add(ledger, count, what ? what : "?", where ? where : "?",
				effect ? effect : "?");
		else
			ledger_add(
				ledger, count, "further entries", "ledger", "not shown one by one");
	}
}

static int load_plain(struct loader *loader, size_t number)
{
	struct trace *trace = loader->trace;
	const struct trace_block *block = &trace->blocks[number];
	struct error inner = ERROR_INIT;
	struct reader in;
	int status = trace_read_block(
		trace, number, loader->codec, &loader->stored, &loader->raw, &inner);

	if (status == STATUS_OK) {
		reader_init(&in, loader->raw.data, loader->raw.length);
		status = table_rows_decode(&loader->rows,
			table_schema((enum block_table)block->table), block->rows, &in);
	}
	if (status == STATUS_FORMAT) {
		trace_note_skipped(trace, 1,
			block->table == TABLE_METADATA ? "a damaged block of metadata"
						       : "a damaged block of the ledger",
			block->offset, "what it said is not known");
		return STATUS_OK;
	}
	if (status != STATUS_OK)
		return status;
	if (block->table == TABLE_METADATA)
		return load_metadata(loader);
	load_ledger(loader);
	return STATUS_OK;
}

/* Turns string numbers of names into texts. */
static int resolve_names(struct loader *loader)
{
	struct trace *trace = loader->trace;
	uint64_t wrong = 0;
	int status;

	if (loader->lost_names) {
		status = add_name(loader, loader->unknown, 0);
		if (status != STATUS_OK)
			return status;
		trace->lost_name = trace->name_count - 1;
	}
	for (uint32_t i = 0; i < trace->name_count; i++) {
		struct trace_name *name = &trace->names[i];

		if (name->name_string >= loader->string_limit) {
			name->name_string = loader->unknown;
			wrong += i != trace->lost_name;
		}
		if (name->category_string >= loader->string_limit) {
			name->category_string = 0;
			wrong++;
		}
		name->name = trace->strings.entries[name->name_string].text;
		name->category = trace->strings.entries[name->category_string].text;
	}
	if (wrong)
		trace_note_repaired(
			trace, wrong, "names without a string", "names", "shown as \"?\"");
	return STATUS_OK;
}

static int load_all(struct loader *loader)
{
	struct trace *trace = loader->trace;
	int status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < trace->block_count; i++)
		if (trace->blocks[i].table == TABLE_STRINGS)
			status = load_dictionary(loader, i);
	loader->string_limit = trace->strings.count;
	if (status == STATUS_OK)
		status = string_table_add(&trace->strings, "?", 1, &loader->unknown);
	for (size_t i = 0; status == STATUS_OK && i < trace->block_count; i++) {
		const struct trace_block *block = &trace->blocks[i];

		if (is_dictionary(block->table) && block->table != TABLE_STRINGS)
			status = load_dictionary(loader, i);
		else if (block->table == TABLE_METADATA)
			status = load_plain(loader, i);
		else if (block->table == TABLE_LEDGER && block->track == 0)
			loader->ledger_from = i;
	}
	for (size_t i = loader->ledger_from; status == STATUS_OK && i < trace->block_count; i++)
		if (trace->blocks[i].table == TABLE_LEDGER)
			status = load_plain(loader, i);
	if (status == STATUS_OK)
		status = resolve_names(loader);
	if (status == STATUS_OK)
		status = trace_tracks_finish(trace, &loader->tracks_capacity, loader->lost_tracks);
	return status;
}

int trace_load(struct trace *trace, struct error *err)
{
	struct loader loader = { .trace = trace, .err = err };
	int status = STATUS_NOMEM;

	/* A dictionary block may have been in what the scan stepped over. */
	loader.lost_names = loader.lost_tracks = trace->ledger.skipped > 0;
	loader.codec = block_codec_new();
	if (loader.codec)
		status = load_all(&loader);
	if (status == STATUS_NOMEM)
		error_set(err, status, "out of memory while opening");
	block_codec_free(loader.codec);
	buffer_release(&loader.stored);
	buffer_release(&loader.raw);
	table_rows_release(&loader.rows);
	free(loader.lengths);
	return status;
}
