// SPDX-License-Identifier: MIT OR Apache-2.0
/* Packets of a Perfetto trace. Field numbers are those of Perfetto's published schema. */
#include "export/perfetto_writer.h"

#include "base/wire.h"
#include "export/perfetto_fields.h"

#include <stdlib.h>
#include <string.h>

#define SEQUENCE        1u
#define PLAIN_BYTES_MAX 128u /* of a packet without arguments, flows and new names */

static void put_clock(struct buffer *out, uint64_t id, uint64_t time_ns)
{
	size_t opened = wire_open(out, SNAPSHOT_CLOCKS);

	wire_u64(out, CLOCK_ID, id);
	wire_u64(out, CLOCK_TIMESTAMP, time_ns);
	wire_close(out, opened);
}

/* Nothing in a trace tells how long the machine had slept before it, so CLOCK_BOOTTIME, which older
 * readers take for the trace's own clock, is given the time of CLOCK_MONOTONIC. */
static void put_start(struct perfetto_writer *writer)
{
	struct buffer *out = &writer->sink->out;
	const struct file_header *header = &writer->trace->header;
	size_t packet = wire_open(out, TRACE_PACKET), inner;

	wire_u64(out, PACKET_SEQUENCE_ID, SEQUENCE);
	wire_u64(out, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	wire_u64(out, PACKET_FIRST_ON_SEQUENCE, 1);
	inner = wire_open(out, PACKET_DEFAULTS);
	wire_u64(out, PACKET_TIMESTAMP_CLOCK, CLOCK_MONOTONIC_ID);
	wire_close(out, inner);
	wire_close(out, packet);

	packet = perfetto_writer_packet(writer);
	inner = wire_open(out, PACKET_CLOCK_SNAPSHOT);
	put_clock(out, CLOCK_BOOTTIME_ID, header->start_mono_ns);
	put_clock(out, CLOCK_MONOTONIC_ID, header->start_mono_ns);
	put_clock(out, CLOCK_REALTIME_ID, header->start_unix_ns);
	wire_u64(out, SNAPSHOT_PRIMARY_CLOCK, CLOCK_MONOTONIC_ID);
	wire_close(out, inner);
	wire_close(out, packet);
}

int perfetto_writer_init(
	struct perfetto_writer *writer, const struct trace *trace, struct export_sink *sink)
{
	memset(writer, 0, sizeof *writer);
	writer->trace = trace;
	writer->sink = sink;
	buffer_init(&writer->scratch);
	writer->names = calloc((size_t)trace->name_count + 1, 1);
	writer->categories = calloc(trace->strings.count + 1, 1);
	writer->keys = calloc(trace->strings.count + 1, 1);
	writer->texts = calloc(trace->strings.count + 1, 1);
	if (!writer->names || !writer->categories || !writer->keys || !writer->texts) {
		perfetto_writer_release(writer);
		return STATUS_NOMEM;
	}
	put_start(writer);
	return STATUS_OK;
}

void perfetto_writer_release(struct perfetto_writer *writer)
{
	buffer_release(&writer->scratch);
	free(writer->names);
	free(writer->categories);
	free(writer->keys);
	free(writer->texts);
	memset(writer, 0, sizeof *writer);
}

size_t perfetto_writer_packet(struct perfetto_writer *writer)
{
	struct buffer *out = &writer->sink->out;
	size_t packet = wire_open(out, TRACE_PACKET);

	wire_u64(out, PACKET_SEQUENCE_ID, SEQUENCE);
	return packet;
}

/* Numbers of interned texts begin at 1. */
static void intern(
	struct buffer *out, bool *known, uint32_t field, uint64_t number, const char *text)
{
	size_t opened;

	if (known[number])
		return;
	known[number] = true;
	opened = wire_open(out, field);
	wire_u64(out, INTERNED_ID, number + 1);
	wire_text(out, INTERNED_TEXT, text);
	wire_close(out, opened);
}

/* A string number that is not there stands for the empty text, which is always number 0. */
static uint64_t known_string(const struct trace *trace, uint64_t id)
{
	return id < trace->strings.count ? id : 0;
}

/* What the event refers to for the first time, gathered in `scratch`. */
static void intern_all(struct perfetto_writer *writer, const struct perfetto_event *event)
{
	const struct trace *trace = writer->trace;
	struct buffer *out = &writer->scratch;

	buffer_reset(out);
	if (event->name != PERFETTO_NO_NAME && !writer->names[event->name]) {
		const struct trace_name *name = &trace->names[event->name];

		if (name->category[0])
			intern(out, writer->categories, INTERNED_CATEGORIES,
				known_string(trace, name->category_string), name->category);
		intern(out, writer->names, INTERNED_NAMES, event->name, name->name);
	}
	for (size_t i = 0; i < event->arg_count; i++) {
		const struct span_arg *arg = &event->args[i];
		uint64_t key = known_string(trace, arg->key);

		intern(out, writer->keys, INTERNED_KEYS, key, export_string(trace, key));
		if (arg->type == ARG_STRING || arg->type == ARG_JSON) {
			uint64_t text = known_string(trace, arg->value);

			intern(out, writer->texts, INTERNED_TEXTS, text,
				export_string(trace, text));
		}
	}
}

static void put_arg(struct perfetto_writer *writer, const struct span_arg *arg)
{
	struct buffer *out = &writer->sink->out;
	size_t opened = wire_open(out, EVENT_ANNOTATIONS);

	wire_u64(out, ANNOTATION_NAME_ID, known_string(writer->trace, arg->key) + 1);
	if (arg->type == ARG_INTEGER)
		wire_u64(out, ANNOTATION_INT, arg->value);
	else if (arg->type == ARG_DOUBLE)
		wire_fixed64(out, ANNOTATION_DOUBLE, arg->value);
	else
		wire_u64(out, ANNOTATION_STRING_ID, known_string(writer->trace, arg->value) + 1);
	wire_close(out, opened);
}

/* The fields of fixed size; returns what follows them. */
static uint8_t *event_head(
	const struct perfetto_writer *writer, const struct perfetto_event *event, uint8_t *at)
{
	at = wire_at_u64(at, EVENT_TYPE, event->type);
	at = wire_at_u64(at, EVENT_TRACK, event->uuid);
	if (event->name != PERFETTO_NO_NAME) {
		const struct trace_name *name = &writer->trace->names[event->name];

		if (name->category[0])
			at = wire_at_u64(at, EVENT_CATEGORY_ID,
				known_string(writer->trace, name->category_string) + 1);
		at = wire_at_u64(at, EVENT_NAME_ID, (uint64_t)event->name + 1);
	}
	if (event->counter) {
		uint64_t value = event->counter[COUNTERS_VALUE];

		if (event->counter[COUNTERS_KIND] == COUNTER_DOUBLE)
			at = wire_at_fixed64(at, EVENT_COUNTER_DOUBLE, value);
		else
			at = wire_at_u64(at, EVENT_COUNTER_INT, value);
	}
	return at;
}

static uint8_t *packet_head(
	const struct perfetto_writer *writer, const struct perfetto_event *event, uint8_t *at)
{
	at = wire_at_u64(
		at, PACKET_TIMESTAMP, writer->trace->header.start_mono_ns + event->time_ns);
	at = wire_at_u64(at, PACKET_SEQUENCE_ID, SEQUENCE);
	return wire_at_u64(at, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDED);
}

/* The common case: nothing of variable size, one reservation, no message moved. */
static int put_plain(struct perfetto_writer *writer, const struct perfetto_event *event)
{
	uint8_t inner[PLAIN_BYTES_MAX], head[PLAIN_BYTES_MAX], *at;
	size_t inner_bytes = (size_t)(event_head(writer, event, inner) - inner);
	size_t head_bytes = (size_t)(packet_head(writer, event, head) - head);
	struct buffer *out = &writer->sink->out;

	at = buffer_extend(out, PLAIN_BYTES_MAX);
	if (!at)
		return STATUS_NOMEM;
	at = wire_at_varint(at, TRACE_PACKET << 3 | WIRE_BYTES);
	at = wire_at_varint(at, head_bytes + 2 + inner_bytes);
	memcpy(at, head, head_bytes);
	at += head_bytes;
	at = wire_at_varint(at, PACKET_TRACK_EVENT << 3 | WIRE_BYTES);
	at = wire_at_varint(at, inner_bytes);
	memcpy(at, inner, inner_bytes);
	out->length = (size_t)(at + inner_bytes - out->data);
	return export_sink_spill(writer->sink);
}

int perfetto_writer_event(struct perfetto_writer *writer, const struct perfetto_event *event)
{
	struct buffer *out = &writer->sink->out;
	uint8_t head[PLAIN_BYTES_MAX];
	size_t packet, inner;

	intern_all(writer, event);
	if (!writer->scratch.length && !event->arg_count && !event->flow_count &&
		!event->ended_flow_count)
		return put_plain(writer, event);
	packet = wire_open(out, TRACE_PACKET);
	buffer_append(out, head, (size_t)(packet_head(writer, event, head) - head));
	if (writer->scratch.length)
		wire_bytes(out, PACKET_INTERNED, writer->scratch.data, writer->scratch.length);
	inner = wire_open(out, PACKET_TRACK_EVENT);
	buffer_append(out, head, (size_t)(event_head(writer, event, head) - head));
	for (size_t i = 0; i < event->arg_count; i++)
		put_arg(writer, &event->args[i]);
	for (size_t i = 0; i < event->flow_count; i++)
		wire_fixed64(out, EVENT_FLOWS, event->flows[i]);
	for (size_t i = 0; i < event->ended_flow_count; i++)
		wire_fixed64(out, EVENT_ENDED_FLOWS, event->ended_flows[i]);
	wire_close(out, inner);
	wire_close(out, packet);
	if (!buffer_ok(&writer->scratch))
		return STATUS_NOMEM;
	return export_sink_spill(writer->sink);
}

static void put_fact(struct buffer *out, const char *group, const char *key, const char *value)
{
	struct buffer name = { 0 };
	size_t opened = wire_open(out, EVENT_ANNOTATIONS);

	buffer_printf(&name, "%s.%s", group, key);
	buffer_byte(&name, 0);
	wire_text(out, ANNOTATION_NAME, buffer_ok(&name) ? (const char *)name.data : key);
	wire_text(out, ANNOTATION_STRING, value);
	wire_close(out, opened);
	buffer_release(&name);
}

static void put_count(struct buffer *out, const char *key, uint64_t value)
{
	size_t opened = wire_open(out, EVENT_ANNOTATIONS);

	wire_text(out, ANNOTATION_NAME, key);
	wire_u64(out, ANNOTATION_UINT, value);
	wire_close(out, opened);
}

static void put_ledger(struct buffer *out, const struct ledger *ledger, uint64_t damaged_blocks)
{
	put_count(out, "ledger.produced", ledger->produced);
	put_count(out, "ledger.recorded", ledger->recorded);
	put_count(out, "ledger.dropped", ledger->dropped);
	put_count(out, "ledger.repaired", ledger->repaired);
	put_count(out, "ledger.skipped", ledger->skipped);
	put_count(out, "ledger.damaged_blocks", damaged_blocks);
	for (size_t i = 0; i < ledger->count; i++)
		put_fact(out, "ledger", ledger->entries[i].what, ledger->entries[i].effect);
}

int perfetto_writer_facts(struct perfetto_writer *writer, uint64_t uuid, uint64_t damaged_blocks)
{
	const struct trace *trace = writer->trace;
	struct buffer *out = &writer->sink->out;
	size_t packet = perfetto_writer_packet(writer), inner = wire_open(out, PACKET_DESCRIPTOR);

	wire_u64(out, DESCRIPTOR_UUID, uuid);
	wire_text(out, DESCRIPTOR_NAME, "tacho");
	wire_close(out, inner);
	wire_close(out, packet);
	packet = perfetto_writer_packet(writer);
	wire_u64(out, PACKET_TIMESTAMP, trace->header.start_mono_ns);
	inner = wire_open(out, PACKET_TRACK_EVENT);
	wire_u64(out, EVENT_TYPE, PERFETTO_INSTANT);
	wire_u64(out, EVENT_TRACK, uuid);
	wire_text(out, EVENT_NAME, "trace");
	for (size_t i = 0; i < trace->metadata_count; i++) {
		const struct trace_pair *pair = &trace->metadata[i];

		/* Of a key that was written several times the last counts. */
		if (trace_metadata(trace, pair->key) == pair->value)
			put_fact(out, "metadata", pair->key, pair->value);
	}
	put_ledger(out, &trace->ledger, damaged_blocks);
	wire_close(out, inner);
	wire_close(out, packet);
	return export_sink_spill(writer->sink);
}
