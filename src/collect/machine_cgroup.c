// SPDX-License-Identifier: MIT OR Apache-2.0
/* The program's control group: how often and how long it was throttled, its memory, its limits. The
 * samples belong to the machine (pid 0): to the program its group is the machine. */
#include "collect/machine_internal.h"

#include <unistd.h>

static int open_in(const struct cgroup_controller *controller, const char *v1, const char *v2)
{
	if (!controller->found)
		return -1;
	return proc_file_open("%s/%s", controller->path, controller->version == 2 ? v2 : v1);
}

void machine_cgroup_init(struct machine_cgroup *group, const struct machine_roots *roots,
	pid_t root, struct machine_missing_list *missing)
{
	*group = (struct machine_cgroup){ 0 };
	cgroup_find(roots->proc, roots->sys, root, &group->place);
	group->cpu_stat_fd = open_in(&group->place.cpu, "cpu.stat", "cpu.stat");
	group->memory_fd = open_in(&group->place.memory, "memory.usage_in_bytes", "memory.current");
	group->oom_fd = open_in(&group->place.memory, "memory.oom_control", "memory.events");
	/* The root group of version 2 has none of them: it is not limited. */
	if (group->cpu_stat_fd < 0)
		machine_missing_note(missing, "cgroup.cpu",
			group->place.cpu.found ? "the group has no CPU controller"
					       : "no control group found");
	if (group->memory_fd < 0)
		machine_missing_note(missing, "cgroup.memory",
			group->place.memory.found ? "the group has no memory controller"
						  : "no control group found");
}

void machine_cgroup_release(struct machine_cgroup *group)
{
	if (group->cpu_stat_fd >= 0)
		close(group->cpu_stat_fd);
	if (group->memory_fd >= 0)
		close(group->memory_fd);
	if (group->oom_fd >= 0)
		close(group->oom_fd);
}

/* cgroup.cpu.throttled adds up all CPUs, as the kernel does, and so may pass 100 %; the share of
 * periods in which the quota ran out does not. */
static void tick_throttling(struct machine_cgroup *group, const struct machine_out *out)
{
	uint64_t periods, throttled_periods, throttled, before = group->periods;
	bool is_v2 = group->place.cpu.version == 2, was_known = group->periods_known;
	uint64_t throttled_before = group->throttled_periods;
	char buffer[512];
	ssize_t length = proc_file_read(group->cpu_stat_fd, buffer, sizeof buffer);
	struct proc_text text = proc_text_of(buffer, length);

	/* Absent from a version 2 group without the controller, which then has cpu.stat all the
	 * same. */
	if (!proc_text_key(&text, "nr_periods", &periods) ||
		!proc_text_key(&text, "nr_throttled", &throttled_periods))
		return;
	if (proc_text_key(&text, is_v2 ? "throttled_usec" : "throttled_time", &throttled))
		machine_out_rate(out, &group->throttled, "cgroup.cpu.throttled", "%", throttled,
			is_v2 ? 1e-4 : 1e-7);
	group->periods = periods;
	group->throttled_periods = throttled_periods;
	group->periods_known = true;
	if (!was_known || periods <= before || throttled_periods < throttled_before)
		return;
	machine_out_double(out, "cgroup.cpu.throttled_periods", "%",
		(double)(throttled_periods - throttled_before) * 100 / (double)(periods - before));
}

static void tick_memory(struct machine_cgroup *group, const struct machine_out *out)
{
	char buffer[64];
	ssize_t length = proc_file_read(group->memory_fd, buffer, sizeof buffer);
	struct proc_text text = proc_text_of(buffer, length);
	uint64_t bytes;

	if (proc_text_u64(&text, &bytes))
		machine_out_integer(out, "cgroup.memory.used", "bytes", bytes);
}

static void tick_oom(struct machine_cgroup *group, const struct machine_out *out)
{
	char buffer[512];
	ssize_t length = proc_file_read(group->oom_fd, buffer, sizeof buffer);
	struct proc_text text = proc_text_of(buffer, length);
	uint64_t kills;

	if (proc_text_key(&text, "oom_kill", &kills))
		machine_out_limit(out, &group->oom_kills, "cgroup.oom_kills", "count",
			MACHINE_INTEGER, (double)kills);
}

/* No limit is silence; a limit that is lifted later becomes 0. */
static void tick_limits(struct machine_cgroup *group, const struct machine_out *out)
{
	uint64_t bytes;
	double cpus;

	if (group->place.cpu.found && cgroup_cpu_limit(&group->place.cpu, &cpus) &&
		(cpus > 0 || group->cpu_limit.known))
		machine_out_limit(
			out, &group->cpu_limit, "cgroup.cpu.limit", "cpus", MACHINE_DOUBLE, cpus);
	if (!group->place.memory.found || !cgroup_memory_limit(&group->place.memory, &bytes))
		return;
	if (bytes == CGROUP_NO_LIMIT && !group->memory_limit.known)
		return;
	machine_out_limit(out, &group->memory_limit, "cgroup.memory.limit", "bytes",
		MACHINE_INTEGER, bytes == CGROUP_NO_LIMIT ? 0 : (double)bytes);
}

void machine_cgroup_tick(struct machine_cgroup *group, const struct machine_out *out)
{
	if (group->cpu_stat_fd >= 0)
		tick_throttling(group, out);
	if (group->memory_fd >= 0)
		tick_memory(group, out);
	if (group->oom_fd >= 0)
		tick_oom(group, out);
	if (out->now_ns < group->next_slow_ns)
		return;
	group->next_slow_ns = out->now_ns + MACHINE_SLOW_NS;
	tick_limits(group, out);
}
