// SPDX-License-Identifier: MIT OR Apache-2.0
/* speedscope's file format: for every track with spans a profile of opening and closing frames, and
 * for every thread with stack samples one of samples. Spans that overlap lie in further profiles of
 * their track; their events are held in memory until the first is written. */
#include "base/array.h"
#include "export/export_samples.h"
#include "export/export_sink.h"
#include "export/export_slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/version.h>

#define NO_FRAME UINT32_MAX

/* Frames open on a lane, so that a close can name what it closes. */
struct lane {
	struct json_writer events; /* lane 0 writes to the document itself */
	uint32_t *open;
	size_t open_count, open_capacity;
	uint64_t start_ns, end_ns;
	bool used;
};

struct speedscope_export {
	const struct trace *trace;
	struct json_writer json;
	uint32_t *frame_of; /* by string */
	uint32_t *frames;   /* strings of frames, in the order of their numbers */
	size_t frame_count, frame_capacity;
	struct lane *lanes;
	size_t lane_count, lane_capacity;
};

static int frame_number(struct speedscope_export *export, uint64_t string, uint32_t *ret_frame)
{
	size_t text = string < export->trace->strings.count ? string : 0;

	if (export->frame_of[text] == NO_FRAME) {
		if (array_grow((void **)&export->frames, &export->frame_capacity,
			    export->frame_count + 1, sizeof *export->frames) != STATUS_OK)
			return STATUS_NOMEM;
		export->frame_of[text] = (uint32_t) export->frame_count;
		export->frames[export->frame_count++] = (uint32_t)text;
	}
	*ret_frame = export->frame_of[text];
	return STATUS_OK;
}

static struct json_writer *lane_json(struct speedscope_export *export, uint32_t lane)
{
	return lane ? &export->lanes[lane].events : &export->json;
}

static void put_event(struct speedscope_export *export, uint32_t lane, const char *type,
	uint32_t frame, uint64_t at)
{
	struct json_writer *json = lane_json(export, lane);

	json_object(json);
	json_key_string(json, "type", type);
	json_key_u64(json, "frame", frame);
	json_key_u64(json, "at", at);
	json_object_end(json);
}

static int need_lane(struct speedscope_export *export, uint32_t number)
{
	while (export->lane_count <= number) {
		struct lane *lane;

		if (array_grow((void **)&export->lanes, &export->lane_capacity,
			    export->lane_count + 1, sizeof *export->lanes) != STATUS_OK)
			return STATUS_NOMEM;
		lane = &export->lanes[export->lane_count++];
		memset(lane, 0, sizeof *lane);
		json_writer_init(&lane->events, NULL, NULL);
	}
	return STATUS_OK;
}

static int begin_slice(void *context, const struct export_slice *slice)
{
	struct speedscope_export *export = context;
	uint32_t frame = 0;
	struct lane *lane;

	if (need_lane(export, slice->lane) != STATUS_OK ||
		frame_number(export, export->trace->names[slice->span.name].name_string, &frame) !=
			STATUS_OK)
		return STATUS_NOMEM;
	lane = &export->lanes[slice->lane];
	if (array_grow((void **)&lane->open, &lane->open_capacity, lane->open_count + 1,
		    sizeof *lane->open) != STATUS_OK)
		return STATUS_NOMEM;
	lane->open[lane->open_count++] = frame;
	if (!lane->used)
		lane->start_ns = slice->span.start_ns;
	lane->used = true;
	put_event(export, slice->lane, "O", frame, slice->span.start_ns);
	return export->json.failed ? STATUS_IO : STATUS_OK;
}

static int end_slice(void *context, uint32_t track, uint32_t number, uint64_t time_ns)
{
	struct speedscope_export *export = context;
	struct lane *lane = &export->lanes[number];

	(void)track;
	lane->end_ns = time_ns;
	put_event(export, number, "C", lane->open[--lane->open_count], time_ns);
	return export->json.failed ? STATUS_IO : STATUS_OK;
}

static void put_profile_head(
	struct speedscope_export *export, const char *type, uint32_t id, uint32_t lane)
{
	const struct trace_track *track = &export->trace->tracks[id];
	const struct trace_track *process = &export->trace->tracks[track->process];
	const char *name = track->name[0] ? track->name : track_kind_name(track->kind);
	char text[512];

	snprintf(text, sizeof text, "%s: %s", process->name, name);
	if (lane)
		snprintf(text + strlen(text), sizeof text - strlen(text), " (%u)", lane + 1);
	json_object(&export->json);
	json_key_string(&export->json, "type", type);
	json_key_string(&export->json, "name", text);
}

static void put_profile_tail(struct speedscope_export *export, const struct lane *lane)
{
	json_key_string(&export->json, "unit", "nanoseconds");
	json_key_u64(&export->json, "startValue", lane->start_ns);
	json_key_u64(&export->json, "endValue", lane->end_ns);
	json_object_end(&export->json);
}

