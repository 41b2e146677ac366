// SPDX-License-Identifier: MIT OR Apache-2.0
/* The call tree. Shown are the largest paths: since a node is never larger than its parent, those
 * hang together. */
#include "report/report_sections.h"

#include <stdlib.h>
#include <string.h>

#define INDENT_MAX 24 /* levels; what is deeper is shown with its depth as a number */

/* Where a walk over the tree stands. `last` says of each level whether its branch ends here. */
struct tree_walk {
	const struct report *report;
	uint64_t least_ns; /* smaller nodes are left out */
	uint64_t whole_ns;
	bool last[INDENT_MAX + 1];
	struct buffer label;
};

static int compare_totals(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* The total of the `top`-th largest node. */
static int find_threshold(const struct analyze_tree *tree, uint64_t top, uint64_t *ret_least_ns)
{
	uint64_t *totals;

	*ret_least_ns = 0;
	if (top >= tree->count - 1)
		return STATUS_OK;
	totals = malloc(tree->count * sizeof *totals);
	if (!totals)
		return STATUS_NOMEM;
	for (size_t i = 1; i < tree->count; i++)
		totals[i - 1] = tree->nodes[i].total_ns;
	qsort(totals, tree->count - 1, sizeof *totals, compare_totals);
	*ret_least_ns = totals[top - 1];
	free(totals);
	return STATUS_OK;
}

/* `node`, or its next sibling that is shown. */
static uint32_t next_shown(const struct tree_walk *walk, uint32_t node)
{
	const struct analyze_node *nodes = walk->report->tree.nodes;

	while (node && nodes[node].total_ns < walk->least_ns)
		node = nodes[node].sibling;
	return node;
}

static void put_label(struct tree_walk *walk, unsigned depth, const char *name)
{
	unsigned shown = depth < INDENT_MAX ? depth : INDENT_MAX;

	buffer_reset(&walk->label);
	for (unsigned i = 1; i < shown; i++)
		buffer_text(&walk->label, walk->last[i] ? "   " : "\xe2\x94\x82  ");
	if (shown)
		buffer_text(&walk->label, walk->last[shown] ? "\xe2\x94\x94\xe2\x94\x80 "
							    : "\xe2\x94\x9c\xe2\x94\x80 ");
	if (depth > INDENT_MAX)
		buffer_printf(&walk->label, "[%u] ", depth);
	buffer_text(&walk->label, name);
	buffer_byte(&walk->label, 0);
}

static void put_node(struct tree_walk *walk, struct text_table *table, uint32_t id, unsigned depth)
{
	const struct analyze_node *node = &walk->report->tree.nodes[id];

	put_label(walk, depth, report_node_name(walk->report, node, NULL));
	text_table_cell(table, buffer_ok(&walk->label) ? (const char *)walk->label.data : "");
	text_table_duration(table, (double)node->total_ns);
	text_table_percent(table, report_share(node->total_ns, walk->whole_ns));
	text_table_duration(table, (double)node->self_ns);
	text_table_percent(table, report_share(node->self_ns, walk->whole_ns));
	text_table_count(table, (double)node->count);
}

/* Before order, by the links alone: a deep tree needs no deep stack. */
static void walk_tree(struct tree_walk *walk, struct text_table *table)
{
	const struct analyze_node *nodes = walk->report->tree.nodes;
	uint32_t at = next_shown(walk, nodes[0].child);
	unsigned depth = 0;

	while (at) {
		uint32_t below, beside = next_shown(walk, nodes[at].sibling);

		if (depth <= INDENT_MAX)
			walk->last[depth] = !beside;
		put_node(walk, table, at, depth);
		below = next_shown(walk, nodes[at].child);
		if (below) {
			at = below;
			depth++;
			continue;
		}
		while (at && !beside) {
			at = nodes[at].parent;
			depth--;
			beside = at ? next_shown(walk, nodes[at].sibling) : 0;
		}
		at = at ? beside : 0;
	}
}

void section_tree(struct report_page *page, const struct report *report)
{
	static const struct text_column columns[] = {
		{ .title = "call tree", .squeeze = true },
		{ .title = "total", .align = TEXT_RIGHT },
		{ .title = "share", .align = TEXT_RIGHT },
		{ .title = "self", .align = TEXT_RIGHT },
		{ .title = "share", .align = TEXT_RIGHT, .drop = 2 },
		{ .title = "count", .align = TEXT_RIGHT, .drop = 1 },
	};
	struct tree_walk walk = { .report = report };
	const struct analyze_tree *tree = &report->tree;
	struct text_table table;

	if (!report->has_tree || tree->count < 2)
		return;
	if (find_threshold(tree, report->options.top, &walk.least_ns)) {
		page->out->failed = true;
		return;
	}
	for (uint32_t i = tree->nodes[0].child; i; i = tree->nodes[i].sibling)
		walk.whole_ns += tree->nodes[i].total_ns;
	buffer_init(&walk.label);
	text_table_init(&table, columns, sizeof columns / sizeof columns[0]);
	page_heading(page, "Call tree");
	walk_tree(&walk, &table);
	page_table(page, &table);
	if (walk.least_ns)
		page_note(
			page, "smaller paths are left out; --top 0 shows all %zu", tree->count - 1);
	if (tree->cut)
		page_note(page, "there are more paths than are kept apart; the rest is in (other)");
	buffer_release(&walk.label);
}
