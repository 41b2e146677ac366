// SPDX-License-Identifier: MIT OR Apache-2.0
/* What a trace says about itself: where and how it was recorded, and the ledger. */
#include "collect/collector_internal.h"

#include "env/fingerprint.h"

#include <tacho/version.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

double collector_cpu_seconds(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
	       1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void add_fact(void *context, const char *key, const char *value)
{
	char prefixed[128];

	snprintf(prefixed, sizeof prefixed, "env.%s", key);
	store_metadata(context, prefixed, value);
}

void collector_describe(struct collector *collector)
{
	struct store *store = &collector->recording.store;
	size_t count;
	const struct setting *table = settings_table(&count);
	char key[96], text[64];

	store_metadata(store, "source", "tacho record");
	store_metadata(store, "tacho.version", TACHO_VERSION);
	store_metadata(store, "program", collector->program);
	if (collector->command)
		store_metadata(store, "command", collector->command);
	store_metadata(store, "mode", store->flight ? "flight recorder" : "full");
	store_metadata(store, "clock.kind", clock_kind_name(collector->recording.clock.kind));
	snprintf(text, sizeof text, "%" PRIu64, store->header.start_unix_ns);
	store_metadata(store, "start_unix_ns", text);
	for (size_t i = 0; i < count; i++) {
		if (collector->settings.values[i].source == SETTING_FROM_DEFAULT)
			continue;
		snprintf(key, sizeof key, "setting.%s", table[i].key);
		store_metadata(store, key, collector->settings.values[i].text);
	}
	fingerprint_collect(add_fact, store);
}

static void add_missing(void *context, const char *what, const char *why)
{
	char text[80];

	snprintf(text, sizeof text, "counter not available: %s", what);
	ledger_add(context, 1, text, "machine", why);
}

static void enter(struct collector *collector, uint64_t count, const char *what, const char *effect)
{
	if (count)
		ledger_add(&collector->recording.store.ledger, count, what, "recording", effect);
}

/* States the cost of recording: events times their calibrated cost, over the program's own time. */
static double state_overhead(struct collector *collector, const struct collector_cost *cost)
{
	struct recording *recording = &collector->recording;
	double wall_s = (double)collector_now(collector) / 1e9;
	double own_s = collector_cpu_seconds() - collector->cpu_at_start_s;
	double base_s = cost->program_cpu_s > 0 ? cost->program_cpu_s : wall_s;
	double spent_s = ((double)recording->scopes * cost->scope_ns +
				 (double)recording->events * cost->event_ns) /
			 1e9;
	double percent = base_s > 0 ? 100 * spent_s / base_s : 0;
	char text[400];

	snprintf(text, sizeof text, "%.3f s of %.1f s (%.3f %% of one core)", own_s, wall_s,
		wall_s > 0 ? 100 * own_s / wall_s : 0);
	store_metadata(&recording->store, "overhead.collector_cpu", text);
	if (cost->scope_ns <= 0) {
		store_metadata(&recording->store, "overhead.derivation",
			"not known: no calibration; run `tacho selftest`");
		return -1;
	}
	snprintf(text, sizeof text,
		"%" PRIu64 " scopes x %.1f ns + %" PRIu64 " other events x %.1f ns (calibrated on "
		"this machine) = %.6f s in the program, of its %.3f s of %s time",
		recording->scopes, cost->scope_ns, recording->events, cost->event_ns, spent_s,
		base_s, cost->program_cpu_s > 0 ? "CPU" : "wall");
	store_metadata(&recording->store, "overhead.derivation", text);
	return percent;
}

void collector_settle(
	struct collector *collector, const struct collector_cost *cost, double *ret_percent)
{
	struct recording *recording = &collector->recording;
	struct shm_session *session = collector->dir.session;
	struct ledger *ledger = &recording->store.ledger;
	char text[96];

	ledger->recorded = recording->scopes + recording->events;
	ledger->dropped = collector->dropped;
	ledger->produced = ledger->recorded + ledger->dropped;
	ledger->repaired = recording->lost_ends + recording->open_at_end;
	ledger->clock_error_ns = recording->clock.worst_ns;
	enter(collector, recording->unmatched_ends, "ends without a begin",
		"their scopes began before recording did, or end was called too often");
	enter(collector, recording->open_at_end, "scopes still open at the end",
		"they end when their thread or the recording was seen to end");
	enter(collector, recording->lost_ends, "ends of scopes without an exact time",
		"no free buffer: these scopes end at the next time known");
	enter(collector, recording->async_open, "async spans never ended", "they are missing");
	enter(collector, recording->clipped_spans, "explicit spans with impossible times",
		"they were moved into the trace or made empty");
	enter(collector, recording->deep, "scopes nested too deeply", "they are missing");
	enter(collector, recording->bad_records, "records that make no sense",
		"the rest of their buffer is missing");
	enter(collector, recording->names_unknown, "names that could not be read", "shown as ?");
	enter(collector, collector->names_lost, "new names without room",
		"shown as ?; raise names_size");
	enter(collector, collector->cut_strings, "texts cut",
		"argument values longer than 4000 bytes, or names longer than 1 MiB");
	enter(collector, recording->toggles_lost, "switches of recording not seen",
		"they came too fast: scopes open at them may end later than they should");
	if (atomic_load(&session->refused))
		enter(collector, atomic_load(&session->refused), "processes that could not record",
			session->note);
	if (atomic_load(&session->bad_settings))
		enter(collector, atomic_load(&session->bad_settings),
			"settings not understood by a process", session->note);
	if (collector->sampler)
		machine_missing(collector->sampler, add_missing, ledger);
	snprintf(text, sizeof text, "%" PRIu32, recording->clock.anchors + 2);
	store_metadata(&recording->store, "clock.anchors", text);
	*ret_percent = state_overhead(collector, cost);
	ledger->overhead_percent = *ret_percent;
}
