// SPDX-License-Identifier: MIT OR Apache-2.0
/* Facts about the machine and this process's surroundings. What may differ between two runs and
 * change their speed belongs here; what could tell a stranger something private does not. */
#include "env/fingerprint.h"

#include <dirent.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "env/cgroup.h"
#include "env/fingerprint_internal.h"
#include "env/proc_file.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_VALUE       256

void fingerprint_put(const struct fingerprint_out *out, const char *key, const char *format, ...)
{
	char value[MAX_VALUE];
	size_t length;
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof value, format, args);
	va_end(args);
	length = strlen(value);
	while (length > 0 && (value[length - 1] == '\n' || value[length - 1] == ' '))
		value[--length] = '\0';
	for (char *at = value; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	if (length)
		out->sink(out->context, key, value);
}

static void put_text(const struct fingerprint_out *out, const char *key, struct proc_text text)
{
	while (text.at < text.end && (*text.at == ' ' || *text.at == '\t'))
		text.at++;
	fingerprint_put(out, key, "%.*s", (int)(text.end - text.at), text.at);
}

/* The first line of a file, as it is. */
static void put_file(
	const struct fingerprint_out *out, const char *key, const char *root, const char *name)
{
	char buffer[MAX_VALUE];
	ssize_t length = proc_file_get(buffer, sizeof buffer, "%s/%s", root, name);
	struct proc_text text = proc_text_of(buffer, length), line;

	if (proc_text_line(&text, &line))
		put_text(out, key, line);
}

/* ---- CPU ---- */

/* Those that decide which kernels a library picks; sorted by age. */
static const char *const simd_flags[] = { "sse4_2", "avx", "f16c", "fma", "avx2", "avx512f",
	"avx512bw", "avx512vl", "avx512_vnni", "avx_vnni", "avx512_bf16", "avx512_fp16", "amx_tile",
	"amx_int8", "amx_bf16", "amx_fp16", "asimd", "asimddp", "asimdhp", "sve", "sve2", "i8mm",
	"bf16", "sme" };

static void put_simd(const struct fingerprint_out *out, struct proc_text flags)
{
	bool present[COUNT_OF(simd_flags)] = { false };
	char value[MAX_VALUE] = "";
	struct proc_text word;
	size_t length = 0;

	while (proc_text_word(&flags, &word))
		for (size_t i = 0; i < COUNT_OF(simd_flags); i++)
			present[i] |= proc_text_equal(&word, simd_flags[i]);
	for (size_t i = 0; i < COUNT_OF(simd_flags); i++)
		if (present[i] && length + strlen(simd_flags[i]) + 2 < sizeof value)
			length += (size_t)snprintf(value + length, sizeof value - length, "%s%s",
				length ? " " : "", simd_flags[i]);
	fingerprint_put(out, "cpu.flags_simd", "%s", value);
}

/* The first processor's part of cpuinfo stands for all. */
static void put_cpuinfo(const struct fingerprint_out *out, const char *proc_root)
{
	char buffer[8192];
	ssize_t length = proc_file_get(buffer, sizeof buffer, "%s/cpuinfo", proc_root);
	struct proc_text text = proc_text_of(buffer, length), line;
	bool has_model = false, has_flags = false;

	while (proc_text_line(&text, &line)) {
		const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
		struct proc_text value;

		if (!colon)
			continue;
		value = (struct proc_text){ colon + 1, line.end };
		if (!has_model && proc_text_skip(&line, "model name")) {
			put_text(out, "cpu.model", value);
			has_model = true;
		} else if (!has_flags &&
			   (proc_text_skip(&line, "flags") || proc_text_skip(&line, "Features"))) {
			put_simd(out, value);
			has_flags = true;
		}
	}
}

/* How many numbers a list such as "0-3,8,10-11" names; 0 when it is not one. */
static uint64_t list_count(const char *root, const char *name)
{
	char buffer[1024];
	ssize_t length = proc_file_get(buffer, sizeof buffer, "%s/%s", root, name);
	struct proc_text text = proc_text_of(buffer, length);
	uint64_t first, last, count = 0;

	do {
		if (!proc_text_u64(&text, &first))
			return 0;
		last = first;
		if (proc_text_skip(&text, "-") && !proc_text_u64(&text, &last))
			return 0;
		if (last < first || last > 1 << 20)
			return 0;
		count += last - first + 1;
	} while (proc_text_skip(&text, ","));
	return count;
}

/* A core is counted at the first of its threads. */
static unsigned int count_cores(const char *sys_root)
{
	struct dirent *entry;
	char path[PROC_PATH];
	unsigned int count = 0;
	DIR *folder;

	snprintf(path, sizeof path, "%s/devices/system/cpu", sys_root);
	folder = opendir(path);
	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		struct proc_text name = { entry->d_name, entry->d_name + strlen(entry->d_name) };
		uint64_t cpu, first;

		if (proc_text_skip(&name, "cpu") && proc_text_u64(&name, &cpu) &&
			name.at == name.end &&
			proc_file_get_u64(
				&first, "%s/%s/topology/thread_siblings_list", path, entry->d_name))
			count += first == cpu;
	}
	closedir(folder);
	return count;
}

