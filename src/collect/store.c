// SPDX-License-Identifier: MIT OR Apache-2.0
/* Blocks to a file, or to the flight recorder's queue. */
#include "collect/store.h"

#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int store_init(struct store *store, const struct file_header *header)
{
	memset(store, 0, sizeof *store);
	store->header = *header;
	store->writer.fd = -1;
	ledger_init(&store->ledger);
	store->codec = block_codec_new();
	if (!store->codec)
		return STATUS_NOMEM;
	return trace_dict_init(&store->dict);
}

int store_open_file(struct store *store, const char *path, uint64_t max_bytes, struct error *err)
{
	int status = trace_writer_open(&store->writer, path, true, &store->header, err);

	store->writing = status == STATUS_OK;
	store->max_bytes = max_bytes;
	return status;
}

void store_keep(struct store *store, uint64_t last_ns, uint64_t last_bytes)
{
	store->flight = true;
	store->last_ns = last_ns;
	store->last_bytes = last_bytes;
}

void store_release(struct store *store)
{
	for (size_t i = 0; i < store->kept_count; i++)
		free(store->kept[store->kept_head + i].bytes);
	free(store->kept);
	if (store->writing)
		trace_writer_release(&store->writer);
	trace_dict_release(&store->dict);
	ledger_release(&store->ledger);
	table_rows_release(&store->metadata);
	block_codec_free(store->codec);
	buffer_release(&store->raw);
	buffer_release(&store->encoded);
	memset(store, 0, sizeof *store);
}

static void drop_oldest(struct store *store)
{
	struct kept_block *oldest = &store->kept[store->kept_head];

	store->kept_bytes -= oldest->count;
	store->evicted_rows += oldest->header.rows;
	free(oldest->bytes);
	store->kept_head++;
	store->kept_count--;
}

/* Keeps a copy of an encoded block and lets go of what is too old or too much. */
static void keep_block(struct store *store, const struct block_header *header)
{
	uint8_t *bytes = malloc(store->encoded.length);
	uint64_t horizon;

	if (store->kept_head && store->kept_head + store->kept_count == store->kept_capacity) {
		memmove(store->kept, store->kept + store->kept_head,
			store->kept_count * sizeof *store->kept);
		store->kept_head = 0;
	}
	if (!bytes || array_grow((void **)&store->kept, &store->kept_capacity,
			      store->kept_head + store->kept_count + 1, sizeof *store->kept)) {
		free(bytes);
		store->rows_skipped += header->rows;
		return;
	}
	memcpy(bytes, store->encoded.data, store->encoded.length);
	store->kept[store->kept_head + store->kept_count++] = (struct kept_block){
		.header = *header, .bytes = bytes, .count = store->encoded.length
	};
	store->kept_bytes += store->encoded.length;
	if (header->time_max_ns > store->newest_ns)
		store->newest_ns = header->time_max_ns;
	horizon = store->newest_ns > store->last_ns ? store->newest_ns - store->last_ns : 0;
	while (store->kept_count > 1 &&
		(store->kept_bytes > store->last_bytes ||
			store->kept[store->kept_head].header.time_max_ns < horizon))
		drop_oldest(store);
}

static void write_block(struct store *store, const struct block_header *header)
{
	struct error err = ERROR_INIT;

	if (!store->failure[0] && store->max_bytes &&
		store->writer.offset + store->encoded.length > store->max_bytes)
		snprintf(store->failure, sizeof store->failure,
			"the file reached max_size (%llu bytes)",
			(unsigned long long)store->max_bytes);
	if (!store->failure[0] &&
		(trace_writer_dict(&store->writer, &store->dict, &err) != STATUS_OK ||
			trace_writer_block(&store->writer, header, store->encoded.data,
				store->encoded.length, &err) != STATUS_OK))
		snprintf(store->failure, sizeof store->failure, "%s", err.message);
	if (store->failure[0])
		store->rows_skipped += header->rows;
	else
		store->rows_written += header->rows;
}

/* Encodes store->raw as a block and hands it on. */
static void put_block(struct store *store, struct block_header *header)
{
	buffer_reset(&store->encoded);
	if (!buffer_ok(&store->raw) || block_encode(store->codec, header, store->raw.data,
					       store->raw.length, &store->encoded) != STATUS_OK)
		store->rows_skipped += header->rows;
	else if (store->flight)
		keep_block(store, header);
	else
		write_block(store, header);
}

void store_spans(struct store *store, uint32_t track, struct span_builder *builder)
{
	struct block_header header = { .table = TABLE_SPANS,
		.track = track,
		.rows = builder->count,
		.time_min_ns = builder->time_min_ns,
		.time_max_ns = builder->time_max_ns,
		.busy_ns = builder->busy_ns };

	if (builder->count == 0)
		return;
	buffer_reset(&store->raw);
	if (span_builder_encode(builder, &store->raw) == STATUS_OK)
		put_block(store, &header);
	else
		store->rows_skipped += builder->count;
	builder->count = 0;
	builder->arg_count = 0;
}

