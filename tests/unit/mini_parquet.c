// SPDX-License-Identifier: MIT OR Apache-2.0
/* A reader of Parquet for tests. */
#include "tests/unit/mini_parquet.h"

#include "base/wire.h"
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
	T_STOP = 0,
	T_TRUE = 1,
	T_FALSE = 2,
	T_BYTE = 3,
	T_I64 = 6,
	T_DOUBLE = 7,
	T_BINARY = 8,
	T_LIST = 9,
	T_STRUCT = 12
};

/* One field of a struct; a list or struct is read on from the same reader. */
struct field {
	int id, type, item_type;
	uint64_t size; /* of a list, of a binary */
	int64_t number;
	const uint8_t *bytes;
};

static bool next_field(struct reader *in, int *last, struct field *field)
{
	uint8_t head = reader_byte(in);

	memset(field, 0, sizeof *field);
	field->type = head & 15;
	if (in->failed || field->type == T_STOP)
		return false;
	*last = head >> 4 ? *last + (head >> 4) : (int)wire_unzigzag(wire_read_varint(in));
	field->id = *last;
	if (field->type == T_BYTE)
		field->number = reader_byte(in);
	else if (field->type > T_BYTE && field->type <= T_I64)
		field->number = wire_unzigzag(wire_read_varint(in));
	else if (field->type == T_DOUBLE)
		reader_u64(in);
	else if (field->type == T_BINARY) {
		field->size = wire_read_varint(in);
		field->bytes = reader_bytes(in, field->size);
	} else if (field->type == T_LIST) {
		head = reader_byte(in);
		field->item_type = head & 15;
		field->size = head >> 4 == 15 ? wire_read_varint(in) : head >> 4;
	}
	return !in->failed;
}

static void skip_struct(struct reader *in);

static void skip_rest(struct reader *in, const struct field *field)
{
	if (field->type == T_STRUCT)
		skip_struct(in);
	for (uint64_t i = 0; field->type == T_LIST && i < field->size && !in->failed; i++) {
		if (field->item_type == T_STRUCT)
			skip_struct(in);
		else if (field->item_type == T_BINARY)
			reader_bytes(in, wire_read_varint(in));
		else
			wire_read_varint(in);
	}
}

static void skip_struct(struct reader *in)
{
	struct field field;
	int last = 0;

	while (next_field(in, &last, &field))
		skip_rest(in, &field);
}

static void read_schema(struct reader *in, struct mini_column *column)
{
	struct field field;
	int last = 0;

	while (next_field(in, &last, &field)) {
		if (field.id == 1)
			column->type = (int)field.number;
		else if (field.id == 3)
			column->optional = (int)field.number;
		else if (field.id == 4)
			snprintf(column->name, sizeof column->name, "%.*s", (int)field.size,
				(const char *)field.bytes);
		else if (field.id == 10) {
			int inner = 0;
			struct field logical;

			while (next_field(in, &inner, &logical)) {
				column->has_text |= logical.id == 1;
				skip_rest(in, &logical);
			}
			continue;
		}
		skip_rest(in, &field);
	}
}

static void add_value(struct mini_column *column, char *text)
{
	if ((column->count & (column->count - 1)) == 0)
		column->values = realloc(column->values,
			(column->count ? 2 * column->count : 1) * sizeof *column->values);
	column->values[column->count++] = text;
}

static char *plain_value(struct reader *in, int type)
{
	char *text = NULL;

	if (type == 6) {
		uint32_t length = reader_u32(in);
		const uint8_t *bytes = reader_bytes(in, length);

		text = calloc((size_t)length + 1, 1);
		if (CHECK(bytes && text) && length)
			memcpy(text, bytes, length);
		return text;
	}
	if (type == 5)
		CHECK(asprintf(&text, "%.17g", wire_as_double(reader_u64(in))) > 0);
	else if (type == 1)
		CHECK(asprintf(&text, "%d", (int32_t)reader_u32(in)) > 0);
	else
		CHECK(asprintf(&text, "%" PRId64, (int64_t)reader_u64(in)) > 0);
	return text;
}

