// SPDX-License-Identifier: MIT OR Apache-2.0
/* Perfetto's protobuf: a stream of packets, each on a sequence that has a state of its own. Packets
 * that are damaged are counted and left out; those of kinds that have no place here are kept as
 * metadata when they are small, else counted. */
#include "import/perfetto_clock.h"
#include "import/perfetto_event.h"
#include "import/wire_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define FACT_MAX_BYTES   (64u << 10)
#define FACTS_MAX        256u
#define UNPACK_MAX_BYTES (UINT64_C(1) << 30) /* of one packet of packets */

enum packet_field {
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_SYNC_MARKER = 36,
	PACKET_STATE_CLEARED = 41,
	PACKET_DROPPED = 42,
	PACKET_THREAD_DESCRIPTOR = 44,
	PACKET_COMPRESSED = 50,
	PACKET_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_PERF_SAMPLE = 66,
	PACKET_ZSTD = 133,
};

enum sequence_flags { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

struct perfetto_import {
	struct import_sink *sink;
	struct wire_input input;
	struct perfetto_clocks clocks;
	struct perfetto_sequences sequences;
	struct perfetto_tracks tracks;
	struct perfetto_events events;
	struct buffer unpacked;
	uint64_t packets, facts;
	struct error *err;
};

struct packet {
	uint64_t timestamp, flags;
	uint32_t sequence, clock;
	bool has_timestamp, has_clock, cleared, dropped;
	struct reader body, intern, defaults;
	uint32_t kind; /* field of the body; 0: none */
};

/* Whether packets with this field are read; they may carry others that are not known. */
static bool has_place(uint32_t field)
{
	switch (field) {
	case PACKET_PROCESS_TREE:
	case PACKET_CLOCK_SNAPSHOT:
	case PACKET_TRACK_EVENT:
	case PACKET_THREAD_DESCRIPTOR:
	case PACKET_COMPRESSED:
	case PACKET_TRACK_DESCRIPTOR:
	case PACKET_PERF_SAMPLE:
	case PACKET_ZSTD:
		return true;
	default:
		return false;
	}
}

static int read_packet_fields(struct reader bytes, struct packet *packet)
{
	struct wire_field field;
	int more;

	memset(packet, 0, sizeof *packet);
	while ((more = wire_next(&bytes, &field)) == 1) {
		bool text = field.type == WIRE_BYTES;

		if (field.field == PACKET_TIMESTAMP && !text) {
			packet->timestamp = field.number;
			packet->has_timestamp = true;
		} else if (field.field == PACKET_SEQUENCE_ID) {
			packet->sequence = (uint32_t)field.number;
		} else if (field.field == PACKET_SEQUENCE_FLAGS) {
			packet->flags = field.number;
		} else if (field.field == PACKET_CLOCK_ID) {
			packet->clock = (uint32_t)field.number;
			packet->has_clock = true;
		} else if (field.field == PACKET_STATE_CLEARED) {
			packet->cleared = field.number != 0;
		} else if (field.field == PACKET_DROPPED) {
			packet->dropped = field.number != 0;
		} else if (field.field == PACKET_INTERNED_DATA && text) {
			packet->intern = field.bytes;
		} else if (field.field == PACKET_DEFAULTS && text) {
			packet->defaults = field.bytes;
		} else if (text && (packet->kind == 0 || has_place(field.field))) {
			packet->kind = field.field;
			packet->body = field.bytes;
		}
	}
	return more;
}

/* Packets without a place of their own. */
static int keep_packet(struct perfetto_import *import, const struct packet *packet)
{
	struct buffer text;
	char what[80];
	int status = STATUS_OK;

	snprintf(what, sizeof what, "perfetto.packet.%u (base64)", packet->kind);
	if (packet->kind == PACKET_SYNC_MARKER || packet->kind == 0)
		return STATUS_OK;
	if (packet->has_timestamp || reader_left(&packet->body) > FACT_MAX_BYTES ||
		import->facts++ >= FACTS_MAX) {
		snprintf(what, sizeof what, "packets of kind %u", packet->kind);
		import_sink_skip(import->sink, what, "not track events; left out");
		return STATUS_OK;
	}
	buffer_init(&text);
	event_base64(&text, packet->body.at, reader_left(&packet->body));
	if (!buffer_ok(&text))
		status = STATUS_NOMEM;
	else
		status = import_sink_metadata(import->sink, what, (char *)text.data, text.length);
	buffer_release(&text);
	return status;
}

/* PerfSample { pid 2, tid 3, callstack_iid 4 } */
static int read_sample(struct perfetto_import *import, const struct perfetto_sequence *sequence,
	struct reader bytes, int64_t time_ns)
{
	struct wire_field field;
	int32_t pid = 0, tid = 0;
	uint64_t stack_id = 0;
	uint32_t track, stack;
	int status, more;

