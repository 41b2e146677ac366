// SPDX-License-Identifier: MIT OR Apache-2.0
/* The call tree. Rows of a thread are stored in the order in which scopes ended, children in front
 * of their parent; read backwards, each row follows its parent, so a stack of open scopes tells the
 * path. Threads take tracks, each grows a tree of its own, and the trees are merged. */
#include "analyze/analyze_internal.h"
#include "base/array.h"
#include "base/id_map.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX  1000000u
#define NAME_OTHER UINT32_MAX

struct tree {
	struct analyze_node *nodes;
	size_t count, capacity;
	struct id_map children; /* parent << 32 | name -> node */
	bool cut;
};

/* A scope that contains the row being read. */
struct tree_scope {
	uint32_t depth, node;
	uint64_t start_ns, end_ns;
	bool counted; /* passed the filter: `node` is its own, else its parent's */
	bool clipped; /* crosses the window's edge: its children are taken off its self time */
};

struct tree_worker {
	struct work *work;
	const uint8_t *flags;
	const struct window_ns *window;
	struct trace_cursor cursor;
	struct tree tree;
	struct tree_scope *scopes;
	size_t scope_count, scope_capacity;
	uint64_t damaged;
};

static int tree_init(struct tree *tree)
{
	memset(tree, 0, sizeof *tree);
	if (array_grow((void **)&tree->nodes, &tree->capacity, 1, sizeof *tree->nodes))
		return STATUS_NOMEM;
	tree->nodes[0] = (struct analyze_node){ .name = NAME_OTHER };
	tree->count = 1;
	return STATUS_OK;
}

static void tree_release(struct tree *tree)
{
	free(tree->nodes);
	id_map_release(&tree->children);
	memset(tree, 0, sizeof *tree);
}

static bool tree_is_other(const struct tree *tree, uint32_t node)
{
	return node != 0 && tree->nodes[node].name == NAME_OTHER;
}

/* The child of a node; beyond the limit, and below it, its "(other)". */
static int tree_child(struct tree *tree, uint32_t parent, uint32_t name, uint32_t *ret_node)
{
	uint64_t key = (uint64_t)parent << 32 | name, node;

	if (tree_is_other(tree, parent)) {
		*ret_node = parent;
		return STATUS_OK;
	}
	if (id_map_get(&tree->children, key, &node)) {
		*ret_node = (uint32_t)node;
		return STATUS_OK;
	}
	if (tree->count >= NODES_MAX && name != NAME_OTHER) {
		tree->cut = true;
		return tree_child(tree, parent, NAME_OTHER, ret_node);
	}
	if (array_grow(
		    (void **)&tree->nodes, &tree->capacity, tree->count + 1, sizeof *tree->nodes) ||
		id_map_put(&tree->children, key, tree->count))
		return STATUS_NOMEM;
	tree->nodes[tree->count] = (struct analyze_node){ .name = name, .parent = parent };
	*ret_node = (uint32_t)tree->count++;
	return STATUS_OK;
}

/* Drops scopes that do not contain the row; returns the innermost that does, or NULL. */
static const struct tree_scope *find_parent(
	struct tree_worker *worker, uint32_t depth, uint64_t start_ns, uint64_t end_ns)
{
	while (worker->scope_count) {
		const struct tree_scope *scope = &worker->scopes[worker->scope_count - 1];

		if (scope->depth < depth && scope->start_ns <= start_ns && scope->end_ns >= end_ns)
			return scope;
		worker->scope_count--;
	}
	return NULL;
}

