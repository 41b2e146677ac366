// SPDX-License-Identifier: MIT OR Apache-2.0
/* Tracks of a Chrome trace. pid and tid may be numbers, negative ones too, or texts; what is no
 * plain number is kept as metadata so that it can be written again. */
#include "import/chrome_tracks.h"

#include "base/array.h"
#include "format/span_block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum chrome_track_flags { TRACK_HAS_GPU = 1, TRACK_HAS_HOST = 2 };

struct chrome_open {
	uint64_t key;
	size_t below; /* the begin under it, + 1 */
	uint32_t track, name, argument_count;
	int64_t start_ns;
	uint32_t *keys; /* keys, then values, then types, in one piece */
	bool used;
};

void chrome_tracks_init(struct chrome_tracks *tracks, struct import_sink *sink)
{
	memset(tracks, 0, sizeof *tracks);
	tracks->sink = sink;
}

void chrome_tracks_release(struct chrome_tracks *tracks)
{
	for (size_t i = 0; i < tracks->open_count; i++)
		free(tracks->open[i].keys);
	free(tracks->open);
	free(tracks->flags);
	id_map_release(&tracks->processes);
	id_map_release(&tracks->threads);
	id_map_release(&tracks->counters);
	id_map_release(&tracks->asyncs);
	id_map_release(&tracks->opens);
	buffer_release(&tracks->scratch);
}

static uint64_t token_hash(const struct json_slice *slice, bool present, uint64_t seed)
{
	if (!present)
		return XXH3_64bits_withSeed("0", 1, seed);
	/* "1" and 1 are two different rows. */
	return XXH3_64bits_withSeed(
		slice->text, slice->length, seed + (slice->kind == JSON_STRING ? 77 : 0));
}

/* Keeps a pid or tid that is no plain number. */
static int keep_token(struct chrome_tracks *tracks, uint32_t track, const char *what,
	const struct json_slice *slice)
{
	bool text = slice->kind == JSON_STRING;
	char key[64];

	snprintf(key, sizeof key, "chrome.%s.%u", what, track);
	return import_sink_metadata(
		tracks->sink, key, slice->text - text, slice->length + (text ? 2 : 0));
}

static int new_track(struct chrome_tracks *tracks, uint32_t parent, enum track_kind kind,
	const char *what, const struct json_slice *token, bool present, uint32_t *ret_track)
{
	bool number = !present || (token->kind == JSON_INTEGER && token->integer >= 0);
	uint64_t os_id = present && number ? (uint64_t)token->integer : 0;
	char name[96];
	int status;

	if (!present)
		snprintf(name, sizeof name, "%s", kind == TRACK_PROCESS ? "process" : "thread");
	else
		snprintf(name, sizeof name, "%s %.*s", kind == TRACK_PROCESS ? "process" : "thread",
			(int)(token->length < 64 ? token->length : 64), token->text);
	status = import_sink_track(tracks->sink, parent, kind, os_id, name, "", ret_track);
	if (status == STATUS_OK && !number)
		status = keep_token(tracks, *ret_track, what, token);
	if (status == STATUS_OK) {
		size_t before = tracks->flag_capacity;

		status = array_grow(
			(void **)&tracks->flags, &tracks->flag_capacity, (size_t)*ret_track + 1, 1);
		if (status == STATUS_OK)
			memset(tracks->flags + before, 0, tracks->flag_capacity - before);
	}
	return status;
}

static int find_process(
	struct chrome_tracks *tracks, const struct chrome_event *event, uint32_t *ret_track)
{
	uint64_t key = token_hash(&event->pid, event->has_pid, 1), found;
	int status;

	if (id_map_get(&tracks->processes, key, &found)) {
		*ret_track = (uint32_t)found;
		return STATUS_OK;
	}
	status = new_track(tracks, 0, TRACK_PROCESS, "pid", &event->pid, event->has_pid, ret_track);
	return status == STATUS_OK ? id_map_put(&tracks->processes, key, *ret_track) : status;
}

int chrome_tracks_find(
	struct chrome_tracks *tracks, const struct chrome_event *event, uint32_t *ret_track)
{
	uint64_t key =
		token_hash(&event->tid, event->has_tid, token_hash(&event->pid, event->has_pid, 1));
	uint64_t found;
	uint32_t process;
	int status = STATUS_OK;

	if (tracks->has_last && tracks->last_key == key) {
		*ret_track = tracks->last_track;
		return STATUS_OK;
	}
	if (id_map_get(&tracks->threads, key, &found)) {
		*ret_track = (uint32_t)found;
	} else {
		status = find_process(tracks, event, &process);
		if (status == STATUS_OK)
			status = new_track(tracks, process, TRACK_THREAD, "tid", &event->tid,
				event->has_tid, ret_track);
		if (status == STATUS_OK)
			status = id_map_put(&tracks->threads, key, *ret_track);
	}
	tracks->has_last = status == STATUS_OK;
	tracks->last_key = key;
	tracks->last_track = status == STATUS_OK ? *ret_track : 0;
	return status;
}

