/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where a process's CPU and memory are limited: the control group, of version 1 or 2, that binds it
 * tightest. Shared by the fingerprint and the collector's counters. */
#pragma once

#include "env/proc_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_NO_LIMIT UINT64_MAX

/* A limit of an ancestor counts like one of the group itself, and throttling and OOM kills are
 * booked where the limit is; so each directory is the tightest level, or the process's own group
 * where no level has a limit. */
struct cgroup_controller {
	bool found;
	int version;          /* 1 or 2 */
	char path[PROC_PATH]; /* the directory */
};

struct cgroup {
	struct cgroup_controller cpu;
	struct cgroup_controller memory;
};

/* Finds the groups of process `pid`, or of this process where pid is 0 or its file is unreadable.
 * Without control groups both `found` stay false. */
void cgroup_find(const char *proc_root, const char *sys_root, pid_t pid, struct cgroup *ret_cgroup);

/* The limits as they are now: CPUs (0: no limit), bytes (CGROUP_NO_LIMIT). False when unreadable.
 */
bool cgroup_cpu_limit(const struct cgroup_controller *cpu, double *ret_cpus);
bool cgroup_memory_limit(const struct cgroup_controller *memory, uint64_t *ret_bytes);