void store_rows(struct store *store, enum block_table table, struct table_rows *rows)
{
	const struct table_schema *schema = table_schema(table);
	struct block_header header = { .table = (uint8_t)table, .rows = (uint32_t)rows->count };

	if (rows->count == 0)
		return;
	table_rows_span(rows, schema, &header.time_min_ns, &header.time_max_ns);
	buffer_reset(&store->raw);
	table_rows_encode(rows, schema, 0, rows->count, &store->raw);
	put_block(store, &header);
	rows->count = 0;
}

void store_metadata_n(struct store *store, const char *key, const char *value, size_t value_bytes)
{
	uint32_t key_id, value_id;

	if (trace_dict_string(&store->dict, key, strlen(key), &key_id) ||
		trace_dict_string(&store->dict, value, value_bytes, &value_id))
		return;
	uint64_t row[] = { [METADATA_KEY] = key_id, [METADATA_VALUE] = value_id };

	(void)!table_rows_add(&store->metadata, table_schema(TABLE_METADATA), row);
}

void store_metadata(struct store *store, const char *key, const char *value)
{
	store_metadata_n(store, key, value, strlen(value));
}

static void add_skips(struct store *store, struct ledger *ledger)
{
	if (store->rows_skipped)
		ledger_add(ledger, store->rows_skipped, "rows not written", "trace file",
			store->failure[0] ? store->failure : "out of memory while encoding");
	if (store->evicted_rows)
		ledger_add(ledger, store->evicted_rows, "older rows let go", "flight recorder",
			"the trace holds only the time before the dump that was asked for");
}

/* Metadata from row `first` on, and the ledger as it stands. */
static int write_facts(
	struct store *store, struct trace_writer *writer, size_t first, struct error *err)
{
	struct ledger ledger = store->ledger;
	struct table_rows fresh = { .count = store->metadata.count - first };
	int status = trace_writer_dict(writer, &store->dict, err);

	for (unsigned c = 0; fresh.count && c < TABLE_COLUMNS_MAX; c++)
		fresh.cells[c] = store->metadata.cells[c] ? store->metadata.cells[c] + first : NULL;

	/* A copy: what is added here belongs to this writing only. */
	ledger.entries = NULL;
	ledger.count = ledger.capacity = 0;
	for (size_t i = 0; i < store->ledger.count; i++)
		ledger_add(&ledger, store->ledger.entries[i].count, store->ledger.entries[i].what,
			store->ledger.entries[i].where, store->ledger.entries[i].effect);
	add_skips(store, &ledger);
	ledger.skipped += store->rows_skipped;
	if (status == STATUS_OK)
		status = trace_writer_rows(writer, TABLE_METADATA, &fresh, err);
	if (status == STATUS_OK)
		status = trace_writer_ledger(writer, &store->dict, &ledger, err);
	free(ledger.entries);
	return status;
}

void store_checkpoint(struct store *store)
{
	struct error err = ERROR_INIT;

	if (!store->writing || store->writer.failed)
		return;
	if (write_facts(store, &store->writer, store->metadata_written, &err) == STATUS_OK)
		store->metadata_written = store->metadata.count;
	else if (!store->failure[0])
		snprintf(store->failure, sizeof store->failure, "%s", err.message);
}

int store_dump(struct store *store, const char *path, uint64_t last_ns, struct error *err)
{
	struct trace_writer writer;
	uint64_t horizon = last_ns && store->newest_ns > last_ns ? store->newest_ns - last_ns : 0;
	int status = trace_writer_open(&writer, path, false, &store->header, err);

	if (status != STATUS_OK)
		return status;
	status = trace_writer_dict(&writer, &store->dict, err);
	for (size_t i = 0; status == STATUS_OK && i < store->kept_count; i++) {
		const struct kept_block *block = &store->kept[store->kept_head + i];

		if (block->header.time_max_ns >= horizon)
			status = trace_writer_block(
				&writer, &block->header, block->bytes, block->count, err);
	}
	if (status == STATUS_OK)
		status = write_facts(store, &writer, 0, err);
	if (status == STATUS_OK)
		return trace_writer_finish(&writer, err);
	trace_writer_release(&writer);
	return status;
}

int store_finish(struct store *store, struct error *err)
{
	int status;

	if (!store->writing)
		return STATUS_OK;
	/* After a failed write there may be room for the end: the rest was cut off. */
	store->writer.failed = false;
	status = write_facts(store, &store->writer, store->metadata_written, err);
	if (status == STATUS_OK)
		status = trace_writer_finish(&store->writer, err);
	else
		trace_writer_release(&store->writer);
	store->writing = false;
	return status;
}
