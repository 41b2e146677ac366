// SPDX-License-Identifier: MIT OR Apache-2.0
/* The group's path comes from /proc/PID/cgroup and is looked for under the usual mount points. In a
 * container the path is often the host's while only its tail, or its end alone, is mounted; so
 * leading components are dropped until a directory is there. */
#include "env/cgroup.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_LEVELS 32

bool cgroup_cpu_limit(const struct cgroup_controller *cpu, double *ret_cpus)
{
	struct proc_text text;
	uint64_t period;
	int64_t quota;
	char buffer[64];
	ssize_t length;

	if (cpu->version == 2) {
		length = proc_file_get(buffer, sizeof buffer, "%s/cpu.max", cpu->path);
		text = proc_text_of(buffer, length);
		if (proc_text_skip(&text, "max"))
			quota = -1;
		else if (!proc_text_i64(&text, &quota))
			return false;
		if (!proc_text_u64(&text, &period))
			return false;
	} else {
		length = proc_file_get(buffer, sizeof buffer, "%s/cpu.cfs_quota_us", cpu->path);
		text = proc_text_of(buffer, length);
		if (!proc_text_i64(&text, &quota) ||
			!proc_file_get_u64(&period, "%s/cpu.cfs_period_us", cpu->path))
			return false;
	}
	if (period == 0)
		return false;
	*ret_cpus = quota > 0 ? (double)quota / (double)period : 0;
	return true;
}

bool cgroup_memory_limit(const struct cgroup_controller *memory, uint64_t *ret_bytes)
{
	const char *name = memory->version == 2 ? "memory.max" : "memory.limit_in_bytes";
	char buffer[64];
	ssize_t length = proc_file_get(buffer, sizeof buffer, "%s/%s", memory->path, name);
	struct proc_text text = proc_text_of(buffer, length);
	uint64_t bytes;

	if (proc_text_skip(&text, "max")) {
		*ret_bytes = CGROUP_NO_LIMIT;
		return true;
	}
	if (!proc_text_u64(&text, &bytes))
		return false;
	/* Version 1 says "none" as the largest count of pages; nobody has an exabyte. */
	*ret_bytes = bytes >= UINT64_C(1) << 60 ? CGROUP_NO_LIMIT : bytes;
	return true;
}

/* Whether `word` is one of the comma-separated names. */
static bool list_has(struct proc_text list, const char *word)
{
	while (list.at < list.end) {
		const char *comma = memchr(list.at, ',', (size_t)(list.end - list.at));
		struct proc_text name = { list.at, comma ? comma : list.end };

		if (proc_text_equal(&name, word))
			return true;
		list.at = comma ? comma + 1 : list.end;
	}
	return false;
}

/* One line "7:cpu,cpuacct:/path" or "0::/path" cut at its colons. */
static bool split_line(
	struct proc_text line, struct proc_text *ret_controllers, struct proc_text *ret_path)
{
	const char *first = memchr(line.at, ':', (size_t)(line.end - line.at));
	const char *second;

	if (!first)
		return false;
	second = memchr(first + 1, ':', (size_t)(line.end - first - 1));
	if (!second || second + 1 >= line.end || second[1] != '/')
		return false;
	*ret_controllers = (struct proc_text){ first + 1, second };
	*ret_path = (struct proc_text){ second + 1, line.end };
	/* Written for a group that has been removed. */
	if (line.end - second > 11 && memcmp(line.end - 10, " (deleted)", 10) == 0)
		ret_path->end -= 10;
	return true;
}

/* Fills controller->path with mount + path, or with the longest tail of path that exists. Gives the
 * length of the mount's part, below which no level lies; 0 when not even the mount is there. */
static size_t find_directory(
	struct cgroup_controller *controller, const char *mount, struct proc_text path)
{
	size_t mount_length = strlen(mount);