/* Runs and packed groups. */
static void read_hybrid(struct reader *in, unsigned width, uint32_t *values, size_t count)
{
	for (size_t at = 0; at < count && !in->failed;) {
		uint64_t head = wire_read_varint(in);

		if (head & 1) {
			uint64_t bits = 0;
			unsigned held = 0;

			for (size_t i = 0; i < (head >> 1) * 8; i++) {
				for (; held < width; held += 8)
					bits |= (uint64_t)reader_byte(in) << held;
				if (at < count)
					values[at++] = (uint32_t)(bits & ((1ull << width) - 1));
				bits >>= width;
				held -= width;
			}
		} else {
			uint32_t value = (uint32_t)reader_fixed(in, (width + 7) / 8);

			CHECK(head >> 1 && head >> 1 <= count - at);
			for (size_t i = 0; i < head >> 1 && at < count; i++)
				values[at++] = value;
		}
	}
	CHECK(!in->failed);
}

struct page {
	int type, encoding;
	size_t raw_bytes, packed_bytes, values;
};

static void read_page_head(struct reader *in, struct page *page)
{
	struct field field, inner;
	int last = 0;

	memset(page, 0, sizeof *page);
	while (next_field(in, &last, &field)) {
		int inner_last = 0;

		if (field.id == 1)
			page->type = (int)field.number;
		else if (field.id == 2)
			page->raw_bytes = (size_t)field.number;
		else if (field.id == 3)
			page->packed_bytes = (size_t)field.number;
		if (field.type != T_STRUCT)
			continue;
		while (next_field(in, &inner_last, &inner)) {
			if (inner.id == 1)
				page->values = (size_t)inner.number;
			else if (inner.id == 2)
				page->encoding = (int)inner.number;
			skip_rest(in, &inner);
		}
	}
}

static void read_values(struct mini_column *column, const struct page *page, struct reader in,
	char **words, size_t word_count)
{
	uint32_t *levels = calloc(page->values + 8, sizeof *levels);
	uint32_t *numbers = calloc(page->values + 8, sizeof *numbers);
	size_t defined = page->values;

	if (column->optional) {
		uint32_t length = reader_u32(&in);
		struct reader part;

		reader_init(&part, reader_bytes(&in, length), length);
		read_hybrid(&part, 1, levels, page->values);
		CHECK_EQ(reader_left(&part), 0);
		defined = 0;
		for (size_t i = 0; i < page->values; i++)
			defined += levels[i];
	}
	if (page->encoding == 8)
		read_hybrid(&in, reader_byte(&in), numbers, defined);
	for (size_t i = 0, at = 0; i < page->values; i++) {
		if (column->optional && !levels[i])
			add_value(column, NULL);
		else if (page->encoding == 8 && CHECK(numbers[at] < word_count))
			add_value(column, strdup(words[numbers[at++]]));
		else
			add_value(column, plain_value(&in, column->type));
	}
	CHECK(!in.failed && reader_left(&in) == 0);
	free(levels);
	free(numbers);
}

/* All pages of a column chunk. */
static void read_chunk(struct mini_column *column, struct reader in, size_t values)
{
	char **words = NULL;
	size_t word_count = 0, end = column->count + values;

	column->groups++;
	while (column->count < end && !in.failed) {
		struct page page;
		const uint8_t *packed;
		uint8_t *raw;
		struct reader inner;

		read_page_head(&in, &page);
		packed = reader_bytes(&in, page.packed_bytes);
		raw = malloc(page.raw_bytes + 1);
		if (!CHECK(packed && raw) ||
			!CHECK_EQ(ZSTD_decompress(raw, page.raw_bytes, packed, page.packed_bytes),
				page.raw_bytes)) {
			free(raw);
			break;
		}
		reader_init(&inner, raw, page.raw_bytes);
		if (page.type == 2) {
			words = calloc(page.values + 1, sizeof *words);
			while (word_count < page.values)
				words[word_count++] = plain_value(&inner, column->type);
			CHECK(!inner.failed && reader_left(&inner) == 0);
		} else {
			column->pages++;
			read_values(column, &page, inner, words, word_count);
		}
		free(raw);
	}
	CHECK_EQ(reader_left(&in), 0);
	for (size_t i = 0; i < word_count; i++)
		free(words[i]);
	free(words);
}

static void read_stats(struct reader *in, struct mini_column *column)
{
	struct field field;
	int last = 0;

	while (next_field(in, &last, &field)) {
		char *side = field.id == 5 ? column->high : column->low;

		if (field.id == 3)
			column->null_count += (size_t)field.number;
		if ((field.id != 5 && field.id != 6) || column->groups > 0)
			continue;
		if (column->has_text) {
			snprintf(side, sizeof column->low, "%.*s", (int)field.size,
				(const char *)field.bytes);
		} else {
			struct reader value;
			char *text;

			reader_init(&value, field.bytes, field.size);
			text = plain_value(&value, column->type);
			snprintf(side, sizeof column->low, "%s", text);
			free(text);
		}
	}
}