/* The profiles of the further lanes, whose events are text already. */
static int put_lanes(struct speedscope_export *export, uint32_t track)
{
	for (uint32_t i = 1; i < export->lane_count; i++) {
		struct lane *lane = &export->lanes[i];
		struct buffer *text = &lane->events.out;

		if (!lane->used)
			continue;
		buffer_byte(text, 0);
		if (!buffer_ok(text))
			return STATUS_NOMEM;
		put_profile_head(export, "evented", track, i);
		json_key(&export->json, "events");
		json_array(&export->json);
		json_raw(&export->json, (const char *)text->data);
		json_array_end(&export->json);
		put_profile_tail(export, lane);
		buffer_reset(text);
		lane->events.first[0] = true;
	}
	return STATUS_OK;
}

static int put_track(struct speedscope_export *export, struct export_walk *walk, uint32_t track,
	struct error *err)
{
	static const struct export_slice_calls calls = { begin_slice, end_slice, NULL };
	int status = need_lane(export, 0);

	if (status != STATUS_OK || !export_slices_any(walk, track))
		return status;
	for (size_t i = 0; i < export->lane_count; i++) {
		export->lanes[i].used = false;
		export->lanes[i].start_ns = export->lanes[i].end_ns = 0;
	}
	put_profile_head(export, "evented", track, 0);
	json_key(&export->json, "events");
	json_array(&export->json);
	status = export_slices(walk, track, &calls, export, err);
	json_array_end(&export->json);
	put_profile_tail(export, &export->lanes[0]);
	return status == STATUS_OK ? put_lanes(export, track) : status;
}

/* Each sample counts once: the time between two is not all spent in the first. */
static int put_samples(struct speedscope_export *export, const struct export_sample *samples,
	size_t count, uint32_t track)
{
	struct json_writer *json = &export->json;

	put_profile_head(export, "sampled", track, 0);
	json_key(json, "samples");
	json_array(json);
	for (size_t i = 0; i < count; i++) {
		size_t depth;
		const uint32_t *frames = trace_stack(export->trace, samples[i].stack, &depth);

		json_array(json);
		for (size_t f = frames ? depth : 0; f > 0; f--) {
			uint32_t frame;

			if (frame_number(export, frames[f - 1], &frame) != STATUS_OK)
				return STATUS_NOMEM;
			json_u64(json, frame);
		}
		json_array_end(json);
	}
	json_array_end(json);
	json_key(json, "weights");
	json_array(json);
	for (size_t i = 0; i < count; i++)
		json_u64(json, 1);
	json_array_end(json);
	json_key_string(json, "unit", "none");
	json_key_u64(json, "startValue", 0);
	json_key_u64(json, "endValue", count);
	json_object_end(json);
	return json->failed ? STATUS_IO : STATUS_OK;
}

static void put_frames(struct speedscope_export *export)
{
	struct json_writer *json = &export->json;

	json_key(json, "shared");
	json_object(json);
	json_key(json, "frames");
	json_array(json);
	for (size_t i = 0; i < export->frame_count; i++) {
		const char *text = export_string(export->trace, export->frames[i]);

		json_object(json);
		json_key_string(json, "name", text[0] ? text : "?");
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

static int put_document(
	struct speedscope_export *export, struct export_walk *walk, struct error *err)
{
	struct json_writer *json = &export->json;
	struct export_samples samples;
	int status = export_samples_load(&samples, walk, err);

	if (status != STATUS_OK)
		return status;
	json_object(json);
	json_key_string(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_key_string(json, "exporter", "tacho " TACHO_VERSION);
	json_key_string(json, "name", export->trace->path);
	json_key(json, "profiles");
	json_array(json);
	export_slices_prepare(walk);
	for (uint32_t i = 0; i < export->trace->track_count && status == STATUS_OK; i++) {
		size_t count;
		const struct export_sample *own = export_samples_of(&samples, i, &count);

		status = put_track(export, walk, i, err);
		if (status == STATUS_OK && own)
			status = put_samples(export, own, count, i);
	}
	json_array_end(json);
	put_frames(export);
	json_object_end(json);
	export_samples_release(&samples);
	return status;
}

static int write_document(
	struct speedscope_export *export, struct export_walk *walk, struct error *err)
{
	size_t strings = export->trace->strings.count + 1;

	export->frame_of = malloc(strings * sizeof *export->frame_of);
	if (!export->frame_of)
		return STATUS_NOMEM;
	memset(export->frame_of, 0xff, strings * sizeof *export->frame_of);
	return put_document(export, walk, err);
}

static int run_speedscope(const struct trace *trace, const struct export_options *options,
	struct export_result *ret_result, struct error *err)
{
	struct speedscope_export export = { .trace = trace };
	struct export_walk walk;
	struct output_file file;
	int status = export_walk_init(&walk, trace, options, err);

	if (status != STATUS_OK)
		return status;
	status = output_file_open(&file, options->path, options->fd, err);
	if (status == STATUS_OK) {
		json_writer_init(&export.json, output_file_write, &file);
		status = write_document(&export, &walk, err);
		status = export_json_finish(&export.json, &file, status, err);
	}
	*ret_result = walk.result;
	for (size_t i = 0; i < export.lane_count; i++) {
		json_writer_release(&export.lanes[i].events);
		free(export.lanes[i].open);
	}
	free(export.lanes);
	free(export.frame_of);
	free(export.frames);
	export_walk_release(&walk);
	return status;
}

const struct exporter export_speedscope = {
	.name = "speedscope",
	.summary = "flame graphs over time for speedscope",
	.extensions = ".speedscope.json",
	.run = run_speedscope,
};