static bool category_is(const struct json_slice *category, const char *word)
{
	return category->length == strlen(word) &&
	       strncasecmp(category->text, word, category->length) == 0;
}

void chrome_tracks_note(
	struct chrome_tracks *tracks, uint32_t track, const struct json_slice *category)
{
	bool gpu = category->length &&
		   (category_is(category, "kernel") || category_is(category, "gpu_memcpy") ||
			   category_is(category, "gpu_memset") || category_is(category, "memcpy") ||
			   category_is(category, "memset"));

	tracks->flags[track] |= gpu ? TRACK_HAS_GPU : TRACK_HAS_HOST;
}

/* The text argument `key` of a metadata event, as a string of the dictionary. */
static bool name_argument(
	struct chrome_tracks *tracks, const struct chrome_event *event, uint32_t *ret_string)
{
	const struct string_table *strings = &import_sink_dict(tracks->sink)->strings;

	for (uint32_t i = 0; i < event->argument_count; i++)
		if (event->types[i] == ARG_STRING &&
			strcmp(string_table_borrow(strings, event->keys[i]), "name") == 0) {
			*ret_string = (uint32_t)event->values[i];
			return true;
		}
	return false;
}

int chrome_tracks_metadata(struct chrome_tracks *tracks, const struct chrome_event *event)
{
	uint32_t track, name;
	int status = STATUS_OK;

	if (!event->has_name || !name_argument(tracks, event, &name))
		return STATUS_OK;
	if (event->name.length == 12 && memcmp(event->name.text, "process_name", 12) == 0)
		status = find_process(tracks, event, &track);
	else if (event->name.length == 11 && memcmp(event->name.text, "thread_name", 11) == 0)
		status = chrome_tracks_find(tracks, event, &track);
	else
		return STATUS_OK;
	if (status == STATUS_OK)
		import_sink_track_name(tracks->sink, track, name);
	return status;
}

/* The arguments of a begin and of its end belong to the same span. */
static int close_open(struct chrome_tracks *tracks, struct chrome_open *open, int64_t end_ns,
	const struct import_args *more)
{
	uint32_t keys[CHROME_KEYS_MAX], count = open->argument_count;
	uint8_t types[CHROME_KEYS_MAX];
	uint64_t values[CHROME_KEYS_MAX];
	struct import_args args = { .keys = keys, .types = types, .values = values };
	uint32_t extra =
		more->count < CHROME_KEYS_MAX - count ? more->count : CHROME_KEYS_MAX - count;
	const uint8_t *at = (const uint8_t *)open->keys;

	if (count) {
		memcpy(values, at, count * sizeof *values);
		memcpy(keys, at + count * 8, count * sizeof *keys);
		memcpy(types, at + count * 12, count);
	}
	memcpy(keys + count, more->keys, extra * sizeof *keys);
	memcpy(types + count, more->types, extra);
	memcpy(values + count, more->values, extra * sizeof *values);
	args.count = count + extra;
	free(open->keys);
	open->keys = NULL;
	open->used = false;
	if (end_ns < open->start_ns) {
		import_sink_skip(tracks->sink, "spans that end before they begin", "left out");
		return STATUS_OK;
	}
	return import_sink_span(tracks->sink, open->track, open->name, open->start_ns,
		(uint64_t)(end_ns - open->start_ns), &args);
}

static int push_open(struct chrome_tracks *tracks, uint64_t key, uint32_t track, uint32_t name,
	int64_t time_ns, const struct import_args *args)
{
	struct chrome_open *open;
	uint64_t below = 0;
	uint8_t *copy = NULL;

	(void)id_map_get(&tracks->opens, key, &below);
	if (array_grow((void **)&tracks->open, &tracks->open_capacity, tracks->open_count + 1,
		    sizeof *tracks->open))
		return STATUS_NOMEM;
	if (args->count) {
		copy = malloc((size_t)args->count * 13);
		if (!copy)
			return STATUS_NOMEM;
		memcpy(copy, args->values, args->count * 8);
		memcpy(copy + args->count * 8, args->keys, args->count * 4);
		memcpy(copy + args->count * 12, args->types, args->count);
	}
	open = &tracks->open[tracks->open_count++];
	*open = (struct chrome_open){ .key = key,
		.below = (size_t)below,
		.track = track,
		.name = name,
		.argument_count = args->count,
		.start_ns = time_ns,
		.keys = (uint32_t *)(void *)copy,
		.used = true };
	return id_map_put(&tracks->opens, key, tracks->open_count);
}

/* The track of async spans of one name in one process. */
static int async_track(
	struct chrome_tracks *tracks, uint32_t track, uint32_t name, uint32_t *ret_track)
{
	const struct trace_dict *dict = import_sink_dict(tracks->sink);
	uint32_t process = (uint32_t)dict->tracks.cells[TRACKS_PARENT][track];
	uint64_t key = (uint64_t)process << 32 | name, found;
	uint32_t text = (uint32_t)dict->names.cells[NAMES_NAME][name];
	int status;

