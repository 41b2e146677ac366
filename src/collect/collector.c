// SPDX-License-Identifier: MIT OR Apache-2.0
/* The life of a collector: made, started, ticking, finished. */
#include "collect/collector_internal.h"

#include "collect/control.h"
#include "collect/output_name.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAP_PERIOD_NS       100000000u
#define FLUSH_AGE_NS         UINT64_C(1000000000)
#define FLUSH_AGE_LEAST_NS   UINT64_C(10000000)
#define CHECKPOINT_PERIOD_NS UINT64_C(10000000000)
#define WAIT_SHORT_NS        1000000u
#define WAIT_LONG_NS         20000000u
#define BUSY_BYTES           (64u << 10) /* drained at once: poll faster */
#define LOW_ROOM             0.5
#define OUTLIER_DUMPS_MAX    10u
#define FINAL_DRAIN_NS       UINT64_C(2000000000)

static void fill_session(struct collector *collector)
{
	struct shm_session *session = collector->dir.session;
	const struct settings *settings = &collector->settings;
	uint32_t parts[4];
	struct stat namespace;
	struct error err = ERROR_INIT;

	session->version = SHM_VERSION;
	session->clock_kind = collector->recording.clock.kind;
	session->collector_pid = getpid();
	session->pid_namespace =
		stat("/proc/self/ns/pid", &namespace) == 0 ? (uint64_t) namespace.st_ino : 0;
	session->pool_bytes = settings_number(settings, SETTING_POOL_SIZE);
	session->names_bytes = settings_number(settings, SETTING_NAMES_SIZE);
	(void)!getrandom(&session->session_id, sizeof session->session_id, GRND_NONBLOCK);
	session->flags =
		(settings_number(settings, SETTING_FOLLOW) ? SHM_FOLLOW : 0) |
		(settings_number(settings, SETTING_RECORD_SHAPES) ? SHM_RECORD_SHAPES : 0) |
		(settings_number(settings, SETTING_WITH_FLOPS) ? SHM_WITH_FLOPS : 0);
	if (settings_text(settings, SETTING_SCHEDULE)[0] &&
		settings_parse_schedule(settings_text(settings, SETTING_SCHEDULE), parts, &err) ==
			STATUS_OK) {
		session->schedule_wait = parts[0];
		session->schedule_warmup = parts[1];
		session->schedule_active = parts[2];
		session->schedule_repeat = parts[3];
	}
	session->anchor_ticks = collector->recording.clock.first.ticks;
	session->anchor_mono_ns = collector->recording.clock.first.mono_ns;
	session->anchor_real_ns = collector->recording.clock.first.real_ns;
	atomic_store(&session->heartbeat_ns, clock_mono_ns());
	session->magic = SHM_MAGIC_SESSION;
}

int collector_new(
	const struct settings *settings, struct collector **ret_collector, struct error *err)
{
	struct collector *collector = calloc(1, sizeof *collector);
	struct file_header header = { .version = FORMAT_VERSION };
	struct clock_sync clock;
	int status;

	if (!collector)
		return error_set(err, STATUS_NOMEM, "out of memory");
	collector->settings = *settings;
	collector->control_fd = -1;
	collector->output_fd = -1;
	collector->dir.lock_fd = -1;
	collector_hold_spares(collector);
	collector->cpu_at_start_s = collector_cpu_seconds();
	clock_sync_init(&clock, clock_best_kind());
	header.start_unix_ns = clock.first.real_ns;
	header.start_mono_ns = clock.first.mono_ns;
	(void)!getrandom(header.session, sizeof header.session, GRND_NONBLOCK);
	status = session_dir_make(
		&collector->dir, settings_text(settings, SETTING_SESSION_DIR), err);
	if (status == STATUS_OK) {
		status = recording_init(&collector->recording, collector->dir.session, &header);
		if (status != STATUS_OK)
			error_set(err, status, "out of memory");
	}
	if (status != STATUS_OK) {
		collector_free(collector);
		return status;
	}
	collector->recording.clock = clock;
	fill_session(collector);
	collector->control_fd = control_listen(collector->dir.path);
	*ret_collector = collector;
	return STATUS_OK;
}