static void read_column(
	struct reader *in, struct mini_column *column, const uint8_t *bytes, size_t count)
{
	size_t values = 0, packed = 0, data = 0, dictionary = 0;
	struct field field, inner;
	struct reader chunk;
	int last = 0;

	while (next_field(in, &last, &field)) {
		int inner_last = 0;

		if (field.id != 3)
			continue;
		while (next_field(in, &inner_last, &inner)) {
			if (inner.id == 1)
				CHECK_EQ(inner.number, column->type);
			else if (inner.id == 4)
				CHECK_EQ(inner.number, 6);
			else if (inner.id == 5)
				values = (size_t)inner.number;
			else if (inner.id == 7)
				packed = (size_t)inner.number;
			else if (inner.id == 9)
				data = (size_t)inner.number;
			else if (inner.id == 11)
				dictionary = (size_t)inner.number;
			else if (inner.id == 12) {
				read_stats(in, column);
				continue;
			}
			skip_rest(in, &inner);
		}
	}
	if (dictionary) {
		CHECK(dictionary < data);
		data = dictionary;
	}
	if (CHECK(data + packed <= count)) {
		reader_init(&chunk, bytes + data, packed);
		read_chunk(column, chunk, values);
	}
}

static void read_group(
	struct reader *in, struct mini_parquet *file, const uint8_t *bytes, size_t count)
{
	struct field field;
	int last = 0;

	while (next_field(in, &last, &field)) {
		if (field.id != 1)
			continue;
		CHECK_EQ(field.size, file->column_count);
		for (uint64_t i = 0; i < field.size && i < 16; i++)
			read_column(in, &file->columns[i], bytes, count);
	}
	file->group_count++;
}

static void read_footer(
	struct mini_parquet *file, struct reader in, const uint8_t *bytes, size_t count)
{
	struct field field, inner;
	int last = 0;

	while (next_field(&in, &last, &field)) {
		int inner_last = 0;

		if (field.id == 3)
			file->row_count = (size_t)field.number;
		for (uint64_t i = 0; field.id == 2 && i < field.size; i++) {
			if (i == 0)
				skip_struct(&in);
			else if (CHECK(file->column_count < 16))
				read_schema(&in, &file->columns[file->column_count++]);
		}
		for (uint64_t i = 0; field.id == 4 && i < field.size; i++)
			read_group(&in, file, bytes, count);
		for (uint64_t i = 0; field.id == 5 && i < field.size; i++, inner_last = 0)
			while (next_field(&in, &inner_last, &inner))
				if (inner.id == 1 && CHECK(file->fact_count < 2))
					snprintf(file->facts[file->fact_count++], 64, "%.*s",
						(int)inner.size, (const char *)inner.bytes);
		if (field.id == 7) {
			CHECK_EQ(field.size, file->column_count);
			skip_rest(&in, &field);
		}
	}
	CHECK(!in.failed && reader_left(&in) == 0);
}

struct mini_parquet *mini_parquet_read(const uint8_t *bytes, size_t count)
{
	struct mini_parquet *file = calloc(1, sizeof *file);
	struct reader in;
	uint32_t length;

	if (!file || !CHECK(count > 12 && memcmp(bytes, "PAR1", 4) == 0 &&
			     memcmp(bytes + count - 4, "PAR1", 4) == 0))
		return file;
	reader_init(&in, bytes + count - 8, 4);
	length = reader_u32(&in);
	if (!CHECK(length <= count - 12))
		return file;
	reader_init(&in, bytes + count - 8 - length, length);
	read_footer(file, in, bytes, count - 8 - length);
	for (size_t i = 0; i < file->column_count; i++)
		CHECK_EQ(file->columns[i].count, file->row_count);
	return file;
}

void mini_parquet_free(struct mini_parquet *file)
{
	for (size_t i = 0; file && i < file->column_count; i++) {
		for (size_t v = 0; v < file->columns[i].count; v++)
			free(file->columns[i].values[v]);
		free(file->columns[i].values);
	}
	free(file);
}

const struct mini_column *mini_parquet_column(const struct mini_parquet *file, const char *name)
{
	for (size_t i = 0; i < file->column_count; i++)
		if (strcmp(file->columns[i].name, name) == 0)
			return &file->columns[i];
	CHECK_STR(name, "a column of the file");
	return &file->columns[0];
}