static int add_row(struct tree_worker *worker, const struct span_batch *spans, uint32_t row)
{
	struct tree *tree = &worker->tree;
	uint64_t start = spans->start_ns[row], duration = spans->duration_ns[row];
	struct tree_scope scope = { .depth = spans->depth[row],
		.start_ns = start,
		.end_ns = start + duration,
		.counted = (worker->flags[spans->name[row]] & NAME_WANTED) != 0 };
	const struct tree_scope *parent;
	uint32_t above;

	if (!window_clip(worker->window, &start, &duration))
		return STATUS_OK;
	scope.clipped = duration != spans->duration_ns[row];
	parent = find_parent(worker, scope.depth, scope.start_ns, scope.end_ns);
	above = scope.node = parent ? parent->node : 0;
	if (parent && parent->counted && parent->clipped && parent->depth + 1 == scope.depth)
		tree->nodes[parent->node].self_ns -= duration;
	if (scope.counted) {
		if (tree_child(tree, above, spans->name[row], &scope.node) != STATUS_OK)
			return STATUS_NOMEM;
		tree->nodes[scope.node].count++;
		tree->nodes[scope.node].self_ns += scope.clipped ? duration : spans->self_ns[row];
		if (scope.node != above)
			tree->nodes[scope.node].total_ns += duration;
	}
	if (array_grow((void **)&worker->scopes, &worker->scope_capacity, worker->scope_count + 1,
		    sizeof *worker->scopes) != STATUS_OK)
		return STATUS_NOMEM;
	worker->scopes[worker->scope_count++] = scope;
	return STATUS_OK;
}

static int read_block(struct tree_worker *worker, size_t block)
{
	const struct span_batch *spans = &worker->cursor.spans;
	int status = trace_cursor_spans(&worker->cursor, block, false, NULL);

	if (status == STATUS_NOMEM)
		return status;
	if (status != STATUS_OK) {
		worker->damaged++;
		return STATUS_OK;
	}
	if (spans->layout != SPANS_NESTED)
		return STATUS_OK;
	for (uint32_t row = spans->count; status == STATUS_OK && row > 0; row--)
		status = add_row(worker, spans, row - 1);
	return status;
}

static void tree_run(void *context)
{
	struct tree_worker *worker = context;
	struct work *work = worker->work;
	const struct work_piece *piece;

	while ((piece = work_take(work))) {
		worker->scope_count = 0;
		for (size_t i = piece->count; i > 0; i--) {
			size_t block = work->order[piece->first + i - 1];
			int status = read_block(worker, block);

			if (status != STATUS_OK) {
				work_fail(work, status);
				return;
			}
			work_done(work, work->trace->blocks[block].rows);
		}
	}
}

/* Adds the nodes of `from`; parents come before their children. */
static int tree_merge(struct tree *tree, const struct tree *from)
{
	uint32_t *place = calloc(from->count, sizeof *place);
	int status = place ? STATUS_OK : STATUS_NOMEM;

	for (size_t i = 1; status == STATUS_OK && i < from->count; i++) {
		const struct analyze_node *node = &from->nodes[i];

		status = tree_child(tree, place[node->parent], node->name, &place[i]);
		if (status != STATUS_OK)
			break;
		tree->nodes[place[i]].count += node->count;
		tree->nodes[place[i]].self_ns += node->self_ns;
		if (place[i] != place[node->parent])
			tree->nodes[place[i]].total_ns += node->total_ns;
	}
	tree->cut |= from->cut;
	free(place);
	return status;
}

struct tree_order {
	uint32_t parent, name, node;
	uint64_t total_ns;
};

