/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the parts of the machine sampler share. Each part has one struct, opened once and read every
 * tick:
 *
 *   machine_tree    (machine_tree.c)     processes            every tick; the tree itself at 1 Hz
 *   machine_system  (machine_system.c)   CPU, memory, disk, network, PSI    every tick
 *   machine_cgroup  (machine_cgroup.c)   throttling, use      every tick; limits at 1 Hz
 *   machine_sensors (machine_sensor.c)   RAPL                 every tick; clocks, heat at 1 Hz
 */
#pragma once

#include "collect/machine.h"
#include "env/cgroup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What changes slowly or costs much is read this often, whatever the tick. */
#define MACHINE_SLOW_NS UINT64_C(1000000000)

#define MACHINE_MAX_LISTED  256  /* processes with samples of their own */
#define MACHINE_MAX_TRACKED 4096 /* processes in the tree's sum */

/* ---- handing out values (machine.c) ---- */

struct machine_out {
	machine_sink *sink;
	void *context;
	uint64_t now_ns;
	pid_t pid;
};

void machine_out_integer(
	const struct machine_out *out, const char *name, const char *unit, uint64_t value);
void machine_out_double(
	const struct machine_out *out, const char *name, const char *unit, double value);

/* A number that only grows, and when it was last read. */
struct machine_counter {
	uint64_t value;
	uint64_t at_ns;
	bool known;
};

/* Growth per second since the last call. False at the first call, without time between, and when
 * the counter went backwards; it is stored in any case. */
bool machine_counter_rate(
	struct machine_counter *counter, uint64_t value, uint64_t now_ns, double *ret_per_second);
/* machine_counter_rate() times `scale`, handed out if there is one. */
void machine_out_rate(const struct machine_out *out, struct machine_counter *counter,
	const char *name, const char *unit, uint64_t value, double scale);

/* A value handed out at first and when it changes. */
struct machine_limit {
	double value;
	bool known;
};

void machine_out_limit(const struct machine_out *out, struct machine_limit *limit, const char *name,
	const char *unit, enum machine_value kind, double value);

/* What is not there; both texts are static. */
struct machine_missing_list {
	struct {
		const char *what;
		const char *why;
	} items[16];
	size_t count;
};

/* Notes it once per `what`. */
void machine_missing_note(struct machine_missing_list *list, const char *what, const char *why);
/* Why a file could not be opened or read, as a static text. */
const char *machine_errno_text(int error);

struct machine_roots {
	const char *proc; /* "/proc" */
	const char *sys;  /* "/sys" */
};

/* ---- processes ---- */

/* The switches of one thread at the last scan. */
struct machine_thread {
	pid_t tid;
	uint64_t voluntary;
	uint64_t involuntary;
};

struct machine_process {
	pid_t pid;
	int stat_fd; /* -1: opened for each reading */
	int statm_fd;
	int io_fd;
	clockid_t clock;
	bool has_clock;
	bool ended;
	bool fresh; /* not read yet */
	uint64_t start_ticks;
	uint64_t switches_ns; /* when `threads` was read; 0: never */
	struct machine_counter cpu, user, system, minor, major;
	struct machine_counter read, write, rchar, wchar;
	struct machine_thread *threads;
	size_t thread_count;
};

struct machine_tree {
	struct machine_process *processes;
	size_t count;
	size_t capacity;
	size_t open_count; /* processes with files kept open */
	uint64_t next_scan_ns;
	bool has_children_files;
	double ticks_per_second;
	uint64_t page_bytes;
};

/* One reading of /proc/PID/stat. */
struct machine_stat {
	char state;
	uint64_t minor, major, user, system, threads, start_ticks, rss_pages;
};

/* What goes out for one process or, added up, for the tree. A rate that one process lacks (its
 * first reading) does not spoil the sum. */
enum machine_process_value {
	MACHINE_VALUE_CPU,
	MACHINE_VALUE_USER,
	MACHINE_VALUE_SYSTEM,
	MACHINE_VALUE_MINOR,
	MACHINE_VALUE_MAJOR,
	MACHINE_VALUE_READ,
	MACHINE_VALUE_WRITE,
	MACHINE_VALUE_RCHAR,
	MACHINE_VALUE_WCHAR,
	MACHINE_VALUE_VOLUNTARY,
	MACHINE_VALUE_INVOLUNTARY,
	MACHINE_VALUES,
};

struct machine_process_values {
	bool known[MACHINE_VALUES];
	double rate[MACHINE_VALUES];
	uint64_t rss_bytes;
	uint64_t threads;
};

/* Adds `rate` to a value. */
void machine_process_put(
	struct machine_process_values *values, enum machine_process_value which, double rate);
/* Adds all of one process's values to a sum. */
void machine_process_add(
	struct machine_process_values *sum, const struct machine_process_values *one);