static void put_cpu(const struct fingerprint_out *out, const char *proc_root, const char *sys_root)
{
	unsigned int cores = count_cores(sys_root);
	uint64_t threads = list_count(sys_root, "devices/system/cpu/online"), khz;
	cpu_set_t allowed;

	put_cpuinfo(out, proc_root);
	if (cores)
		fingerprint_put(out, "cpu.cores", "%u", cores);
	if (threads)
		fingerprint_put(out, "cpu.threads", "%llu", (unsigned long long)threads);
	if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
		fingerprint_put(out, "cpu.allowed", "%d", CPU_COUNT(&allowed));
	put_file(out, "cpu.governor", sys_root, "devices/system/cpu/cpu0/cpufreq/scaling_governor");
	if (proc_file_get_u64(
		    &khz, "%s/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", sys_root))
		fingerprint_put(out, "cpu.mhz_max", "%llu", (unsigned long long)(khz / 1000));
}

/* ---- memory, limits, system ---- */

/* "always [madvise] never": the word in brackets. */
static void put_thp(const struct fingerprint_out *out, const char *sys_root)
{
	char buffer[128];
	char *open, *close;

	if (proc_file_get(buffer, sizeof buffer, "%s/kernel/mm/transparent_hugepage/enabled",
		    sys_root) <= 0)
		return;
	open = strchr(buffer, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		fingerprint_put(out, "memory.thp", "%.*s", (int)(close - open - 1), open + 1);
}

static void put_memory(
	const struct fingerprint_out *out, const char *proc_root, const char *sys_root)
{
	char buffer[512];
	ssize_t length = proc_file_get(buffer, sizeof buffer, "%s/meminfo", proc_root);
	struct proc_text text = proc_text_of(buffer, length);
	uint64_t kib, nodes = list_count(sys_root, "devices/system/node/online");

	if (proc_text_key(&text, "MemTotal", &kib) && kib < UINT64_MAX / 1024)
		fingerprint_put(out, "memory.bytes", "%llu", (unsigned long long)kib * 1024);
	put_thp(out, sys_root);
	if (nodes)
		fingerprint_put(out, "numa.nodes", "%llu", (unsigned long long)nodes);
}

/* An unlimited group is said to be one: "no limit" and "unknown" are different facts. */
static void put_cgroup(
	const struct fingerprint_out *out, const char *proc_root, const char *sys_root)
{
	struct cgroup cgroup;
	uint64_t bytes;
	double cpus;

	cgroup_find(proc_root, sys_root, 0, &cgroup);
	if (cgroup.cpu.found && cgroup_cpu_limit(&cgroup.cpu, &cpus)) {
		if (cpus > 0)
			fingerprint_put(out, "cgroup.cpu_limit", "%g", cpus);
		else
			fingerprint_put(out, "cgroup.cpu_limit", "none");
	}
	if (cgroup.memory.found && cgroup_memory_limit(&cgroup.memory, &bytes)) {
		if (bytes != CGROUP_NO_LIMIT)
			fingerprint_put(
				out, "cgroup.memory_limit", "%llu", (unsigned long long)bytes);
		else
			fingerprint_put(out, "cgroup.memory_limit", "none");
	}
}

static void put_os(const struct fingerprint_out *out)
{
	char buffer[2048];
	ssize_t length = proc_file_get(buffer, sizeof buffer, "/etc/os-release");
	struct proc_text text = proc_text_of(buffer, length), line;
	struct utsname system;

	if (uname(&system) == 0) {
		fingerprint_put(out, "host.name", "%s", system.nodename);
		fingerprint_put(out, "kernel.release", "%s", system.release);
		fingerprint_put(out, "cpu.architecture", "%s", system.machine);
	}
	while (proc_text_line(&text, &line)) {
		if (!proc_text_skip(&line, "PRETTY_NAME="))
			continue;
		proc_text_skip(&line, "\"");
		if (line.end > line.at && line.end[-1] == '"')
			line.end--;
		put_text(out, "os.name", line);
		break;
	}
	fingerprint_put(out, "libc.version", "%s", gnu_get_libc_version());
}

void fingerprint_put_machine(
	const struct fingerprint_out *out, const char *proc_root, const char *sys_root)
{
	put_os(out);
	put_cpu(out, proc_root, sys_root);
	put_memory(out, proc_root, sys_root);
	put_cgroup(out, proc_root, sys_root);
	put_file(out, "clocksource", sys_root,
		"devices/system/clocksource/clocksource0/current_clocksource");
}

void fingerprint_collect(fingerprint_sink *sink, void *context)
{
	struct fingerprint_out out = { .sink = sink, .context = context };

	fingerprint_put_machine(&out, "/proc", "/sys");
	fingerprint_put_environment(&out);
	fingerprint_put_nvml(&out);
}
