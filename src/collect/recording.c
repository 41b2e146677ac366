// SPDX-License-Identifier: MIT OR Apache-2.0
/* What all processes of a recording share: dictionaries, clock, tables without a track of their
 * own. */
#include "collect/process_reader.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define NAME_OF(text) (text), sizeof(text) - 1

int recording_init(
	struct recording *recording, struct shm_session *session, const struct file_header *header)
{
	uint32_t text, none, name;
	struct trace_dict *dict = &recording->store.dict;
	int status;

	memset(recording, 0, sizeof *recording);
	recording->session = session;
	status = store_init(&recording->store, header);
	/* Name 0 is "?", so that an unknown name is harmless; track 0 is the machine. */
	if (status == STATUS_OK)
		status = trace_dict_string(dict, NAME_OF("?"), &text);
	if (status == STATUS_OK)
		status = trace_dict_string(dict, NAME_OF(""), &none);
	if (status == STATUS_OK)
		status = trace_dict_name(dict, text, none, &name);
	if (status == STATUS_OK)
		status = trace_dict_string(dict, NAME_OF("machine"), &text);
	if (status == STATUS_OK)
		status = trace_dict_track(
			dict, 0, TRACK_MACHINE, 0, text, none, &recording->machine_track);
	if (status == STATUS_OK)
		status = trace_dict_string(dict, NAME_OF("step"), &recording->step_key);
	if (status == STATUS_OK)
		status = trace_dict_name(
			dict, recording->step_key, recording->step_key, &recording->step_name);
	return status;
}

void recording_release(struct recording *recording)
{
	table_rows_release(&recording->counters);
	table_rows_release(&recording->real_counters);
	table_rows_release(&recording->marks);
	table_rows_release(&recording->links);
	table_rows_release(&recording->allocations);
	table_rows_release(&recording->samples);
	free(recording->switch_ticks);
	store_release(&recording->store);
}

void recording_row(struct recording *recording, enum block_table table, struct table_rows *rows,
	const uint64_t *values)
{
	const struct table_schema *schema = table_schema(table);

	if (recording->rows_since_ns == 0)
		recording->rows_since_ns = values[schema->time_column] + 1;
	if (table_rows_add(rows, schema, values) != STATUS_OK)
		recording->store.rows_skipped++;
	if (rows->count >= BLOCK_ROWS_TARGET)
		store_rows(&recording->store, table, rows);
}

void recording_flush(struct recording *recording)
{
	struct store *store = &recording->store;

	store_rows(store, TABLE_COUNTERS, &recording->counters);
	store_rows(store, TABLE_COUNTERS, &recording->real_counters);
	store_rows(store, TABLE_MARKS, &recording->marks);
	store_rows(store, TABLE_LINKS, &recording->links);
	store_rows(store, TABLE_ALLOCATIONS, &recording->allocations);
	store_rows(store, TABLE_SAMPLES, &recording->samples);
	recording->rows_since_ns = 0;
}

/* Must run after `committed` of a sub-buffer was read: an event recorded after a switch was
 * published after it, so the switch is then visible too. */
void recording_read_toggles(struct recording *recording)
{
	struct shm_session *session = recording->session;
	uint32_t count = atomic_load_explicit(&session->toggle_count, memory_order_acquire);

	while (recording->toggles_seen != count) {
		uint32_t at = recording->toggles_seen;
		uint64_t ticks = atomic_load_explicit(
			&session->toggles[at % SHM_TOGGLES].ticks, memory_order_acquire);
		uint64_t newest = recording->switch_count
					  ? recording->switch_ticks[recording->switch_count - 1]
					  : 0;

		/* Overwritten, perhaps just now: go on with the oldest that is left. */
		count = atomic_load_explicit(&session->toggle_count, memory_order_acquire);
		if (count - at >= SHM_TOGGLES) {
			recording->toggles_lost += count - at - SHM_TOGGLES / 2;
			recording->toggles_seen = count - SHM_TOGGLES / 2;
			continue;
		}
		recording->toggles_seen++;
		if (ticks >= newest &&
			array_grow((void **)&recording->switch_ticks, &recording->switch_capacity,
				recording->switch_count + 1,
				sizeof *recording->switch_ticks) == STATUS_OK)
			recording->switch_ticks[recording->switch_count++] = ticks;
	}
}