	while ((more = wire_next(&bytes, &field)) == 1) {
		if (field.type != WIRE_VARINT)
			continue;
		if (field.field == 2)
			pid = (int32_t)field.number;
		else if (field.field == 3)
			tid = (int32_t)field.number;
		else if (field.field == 4)
			stack_id = field.number;
	}
	if (more < 0 || !stack_id || !event_time_ok(import->sink, time_ns))
		return more;
	stack = perfetto_interned(&import->sequences, sequence, INTERNED_STACK, stack_id);
	if (!stack)
		return STATUS_OK;
	status = perfetto_tracks_thread(&import->tracks, pid, tid, &track);
	return status == STATUS_OK ? import_sink_sample(import->sink, track, time_ns, stack - 1)
				   : status;
}

/* The descriptor that sequences had before there were tracks. */
static int read_thread(struct perfetto_sequence *sequence, struct reader bytes)
{
	struct wire_field field;
	int more;

	sequence->has_thread = true;
	while ((more = wire_next(&bytes, &field)) == 1) {
		if (field.type != WIRE_VARINT)
			continue;
		if (field.field == 1)
			sequence->pid = (int32_t)field.number;
		else if (field.field == 2)
			sequence->tid = (int32_t)field.number;
		else if (field.field == 6)
			sequence->reference_us = (int64_t)field.number;
	}
	return more;
}

/* Events without a packet time carry their own: timestamp_delta_us 1, timestamp_absolute_us 16. */
static bool legacy_time(struct perfetto_sequence *sequence, struct reader bytes, uint64_t *ret_ns)
{
	struct wire_field field;

	while (wire_next(&bytes, &field) == 1) {
		if (field.type != WIRE_VARINT || (field.field != 1 && field.field != 16))
			continue;
		if (field.field == 1)
			sequence->reference_us =
				(int64_t)((uint64_t)sequence->reference_us + field.number);
		*ret_ns = (field.field == 16 ? field.number : (uint64_t)sequence->reference_us) *
			  1000;
		return true;
	}
	return false;
}

static int packet_time(struct perfetto_import *import, struct perfetto_sequence *sequence,
	struct packet *packet, int64_t *ret_ns)
{
	uint32_t clock = packet->has_clock     ? packet->clock
			 : sequence->has_clock ? sequence->clock
					       : CLOCK_ID_BOOTTIME;