static int compare_order(const void *a, const void *b)
{
	const struct tree_order *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Numbers the nodes anew, level by level, children by size, so that the result is the same however
 * the work was dealt out; links them; sums up the root. */
static int tree_finish(const struct tree *tree, struct analyze_tree *result)
{
	struct tree_order *order = calloc(tree->count, sizeof *order);
	uint32_t *first =
		calloc(tree->count + 1, sizeof *first);   /* of a node's children in order */
	uint32_t *old = calloc(tree->count, sizeof *old); /* by new number */
	struct analyze_node *nodes = calloc(tree->count, sizeof *nodes);
	size_t known = 1, children = tree->count - 1;

	if (!order || !first || !old || !nodes) {
		free(nodes);
		goto out;
	}
	for (size_t i = 1; i < tree->count; i++)
		order[i - 1] = (struct tree_order){ .parent = tree->nodes[i].parent,
			.name = tree->nodes[i].name,
			.node = (uint32_t)i,
			.total_ns = tree->nodes[i].total_ns };
	qsort(order, children, sizeof *order, compare_order);
	for (size_t i = children; i > 0; i--)
		first[order[i - 1].parent] = (uint32_t)i; /* + 1; 0: no children */
	nodes[0] = tree->nodes[0];
	for (size_t i = 0; i < known; i++) {
		size_t at = first[old[i]];

		nodes[i].child = at ? (uint32_t)known : 0;
		for (; at && at <= children && order[at - 1].parent == old[i]; at++, known++) {
			nodes[known] = tree->nodes[order[at - 1].node];
			old[known] = order[at - 1].node;
			nodes[known].parent = (uint32_t)i;
			if ((int64_t)nodes[known].self_ns < 0)
				nodes[known].self_ns = 0;
			if (known > nodes[i].child)
				nodes[known - 1].sibling = (uint32_t)known;
			if (i == 0) {
				nodes[0].count += nodes[known].count;
				nodes[0].total_ns += nodes[known].total_ns;
			}
		}
	}
	result->nodes = nodes;
	result->count = tree->count;
	result->cut = tree->cut;
out:
	free(order);
	free(first);
	free(old);
	return result->nodes ? STATUS_OK : STATUS_NOMEM;
}

static int worker_init(struct tree_worker *worker, struct work *work, const uint8_t *flags,
	const struct window_ns *window)
{
	worker->work = work;
	worker->flags = flags;
	worker->window = window;
	if (tree_init(&worker->tree) != STATUS_OK)
		return STATUS_NOMEM;
	return trace_cursor_init(&worker->cursor, work->trace);
}

static int tree_pass(struct work *work, struct tree_worker *workers, unsigned count,
	const uint8_t *flags, const struct window_ns *window)
{
	void **pointers = calloc(count, sizeof(void *));
	int status = pointers ? STATUS_OK : STATUS_NOMEM;

	for (unsigned i = 0; status == STATUS_OK && i < count; i++) {
		status = worker_init(&workers[i], work, flags, window);
		pointers[i] = &workers[i];
	}
	if (status == STATUS_OK) {
		work_run(tree_run, pointers, count);
		status = atomic_load(&work->status);
	}
	for (unsigned i = 1; status == STATUS_OK && i < count; i++) {
		status = tree_merge(&workers[0].tree, &workers[i].tree);
		workers[0].damaged += workers[i].damaged;
	}
	free(pointers);
	return status;
}

int analyze_tree(const struct trace *trace, const struct analyze_options *options,
	struct analyze_tree *ret_result, struct error *err)
{
	struct window_ns window = window_of(trace, options);
	struct analyze_tree result = { 0 };
	struct tree_worker *workers = NULL;
	uint8_t *flags = name_flags_new(trace, options->filter);
	struct work work = { 0 };
	unsigned count = 0;
	int status = flags ? work_init(&work, trace, options, TABLE_SPANS, true) : STATUS_NOMEM;

	if (status == STATUS_OK) {
		count = work_threads(&work);
		workers = calloc(count, sizeof *workers);
		status = workers ? tree_pass(&work, workers, count, flags, &window) : STATUS_NOMEM;
	}
	if (status == STATUS_OK) {
		status = tree_finish(&workers[0].tree, &result);
		result.damaged_blocks = workers[0].damaged;
	}
	for (unsigned i = 0; workers && i < count; i++) {
		trace_cursor_release(&workers[i].cursor);
		tree_release(&workers[i].tree);
		free(workers[i].scopes);
	}
	free(workers);
	free(flags);
	work_release(&work);
	if (status != STATUS_OK)
		return error_set(err, status, "call tree: %s", status_text(status));
	*ret_result = result;
	return STATUS_OK;
}

void analyze_tree_release(struct analyze_tree *result)
{
	free(result->nodes);
	memset(result, 0, sizeof *result);
}
