// SPDX-License-Identifier: MIT OR Apache-2.0
/* Spans in the order of their names. A first pass counts the spans of each pair of track and name;
 * the pairs are sorted, and further passes put the columns in use where they belong, a counting
 * sort. So SQLite's own sort, which takes three times as long, is never needed. Memory is limited:
 * what does not fit is gathered in several passes, and a pair that does not fit in several pieces.
 */
#include "query/query_spans.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define NO_SLOT UINT32_MAX

static uint32_t rank_of(const struct query *query, int column, uint32_t track, uint32_t name)
{
	switch (column) {
	case SPANS_PROCESS:
		return query->ranks[ROLE_TEXT(ROLE_PROCESS)].rank[track];
	case SPANS_THREAD:
		return query->ranks[ROLE_TEXT(ROLE_THREAD)].rank[track];
	case SPANS_NAME:
		return query->ranks[ROLE_TEXT(ROLE_NAME)].rank[name];
	case SPANS_CATEGORY:
		return query->ranks[ROLE_TEXT(ROLE_CATEGORY)].rank[name];
	default:
		return track;
	}
}

static int need_ranks(const struct spans_cursor *cursor)
{
	for (const char *at = cursor->filter.order; *at; at++) {
		unsigned role = *at == '-'                    ? ROLE_TRACK
				: *at == 'a' + SPANS_PROCESS  ? ROLE_PROCESS
				: *at == 'a' + SPANS_THREAD   ? ROLE_THREAD
				: *at == 'a' + SPANS_NAME     ? ROLE_NAME
				: *at == 'a' + SPANS_CATEGORY ? ROLE_CATEGORY
							      : ROLE_TRACK;

		if (role != ROLE_TRACK && query_ranks_need(cursor->query, role) != SQLITE_OK)
			return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

/* By the order asked for; columns that the name decides count only with `names`. */
static int compare_order(const struct spans_cursor *cursor, bool names, const struct span_pair *a,
	const struct span_pair *b)
{
	for (const char *at = cursor->filter.order; *at; at++) {
		bool falling = *at == '-';
		int column = *(at += falling) - 'a';
		uint32_t x, y;

		if (!names && (column == SPANS_NAME || column == SPANS_CATEGORY))
			continue;
		x = rank_of(cursor->query, column, a->track, a->name);
		y = rank_of(cursor->query, column, b->track, b->name);
		if (x != y)
			return (x < y) != falling ? -1 : 1;
	}
	return 0;
}

static int compare_pairs(const void *a, const void *b, void *context)
{
	const struct span_pair *x = a, *y = b;
	int order = compare_order(context, true, x, y);

	if (order)
		return order;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int compare_blocks(const void *a, const void *b, void *context)
{
	const struct spans_cursor *cursor = context;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	struct span_pair first = { .track = cursor->query->trace->blocks[x].track };
	struct span_pair second = { .track = cursor->query->trace->blocks[y].track };
	int order = compare_order(cursor, false, &first, &second);

	if (order)
		return order;
	return x < y ? -1 : x > y;
}

int spans_order_blocks(struct spans_cursor *cursor)
{
	if (need_ranks(cursor) != SQLITE_OK)
		return SQLITE_NOMEM;
	if (cursor->block_count)
		qsort_r(cursor->blocks, cursor->block_count, sizeof *cursor->blocks, compare_blocks,
			cursor);
	return SQLITE_OK;
}

/* Memory that SQLite's limit counts. */
static int grow(void **memory, uint64_t count, size_t size)
{
	void *grown = sqlite3_realloc64(*memory, (count + 1) * size);

	if (!grown)
		return SQLITE_NOMEM;
	*memory = grown;
	return SQLITE_OK;
}

void spans_group_release(struct spans_cursor *cursor)
{
	struct span_groups *groups = &cursor->groups;

	sqlite3_free(groups->pairs);
	sqlite3_free(groups->start);
	sqlite3_free(groups->duration);
	sqlite3_free(groups->self);
	sqlite3_free(groups->id);
	sqlite3_free(groups->depth);
	free(groups->slots);
	free(groups->positions);
	id_map_release(&groups->places);
	memset(groups, 0, sizeof *groups);
	id_map_init(&groups->places);
}

static int add_pair(struct span_groups *groups, uint32_t track, uint32_t name, uint64_t count)
{
	if (groups->count == groups->capacity) {
		size_t capacity = groups->capacity ? groups->capacity * 2 : 256;

		if (grow((void **)&groups->pairs, capacity, sizeof *groups->pairs) != SQLITE_OK)
			return SQLITE_NOMEM;
		groups->capacity = capacity;
	}
	groups->pairs[groups->count++] =
		(struct span_pair){ .track = track, .name = name, .count = count };
	return SQLITE_OK;
}

/* Counts the rows of the decoded block by name. */
static int count_block(struct spans_cursor *cursor)
{
	struct span_groups *groups = &cursor->groups;
	const struct span_batch *spans = &cursor->reader.spans;
	uint32_t track = cursor->query->trace->blocks[cursor->block].track;
	uint32_t row, stop;

	spans_bounds(cursor, &row, &stop);
	if (cursor->filter_rows)
		for (; row < stop; row++)
			groups->slots[spans->name[row]] += spans_row_fits(cursor, row);
	else
		for (; row < stop; row++)
			groups->slots[spans->name[row]]++;
	for (uint32_t i = 0; i < spans->dictionary_count; i++) {
		uint32_t name = spans->dictionary[i], count = groups->slots[name];

		groups->slots[name] = 0;
		if (count && add_pair(groups, track, name, count) != SQLITE_OK)
			return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

/* Puts equal pairs together and numbers them. */
static int merge_pairs(struct span_groups *groups)
{
	size_t kept = 0;

	for (size_t i = 0; i < groups->count; i++) {
		struct span_pair *pair = &groups->pairs[i];
		struct span_pair *before = kept ? &groups->pairs[kept - 1] : NULL;

		if (before && before->track == pair->track && before->name == pair->name)
			before->count += pair->count;
		else
			groups->pairs[kept++] = *pair;
	}
	groups->count = kept;
	for (size_t i = 0; i < kept; i++)
		if (id_map_put(&groups->places,
			    (uint64_t)groups->pairs[i].track << 32 | groups->pairs[i].name,
			    i) != STATUS_OK)
			return SQLITE_NOMEM;
	return SQLITE_OK;
}

static unsigned bytes_per_row(int used)
{
	unsigned bytes = 0;

	bytes += used & (1 << SPANS_START | 1 << SPANS_END) ? 8 : 0;
	bytes += used & (1 << SPANS_DURATION | 1 << SPANS_END) ? 8 : 0;
	bytes += used & 1 << SPANS_SELF ? 8 : 0;
	bytes += used & 1 << SPANS_ID ? 8 : 0;
	bytes += used & 1 << SPANS_DEPTH ? 4 : 0;
	return bytes;
}

/* Columns for as many rows as there are, or as the memory allows. */
static int reserve(struct spans_cursor *cursor)
{
	struct span_groups *groups = &cursor->groups;
	unsigned bytes = bytes_per_row(cursor->used);
	uint64_t total = 0, limit = cursor->query->options.sort_bytes;
	int used = cursor->used, code = SQLITE_OK;

	for (size_t i = 0; i < groups->count; i++)
		total += groups->pairs[i].count;
	if (bytes == 0)
		return SQLITE_OK;
	/* SQLite hands out at most 2 GiB at once; a slot has 32 bits. */
	limit = limit / bytes < 200u << 20 ? limit / bytes : 200u << 20;
	groups->capacity_rows = total < limit ? total : limit;
	if (used & (1 << SPANS_START | 1 << SPANS_END))
		code |= grow((void **)&groups->start, groups->capacity_rows, 8);
	if (used & (1 << SPANS_DURATION | 1 << SPANS_END))
		code |= grow((void **)&groups->duration, groups->capacity_rows, 8);
	if (used & 1 << SPANS_SELF)
		code |= grow((void **)&groups->self, groups->capacity_rows, 8);
	if (used & 1 << SPANS_ID)
		code |= grow((void **)&groups->id, groups->capacity_rows, 8);
	if (used & 1 << SPANS_DEPTH)
		code |= grow((void **)&groups->depth, groups->capacity_rows, 4);
	return code ? SQLITE_NOMEM : SQLITE_OK;
}

/* Where each row of the decoded block from `row` on goes; NO_SLOT: nowhere. Stops when memory is
 * full, which happens only while a pair is gathered in pieces, and returns where. */
static uint32_t place_rows(struct spans_cursor *cursor, uint32_t row, uint32_t stop)
{
	struct span_groups *groups = &cursor->groups;
	const struct span_batch *spans = &cursor->reader.spans;
	uint32_t *restrict slots = groups->slots, *restrict positions = groups->positions;

	if (!cursor->filter_rows && !groups->pieces &&
		groups->end - groups->begin == groups->count) {
		for (; row < stop; row++)
			positions[row] = slots[spans->name[row]]++;
		return stop;
	}
	for (; row < stop; row++) {
		uint32_t *slot = &slots[spans->name[row]];

		positions[row] = NO_SLOT;
		if (*slot == NO_SLOT || (cursor->filter_rows && !spans_row_fits(cursor, row)))
			continue;
		if (groups->pieces && *slot >= groups->capacity_rows)
			break;
		positions[row] = (*slot)++;
	}
	return row;
}

/* The limit also holds back rows that were not there when they were counted: a file may change. */
static void scatter(uint64_t *restrict to, const uint64_t *restrict from,
	const uint32_t *restrict positions, uint64_t limit, uint32_t row, uint32_t stop)
{
	for (; to && row < stop; row++)
		if (positions[row] < limit)
			to[positions[row]] = from[row];
}

static void copy_rows(struct spans_cursor *cursor, uint32_t first, uint32_t stop)
{
	struct span_groups *groups = &cursor->groups;
	const struct span_batch *spans = &cursor->reader.spans;
	const uint32_t *positions = groups->positions;
	uint64_t limit = groups->capacity_rows;

	scatter(groups->start, spans->start_ns, positions, limit, first, stop);
	scatter(groups->duration, spans->duration_ns, positions, limit, first, stop);
	scatter(groups->self, spans->self_ns, positions, limit, first, stop);
	for (uint32_t row = first; groups->id && row < stop; row++)
		if (positions[row] < limit)
			groups->id[positions[row]] = span_id(cursor->block, row);
	for (uint32_t row = first; groups->depth && row < stop; row++)
		if (positions[row] < limit)
			groups->depth[positions[row]] = spans->depth[row];
}

/* Gathers the rows of the pairs at hand from the decoded block; returns the row it stopped at. */
static int gather_block(struct spans_cursor *cursor, uint32_t from, uint32_t *ret_row)
{
	struct span_groups *groups = &cursor->groups;
	const struct span_batch *spans = &cursor->reader.spans;
	uint64_t track = cursor->query->trace->blocks[cursor->block].track, place;
	uint32_t first, stop;

	if (array_grow((void **)&groups->positions, &groups->row_capacity, (size_t)spans->count + 1,
		    sizeof *groups->positions) != STATUS_OK)
		return SQLITE_NOMEM;
	for (uint32_t i = 0; i < spans->dictionary_count; i++) {
		uint32_t name = spans->dictionary[i];

		groups->slots[name] = NO_SLOT;
		if (id_map_get(&groups->places, track << 32 | name, &place) &&
			place >= groups->begin && place < groups->end)
			groups->slots[name] = (uint32_t)groups->pairs[place].next;
	}
	spans_bounds(cursor, &first, &stop);
	first = from > first ? from : first;
	*ret_row = first < stop ? place_rows(cursor, first, stop) : stop;
	copy_rows(cursor, first, *ret_row);
	for (uint32_t i = 0; i < spans->dictionary_count; i++) {
		uint32_t name = spans->dictionary[i], slot = groups->slots[name];

		if (slot != NO_SLOT && id_map_get(&groups->places, track << 32 | name, &place) &&
			place >= groups->begin && place < groups->end)
			groups->pairs[place].next = slot;
	}
	*ret_row = *ret_row < stop ? *ret_row : spans->count;
	return SQLITE_OK;
}

/* One pass over the blocks, or the part of one that fills the memory with a large pair. */
static int gather(struct spans_cursor *cursor)
{
	struct span_groups *groups = &cursor->groups;
	size_t at = groups->pieces ? groups->resume_list : 0;
	uint32_t from = groups->pieces ? groups->resume_row : 0;

	for (; at < cursor->block_count; at++, from = 0) {
		uint32_t row;
		int code = spans_read(cursor, cursor->blocks[at]);

		if (code < 0)
			return -code;
		if (code == 0)
			continue;
		code = gather_block(cursor, from, &row);
		if (code != SQLITE_OK)
			return code;
		if (row < cursor->reader.spans.count) {
			groups->resume_list = at;
			groups->resume_row = row;
			return SQLITE_OK;
		}
	}
	groups->resume_list = at;
	return SQLITE_OK;
}

/* Loads the rows of the pairs from `begin` on, as many as fit. */
static int load_pairs(struct spans_cursor *cursor, size_t begin)
{
	struct span_groups *groups = &cursor->groups;
	uint64_t rows = 0;
	size_t end = begin;

	while (end < groups->count && groups->pairs[end].count <= groups->capacity_rows - rows) {
		groups->pairs[end].first = groups->pairs[end].next = rows;
		rows += groups->pairs[end++].count;
	}
	groups->pieces = end == begin;
	if (groups->pieces) {
		groups->resume_list = 0;
		groups->resume_row = 0;
		groups->left = groups->pairs[begin].count;
		groups->pairs[begin].first = groups->pairs[begin].next = 0;
		end = begin + 1;
	}
	groups->begin = begin;
	groups->end = end;
	return gather(cursor);
}

/* Where the rows of the current pair are in memory. */
static bool stand(struct spans_cursor *cursor)
{
	struct span_groups *groups = &cursor->groups;
	const struct span_pair *pair = &groups->pairs[cursor->pair];
	uint64_t count = pair->next - pair->first;

	count = count < pair->count ? count : pair->count;
	if (groups->pieces)
		groups->left -= count < groups->left ? count : groups->left;
	cursor->place = pair->first;
	cursor->place_end = pair->first + count;
	return count > 0;
}

/* Stands on the first row of pair `pair`, or of the next one that has rows. */
static int enter_pair(struct spans_cursor *cursor, size_t pair)
{
	struct span_groups *groups = &cursor->groups;

	for (; pair < groups->count; pair++) {
		cursor->pair = pair;
		cursor->place = 0;
		cursor->place_end = groups->distinct ? 1 : groups->pairs[pair].count;
		if (groups->distinct || groups->capacity_rows == 0)
			return SQLITE_OK;
		if (pair >= groups->end) {
			int code = load_pairs(cursor, pair);

			if (code != SQLITE_OK)
				return code;
		}
		if (stand(cursor))
			return SQLITE_OK;
	}
	cursor->eof = true;
	return SQLITE_OK;
}

int spans_group_next(struct spans_cursor *cursor)
{
	struct span_groups *groups = &cursor->groups;
	int code;

	if (!groups->pieces || groups->left == 0)
		return enter_pair(cursor, cursor->pair + 1);
	groups->pairs[cursor->pair].next = 0;
	code = gather(cursor);
	if (code != SQLITE_OK || stand(cursor))
		return code;
	return enter_pair(cursor, cursor->pair + 1);
}

int spans_group(struct spans_cursor *cursor, bool distinct)
{
	struct span_groups *groups = &cursor->groups;
	int code = SQLITE_OK;

	spans_group_release(cursor);
	groups->distinct = distinct;
	groups->slots = calloc((size_t)cursor->query->trace->name_count + 1, sizeof *groups->slots);
	if (!groups->slots)
		return SQLITE_NOMEM;
	for (size_t i = 0; i < cursor->block_count; i++) {
		code = spans_read(cursor, cursor->blocks[i]);
		if (code < 0)
			return -code;
		if (code && count_block(cursor) != SQLITE_OK)
			return SQLITE_NOMEM;
	}
	if (groups->count)
		qsort_r(groups->pairs, groups->count, sizeof *groups->pairs, compare_pairs, cursor);
	code = merge_pairs(groups);
	if (code == SQLITE_OK)
		code = reserve(cursor);
	if (code != SQLITE_OK)
		return code;
	cursor->grouped = true;
	return enter_pair(cursor, 0);
}
