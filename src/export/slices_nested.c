// SPDX-License-Identifier: MIT OR Apache-2.0
/* Scopes of a thread. They are stored in the order they ended, children in front of their parent:
 *
 *   rows    c  d  b  f  e  a          a [ b [ c ] [ d ] ]  e [ f ] ...
 *
 * Read backwards each follows its parent, which gives the tree; the tree gives the order of begins.
 * A scope that ends in a later block than its first child must begin before it was read. So the
 * track is read backwards first, and those scopes are kept: no more than are open at once at the
 * edge of each block. In each block they stand behind its rows, as if they ended after all of them,
 * and so do those that began in earlier blocks. */
#include "base/array.h"
#include "export/export_slices_internal.h"

#include <stdlib.h>
#include <string.h>

#define NO_NODE SIZE_MAX

static bool contains(const struct export_span *outer, const struct export_span *inner)
{
	return outer->depth < inner->depth && outer->start_ns <= inner->start_ns &&
	       outer->start_ns + outer->duration_ns >= inner->start_ns + inner->duration_ns;
}

/* First pass. */
struct late_finder {
	struct slices *slices;
	struct late_list open; /* outermost first */
	size_t block, row;     /* being read, the row counted from the block's end */
	size_t before;         /* the block of the row before this one */
};

/* A scope that holds none of the rows to come: it begins in the block of the last one it holds. */
static int close_scope(struct late_finder *finder)
{
	struct late_scope *scope = &finder->open.items[--finder->open.count];
	struct late_list *late = &finder->slices->late[finder->before];

	if (scope->block == finder->before) {
		free(scope->args);
		return STATUS_OK;
	}
	if (array_grow((void **)&late->items, &late->capacity, late->count + 1,
		    sizeof *late->items) != STATUS_OK) {
		free(scope->args);
		return STATUS_NOMEM;
	}
	late->items[late->count++] = *scope;
	return STATUS_OK;
}

static int find_row(void *context, const struct export_span *span)
{
	struct late_finder *finder = context;
	struct late_list *open = &finder->open;
	struct slices *slices = finder->slices;

	slices->kinds[finder->block] = span->layout;
	slices->empty[finder->block] = false;
	slices->nested |= span->layout == SPANS_NESTED;
	slices->explicit_spans |= span->layout == SPANS_EXPLICIT;
	if (span->layout != SPANS_NESTED)
		return STATUS_OK;
	while (open->count && !contains(&open->items[open->count - 1].span, span))
		if (close_scope(finder) != STATUS_OK)
			return STATUS_NOMEM;
	if (array_grow((void **)&open->items, &open->capacity, open->count + 1,
		    sizeof *open->items) != STATUS_OK)
		return STATUS_NOMEM;
	open->items[open->count++] = (struct late_scope){
		.span = *span, .block = finder->block, .from_end = finder->row++
	};
	finder->before = finder->block;
	return STATUS_OK;
}

/* The block's memory is about to be used for the next: keep the arguments of what is still open. */
static int keep_args(struct late_finder *finder)
{
	for (size_t i = finder->open.count; i > 0; i--) {
		struct late_scope *scope = &finder->open.items[i - 1];
		size_t bytes = scope->span.arg_count * sizeof *scope->args;

		if (scope->block != finder->block)
			break;
		if (!bytes)
			continue;
		scope->args = malloc(bytes);
		if (!scope->args)
			return STATUS_NOMEM;
		memcpy(scope->args, scope->span.args, bytes);
		scope->span.args = scope->args;
	}
	return STATUS_OK;
}

static int find_in_block(struct late_finder *finder)
{
	int status;

	finder->slices->empty[finder->block] = true;
	finder->row = 0;
	status = slices_walk(finder->slices, finder->block, true, find_row, finder);
	return status == STATUS_OK ? keep_args(finder) : status;
}

