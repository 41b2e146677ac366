// SPDX-License-Identifier: MIT OR Apache-2.0
/* The span around a span. Scopes stand in the order they ended, so the parent of a scope of depth d
 * is the first one of depth d - 1 behind it: mostly in the same block; else a table says where,
 * made by one pass over all blocks when it is first needed. */
#include "query/query_internal.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void query_parents_release(struct query *query)
{
	for (size_t i = 0; query->parents.next && i < query->trace->block_count; i++)
		free(query->parents.next[i]);
	free(query->parents.next);
	free(query->parents.depths);
	memset(&query->parents, 0, sizeof query->parents);
}

/* What is behind a block, by depth, while its track is walked from the end. */
struct walk {
	int64_t *first;
	uint32_t depths, capacity;
};

static int note_block(struct walk *walk, size_t block, const struct span_batch *spans)
{
	for (uint32_t row = spans->count; row-- > 0;) {
		uint32_t depth = spans->depth[row];

		if (depth >= walk->capacity) {
			uint32_t capacity = depth * 2 + 8;
			int64_t *grown = realloc(walk->first, capacity * sizeof *grown);

			if (!grown)
				return SQLITE_NOMEM;
			walk->first = grown;
			walk->capacity = capacity;
		}
		while (walk->depths <= depth)
			walk->first[walk->depths++] = -1;
		walk->first[depth] = span_id(block, row);
	}
	return SQLITE_OK;
}

static int keep(struct span_parents *parents, size_t block, const struct walk *walk)
{
	if (walk->depths == 0)
		return SQLITE_OK;
	parents->next[block] = malloc(walk->depths * sizeof **parents->next);
	if (!parents->next[block])
		return SQLITE_NOMEM;
	memcpy(parents->next[block], walk->first, walk->depths * sizeof **parents->next);
	parents->depths[block] = walk->depths;
	return SQLITE_OK;
}

static int walk_all(struct query *query, struct trace_cursor *scratch, struct walk *walks)
{
	const struct trace *trace = query->trace;

	for (size_t i = trace->block_count; i-- > 0;) {
		struct walk *walk = &walks[trace->blocks[i].track];
		int code;

		if (trace->blocks[i].table != TABLE_SPANS)
			continue;
		code = query_read_spans(query, scratch, i, false);
		if (code < 0)
			return -code;
		/* Nobody knows what a damaged block closed. */
		if (code == 0)
			walk->depths = 0;
		if (code == 0 || scratch->spans.layout != SPANS_NESTED)
			continue;
		if (keep(&query->parents, i, walk) != SQLITE_OK ||
			note_block(walk, i, &scratch->spans) != SQLITE_OK)
			return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

int query_parents_need(struct query *query, struct trace_cursor *scratch)
{
	const struct trace *trace = query->trace;
	struct walk *walks;
	int code = SQLITE_NOMEM;

	if (query->parents.built)
		return SQLITE_OK;
	walks = calloc((size_t)trace->track_count + 1, sizeof *walks);
	query->parents.next = calloc(trace->block_count + 1, sizeof *query->parents.next);
	query->parents.depths = calloc(trace->block_count + 1, sizeof *query->parents.depths);
	if (walks && query->parents.next && query->parents.depths)
		code = walk_all(query, scratch, walks);
	for (uint32_t i = 0; walks && i < trace->track_count; i++)
		free(walks[i].first);
	free(walks);
	if (code != SQLITE_OK)
		query_parents_release(query);
	query->parents.built = code == SQLITE_OK;
	return code;
}

void parent_rows_init(struct parent_rows *parents)
{
	memset(parents, 0, sizeof *parents);
	parents->block = SIZE_MAX;
}

void parent_rows_release(struct parent_rows *parents)
{
	free(parents->row);
	free(parents->behind);
	parent_rows_init(parents);
}

/* One walk from the end of the block, which finds the parents of all its rows. */
static int find_rows(struct parent_rows *parents, size_t block, const struct span_batch *spans)
{
	uint32_t depths = 0;

	parents->block = SIZE_MAX;
	for (uint32_t i = 0; i < spans->count; i++)
		depths = spans->depth[i] >= depths ? spans->depth[i] + 1 : depths;
	if (array_grow((void **)&parents->row, &parents->row_capacity, (size_t)spans->count + 1,
		    sizeof *parents->row) ||
		array_grow((void **)&parents->behind, &parents->depth_capacity, (size_t)depths + 1,
			sizeof *parents->behind))
		return SQLITE_NOMEM;
	for (uint32_t i = 0; i < depths; i++)
		parents->behind[i] = UINT32_MAX;
	for (uint32_t i = spans->count; i-- > 0;) {
		uint32_t depth = spans->depth[i];

		parents->row[i] = depth ? parents->behind[depth - 1] : UINT32_MAX;
		parents->behind[depth] = i;
	}
	parents->block = block;
	return SQLITE_OK;
}

int query_parent(const struct query *query, struct parent_rows *parents, size_t block,
	const struct span_batch *spans, uint32_t row, int64_t *ret_id)
{
	uint32_t depth = spans->depth[row];

	*ret_id = -1;
	if (spans->layout != SPANS_NESTED || depth == 0)
		return SQLITE_OK;
	if (parents->block != block && find_rows(parents, block, spans) != SQLITE_OK)
		return SQLITE_NOMEM;
	if (parents->row[row] != UINT32_MAX)
		*ret_id = span_id(block, parents->row[row]);
	else if (depth - 1 < query->parents.depths[block])
		*ret_id = query->parents.next[block][depth - 1];
	return SQLITE_OK;
}
