// SPDX-License-Identifier: MIT OR Apache-2.0
/* Links as flows. */
#include "export/export_flows.h"

#include "base/array.h"
#include "base/id_map.h"

#include <stdlib.h>
#include <string.h>

#define LINKS_HELD_MAX (4u << 20) /* with more of them, all become points in time */

bool export_flows_per_process(const struct trace *trace)
{
	static const char key[] = "source";

	for (size_t i = 0; i < trace->metadata_count; i++) {
		const struct trace_pair *pair = &trace->metadata[i];
		size_t length = strlen(pair->key);

		/* A merged trace has it once per file, behind a prefix. */
		if (length >= sizeof key - 1 &&
			strcmp(pair->key + length - (sizeof key - 1), key) == 0 &&
			strcmp(pair->value, "tacho record") == 0)
			return true;
	}
	return false;
}

uint32_t export_flow_group(const struct trace *trace, bool per_process, uint32_t track)
{
	uint32_t process = trace->tracks[track].process;

	return per_process ? process : trace->tracks[process].parent;
}

/* Flows and correlations, numbers and texts are apart, and so are flows of different names; the
 * two ends of a correlation may differ in theirs. */
static uint64_t flow_number(uint64_t id, uint32_t group, uint64_t space)
{
	uint64_t mixed = id + 0x9e3779b97f4a7c15u * ((uint64_t)group << 34 | space);

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
	return mixed ^ mixed >> 31;
}

struct flow_link export_flow_of(const struct trace *trace, bool per_process, const uint64_t *row)
{
	const struct trace_track *track = &trace->tracks[row[LINKS_TRACK]];
	unsigned kind = (unsigned)row[LINKS_KIND] & LINK_KIND_MASK;
	bool correlation = kind == LINK_CORRELATION, host = track->kind == TRACK_THREAD;
	uint64_t space = (correlation ? 1u : 0) | (row[LINKS_KIND] & LINK_TEXT_ID ? 2u : 0);

	if (!correlation)
		space |= (uint64_t)trace->names[row[LINKS_NAME]].name_string << 2;
	return (struct flow_link){ .track = track->id,
		.name = (uint32_t)row[LINKS_NAME],
		.time_ns = row[LINKS_TIME],
		.id = row[LINKS_ID],
		.correlation = correlation,
		.flow = flow_number(
			row[LINKS_ID], export_flow_group(trace, per_process, track->id), space),
		.source = kind == LINK_FLOW_BEGIN || (correlation && host),
		.target = kind == LINK_FLOW_END || (correlation && !host) };
}

static int keep_link(void *context, const uint64_t *row)
{
	struct export_flows *flows = context;

	if (array_grow((void **)&flows->links, &flows->capacity, flows->count + 1,
		    sizeof *flows->links) != STATUS_OK)
		return STATUS_NOMEM;
	flows->links[flows->count++] = export_flow_of(flows->trace, flows->per_process, row);
	return STATUS_OK;
}

static int compare_links(const void *a, const void *b)
{
	const struct flow_link *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int note_sources(struct export_flows *flows)
{
	for (size_t i = 0; i < flows->count; i++) {
		const struct flow_link *link = &flows->links[i];
		uint64_t before;

		if (!link->source)
			continue;
		/* Of several sources the last is the safe one. */
		if (id_map_get(flows->sources, link->flow, &before) && before >= link->time_ns)
			continue;
		if (id_map_put(flows->sources, link->flow, link->time_ns) != STATUS_OK)
			return STATUS_NOMEM;
	}
	return STATUS_OK;
}

int export_flows_init(struct export_flows *flows, struct export_walk *walk, struct error *err)
{
	int status = STATUS_OK;

	memset(flows, 0, sizeof *flows);
	flows->trace = walk->trace;
	flows->per_process = export_flows_per_process(walk->trace);
	if (walk->trace->row_counts[TABLE_LINKS] > LINKS_HELD_MAX)
		return STATUS_OK;
	flows->sources = malloc(sizeof *flows->sources);
	if (!flows->sources)
		return STATUS_NOMEM;
	id_map_init(flows->sources);
	status = export_walk_rows(walk, TABLE_LINKS, keep_link, flows, err);
	if (status == STATUS_OK)
		status = note_sources(flows);
	if (status != STATUS_OK) {
		export_flows_release(flows);
		return status;
	}
	if (flows->count)
		qsort(flows->links, flows->count, sizeof *flows->links, compare_links);
	return STATUS_OK;
}

void export_flows_release(struct export_flows *flows)
{
	if (flows->sources)
		id_map_release(flows->sources);
	free(flows->sources);
	free(flows->links);
	free(flows->found);
	free(flows->found_ended);
	memset(flows, 0, sizeof *flows);
}

void export_flows_track(struct export_flows *flows, uint32_t track)
{
	flows->next = 0;
	/* Tracks come in order, but not all of them have spans. */
	for (size_t low = 0, high = flows->count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (flows->links[middle].track < track)
			low = middle + 1;
		else
			high = middle;
		flows->next = low;
	}
	flows->track_end = flows->next;
	while (flows->track_end < flows->count && flows->links[flows->track_end].track == track)
		flows->track_end++;
}

/* A target may only stand on a slice that begins after its source. */
static bool may_take(const struct export_flows *flows, const struct flow_link *link,
	const struct export_slice *slice)
{
	uint64_t source;

	if (link->source)
		return true;
	return id_map_get(flows->sources, link->flow, &source) && source <= slice->span.start_ns;
}

static int add(uint64_t **items, size_t *count, size_t *capacity, uint64_t flow)
{
	if (array_grow((void **)items, capacity, *count + 1, sizeof **items) != STATUS_OK)
		return STATUS_NOMEM;
	(*items)[(*count)++] = flow;
	return STATUS_OK;
}

int export_flows_take(struct export_flows *flows, const struct export_slice *slice)
{
	uint64_t start = slice->span.start_ns;
	int status = STATUS_OK;

	flows->found_count = flows->found_ended_count = 0;
	while (flows->next < flows->track_end && flows->links[flows->next].time_ns < start)
		flows->next++;
	for (size_t i = flows->next; i < flows->track_end && status == STATUS_OK; i++) {
		struct flow_link *link = &flows->links[i];

		if (link->time_ns != start && link->time_ns >= slice->quiet_ns)
			break;
		if (link->taken || !may_take(flows, link, slice))
			continue;
		link->taken = true;
		if (link->target)
			status = add(&flows->found_ended, &flows->found_ended_count,
				&flows->ended_capacity, link->flow);
		else
			status = add(&flows->found, &flows->found_count, &flows->found_capacity,
				link->flow);
	}
	return status;
}
