// SPDX-License-Identifier: MIT OR Apache-2.0
/* The session this process belongs to: joining one that `tacho record` made, starting one of its
 * own, pausing, and the schedule by steps. */
#include "record/record_internal.h"

#include <tacho/tacho.h>
#include <tacho/version.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define TOGGLE_SPINS 1000

extern char **environ;

struct record_globals record_globals;

static void set_status(int state, const char *text, const char *more)
{
	size_t length = record_text_add(
		record_globals.status_text, sizeof record_globals.status_text, 0, text);

	record_text_add(
		record_globals.status_text, sizeof record_globals.status_text, length, more);
	atomic_store(&record_globals.state, state);
}

void record_switch_off(void)
{
	__atomic_store_n(&tacho_switch, &record_no_state.limit, __ATOMIC_RELEASE);
}

static bool is_switched_off(void)
{
	return __atomic_load_n(&tacho_switch, __ATOMIC_ACQUIRE) == &record_no_state.limit;
}

bool record_has_session(void)
{
	return record_globals.session != NULL;
}

/* Memory that a forked child finds empty. */
static void *wiped_memory(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (madvise(memory, bytes, MADV_WIPEONFORK) != 0) {
		munmap(memory, bytes);
		return NULL;
	}
	return memory;
}

/* Once per process, before anything else. */
static bool prepare(void)
{
	if (!record_globals.process)
		record_globals.process = wiped_memory(4096);
	return record_globals.process != NULL;
}

/* Threads that recorded in an earlier session keep their old state, find that its pool is not the
 * session's, and attach again. */
static bool renew_states(struct record_globals *globals)
{
	struct thread_state *old = globals->states;
	struct thread_state *states = wiped_memory(SHM_SLOTS * sizeof *states);

	if (!states)
		return false;
	atomic_store(&globals->process->phase, PROCESS_ATTACHING); /* until all is in place */
	globals->states = states;
	globals->pool = NULL;
	for (uint32_t i = 0; old && i < SHM_SLOTS; i++)
		__atomic_store_n(&old[i].limit, 0, __ATOMIC_RELAXED);
	return true;
}

/* The session folder must be ours alone: made by us, closed to others, no link. (statx, since stat
 * is a symbol of glibc 2.33.) */
static int open_session_file(const char *folder, const char **ret_why)
{
	struct statx info;
	int fd, directory = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	*ret_why = "the session folder cannot be opened";
	if (directory < 0)
		return -1;
	if (statx(directory, "", AT_EMPTY_PATH, STATX_UID | STATX_MODE, &info) != 0 ||
		info.stx_uid != geteuid() || (info.stx_mode & 077)) {
		close(directory);
		*ret_why = "the session folder belongs to somebody else or is open to others";
		return -1;
	}
	fd = openat(directory, "session", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	close(directory);
	*ret_why = "the session folder holds no session";
	return fd;
}

bool record_join(const char *folder, char *ret_why, size_t why_bytes)
{
	struct record_globals *globals = &record_globals;
	struct shm_session *session;
	const char *why;
	struct statx info;
	int fd;

	if (strlen(folder) >= sizeof globals->folder || !prepare()) {
		record_text_add(ret_why, why_bytes, 0,
			"the kernel is older than 4.14 or the session's path is too long");
		return false;
	}
	fd = open_session_file(folder, &why);
	record_text_add(ret_why, why_bytes, 0, why);
	if (fd < 0)
		return false;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &info) != 0 ||
		info.stx_size < sizeof *session) {
		close(fd);
		record_text_add(
			ret_why, why_bytes, 0, "the session is of another version of Tacho");
		return false;
	}
	session = mmap(NULL, sizeof *session, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (session == MAP_FAILED) {
		record_text_add(ret_why, why_bytes, 0, "the session cannot be mapped");
		return false;
	}
	if (session->magic != SHM_MAGIC_SESSION || session->version != SHM_VERSION) {
		munmap(session, sizeof *session);
		record_text_add(
			ret_why, why_bytes, 0, "the session is of another version of Tacho");
		return false;
	}
	if (!renew_states(globals)) {
		munmap(session, sizeof *session);
		record_text_add(
			ret_why, why_bytes, 0, "there is no memory for the threads' states");
		return false;
	}
	record_text_add(globals->folder, sizeof globals->folder, 0, folder);
	__atomic_store_n(&record_hardware_clock, session->clock_kind != CLOCK_KIND_MONOTONIC,
		__ATOMIC_RELAXED);
	globals->session = session;
	atomic_store(&globals->process->phase, PROCESS_FRESH);
	__atomic_store_n(&tacho_switch, (const uint32_t *)&session->active, __ATOMIC_RELEASE);
	return true;
}

/* Settings that cannot be understood are told to the collector and otherwise ignored. */
static int note_bad_setting(void *context, const struct error *err)
{
	struct shm_session *session = context;

	if (session && atomic_fetch_add(&session->bad_settings, 1) == 0)
		record_text_add(session->note, sizeof session->note, 0, err->message);
	return 0;
}

struct start_mistake {
	int count;
	char text[200];
};