void collector_free(struct collector *collector)
{
	if (!collector)
		return;
	for (size_t i = 0; i < collector->process_count; i++) {
		process_reader_free(collector->processes[i].reader);
		if (collector->processes[i].pid_fd >= 0)
			close(collector->processes[i].pid_fd);
	}
	for (size_t i = 0; i < collector->names_count; i++)
		names_reader_free(collector->names[i]);
	free(collector->processes);
	free(collector->names);
	free(collector->ignored);
	free(collector->command);
	machine_sampler_free(collector->sampler);
	id_map_release(&collector->counter_tracks);
	id_map_release(&collector->process_tracks);
	if (collector->control_fd >= 0)
		close(collector->control_fd);
	if (collector->output_fd >= 0)
		close(collector->output_fd);
	collector_release_spares(collector);
	if (collector->dir.session)
		atomic_store(&collector->dir.session->ended, 1);
	recording_release(&collector->recording);
	session_dir_remove(&collector->dir);
	free(collector);
}

const char *collector_folder(const struct collector *collector)
{
	return collector->dir.path;
}

const char *collector_output(const struct collector *collector)
{
	return collector->output;
}

int collector_control_fd(const struct collector *collector)
{
	return collector->control_fd;
}

bool collector_is_over(const struct collector *collector)
{
	return collector->over;
}

uint64_t collector_events(const struct collector *collector)
{
	return collector->recording.scopes + collector->recording.events;
}

static void on_step(void *context, uint64_t number, uint64_t duration_ns)
{
	struct collector *collector = context;

	(void)number;
	if (step_watch_add(&collector->watch, duration_ns) &&
		settings_number(&collector->settings, SETTING_DUMP_ON_OUTLIER))
		collector->dump_wanted = true;
}

/* A name of our own choosing never replaces a file: "x.tacho" becomes "x-2.tacho". */
static void choose_free_name(struct collector *collector)
{
	char name[sizeof collector->output];
	size_t length = strlen(collector->output) - strlen(".tacho");
	int fd = -1;

	if (settings_text(&collector->settings, SETTING_OUTPUT)[0])
		return;
	snprintf(name, sizeof name, "%s", collector->output);
	for (unsigned number = 2; number < 10000; number++) {
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			break;
		snprintf(
			name, sizeof name, "%.*s-%u.tacho", (int)length, collector->output, number);
	}
	if (fd < 0)
		return; /* whoever writes it will say what is wrong */
	close(fd);
	snprintf(collector->output, sizeof collector->output, "%s", name);
}

/* Two recordings must not write the same file. */
static int lock_output(struct collector *collector, struct error *err)
{
	int fd = open(collector->output, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		close(fd);
		return error_set(
			err, STATUS_BUSY, "%s: another recording is writing it", collector->output);
	}
	collector->output_fd = fd;
	return STATUS_OK;
}

static int open_output(struct collector *collector, struct error *err)
{
	const struct settings *settings = &collector->settings;
	struct store *store = &collector->recording.store;
	uint64_t last = settings_number(settings, SETTING_LAST);
	int status = output_name(settings_text(settings, SETTING_OUTPUT), collector->program,
		collector->root, collector->output, sizeof collector->output, err);

	collector->flush_age_ns = FLUSH_AGE_NS;
	if (status != STATUS_OK)
		return status;
	if (last) {
		store_keep(store, last, settings_number(settings, SETTING_LAST_BYTES));
		/* Blocks are kept or let go as a whole: a tenth of what is kept is fine enough. */
		if (collector->flush_age_ns > last / 10)
			collector->flush_age_ns = last / 10;
		if (collector->flush_age_ns < FLUSH_AGE_LEAST_NS)
			collector->flush_age_ns = FLUSH_AGE_LEAST_NS;
		collector->recording.on_step = on_step;
		collector->recording.on_step_context = collector;
		return STATUS_OK;
	}
	choose_free_name(collector);
	status = lock_output(collector, err);
	if (status != STATUS_OK)
		return status;
	return store_open_file(
		store, collector->output, settings_number(settings, SETTING_MAX_SIZE), err);
}

int collector_start(struct collector *collector, pid_t root, const char *program,
	const char *command, struct error *err)
{
	struct shm_session *session = collector->dir.session;
	uint64_t now = clock_mono_ns(), duration;
	int status;

	collector->root = root;
	snprintf(collector->program, sizeof collector->program, "%s", program);
	status = open_output(collector, err);
	if (status != STATUS_OK)
		return status;
	snprintf(session->output, sizeof session->output, "%s", collector->output);
	session->main_pid = root;
	collector->command = command ? strdup(command) : NULL;
	collector_machine_start(collector);
	duration = settings_number(&collector->settings, SETTING_DURATION);
	collector->end_ns = duration ? now + duration : UINT64_MAX;
	collector->next_counters_ns = now;
	collector->next_checkpoint_ns = now + CHECKPOINT_PERIOD_NS;
	collector->started = true;
	atomic_store(&session->active, session->schedule_active ? 0 : 1);
	return STATUS_OK;
}

