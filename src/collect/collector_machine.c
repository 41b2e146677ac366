// SPDX-License-Identifier: MIT OR Apache-2.0
/* Counters of the machine and the processes become counter tracks. */
#include "collect/collector_internal.h"

#include <stdio.h>
#include <string.h>

void collector_machine_start(struct collector *collector)
{
	struct error err = ERROR_INIT;
	double rate = settings_real(&collector->settings, SETTING_COUNTERS_RATE);

	if (!settings_number(&collector->settings, SETTING_COUNTERS))
		return;
	if (machine_sampler_new(collector->root, &collector->sampler, &err) != STATUS_OK) {
		ledger_add(&collector->recording.store.ledger, 1, "no machine counters",
			"collector", err.message);
		return;
	}
	collector->counter_period_ns = (uint64_t)(1e9 / rate);
}

/* The track that counters of a process hang under; processes that record nothing have one too. */
static uint32_t process_track(struct collector *collector, pid_t pid)
{
	struct trace_dict *dict = &collector->recording.store.dict;
	char path[64], name[64] = "";
	uint64_t found;
	uint32_t text, track = collector->recording.machine_track;
	FILE *file;

	if (pid == 0)
		return collector->recording.machine_track;
	if (pid < 0 && collector->has_tree_track)
		return collector->tree_track;
	if (pid > 0 && id_map_get(&collector->process_tracks, (uint64_t)pid, &found))
		return (uint32_t)found;
	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	file = pid > 0 ? fopen(path, "re") : NULL;
	if (file && fgets(name, sizeof name, file))
		name[strcspn(name, "\n")] = 0;
	if (file)
		fclose(file);
	if (!name[0])
		snprintf(name, sizeof name, "%s", pid < 0 ? "all processes" : "process");
	if (trace_dict_string(dict, name, strlen(name), &text) == STATUS_OK)
		(void)!trace_dict_track(dict, collector->recording.machine_track, TRACK_PROCESS,
			pid > 0 ? (uint64_t)pid : 0, text, 0, &track);
	if (pid < 0) {
		collector->tree_track = track;
		collector->has_tree_track = true;
	} else {
		(void)!id_map_put(&collector->process_tracks, (uint64_t)pid, track);
	}
	return track;
}

static uint32_t counter_track(struct collector *collector, const struct machine_sample *sample)
{
	struct trace_dict *dict = &collector->recording.store.dict;
	uint64_t key = 1469598103934665603u, found;
	uint32_t name, unit, track = 0;

	for (const char *at = sample->name; *at; at++)
		key = (key ^ (uint8_t)*at) * 1099511628211u;
	key ^= (uint64_t)(uint32_t)sample->pid << 32;
	if (id_map_get(&collector->counter_tracks, key, &found))
		return (uint32_t)found;
	if (trace_dict_string(dict, sample->name, strlen(sample->name), &name) == STATUS_OK &&
		trace_dict_string(dict, sample->unit, strlen(sample->unit), &unit) == STATUS_OK &&
		trace_dict_track(dict, process_track(collector, sample->pid), TRACK_COUNTER, 0,
			name, unit, &track) == STATUS_OK)
		(void)!id_map_put(&collector->counter_tracks, key, track);
	return track;
}

static void take_sample(void *context, const struct machine_sample *sample)
{
	struct collector *collector = context;
	struct recording *recording = &collector->recording;
	bool real = sample->kind == MACHINE_DOUBLE;
	uint64_t row[] = { [COUNTERS_TRACK] = counter_track(collector, sample),
		[COUNTERS_TIME] = collector->counter_ns,
		[COUNTERS_KIND] = real ? COUNTER_DOUBLE : COUNTER_INTEGER,
		[COUNTERS_VALUE] = (uint64_t)sample->integer };

	if (real)
		memcpy(&row[COUNTERS_VALUE], &sample->real, sizeof sample->real);
	recording_row(recording, TABLE_COUNTERS,
		real ? &recording->real_counters : &recording->counters, row);
}

void collector_machine_tick(struct collector *collector, uint64_t now_ns)
{
	if (!collector->sampler || now_ns < collector->next_counters_ns)
		return;
	collector->counter_ns = clock_sync_from_mono(&collector->recording.clock, now_ns);
	machine_sampler_tick(collector->sampler, now_ns, take_sample, collector);
	collector->next_counters_ns += collector->counter_period_ns;
	/* After a stall go on from now instead of catching up. */
	if (collector->next_counters_ns < now_ns)
		collector->next_counters_ns = now_ns + collector->counter_period_ns;
}