static int keep_mistake(void *context, const struct error *err)
{
	struct start_mistake *mistake = context;

	if (mistake->count++ == 0)
		record_text_add(mistake->text, sizeof mistake->text, 0, err->message);
	return 0;
}

static void load_settings(struct settings *settings, struct start_mistake *mistake)
{
	const char *file = secure_getenv("TACHO_CONFIG");

	settings_init(settings);
	if (getauxval(AT_SECURE))
		return;
	if (settings_load_file(settings, file ? file : "tacho.conf", keep_mistake, mistake) ==
			STATUS_NOTFOUND &&
		file)
		mistake->count++;
	settings_load_environment(settings, environ, keep_mistake, mistake);
}

static int start_own(const struct tacho_options *options)
{
	static struct settings settings; /* large, and start is not called in parallel */
	struct start_mistake mistake = { 0 };
	struct error err = ERROR_INIT;
	char folder[PATH_BYTES] = "", why[200] = "";
	const char *output = options && options->output ? options->output : "";

	load_settings(&settings, &mistake);
	for (size_t i = 0; options && i < options->set_count; i++) {
		const char *assignment = options->set[i];

		if (settings_assign(&settings, assignment ? assignment : "", SETTING_FROM_API,
			    &err) == STATUS_OK)
			continue;
		set_status(TACHO_FAILED, "bad option: ", err.message);
		return TACHO_ERROR_OPTION;
	}
	if (!prepare()) {
		set_status(TACHO_FAILED, "this kernel is older than Linux 4.14", "");
		return TACHO_ERROR_KERNEL;
	}
	if (!record_start_collector(&settings, output, folder, sizeof folder, why, sizeof why) ||
		!record_join(folder, why, sizeof why)) {
		set_status(TACHO_FAILED, why, "");
		return TACHO_ERROR_COLLECTOR;
	}
	for (int i = 0; i < mistake.count; i++) {
		error_set(&err, STATUS_USAGE, "%s", mistake.text);
		note_bad_setting(record_globals.session, &err);
	}
	set_status(TACHO_RECORDING, "recording with a collector of its own", "");
	return TACHO_OK;
}

static bool unknown_tail(const struct tacho_options *options)
{
	const uint8_t *bytes = (const uint8_t *)options;

	for (size_t i = sizeof *options; i < options->size; i++)
		if (bytes[i])
			return true;
	return options->size < sizeof *options;
}

RECORD_API int tacho_start(const struct tacho_options *options)
{
	struct shm_session *session = record_globals.session;
	int saved = errno, result = TACHO_OK;

	if (options && unknown_tail(options)) {
		set_status(TACHO_FAILED, "the options are of another version of Tacho", "");
		return TACHO_ERROR_OPTION;
	}
	if (session && !atomic_load(&session->ended)) {
		record_set_active(session, true);
		set_status(TACHO_RECORDING, "recording", "");
	} else {
		result = start_own(options);
	}
	errno = saved;
	return result;
}

static void note_toggle(struct shm_session *session, bool on)
{
	uint32_t at = atomic_load(&session->toggle_count);
	struct shm_toggle *toggle = &session->toggles[at % SHM_TOGGLES];

	atomic_store_explicit(&toggle->ticks, record_ticks(), memory_order_relaxed);
	atomic_store_explicit(&toggle->on, on, memory_order_relaxed);
	atomic_store_explicit(&session->toggle_count, at + 1, memory_order_release);
}

/* Tells the collector when recording was switched, so that it can close what was open then. An
 * event after the switch has a later time and is published later, so each order below is the one
 * that matters. A lock that stays closed belonged to a process that was killed: go on without. */
void record_set_active(struct shm_session *session, bool on)
{
	uint32_t open = 0;

	if (atomic_load(&session->active) == (uint32_t)on)
		return;
	for (int i = 0; i < TOGGLE_SPINS &&
			!atomic_compare_exchange_strong(&session->toggle_lock, &open, 1);
		i++, open = 0)
		sched_yield();
	if (on && !atomic_load(&session->active)) {
		note_toggle(session, true);
		atomic_store_explicit(&session->active, 1, memory_order_release);
	} else if (!on && atomic_load(&session->active)) {
		atomic_store_explicit(&session->active, 0, memory_order_release);
		note_toggle(session, false);
	}
	atomic_store(&session->toggle_lock, 0);
}

RECORD_API void tacho_stop(void)
{
	struct shm_session *session = record_globals.session;

	if (!session || atomic_load(&session->ended))
		return;
	record_set_active(session, false);
	set_status(TACHO_PAUSED, "paused by tacho_stop()", "");
}

RECORD_API enum tacho_state tacho_status(void)
{
	struct shm_session *session = record_globals.session;
	int state = atomic_load(&record_globals.state);

	if (!session || state == TACHO_FAILED)
		return (enum tacho_state)state;
	if (atomic_load(&session->ended) || is_switched_off())
		return TACHO_FAILED;
	return atomic_load(&session->active) ? TACHO_RECORDING : TACHO_PAUSED;
}