int slices_find_late(struct slices *slices)
{
	struct late_finder finder = { .slices = slices };
	int status = STATUS_OK;

	for (size_t i = slices->count; i > 0 && status == STATUS_OK; i--) {
		finder.block = i - 1;
		status = find_in_block(&finder);
	}
	while (finder.open.count && status == STATUS_OK)
		status = close_scope(&finder);
	for (size_t i = 0; i < finder.open.count; i++)
		free(finder.open.items[i].args);
	free(finder.open.items);
	return status;
}

/* Second pass: the rows of a block and the scopes around them, in the order they end. */
struct node {
	size_t parent, size; /* NO_NODE; with all that is inside */
	size_t place_end;    /* in the order of begins: where its last free place ends */
	bool begun;
};

struct nested {
	struct slices *slices;
	struct slice_list rows;
	struct late_list open; /* begun and not ended, outermost first; no arguments */
	struct export_span *spans;
	struct node *nodes;
	size_t *order; /* nodes by begin */
	size_t *stack; /* nodes begun and not ended, outermost first */
	size_t count, stack_count;
	size_t span_capacity, node_capacity, order_capacity, stack_capacity;
	uint64_t last_ns;
};

static int reserve(struct nested *nested, size_t count)
{
	if (array_grow((void **)&nested->spans, &nested->span_capacity, count + 1,
		    sizeof *nested->spans) ||
		array_grow((void **)&nested->nodes, &nested->node_capacity, count + 1,
			sizeof *nested->nodes) ||
		array_grow((void **)&nested->order, &nested->order_capacity, count + 1,
			sizeof *nested->order) ||
		array_grow((void **)&nested->stack, &nested->stack_capacity, count + 1,
			sizeof *nested->stack))
		return STATUS_NOMEM;
	nested->count = count;
	return STATUS_OK;
}

/* Rows, then late scopes, then open ones that end later: innermost first, as they will end. Open
 * scopes that end in this block are rows of it. */
static int gather_nodes(struct nested *nested, size_t block)
{
	const struct late_list *late = &nested->slices->late[block], *open = &nested->open;
	size_t rows = nested->rows.count, at = rows;

	if (reserve(nested, rows + late->count + open->count) != STATUS_OK)
		return STATUS_NOMEM;
	memset(nested->nodes, 0, (nested->count + 1) * sizeof *nested->nodes);
	if (rows)
		memcpy(nested->spans, nested->rows.items, rows * sizeof *nested->spans);
	for (size_t i = 0; i < late->count; i++)
		nested->spans[at++] = late->items[i].span;
	nested->stack_count = open->count;
	for (size_t i = open->count; i > 0; i--) {
		const struct late_scope *scope = &open->items[i - 1];
		size_t node = at;

		if (scope->block == block && scope->from_end < rows)
			node = rows - 1 - scope->from_end;
		else
			nested->spans[at++] = scope->span;
		nested->nodes[node].begun = true;
		nested->stack[i - 1] = node;
	}
	nested->count = at;
	return STATUS_OK;
}

/* Parents from the last node to the first, sizes the other way, then places. */
static void order_nodes(struct nested *nested)
{
	size_t top = NO_NODE, end = nested->count;

	for (size_t i = nested->count; i > 0; i--) {
		struct node *node = &nested->nodes[i - 1];

		while (top != NO_NODE && !contains(&nested->spans[top], &nested->spans[i - 1]))
			top = nested->nodes[top].parent;
		node->parent = top;
		node->size = 1;
		top = i - 1;
	}
	for (size_t i = 0; i < nested->count; i++)
		if (nested->nodes[i].parent != NO_NODE)
			nested->nodes[nested->nodes[i].parent].size += nested->nodes[i].size;
	for (size_t i = nested->count; i > 0; i--) {
		struct node *node = &nested->nodes[i - 1];
		size_t *room =
			node->parent == NO_NODE ? &end : &nested->nodes[node->parent].place_end;

		node->place_end = *room;
		*room -= node->size;
		nested->order[*room] = i - 1;
	}
}

/* Times of a sane trace never go back; those of a damaged one are held. */
static uint64_t hold(struct nested *nested, uint64_t time_ns)
{
	if (time_ns > nested->last_ns)
		nested->last_ns = time_ns;
	return nested->last_ns;
}