	if (id_map_get(&tracks->asyncs, key, &found)) {
		*ret_track = (uint32_t)found;
		return STATUS_OK;
	}
	status = new_track(tracks, process, TRACK_ASYNC, "async", NULL, false, ret_track);
	if (status == STATUS_OK) {
		import_sink_track_name(tracks->sink, *ret_track, text);
		status = id_map_put(&tracks->asyncs, key, *ret_track);
	}
	return status;
}

int chrome_tracks_pair(struct chrome_tracks *tracks, const struct chrome_event *event,
	uint32_t track, uint32_t name, int64_t time_ns, const struct import_args *args)
{
	bool begins = event->phase == 'B' || event->phase == 'b' || event->phase == 'S';
	bool nests = event->phase == 'B' || event->phase == 'E';
	uint64_t key = nests ? (uint64_t)track + 1
			     : token_hash(&event->id, event->has_id,
				       token_hash(&event->category, event->has_category, 9));
	uint64_t found = 0;
	struct chrome_open *open;
	uint32_t row = track;
	int status = STATUS_OK;

	if (begins && !nests)
		status = async_track(tracks, track, name, &row);
	if (status != STATUS_OK)
		return status;
	if (begins)
		return push_open(tracks, key, row, name, time_ns, args);
	if (!id_map_get(&tracks->opens, key, &found) || found == 0) {
		tracks->unmatched++;
		return STATUS_OK;
	}
	open = &tracks->open[found - 1];
	status = id_map_put(&tracks->opens, key, open->below);
	if (status == STATUS_OK)
		status = close_open(tracks, open, time_ns, args);
	/* Ends come mostly in the reverse order of begins, so the list stays short. */
	while (tracks->open_count && !tracks->open[tracks->open_count - 1].used)
		tracks->open_count--;
	return status;
}

static int counter_track(struct chrome_tracks *tracks, const struct chrome_event *event,
	uint32_t track, uint32_t key, uint32_t count, uint32_t *ret_track)
{
	const struct trace_dict *dict = import_sink_dict(tracks->sink);
	uint32_t process = (uint32_t)dict->tracks.cells[TRACKS_PARENT][track];
	uint64_t hash = token_hash(&event->id, event->has_id,
		token_hash(&event->name, event->has_name, (uint64_t)process << 32 | key));
	uint64_t found;
	int status;

	if (id_map_get(&tracks->counters, hash, &found)) {
		*ret_track = (uint32_t)found;
		return STATUS_OK;
	}
	buffer_reset(&tracks->scratch);
	if (event->has_name)
		json_unescape(&event->name, &tracks->scratch);
	/* A counter with several series is several counters. */
	if (count > 1 || tracks->scratch.length == 0) {
		buffer_byte(&tracks->scratch, ' ');
		buffer_text(&tracks->scratch, string_table_borrow(&dict->strings, key));
	}
	buffer_byte(&tracks->scratch, 0);
	if (!buffer_ok(&tracks->scratch))
		return STATUS_NOMEM;
	status = import_sink_track(tracks->sink, process, TRACK_COUNTER, 0,
		(const char *)tracks->scratch.data, "", ret_track);
	return status == STATUS_OK ? id_map_put(&tracks->counters, hash, *ret_track) : status;
}

int chrome_tracks_counter(struct chrome_tracks *tracks, const struct chrome_event *event,
	uint32_t track, int64_t time_ns, const struct import_args *args)
{
	const struct string_table *strings = &import_sink_dict(tracks->sink)->strings;
	int status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < args->count; i++) {
		uint32_t counter;
		double value;

		if (args->types[i] == ARG_STRING) {
			import_sink_skip(
				tracks->sink, "counter values that are no numbers", "left out");
			continue;
		}
		status = counter_track(tracks, event, track, args->keys[i], args->count, &counter);
		if (status != STATUS_OK)
			break;
		if (args->types[i] == ARG_INTEGER) {
			status = import_sink_counter_integer(
				tracks->sink, counter, time_ns, (int64_t)args->values[i]);
			continue;
		}
		if (args->types[i] == ARG_DOUBLE)
			memcpy(&value, &args->values[i], sizeof value);
		else
			value = strtod(
				string_table_borrow(strings, (uint32_t)args->values[i]), NULL);
		status = import_sink_counter(tracks->sink, counter, time_ns, value);
	}
	return status;
}

int chrome_tracks_finish(struct chrome_tracks *tracks)
{
	struct ledger *ledger = import_sink_ledger(tracks->sink);
	uint64_t left_open = 0;

	for (size_t i = 0; i < tracks->flag_capacity; i++)
		if (tracks->flags[i] & TRACK_HAS_GPU)
			import_sink_track_kind(tracks->sink, (uint32_t)i, TRACK_DEVICE);
	for (size_t i = 0; i < tracks->open_count; i++)
		left_open += tracks->open[i].used;
	if (left_open)
		ledger_add(ledger, left_open, "begins without an end", "import", "left out");
	if (tracks->unmatched)
		ledger_add(ledger, tracks->unmatched, "ends without a begin", "import", "left out");
	ledger->skipped += left_open + tracks->unmatched;
	return STATUS_OK;
}