	if (!packet->has_timestamp && packet->kind == PACKET_TRACK_EVENT &&
		legacy_time(sequence, packet->body, &packet->timestamp)) {
		packet->has_timestamp = true;
		clock = CLOCK_ID_MONOTONIC;
	}
	if (!packet->has_timestamp) {
		*ret_ns = import->events.last_ns;
		return STATUS_OK;
	}
	return perfetto_clocks_time(
		&import->clocks, sequence->id, clock, packet->timestamp, ret_ns);
}

static int read_packets(struct perfetto_import *import, struct reader bytes, bool packed);

/* Packets inside a packet. One level is all that is written; more would only serve to blow up. */
static int read_packed(struct perfetto_import *import, const struct packet *packet)
{
	uint64_t room = import_sink_room(import->sink), limit;
	struct buffer *out = &import->unpacked;
	struct reader bytes;

	limit = room < UNPACK_MAX_BYTES ? room : UNPACK_MAX_BYTES;
	buffer_reset(out);
	if (packet->kind == PACKET_ZSTD) {
		unsigned long long size =
			ZSTD_getFrameContentSize(packet->body.at, reader_left(&packet->body));
		size_t got;

		if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
			return STATUS_FORMAT;
		if (size > limit)
			return STATUS_LIMIT;
		if (size && !buffer_extend(out, (size_t)size))
			return STATUS_NOMEM;
		got = ZSTD_decompress(
			out->data, (size_t)size, packet->body.at, reader_left(&packet->body));
		if (ZSTD_isError(got))
			return STATUS_FORMAT;
		out->length = got;
	} else {
		z_stream stream = { .next_in = (Bytef *)(uintptr_t)packet->body.at,
			.avail_in = (uInt)reader_left(&packet->body) };
		int result = inflateInit(&stream);

		while (result == Z_OK && out->length <= limit && buffer_ok(out)) {
			size_t at = out->length;
			uint8_t *room_at = buffer_extend(out, 64u << 10);

			if (!room_at)
				break;
			stream.next_out = room_at;
			stream.avail_out = 64u << 10;
			result = inflate(&stream, Z_NO_FLUSH);
			out->length = at + (64u << 10) - stream.avail_out;
			if (result == Z_OK && stream.avail_out)
				result = Z_DATA_ERROR; /* the input is used up before its end */
		}
		inflateEnd(&stream);
		if (!buffer_ok(out) || out->length > limit)
			return STATUS_LIMIT;
		if (result != Z_STREAM_END)
			return STATUS_FORMAT;
	}
	reader_init(&bytes, out->data, out->length);
	return read_packets(import, bytes, true);
}

static int read_body(struct perfetto_import *import, struct perfetto_sequence *sequence,
	struct packet *packet, int64_t time_ns, bool packed)
{
	switch (packet->kind) {
	case PACKET_CLOCK_SNAPSHOT:
		return perfetto_clocks_snapshot(&import->clocks, sequence->id, packet->body);
	case PACKET_TRACK_DESCRIPTOR:
		return perfetto_tracks_describe(&import->tracks, packet->body);
	case PACKET_PROCESS_TREE:
		return perfetto_tracks_tree(&import->tracks, packet->body);
	case PACKET_THREAD_DESCRIPTOR:
		return read_thread(sequence, packet->body);
	case PACKET_PERF_SAMPLE:
		return read_sample(import, sequence, packet->body, time_ns);
	case PACKET_TRACK_EVENT:
		if ((packet->flags & FLAG_NEEDS_STATE) && !sequence->started) {
			import_sink_skip(import->sink, "packets whose state was lost", "left out");
			return STATUS_OK;
		}
		return perfetto_events_read(&import->events, sequence, packet->body, time_ns);
	case PACKET_COMPRESSED:
	case PACKET_ZSTD:
		return packed ? STATUS_FORMAT : read_packed(import, packet);
	default:
		return keep_packet(import, packet);
	}
}

static int read_packet(struct perfetto_import *import, struct reader bytes, bool packed)
{
	struct perfetto_sequence *sequence;
	struct packet packet;
	int64_t time_ns = 0;
	int status = read_packet_fields(bytes, &packet);

	if (status != STATUS_OK)
		return status;
	import->packets++;
	sequence = perfetto_sequence(&import->sequences, packet.sequence);
	if (!sequence)
		return STATUS_NOMEM;
	if (packet.dropped && !(packet.flags & FLAG_STATE_CLEARED))
		sequence->started = false;
	if (packet.cleared || packet.flags & FLAG_STATE_CLEARED) {
		perfetto_sequence_clear(&import->sequences, sequence);
		sequence->started = true;
	}
	if (reader_left(&packet.defaults))
		status = perfetto_sequence_defaults(sequence, packet.defaults);
	if (status == STATUS_OK && reader_left(&packet.intern))
		status = perfetto_sequence_intern(&import->sequences, sequence, packet.intern);
	/* A snapshot sets the clock that its own packet may be timed with. */
	if (status == STATUS_OK && packet.kind != PACKET_CLOCK_SNAPSHOT)
		status = packet_time(import, sequence, &packet, &time_ns);
	return status == STATUS_OK ? read_body(import, sequence, &packet, time_ns, packed) : status;
}

/* A packet that is damaged is one packet less; running out of memory is the end. */
static int take_packet(struct perfetto_import *import, struct reader bytes, bool packed)
{
	int status = read_packet(import, bytes, packed);

	if (status != STATUS_FORMAT)
		return status;
	import_sink_skip(import->sink, "packets that are damaged", "left out");
	return STATUS_OK;
}

static int read_packets(struct perfetto_import *import, struct reader bytes, bool packed)
{
	struct wire_field field;
	int status = STATUS_OK, more = 0;

	while (status == STATUS_OK && (more = wire_next(&bytes, &field)) == 1)
		if (field.field == 1 && field.type == WIRE_BYTES)
			status = take_packet(import, field.bytes, packed);
	return status == STATUS_OK ? more : status;
}

static int read_trace(struct perfetto_import *import)
{
	struct wire_field field;
	int more;

	while ((more = wire_input_next(&import->input, &field, import->err)) == 1) {
		int status;

		if (field.field != 1 || field.type != WIRE_BYTES)
			continue;
		status = take_packet(import, field.bytes, false);
		if (status != STATUS_OK)
			return event_fail(import->err, status);
	}
	if (import->packets == 0)
		return more < 0 ? more
				: error_set_at(import->err, STATUS_FORMAT, import->input.offset,
					  "the file ends inside its first packet");
	if (more == STATUS_FORMAT) {
		/* There is no way to find the next packet, but what came before stays. */
		import_sink_skip(
			import->sink, import->err->message, "what lies behind it was left out");
		*import->err = (struct error)ERROR_INIT;
		more = 0;
	}
	if (import->input.cut_bytes)
		import_sink_skip(import->sink, "a packet that is cut off at the end",
			"left out; what came before was read");
	return more;
}

static int finish(struct perfetto_import *import)
{
	struct ledger *ledger = import_sink_ledger(import->sink);
	int status = perfetto_events_finish(&import->events);

	if (status == STATUS_OK)
		status = perfetto_tracks_finish(&import->tracks);
	if (import->sequences.unresolved)
		ledger_add(ledger, import->sequences.unresolved,
			"references to names that are not there", "import", "shown as nothing");
	if (import->clocks.unrelated)
		ledger_add(ledger, import->clocks.unrelated,
			"times on a clock that no snapshot relates", "import", "taken as they are");
	if (import->clocks.has_epoch)
		import_sink_epoch(import->sink, import->clocks.epoch_ns);
	return status == STATUS_OK ? STATUS_OK : event_fail(import->err, status);
}

static int run_perfetto(struct import_source *source, struct import_sink *sink, struct error *err)
{
	struct perfetto_import *import = calloc(1, sizeof *import);
	int status;

	if (!import)
		return error_set(err, STATUS_NOMEM, "out of memory");
	import->sink = sink;
	import->err = err;
	wire_input_init(&import->input, source, import_sink_room(sink));
	perfetto_clocks_init(&import->clocks);
	perfetto_sequences_init(&import->sequences, sink);
	perfetto_tracks_init(&import->tracks, sink);
	buffer_init(&import->unpacked);
	status = perfetto_events_init(&import->events, sink, &import->sequences, &import->tracks);
	if (status != STATUS_OK)
		event_fail(err, status);
	if (status == STATUS_OK)
		status = read_trace(import);
	if (status == STATUS_OK)
		status = finish(import);
	wire_input_release(&import->input);
	perfetto_events_release(&import->events);
	perfetto_clocks_release(&import->clocks);
	perfetto_sequences_release(&import->sequences);
	perfetto_tracks_release(&import->tracks);
	buffer_release(&import->unpacked);
	free(import);
	return status;
}

/* Whether the fields of a packet have the types that Perfetto gives them. */
static bool looks_like_packet(struct reader bytes, unsigned *signs)
{
	static const uint8_t numbers[] = { 3, 8, 10, 13, 41, 42, 58, 79, 87, 98 };
	static const uint8_t messages[] = { 1, 2, 6, 9, 11, 12, 33, 35, 36, 43, 44, 45, 50, 59, 60,
		66, 89, 133 };
	struct wire_field field;

	while (wire_next(&bytes, &field) == 1) {
		bool number = false, message = false;

		for (size_t i = 0; i < sizeof numbers; i++)
			number |= numbers[i] == field.field;
		for (size_t i = 0; i < sizeof messages; i++)
			message |= messages[i] == field.field;
		if ((number && field.type != WIRE_VARINT) || (message && field.type != WIRE_BYTES))
			return false;
		*signs += field.field >= 8 && (number || message) ? 1 : 0;
		*signs += field.field == PACKET_CLOCK_SNAPSHOT;
	}
	return true;
}

static int detect_perfetto(const uint8_t *head, size_t count)
{
	struct reader in;
	unsigned signs = 0;

	reader_init(&in, head, count);
	if (!count || head[0] != (1 << 3 | WIRE_BYTES))
		return 0;
	while (reader_left(&in) && reader_byte(&in) == (1 << 3 | WIRE_BYTES)) {
		uint64_t length = wire_read_varint(&in);
		struct reader packet;

		if (in.failed)
			break;
		length = length < reader_left(&in) ? length : reader_left(&in);
		reader_init(&packet, in.at, (size_t)length);
		if (!looks_like_packet(packet, &signs))
			return 0;
		reader_bytes(&in, (size_t)length);
	}
	return signs ? 80 : 0;
}

const struct importer import_perfetto = {
	.name = "perfetto",
	.summary = "Perfetto protobuf trace",
	.version = 1,
	.detect = detect_perfetto,
	.run = run_perfetto,
};