static int serve_dump(void *context, uint64_t last_ns, const char *path, const char *reason,
	char *ret_path, size_t path_bytes, struct error *err)
{
	return collector_dump(context, last_ns, path, reason, ret_path, path_bytes, err);
}

/* Dumps of outliers are rare by design: one per kept span of time, ten in all. */
static void dump_outlier(struct collector *collector, uint64_t now)
{
	struct error err = ERROR_INIT;
	char path[1100];

	collector->dump_wanted = false;
	if (now < collector->dump_not_before_ns || collector->outlier_dumps >= OUTLIER_DUMPS_MAX)
		return;
	collector->outlier_dumps++;
	collector->dump_not_before_ns = now + settings_number(&collector->settings, SETTING_LAST);
	if (collector_dump(collector, 0, NULL, "outlier", path, sizeof path, &err) != STATUS_OK)
		ledger_add(&collector->recording.store.ledger, 1, "a dump failed", "outlier",
			err.message);
}

/* The least room that a process has for threads and events. */
static double least_room(const struct collector *collector)
{
	double least = 1;

	for (size_t i = 0; i < collector->process_count; i++) {
		double room = process_reader_room(collector->processes[i].reader);

		least = room < least ? room : least;
	}
	return least;
}

/* Threads that are gone still hold buffers, so where those are scarce they are looked for at once;
 * but to look is dear, so where none are found it is done less and less often. */
static void reap(struct collector *collector, uint64_t now)
{
	double room = least_room(collector);
	bool low = room < LOW_ROOM;

	if (now < collector->next_reap_ns && !(low && now >= collector->next_low_reap_ns))
		return;
	collector_reap(collector);
	collector->next_reap_ns = now + REAP_PERIOD_NS;
	if (!low || least_room(collector) > room)
		collector->low_reap_wait_ns = WAIT_SHORT_NS;
	else if (collector->low_reap_wait_ns < REAP_PERIOD_NS)
		collector->low_reap_wait_ns *= 2;
	collector->next_low_reap_ns = now + collector->low_reap_wait_ns;
	if (collector->control_fd >= 0)
		control_serve(collector->control_fd, serve_dump, collector);
}

static uint64_t collector_dropped(const struct collector *collector)
{
	uint64_t dropped = collector->dropped;

	for (size_t i = 0; i < collector->process_count; i++)
		dropped += collector->processes[i].reader->dropped;
	return dropped;
}

/* The ledger as it stands, for a dump or a checkpoint; its entries are made at the end. */
static void update_totals(struct collector *collector)
{
	struct ledger *ledger = &collector->recording.store.ledger;

	ledger->recorded = collector_events(collector);
	ledger->dropped = collector_dropped(collector);
	ledger->produced = ledger->recorded + ledger->dropped;
	ledger->clock_error_ns = collector->recording.clock.worst_ns;
}

/* Looking at the machine takes a while (a GPU's driver some 40 ms): the program does not wait. */
static void describe_once(struct collector *collector)
{
	if (collector->described)
		return;
	collector->described = true;
	collector_describe(collector);
	store_checkpoint(&collector->recording.store);
}

static void do_due(struct collector *collector, uint64_t now)
{
	describe_once(collector);
	reap(collector, now);
	collector_machine_tick(collector, now);
	if (now >= collector->next_flush_ns) {
		uint64_t trace_now = collector_now(collector), age = collector->flush_age_ns;

		collector_flush(collector, trace_now > age ? trace_now - age : 0);
		collector->next_flush_ns = now + age / 4;
	}
	if (now >= collector->next_checkpoint_ns) {
		update_totals(collector);
		store_checkpoint(&collector->recording.store);
		collector->next_checkpoint_ns = now + CHECKPOINT_PERIOD_NS;
	}
	if (collector->dump_wanted)
		dump_outlier(collector, now);
}

