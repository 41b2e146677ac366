// SPDX-License-Identifier: MIT OR Apache-2.0
/* The processes under the root: finding them, walking their threads, adding them up. A process once
 * found stays until its files say that it has ended, so one that outlives its parent is kept. */
#include "collect/machine_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"

/* Three descriptors each; the usual limit of a process is 1024. */
#define KEEP_OPEN 96

/* The scan may take one part in this many of the time, however many threads there are. */
#define SCAN_SHARE 100

static void close_files(struct machine_tree *tree, struct machine_process *process)
{
	if (process->stat_fd < 0)
		return;
	close(process->stat_fd);
	if (process->statm_fd >= 0)
		close(process->statm_fd);
	if (process->io_fd >= 0)
		close(process->io_fd);
	process->stat_fd = process->statm_fd = process->io_fd = -1;
	tree->open_count--;
}

static void drop_process(struct machine_tree *tree, struct machine_process *process)
{
	close_files(tree, process);
	free(process->threads);
	process->threads = NULL;
	process->ended = true;
}

/* Takes the ended ones out and keeps the order, so the first found stay the listed ones. */
static void remove_ended(struct machine_tree *tree)
{
	size_t kept = 0;

	for (size_t i = 0; i < tree->count; i++)
		if (!tree->processes[i].ended)
			tree->processes[kept++] = tree->processes[i];
	tree->count = kept;
}

static bool is_tracked(const struct machine_tree *tree, pid_t pid)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->processes[i].pid == pid)
			return true;
	return false;
}

static void add_process(
	struct machine_tree *tree, const struct machine_roots *roots, pid_t pid, bool is_live)
{
	struct machine_process *process;

	if (pid <= 0 || tree->count >= MACHINE_MAX_TRACKED || is_tracked(tree, pid))
		return;
	if (array_grow((void **)&tree->processes, &tree->capacity, tree->count + 1,
		    sizeof *tree->processes))
		return;
	process = &tree->processes[tree->count++];
	*process =
		(struct machine_process){ .pid = pid, .stat_fd = -1, .io_fd = -1, .fresh = true };
	/* Nanoseconds, where stat counts in hundredths of a second: at ten ticks a second that is
	 * the difference between a curve and steps of ten percent. */
	process->has_clock = is_live && clock_getcpuclockid(pid, &process->clock) == 0;
	if (tree->open_count >= KEEP_OPEN)
		return;
	process->stat_fd = proc_file_open("%s/%d/stat", roots->proc, (int)pid);
	if (process->stat_fd < 0)
		return;
	process->statm_fd = proc_file_open("%s/%d/statm", roots->proc, (int)pid);
	process->io_fd = proc_file_open("%s/%d/io", roots->proc, (int)pid);
	tree->open_count++;
}

void machine_tree_init(
	struct machine_tree *tree, const struct machine_roots *roots, pid_t root, bool is_live)
{
	long ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);

	*tree = (struct machine_tree){
		.ticks_per_second = ticks > 0 ? (double)ticks : 100,
		.page_bytes = page > 0 ? (uint64_t)page : 4096,
		.has_children_files = true,
	};
	add_process(tree, roots, root, is_live);
}

void machine_tree_release(struct machine_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		drop_process(tree, &tree->processes[i]);
	free(tree->processes);
}

/* ---- finding ---- */

static void add_children(
	struct machine_tree *tree, const struct machine_roots *roots, int fd, bool is_live)
{
	char buffer[8192];
	struct proc_text text = proc_text_of(buffer, proc_file_read_all(fd, buffer, sizeof buffer));
	uint64_t pid;

	while (proc_text_u64(&text, &pid))
		if (pid <= INT32_MAX)
			add_process(tree, roots, (pid_t)pid, is_live);
}

/* The thread's switches at the last scan, or NULL. Threads keep their order in the folder, so the
 * search from `hint` on nearly always ends at once. */
static const struct machine_thread *find_thread(
	const struct machine_thread *threads, size_t count, size_t hint, pid_t tid)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = (hint + i) % count;

		if (threads[at].tid == tid)
			return &threads[at];
	}
	return NULL;
}

struct switch_scan {
	struct machine_thread *threads;
	size_t count;
	size_t capacity;
	uint64_t voluntary, involuntary;
};

static void scan_switches(struct switch_scan *scan, const struct machine_process *process,
	const struct machine_roots *roots, pid_t tid)
{
	const struct machine_thread *before;
	struct machine_thread now = { .tid = tid };
	struct proc_text text;
	char buffer[4096];
	ssize_t length = proc_file_get(buffer, sizeof buffer, "%s/%d/task/%d/status", roots->proc,
		(int)process->pid, (int)tid);

	text = proc_text_of(buffer, length);
	if (!proc_text_key(&text, "voluntary_ctxt_switches", &now.voluntary) ||
		!proc_text_key(&text, "nonvoluntary_ctxt_switches", &now.involuntary))
		return;
	if (array_grow((void **)&scan->threads, &scan->capacity, scan->count + 1,
		    sizeof *scan->threads))
		return;
	before = find_thread(process->threads, process->thread_count, scan->count, tid);
	scan->threads[scan->count++] = now;
	/* A tid used again begins below where its forerunner ended. */
	if (before && before->voluntary <= now.voluntary &&
		before->involuntary <= now.involuntary) {
		now.voluntary -= before->voluntary;
		now.involuntary -= before->involuntary;
	}
	scan->voluntary += now.voluntary;
	scan->involuntary += now.involuntary;
}