static int end_top(struct nested *nested)
{
	const struct slices *slices = nested->slices;
	const struct export_span *span = &nested->spans[nested->stack[--nested->stack_count]];

	return slices->calls->end(slices->context, slices->track, 0,
		hold(nested, span->start_ns + span->duration_ns));
}

static bool on_stack(const struct nested *nested, size_t node)
{
	for (size_t i = nested->stack_count; i > 0; i--)
		if (nested->stack[i - 1] == node)
			return true;
	return node == NO_NODE;
}

static int begin_node(struct nested *nested, size_t place)
{
	const struct slices *slices = nested->slices;
	size_t node = nested->order[place], parent = nested->nodes[node].parent;
	size_t next = place + 1 < nested->count ? nested->order[place + 1] : NO_NODE;
	struct export_slice slice = { .span = nested->spans[node] };
	uint64_t end = slice.span.start_ns + slice.span.duration_ns;
	int status = STATUS_OK;

	if (nested->nodes[node].begun)
		return STATUS_OK;
	if (on_stack(nested, parent))
		while (status == STATUS_OK && nested->stack_count &&
			nested->stack[nested->stack_count - 1] != parent)
			status = end_top(nested);
	if (status != STATUS_OK)
		return status;
	slice.quiet_ns = next != NO_NODE && nested->nodes[next].parent == node
				 ? nested->spans[next].start_ns
				 : end;
	slice.span.start_ns = hold(nested, slice.span.start_ns);
	slice.span.duration_ns = end > slice.span.start_ns ? end - slice.span.start_ns : 0;
	nested->stack[nested->stack_count++] = node;
	return slices->calls->begin(slices->context, &slice);
}

/* What is left on the stack ends in later blocks. */
static int remember_open(struct nested *nested, size_t block)
{
	const struct late_list *late = &nested->slices->late[block];
	size_t rows = nested->rows.count;
	struct late_list open = { 0 };

	if (array_grow((void **)&open.items, &open.capacity, nested->stack_count + 1,
		    sizeof *open.items) != STATUS_OK)
		return STATUS_NOMEM;
	for (size_t i = 0; i < nested->stack_count; i++) {
		size_t node = nested->stack[i];
		struct late_scope *scope = &open.items[open.count++];

		/* Open scopes keep their places at the bottom of the stack. */
		*scope = node < rows + late->count ? late->items[node - rows]
						   : nested->open.items[i];
		scope->args = NULL;
		scope->span.args = NULL;
		scope->span.arg_count = 0;
	}
	free(nested->open.items);
	nested->open = open;
	return STATUS_OK;
}

static int put_block(struct nested *nested, size_t block)
{
	int status = slices_read(nested->slices, block, false, &nested->rows);

	if (status == STATUS_OK)
		status = gather_nodes(nested, block);
	if (status != STATUS_OK)
		return status;
	order_nodes(nested);
	for (size_t i = 0; i < nested->count && status == STATUS_OK; i++)
		status = begin_node(nested, i);
	/* Rows lie above the scopes that end later, except in a damaged trace. */
	for (size_t i = 0; i < nested->stack_count && status == STATUS_OK; i++)
		while (nested->stack[i] < nested->rows.count && status == STATUS_OK &&
			nested->stack_count > i)
			status = end_top(nested);
	return status == STATUS_OK ? remember_open(nested, block) : status;
}

int slices_nested(struct slices *slices)
{
	struct nested nested = { .slices = slices };
	int status = STATUS_OK;

	for (size_t i = 0; i < slices->count && status == STATUS_OK; i++)
		if (slices->kinds[i] == SPANS_NESTED && !slices->empty[i])
			status = put_block(&nested, i);
	while (status == STATUS_OK && nested.stack_count)
		status = end_top(&nested);
	slice_list_release(&nested.rows);
	free(nested.open.items);
	free(nested.spans);
	free(nested.nodes);
	free(nested.order);
	free(nested.stack);
	return status;
}