/* Hands out what is known of them. */
void machine_process_out(
	const struct machine_out *out, const struct machine_process_values *values);
bool machine_stat_parse(
	const char *buffer, ssize_t length, struct machine_stat *ret_stat, pid_t *ret_parent);
/* Returns false when the process has ended: its file is gone or empty, or its number now belongs to
 * another. A zombie is kept, so that the next scan does not take it for new, but is not alive. */
bool machine_process_read(struct machine_tree *tree, struct machine_process *process,
	const struct machine_roots *roots, struct machine_missing_list *missing, uint64_t now_ns,
	struct machine_process_values *values, bool *ret_alive);

void machine_tree_init(
	struct machine_tree *tree, const struct machine_roots *roots, pid_t root, bool is_live);
void machine_tree_release(struct machine_tree *tree);
void machine_tree_tick(struct machine_tree *tree, const struct machine_roots *roots, bool is_live,
	struct machine_missing_list *missing, struct machine_out *out);

/* ---- CPU, memory, disk, network, pressure ---- */

/* Which rows of a table of devices count, decided once per name. */
struct machine_device {
	char name[32];
	bool is_physical;
};

struct machine_devices {
	struct machine_device *items;
	size_t count;
	size_t capacity;
};

enum machine_cpu_time {
	MACHINE_CPU_USER,
	MACHINE_CPU_NICE,
	MACHINE_CPU_SYSTEM,
	MACHINE_CPU_IDLE,
	MACHINE_CPU_IOWAIT,
	MACHINE_CPU_IRQ,
	MACHINE_CPU_SOFTIRQ,
	MACHINE_CPU_STEAL,
	MACHINE_CPU_TIMES,
};

struct machine_system {
	int stat_fd, meminfo_fd, disk_fd, net_fd;
	int psi_fds[3];
	uint64_t cpu[MACHINE_CPU_TIMES];
	bool cpu_known;
	struct machine_limit memory_total, swap_total;
	struct machine_counter disk_read, disk_write, net_rx, net_tx;
	struct machine_counter psi_some[3], psi_full[3];
	struct machine_devices disks, interfaces;
};

void machine_system_init(struct machine_system *system, const struct machine_roots *roots,
	struct machine_missing_list *missing);
void machine_system_release(struct machine_system *system);
void machine_system_tick(struct machine_system *system, const struct machine_roots *roots,
	const struct machine_out *out);

/* ---- control group ---- */

struct machine_cgroup {
	struct cgroup place;
	int cpu_stat_fd, memory_fd, oom_fd;
	uint64_t next_slow_ns;
	uint64_t periods, throttled_periods;
	bool periods_known;
	struct machine_counter throttled;
	struct machine_limit cpu_limit, memory_limit, oom_kills;
};

void machine_cgroup_init(struct machine_cgroup *group, const struct machine_roots *roots,
	pid_t root, struct machine_missing_list *missing);
void machine_cgroup_release(struct machine_cgroup *group);
void machine_cgroup_tick(struct machine_cgroup *group, const struct machine_out *out);

/* ---- sensors ---- */

#define MACHINE_MAX_CLOCKS 64
#define MACHINE_MAX_HEAT   48
#define MACHINE_MAX_RAPL   32

enum machine_rapl_domain {
	MACHINE_RAPL_PACKAGE,
	MACHINE_RAPL_DRAM,
	MACHINE_RAPL_PSYS,
	MACHINE_RAPL_DOMAINS,
};

struct machine_rapl {
	int fd;
	enum machine_rapl_domain domain;
	uint64_t range_uj; /* the counter starts again at 0 behind this */
	uint64_t last_uj;
	bool known;
};

struct machine_sensors {
	int clock_fds[MACHINE_MAX_CLOCKS];
	size_t clock_count;
	struct {
		int fd;
		bool is_cpu;
	} heat[MACHINE_MAX_HEAT];
	size_t heat_count;
	struct machine_rapl rapl[MACHINE_MAX_RAPL];
	size_t rapl_count;
	struct {
		uint64_t energy_uj; /* since the first tick */
		struct machine_counter counter;
	} domains[MACHINE_RAPL_DOMAINS];
	uint64_t next_slow_ns;
};

void machine_sensors_init(struct machine_sensors *sensors, const struct machine_roots *roots,
	struct machine_missing_list *missing);
void machine_sensors_release(struct machine_sensors *sensors);
void machine_sensors_tick(struct machine_sensors *sensors, const struct machine_out *out);

/* ---- the whole ---- */

/* machine_sampler_new() over other folders. `is_live` says that they are the kernel's own and pids
 * are real, so that process clocks may be asked; the roots are copied. */
int machine_sampler_new_at(const char *proc_root, const char *sys_root, pid_t root, bool is_live,
	struct machine_sampler **ret_sampler, struct error *err) MUST_USE;