RECORD_API const char *tacho_status_text(void)
{
	struct shm_session *session = record_globals.session;

	if (session && atomic_load(&session->ended))
		return "the recording has ended";
	if (session && atomic_load(&record_globals.process->phase) == PROCESS_REFUSED)
		return session->note[0] ? session->note : "this process is not to be recorded";
	if (session && is_switched_off())
		return "the collector is gone";
	if (session && !atomic_load(&session->active) &&
		atomic_load(&record_globals.state) == TACHO_RECORDING)
		return "paused by the session's schedule or by another process";
	return record_globals.status_text[0]
		       ? record_globals.status_text
		       : "not recording: start the program with `tacho record` or "
			 "call tacho_start()";
}

RECORD_API const char *tacho_version(void)
{
	return TACHO_VERSION;
}

RECORD_API int tacho_flush(uint64_t timeout_ns)
{
	struct shm_pool *pool = record_globals.pool;
	uint64_t now = clock_mono_ns(),
		 until = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
	const struct timespec nap = { .tv_nsec = 500000 };
	int saved = errno;
	uint32_t wanted;
	int result = 0;

	if (!record_globals.session || !pool ||
		atomic_load(&record_globals.process->phase) != PROCESS_READY)
		return -1;
	wanted = atomic_fetch_add(&pool->flush_wanted, 1) + 1;
	while (!result && (int32_t)(atomic_load(&pool->flush_done) - wanted) < 0) {
		if (clock_mono_ns() > until || atomic_load(&record_globals.session->ended))
			result = -1;
		else
			nanosleep(&nap, NULL);
	}
	errno = saved;
	return result;
}

/* Whether step number `count` of this process is to be recorded. During warm-up the buffers are
 * made ready, so that the first recorded step does not pay for them. */
static void follow_schedule(struct shm_session *session, uint64_t count)
{
	uint64_t wait = session->schedule_wait, warmup = session->schedule_warmup;
	uint64_t cycle = wait + warmup + session->schedule_active;
	uint64_t round = count / cycle, at = count % cycle;
	bool over = session->schedule_repeat && round >= session->schedule_repeat;

	if (!over && at >= wait && at < wait + warmup && record_current == &record_no_state)
		(void)record_thread_attach();
	record_set_active(session, !over && at >= wait + warmup);
}

static void write_step(uint64_t number, uint32_t only_end)
{
	record_slow_begin(shm_head(SHM_STEP, 2, only_end, 0), number);
}

RECORD_API void tacho_step(uint64_t number)
{
	struct shm_session *session = record_globals.session;
	int32_t nobody = 0, self = getpid();

	if (!session)
		return;
	if (session->schedule_active &&
		(atomic_load(&session->schedule_pid) == self ||
			atomic_compare_exchange_strong(&session->schedule_pid, &nobody, self))) {
		bool was_on = atomic_load(&session->active);

		if (was_on)
			write_step(0, 1);
		follow_schedule(session, atomic_fetch_add(&record_globals.process->step_count, 1));
	}
	if (atomic_load_explicit(&session->active, memory_order_relaxed))
		write_step(number, 0);
}

RECORD_API void tacho_step_end(void)
{
	if (tacho_on())
		write_step(0, 1);
}

RECORD_API void tacho_phase(const char *name)
{
	if (!tacho_on())
		return;
	record_slow_begin(shm_head(SHM_PHASE, 1, 0, name ? record_name(name, "phase") : 0), 0);
}

/* Programs that this one becomes or starts join its session instead of writing to the same file.
 * Not where another thread may be reading the environment. The text outlives an unloaded library.
 */
static void pass_on_session(void)
{
	struct statx threads;
	char *variable;
	size_t length;

	if (statx(AT_FDCWD, "/proc/self/task", 0, STATX_NLINK, &threads) != 0 ||
		threads.stx_nlink > 3) /* itself, its parent, and one for each thread */
		return;
	variable = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (variable == MAP_FAILED)
		return;
	length = record_text_add(variable, 4096, 0, "TACHO_SESSION=");
	record_text_add(variable, 4096, length, record_globals.folder);
	(void)putenv(variable);
}

static bool is_enabled(const char *value)
{
	return value && (strcmp(value, "1") == 0 || strcmp(value, "on") == 0 ||
				strcmp(value, "true") == 0 || strcmp(value, "yes") == 0);
}

/* Runs when the library is loaded: joins the session of `tacho record`, if there is one, or starts
 * one when TACHO_ENABLED asks for it. A setuid program ignores both. */
static __attribute__((constructor)) void on_load(void)
{
	const char *folder = secure_getenv("TACHO_SESSION");
	bool enabled = is_enabled(secure_getenv("TACHO_ENABLED"));
	int saved = errno;
	char why[200] = "";

	(void)prepare();
	if (folder && folder[0] && record_join(folder, why, sizeof why))
		set_status(TACHO_RECORDING, "recording in a session that was there", "");
	else if (enabled && start_own(NULL) == TACHO_OK)
		pass_on_session();
	else if (folder && folder[0] && !enabled)
		set_status(TACHO_FAILED, why, "");
	errno = saved;
}
