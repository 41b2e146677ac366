/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The collector's parts, shared by its files. */
#pragma once

#include "collect/collector.h"
#include "collect/machine.h"
#include "collect/process_reader.h"
#include "collect/session_dir.h"
#include "collect/step_watch.h"

#define COLLECTOR_SPARE_FDS 2

struct followed {
	struct process_reader *reader;
	int pid_fd; /* -1: watched by kill() */
};

struct collector {
	struct settings settings;
	struct session_dir dir;
	struct recording recording;
	bool started, over, stopped;
	size_t still_running; /* processes, when it stopped */
	char output[1024];
	char program[256];
	char *command; /* to be stored; NULL: not */
	bool described;
	pid_t root;
	struct followed *processes;
	size_t process_count, process_capacity;
	struct names_reader **names;
	size_t names_count, names_capacity;
	char (*ignored)[64]; /* pools of another version */
	size_t ignored_count, ignored_capacity;
	uint32_t pools_seen, processes_total;
	int spare_fds[COLLECTOR_SPARE_FDS]; /* for finding pools, whoever takes all others */
	uint64_t dropped;                   /* of processes already gone */
	uint64_t names_lost, cut_strings;
	/* counters */
	struct machine_sampler *sampler;
	struct id_map counter_tracks, process_tracks;
	uint32_t tree_track;
	bool has_tree_track;
	uint64_t counter_period_ns, next_counters_ns, counter_ns; /* counter_ns: of this tick */
	/* time */
	uint64_t next_low_reap_ns, low_reap_wait_ns;
	uint64_t flush_age_ns, next_reap_ns, next_flush_ns, next_checkpoint_ns, end_ns, wait_ns;
	int control_fd, output_fd; /* output_fd: locked while the file is written */
	/* flight recorder */
	struct step_watch watch;
	bool dump_wanted;
	uint64_t dump_not_before_ns;
	uint32_t dumps, outlier_dumps;
	double cpu_at_start_s;
};

/* collector_facts.c */
void collector_describe(struct collector *collector);
void collector_settle(
	struct collector *collector, const struct collector_cost *cost, double *ret_percent);
double collector_cpu_seconds(void);

/* collector_machine.c */
void collector_machine_start(struct collector *collector);
void collector_machine_tick(struct collector *collector, uint64_t now_ns);

/* collector_pools.c */
void collector_find_pools(struct collector *collector);
void collector_hold_spares(struct collector *collector);
void collector_release_spares(struct collector *collector);
uint64_t collector_drain(struct collector *collector);
/* Takes leave of threads and processes that are gone. */
void collector_reap(struct collector *collector);
void collector_flush(struct collector *collector, uint64_t before_ns);
void collector_close_processes(struct collector *collector, uint64_t end_ns);
uint64_t collector_now(const struct collector *collector); /* trace time */