	while (path.end > path.at && path.end[-1] == '/')
		path.end--;
	/* How the kernel shows a group outside this process's namespace. */
	while (proc_text_skip(&path, "/.."))
		;
	for (;;) {
		const char *slash;
		int length = snprintf(controller->path, sizeof controller->path, "%s%.*s", mount,
			(int)(path.end - path.at), path.at);

		if (length > 0 && (size_t)length < sizeof controller->path &&
			access(controller->path, R_OK | X_OK) == 0)
			return mount_length;
		if (path.at == path.end)
			return 0;
		slash = memchr(path.at + 1, '/', (size_t)(path.end - path.at - 1));
		path.at = slash ? slash : path.end;
	}
}

/* A number that is smaller the tighter the level's limit is. */
static double tightness(const struct cgroup_controller *controller, bool is_cpu)
{
	uint64_t bytes;
	double cpus;

	if (is_cpu)
		return cgroup_cpu_limit(controller, &cpus) && cpus > 0 ? cpus : 1e30;
	return cgroup_memory_limit(controller, &bytes) && bytes != CGROUP_NO_LIMIT ? (double)bytes
										   : 1e30;
}

static void choose_level(struct cgroup_controller *controller, size_t mount_length, bool is_cpu)
{
	struct cgroup_controller level = *controller;
	double best = tightness(&level, is_cpu);

	for (int i = 0; i < MAX_LEVELS; i++) {
		char *slash = strrchr(level.path + mount_length, '/');
		double here;

		if (!slash)
			return;
		*slash = '\0';
		here = tightness(&level, is_cpu);
		if (here < best) {
			best = here;
			*controller = level;
		}
	}
}

static void place(struct cgroup_controller *controller, int version, const char *mount,
	struct proc_text path, bool is_cpu)
{
	size_t mount_length = find_directory(controller, mount, path);

	if (mount_length == 0)
		return;
	controller->found = true;
	controller->version = version;
	choose_level(controller, mount_length, is_cpu);
}

static void place_v1(struct cgroup_controller *controller, const char *sys_root, const char *name,
	struct proc_text controllers, struct proc_text path)
{
	char mount[PROC_PATH];

	snprintf(mount, sizeof mount, "%s/fs/cgroup/%.*s", sys_root,
		(int)(controllers.end - controllers.at), controllers.at);
	if (access(mount, X_OK) != 0)
		snprintf(mount, sizeof mount, "%s/fs/cgroup/%s", sys_root, name);
	place(controller, 1, mount, path, strcmp(name, "cpu") == 0);
}

static void place_v2(struct cgroup *cgroup, const char *sys_root, struct proc_text path)
{
	char file[PROC_PATH], mount[PROC_PATH];

	snprintf(mount, sizeof mount, "%s/fs/cgroup", sys_root);
	snprintf(file, sizeof file, "%s/fs/cgroup/cgroup.controllers", sys_root);
	if (access(file, F_OK) != 0)
		snprintf(mount, sizeof mount, "%s/fs/cgroup/unified", sys_root);
	if (!cgroup->cpu.found)
		place(&cgroup->cpu, 2, mount, path, true);
	if (!cgroup->memory.found)
		place(&cgroup->memory, 2, mount, path, false);
}

void cgroup_find(const char *proc_root, const char *sys_root, pid_t pid, struct cgroup *ret_cgroup)
{
	struct proc_text text, line, controllers, path, unified = { 0 };
	char buffer[4096];
	ssize_t length = -1;

	*ret_cgroup = (struct cgroup){ 0 };
	if (pid > 0)
		length = proc_file_get(buffer, sizeof buffer, "%s/%d/cgroup", proc_root, (int)pid);
	if (length <= 0)
		length = proc_file_get(buffer, sizeof buffer, "%s/self/cgroup", proc_root);
	text = proc_text_of(buffer, length);
	while (proc_text_line(&text, &line)) {
		if (!split_line(line, &controllers, &path))
			continue;
		if (controllers.at == controllers.end)
			unified = path;
		if (list_has(controllers, "cpu"))
			place_v1(&ret_cgroup->cpu, sys_root, "cpu", controllers, path);
		if (list_has(controllers, "memory"))
			place_v1(&ret_cgroup->memory, sys_root, "memory", controllers, path);
	}
	/* Last: on a machine with both versions a controller belongs to one of them. */
	if (unified.at)
		place_v2(ret_cgroup, sys_root, unified);
}