uint64_t collector_tick(struct collector *collector)
{
	uint64_t now = clock_mono_ns(), drained;

	if (!collector->started || collector->over || collector->stopped)
		return WAIT_LONG_NS;
	atomic_store_explicit(&collector->dir.session->heartbeat_ns, now, memory_order_relaxed);
	clock_sync_update(&collector->recording.clock, now);
	collector_find_pools(collector);
	drained = collector_drain(collector);
	do_due(collector, now);
	collector->over = now >= collector->end_ns;
	/* Poll fast while much comes, slowly while little does. */
	if (drained > BUSY_BYTES)
		collector->wait_ns = WAIT_SHORT_NS;
	else if (collector->wait_ns < WAIT_LONG_NS)
		collector->wait_ns += collector->wait_ns / 4 + WAIT_SHORT_NS / 4;
	return collector->wait_ns;
}

/* "out.tacho" becomes "out.dump-3-outlier.tacho". */
static void dump_name(
	const struct collector *collector, const char *reason, char *path, size_t bytes)
{
	const char *output = collector->output;
	size_t length = strlen(output);

	if (length > 6 && strcmp(output + length - 6, ".tacho") == 0)
		length -= 6;
	snprintf(path, bytes, "%.*s.dump-%u-%s.tacho", (int)length, output, collector->dumps + 1,
		reason);
}

int collector_dump(struct collector *collector, uint64_t last_ns, const char *path,
	const char *reason, char *ret_path, size_t path_bytes, struct error *err)
{
	struct store *store = &collector->recording.store;
	char name[1100], resolved[PATH_MAX];
	int status;

	if (!collector->started)
		return error_set(err, STATUS_BUSY, "the recording has not begun");
	if (!store->flight)
		return error_set(err, STATUS_USAGE,
			"this is a full recording, not a flight recorder: its file is %s",
			collector->output);
	if (path)
		snprintf(name, sizeof name, "%s", path);
	else
		dump_name(collector, reason, name, sizeof name);
	(void)collector_drain(collector);
	collector_flush(collector, UINT64_MAX);
	store_metadata(store, "dump.reason", reason);
	update_totals(collector);
	status = store_dump(store, name, last_ns, err);
	if (status != STATUS_OK)
		return status;
	collector->dumps++;
	snprintf(ret_path, path_bytes, "%s", realpath(name, resolved) ? resolved : name);
	return STATUS_OK;
}

static void drain_all(struct collector *collector)
{
	uint64_t until = clock_mono_ns() + FINAL_DRAIN_NS;

	do
		collector_find_pools(collector);
	while (collector_drain(collector) && clock_mono_ns() < until);
}

void collector_stop(struct collector *collector)
{
	struct shm_session *session = collector->dir.session;

	if (collector->stopped)
		return;
	collector->stopped = true;
	describe_once(collector);
	atomic_store(&session->active, 0);
	drain_all(collector);
	if (collector->pools_seen != atomic_load(&session->pool_serial))
		ledger_add(&collector->recording.store.ledger, 1, "processes not found",
			"recording",
			"there was no descriptor left to look for them: they are missing");
	collector_machine_tick(collector, clock_mono_ns());
	collector_reap(collector);
	collector->still_running = collector->process_count;
	collector_close_processes(collector, collector_now(collector));
	atomic_store(&session->ended, 1);
	recording_flush(&collector->recording);
}

int collector_finish(struct collector *collector, const struct collector_cost *cost,
	struct collector_summary *ret_summary, struct error *err)
{
	struct recording *recording = &collector->recording;
	struct store *store = &recording->store;
	struct stat info;
	int status;

	memset(ret_summary, 0, sizeof *ret_summary);
	collector_stop(collector);
	if (collector->still_running)
		ledger_add(&store->ledger, collector->still_running,
			"processes still running at the end", "recording",
			"what they did later is not in the trace");
	collector_settle(collector, cost, &ret_summary->overhead_percent);
	if (store->flight)
		choose_free_name(collector);
	status = store->flight ? store_dump(store, collector->output, 0, err)
			       : store_finish(store, err);
	snprintf(ret_summary->output, sizeof ret_summary->output, "%s", collector->output);
	snprintf(ret_summary->failure, sizeof ret_summary->failure, "%s", store->failure);
	ret_summary->bytes = stat(collector->output, &info) == 0 ? (uint64_t)info.st_size : 0;
	ret_summary->scopes = recording->scopes;
	ret_summary->events = recording->events;
	ret_summary->dropped = collector->dropped;
	ret_summary->skipped = store->rows_skipped;
	ret_summary->processes = collector->processes_total;
	ret_summary->dumps = collector->dumps;
	ret_summary->collector_cpu_s = collector_cpu_seconds() - collector->cpu_at_start_s;
	return status;
}
