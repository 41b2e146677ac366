// SPDX-License-Identifier: MIT OR Apache-2.0
/* Reading of one process: its share of the CPU, memory, faults and input/output. Which processes
 * there are is the business of machine_tree.c. */
#include "collect/machine_internal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

static const struct {
	const char *name;
	const char *unit;
} value_names[MACHINE_VALUES] = {
	[MACHINE_VALUE_CPU] = { "cpu", "%" },
	[MACHINE_VALUE_USER] = { "cpu.user", "%" },
	[MACHINE_VALUE_SYSTEM] = { "cpu.system", "%" },
	[MACHINE_VALUE_MINOR] = { "faults.minor", "1/s" },
	[MACHINE_VALUE_MAJOR] = { "faults.major", "1/s" },
	[MACHINE_VALUE_READ] = { "io.read", "bytes/s" },
	[MACHINE_VALUE_WRITE] = { "io.write", "bytes/s" },
	[MACHINE_VALUE_RCHAR] = { "io.rchar", "bytes/s" },
	[MACHINE_VALUE_WCHAR] = { "io.wchar", "bytes/s" },
	[MACHINE_VALUE_VOLUNTARY] = { "switches.voluntary", "1/s" },
	[MACHINE_VALUE_INVOLUNTARY] = { "switches.involuntary", "1/s" },
};

void machine_process_put(
	struct machine_process_values *values, enum machine_process_value which, double rate)
{
	values->known[which] = true;
	values->rate[which] += rate;
}

static void put_rate(struct machine_process_values *values, enum machine_process_value which,
	struct machine_counter *counter, uint64_t value, uint64_t now_ns, double scale)
{
	double rate;

	if (machine_counter_rate(counter, value, now_ns, &rate))
		machine_process_put(values, which, rate * scale);
}

/* Splits behind the last ')': the name before it may hold anything, also blanks and brackets. */
bool machine_stat_parse(
	const char *buffer, ssize_t length, struct machine_stat *ret_stat, pid_t *ret_parent)
{
	const char *bracket = length > 0 ? memrchr(buffer, ')', (size_t)length) : NULL;
	/* Field N of the manual is at [N]. */
	int64_t fields[25];
	struct proc_text text, state;

	if (!bracket)
		return false;
	text = (struct proc_text){ bracket + 1, buffer + length };
	if (!proc_text_word(&text, &state))
		return false;
	for (size_t i = 4; i <= 24; i++) {
		struct proc_text word;

		if (!proc_text_word(&text, &word))
			return false;
		/* Of those we use none is negative; of the others some are, or are too large. */
		if (!proc_text_i64(&word, &fields[i]) || fields[i] < 0)
			fields[i] = 0;
	}
	*ret_parent = fields[4] > 0 && fields[4] <= INT32_MAX ? (pid_t)fields[4] : 0;
	*ret_stat = (struct machine_stat){
		.state = *state.at,
		.minor = (uint64_t)fields[10],
		.major = (uint64_t)fields[12],
		.user = (uint64_t)fields[14],
		.system = (uint64_t)fields[15],
		.threads = (uint64_t)fields[20],
		.start_ticks = (uint64_t)fields[22],
		.rss_pages = (uint64_t)fields[24],
	};
	return true;
}

static ssize_t read_file(const struct machine_process *process, int fd, const char *name,
	const struct machine_roots *roots, char *buffer, size_t size)
{
	if (fd >= 0)
		return proc_file_read(fd, buffer, size);
	return proc_file_get(buffer, size, "%s/%d/%s", roots->proc, (int)process->pid, name);
}

static void read_io(struct machine_process *process, const struct machine_roots *roots,
	struct machine_missing_list *missing, uint64_t now_ns,
	struct machine_process_values *values)
{
	static const struct {
		const char *key;
		enum machine_process_value which;
		size_t counter;
	} keys[] = {
		{ "rchar", MACHINE_VALUE_RCHAR, offsetof(struct machine_process, rchar) },
		{ "wchar", MACHINE_VALUE_WCHAR, offsetof(struct machine_process, wchar) },
		{ "read_bytes", MACHINE_VALUE_READ, offsetof(struct machine_process, read) },
		{ "write_bytes", MACHINE_VALUE_WRITE, offsetof(struct machine_process, write) },
	};
	char buffer[512];
	ssize_t length = read_file(process, process->io_fd, "io", roots, buffer, sizeof buffer);
	struct proc_text text = proc_text_of(buffer, length);
	uint64_t value;

