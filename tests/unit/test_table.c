// SPDX-License-Identifier: MIT OR Apache-2.0
/* Plain tables: every schema there and back, later columns, hostile bytes, one struct for several.
 */
#include "format/table.h"

#include <string.h>

#include "tests/unit/unit.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void fill(struct table_rows *rows, const struct table_schema *schema, size_t count)
{
	uint64_t row[TABLE_COLUMNS_MAX];

	for (size_t i = 0; i < count; i++) {
		for (unsigned c = 0; c < schema->column_count; c++)
			row[c] = random_next() >> random_next() % 64;
		CHECK_EQ(table_rows_add(rows, schema, row), STATUS_OK);
	}
}

/* One `back` for all schemas and sizes: its memory is reused by tables of more and fewer columns.
 */
static void every_schema_there_and_back(void)
{
	static const size_t sizes[] = { 0, 1, 100, 3, 5000, 64 };
	struct table_rows back;
	struct buffer bytes;
	struct reader in;

	table_rows_init(&back);
	buffer_init(&bytes);
	for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
		for (unsigned table = 0; table < TABLE_COUNT; table++) {
			const struct table_schema *schema = table_schema((enum block_table)table);
			struct table_rows rows;

			if (!schema)
				continue;
			table_rows_init(&rows);
			fill(&rows, schema, sizes[s]);
			buffer_reset(&bytes);
			table_rows_encode(&rows, schema, 0, rows.count, &bytes);
			reader_init(&in, bytes.data, bytes.length);
			CHECK_EQ(table_rows_decode(&back, schema, rows.count, &in), STATUS_OK);
			CHECK_EQ(back.count, rows.count);
			for (unsigned c = 0; rows.count && c < schema->column_count; c++)
				CHECK(memcmp(rows.cells[c], back.cells[c], rows.count * 8) == 0);
			table_rows_release(&rows);
		}
	table_rows_release(&back);
	buffer_release(&bytes);
}

static void a_part_of_the_rows(void)
{
	const struct table_schema *schema = table_schema(TABLE_MARKS);
	struct table_rows rows, back;
	struct buffer bytes;
	struct reader in;

	table_rows_init(&rows);
	table_rows_init(&back);
	buffer_init(&bytes);
	fill(&rows, schema, 500);
	table_rows_encode(&rows, schema, 123, 77, &bytes);
	reader_init(&in, bytes.data, bytes.length);
	CHECK_EQ(table_rows_decode(&back, schema, 77, &in), STATUS_OK);
	CHECK_EQ(back.cells[MARKS_TIME][0], rows.cells[MARKS_TIME][123]);
	CHECK_EQ(back.cells[MARKS_NAME][76], rows.cells[MARKS_NAME][199]);
	table_rows_release(&rows);
	table_rows_release(&back);
	buffer_release(&bytes);
}

static void columns_of_a_later_version_are_left(void)
{
	const struct table_schema *marks = table_schema(TABLE_MARKS);
	struct table_schema later = *marks;
	uint64_t row[] = { 1, 2, 3, 4 };
	struct table_rows rows, back;
	struct buffer bytes;
	struct reader in;

	later.columns[later.column_count++] = (struct table_column){ "new", COLUMN_DELTA };
	table_rows_init(&rows);
	table_rows_init(&back);
	buffer_init(&bytes);
	CHECK_EQ(table_rows_add(&rows, &later, row), STATUS_OK);
	table_rows_encode(&rows, &later, 0, 1, &bytes);
	reader_init(&in, bytes.data, bytes.length);
	CHECK_EQ(table_rows_decode(&back, marks, 1, &in), STATUS_OK);
	CHECK_EQ(back.cells[MARKS_NAME][0], 3);
	/* Fewer columns than ours cannot be read. */
	buffer_reset(&bytes);
	table_rows_encode(&rows, marks, 0, 1, &bytes);
	reader_init(&in, bytes.data, bytes.length);
	CHECK_EQ(table_rows_decode(&back, &later, 1, &in), STATUS_FORMAT);
	table_rows_release(&rows);
	table_rows_release(&back);
	buffer_release(&bytes);
}

static void hostile_counts_are_refused(void)
{
	const struct table_schema *schema = table_schema(TABLE_LINKS);
	static const uint8_t zeros[] = { 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct table_rows rows;
	struct reader in;

	table_rows_init(&rows);
	reader_init(&in, zeros, sizeof zeros);
	CHECK_EQ(table_rows_decode(&rows, schema, SIZE_MAX / 16, &in), STATUS_FORMAT);
	reader_init(&in, zeros, sizeof zeros);
	CHECK_EQ(table_rows_decode(&rows, schema, BLOCK_ROWS_MAX + 1, &in), STATUS_FORMAT);
	reader_init(&in, zeros, sizeof zeros);
	CHECK_EQ(table_rows_decode(&rows, schema, 10, &in), STATUS_OK);
	CHECK_EQ(rows.cells[LINKS_NAME][9], 0);
	reader_init(&in, zeros, 0);
	CHECK_EQ(table_rows_decode(&rows, schema, 10, &in), STATUS_FORMAT);
	CHECK_EQ(rows.count, 0);
	table_rows_release(&rows);
}

static void span_of_times(void)
{
	const struct table_schema *schema = table_schema(TABLE_COUNTERS);
	struct table_rows rows;
	uint64_t min = 1, max = 1;

	table_rows_init(&rows);
	table_rows_span(&rows, schema, &min, &max);
	CHECK_EQ(min, 0);
	CHECK_EQ(max, 0);
	for (uint64_t time = 50; time < 60; time++) {
		uint64_t row[TABLE_COLUMNS_MAX] = { [COUNTERS_TIME] = time ^ 3 };

		CHECK_EQ(table_rows_add(&rows, schema, row), STATUS_OK);
	}
	table_rows_span(&rows, schema, &min, &max);
	CHECK_EQ(min, 48);
	CHECK_EQ(max, 59);
	table_rows_release(&rows);
}

static void names_of_kinds(void)
{
	CHECK_STR(track_kind_name(TRACK_THREAD), "thread");
	CHECK_STR(track_kind_name(TRACK_OTHER), "other");
	CHECK_STR(track_kind_name(1000), "other");
	CHECK_STR(link_kind_name(LINK_CORRELATION), "correlation");
	CHECK_STR(link_kind_name(LINK_FLOW_END | LINK_ENCLOSING), "flow_end");
	CHECK_STR(link_kind_name(LINK_KINDS), "?");
	CHECK(!table_schema(TABLE_SPANS));
	CHECK(!table_schema(TABLE_STRINGS));
	CHECK(!table_schema((enum block_table)1000));
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(every_schema_there_and_back),
		UNIT(a_part_of_the_rows),
		UNIT(columns_of_a_later_version_are_left),
		UNIT(hostile_counts_are_refused),
		UNIT(span_of_times),
		UNIT(names_of_kinds),
	};

	return unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
}