static bool parse_id(const char *name, pid_t *ret_id)
{
	struct proc_text text = { name, name + strlen(name) };
	uint64_t id;

	if (!proc_text_u64(&text, &id) || text.at != text.end || id == 0 || id > INT32_MAX)
		return false;
	*ret_id = (pid_t)id;
	return true;
}

/* Visits every thread: the kernel counts switches per thread only, and lists a child under the
 * thread that made it. `index`, not a pointer: adding children moves the array. */
static void scan_process(struct machine_tree *tree, const struct machine_roots *roots, bool is_live,
	size_t index, uint64_t now_ns, struct machine_process_values *ret_switches)
{
	struct machine_process *process;
	pid_t pid = tree->processes[index].pid, tid;
	struct switch_scan scan = { 0 };
	char path[PROC_PATH];
	struct dirent *entry;
	double seconds;
	DIR *folder;

	snprintf(path, sizeof path, "%s/%d/task", roots->proc, (int)pid);
	folder = opendir(path);
	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		int fd;

		if (!parse_id(entry->d_name, &tid))
			continue;
		scan_switches(&scan, &tree->processes[index], roots, tid);
		if (!tree->has_children_files)
			continue;
		fd = proc_file_open("%s/%d/task/%d/children", roots->proc, (int)pid, (int)tid);
		if (fd < 0)
			continue;
		add_children(tree, roots, fd, is_live);
		close(fd);
	}
	closedir(folder);

	process = &tree->processes[index];
	if (process->switches_ns && now_ns > process->switches_ns && scan.count) {
		seconds = (double)(now_ns - process->switches_ns) * 1e-9;
		machine_process_put(
			ret_switches, MACHINE_VALUE_VOLUNTARY, (double)scan.voluntary / seconds);
		machine_process_put(ret_switches, MACHINE_VALUE_INVOLUNTARY,
			(double)scan.involuntary / seconds);
	}
	free(process->threads);
	process->threads = scan.threads;
	process->thread_count = scan.count;
	process->switches_ns = now_ns;
}

struct parentage {
	pid_t pid, parent;
};

/* Without "children" files (CONFIG_PROC_CHILDREN): every process's parent, then down from those we
 * have, until a pass finds nobody new. */
static void scan_all(struct machine_tree *tree, const struct machine_roots *roots, bool is_live)
{
	struct parentage *all = NULL;
	size_t count = 0, capacity = 0, before;
	struct machine_stat stat;
	struct dirent *entry;
	struct parentage one;
	char buffer[1024];
	DIR *folder = opendir(roots->proc);

	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		ssize_t length;

		if (!parse_id(entry->d_name, &one.pid))
			continue;
		length = proc_file_get(
			buffer, sizeof buffer, "%s/%d/stat", roots->proc, (int)one.pid);
		if (!machine_stat_parse(buffer, length, &stat, &one.parent))
			continue;
		if (array_grow((void **)&all, &capacity, count + 1, sizeof *all))
			break;
		all[count++] = one;
	}
	closedir(folder);
	do {
		before = tree->count;
		for (size_t i = 0; i < count; i++)
			if (is_tracked(tree, all[i].parent))
				add_process(tree, roots, all[i].pid, is_live);
	} while (tree->count > before);
	free(all);
}

static bool has_children_file(const struct machine_roots *roots, pid_t pid)
{
	char path[PROC_PATH];

	snprintf(path, sizeof path, "%s/%d/task/%d/children", roots->proc, (int)pid, (int)pid);
	return access(path, R_OK) == 0;
}

/* Fills `switches` for the processes known before; the array grows while it is walked, and with it
 * the walk goes down the tree. */
static void scan_tree(struct machine_tree *tree, const struct machine_roots *roots, bool is_live,
	uint64_t now_ns, struct machine_process_values *switches, size_t switch_count)
{
	uint64_t began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), cost_ns;

	if (tree->count)
		tree->has_children_files = has_children_file(roots, tree->processes[0].pid);
	if (!tree->has_children_files)
		scan_all(tree, roots, is_live);
	for (size_t i = 0; i < tree->count; i++) {
		struct machine_process_values unused = { 0 };

		scan_process(
			tree, roots, is_live, i, now_ns, i < switch_count ? &switches[i] : &unused);
	}
	cost_ns = (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) * SCAN_SHARE;
	tree->next_scan_ns = now_ns + (cost_ns > MACHINE_SLOW_NS ? cost_ns : MACHINE_SLOW_NS);
}

void machine_tree_tick(struct machine_tree *tree, const struct machine_roots *roots, bool is_live,
	struct machine_missing_list *missing, struct machine_out *out)
{
	size_t known = tree->count, alive = 0;
	struct machine_process_values *switches = NULL, sum = { 0 };

	if (out->now_ns >= tree->next_scan_ns) {
		switches = calloc(known ? known : 1, sizeof *switches);
		scan_tree(tree, roots, is_live, out->now_ns, switches, switches ? known : 0);
	}
	for (size_t i = 0; i < tree->count; i++) {
		struct machine_process_values values = { 0 };
		bool is_alive;

		if (switches && i < known)
			values = switches[i];
		if (!machine_process_read(tree, &tree->processes[i], roots, missing, out->now_ns,
			    &values, &is_alive))
			drop_process(tree, &tree->processes[i]);
		if (!is_alive)
			continue;
		alive++;
		machine_process_add(&sum, &values);
		out->pid = tree->processes[i].pid;
		if (i < MACHINE_MAX_LISTED)
			machine_process_out(out, &values);
	}
	free(switches);
	remove_ended(tree);
	if (alive) {
		out->pid = -1;
		machine_process_out(out, &sum);
		machine_out_integer(out, "processes", "count", alive);
	}
}