	if (length < 0 && errno != ESRCH)
		machine_missing_note(missing, "process.io", machine_errno_text(errno));
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (proc_text_key(&text, keys[i].key, &value))
			put_rate(values, keys[i].which,
				(struct machine_counter *)((char *)process + keys[i].counter),
				value, now_ns, 1);
}

/* Resident bytes. Newer kernels count pages per CPU and add them up for statm but not for stat,
 * where a small process may show none at all. */
static uint64_t read_rss(const struct machine_tree *tree, const struct machine_process *process,
	const struct machine_roots *roots, uint64_t stat_pages)
{
	char buffer[128];
	ssize_t length =
		read_file(process, process->statm_fd, "statm", roots, buffer, sizeof buffer);
	struct proc_text text = proc_text_of(buffer, length);
	uint64_t size_pages, pages, bytes;

	if (!proc_text_u64(&text, &size_pages) || !proc_text_u64(&text, &pages))
		pages = stat_pages;
	return __builtin_mul_overflow(pages, tree->page_bytes, &bytes) ? 0 : bytes;
}

bool machine_process_read(struct machine_tree *tree, struct machine_process *process,
	const struct machine_roots *roots, struct machine_missing_list *missing, uint64_t now_ns,
	struct machine_process_values *values, bool *ret_alive)
{
	double to_percent = 100 / tree->ticks_per_second;
	struct machine_stat stat;
	struct timespec cpu;
	char buffer[1024];
	pid_t parent;
	ssize_t length = read_file(process, process->stat_fd, "stat", roots, buffer, sizeof buffer);

	*ret_alive = false;
	if (length <= 0)
		return false;
	if (!machine_stat_parse(buffer, length, &stat, &parent))
		return true;
	if (process->fresh)
		process->start_ticks = stat.start_ticks;
	process->fresh = false;
	if (stat.start_ticks != process->start_ticks)
		return false;
	/* With threads left only the first one has ended, not the process. */
	if ((stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1)
		return true;
	*ret_alive = true;
	if (process->has_clock && clock_gettime(process->clock, &cpu) != 0) {
		process->has_clock = false;
		process->cpu.known = false;
	}
	if (process->has_clock)
		put_rate(values, MACHINE_VALUE_CPU, &process->cpu,
			(uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec, now_ns, 1e-7);
	else
		put_rate(values, MACHINE_VALUE_CPU, &process->cpu, stat.user + stat.system, now_ns,
			to_percent);
	put_rate(values, MACHINE_VALUE_USER, &process->user, stat.user, now_ns, to_percent);
	put_rate(values, MACHINE_VALUE_SYSTEM, &process->system, stat.system, now_ns, to_percent);
	put_rate(values, MACHINE_VALUE_MINOR, &process->minor, stat.minor, now_ns, 1);
	put_rate(values, MACHINE_VALUE_MAJOR, &process->major, stat.major, now_ns, 1);
	values->rss_bytes = read_rss(tree, process, roots, stat.rss_pages);
	values->threads = stat.threads;
	read_io(process, roots, missing, now_ns, values);
	return true;
}

void machine_process_out(const struct machine_out *out, const struct machine_process_values *values)
{
	for (size_t i = 0; i < MACHINE_VALUES; i++)
		if (values->known[i])
			machine_out_double(
				out, value_names[i].name, value_names[i].unit, values->rate[i]);
	machine_out_integer(out, "rss", "bytes", values->rss_bytes);
	machine_out_integer(out, "threads", "count", values->threads);
}

void machine_process_add(
	struct machine_process_values *sum, const struct machine_process_values *one)
{
	for (size_t i = 0; i < MACHINE_VALUES; i++)
		if (one->known[i])
			machine_process_put(sum, i, one->rate[i]);
	sum->rss_bytes += one->rss_bytes;
	sum->threads += one->threads;
}
