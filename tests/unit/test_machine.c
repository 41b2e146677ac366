// SPDX-License-Identifier: MIT OR Apache-2.0
/* The machine sampler over a written /proc and /sys, where every value is known, and over the real
 * ones with a busy child. */
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/machine_internal.h"
#include "tests/unit/unit.h"

#define SECOND UINT64_C(1000000000)
#define MIB    UINT64_C(1048576)

struct kept {
	pid_t pid;
	char name[48];
	char unit[16];
	double value;
};

static struct kept kept[8192];
static size_t kept_count;
static char root[64], missing_text[1024];

static void keep(void *context, const struct machine_sample *sample)
{
	struct kept *one;

	(void)context;
	if (kept_count == sizeof kept / sizeof kept[0])
		return;
	one = &kept[kept_count++];
	one->pid = sample->pid;
	snprintf(one->name, sizeof one->name, "%s", sample->name);
	snprintf(one->unit, sizeof one->unit, "%s", sample->unit);
	one->value = sample->kind == MACHINE_INTEGER ? (double)sample->integer : sample->real;
}

static bool has(pid_t pid, const char *name)
{
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].pid == pid && strcmp(kept[i].name, name) == 0)
			return true;
	return false;
}

/* The value, or one that no check expects. */
static double value(pid_t pid, const char *name)
{
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].pid == pid && strcmp(kept[i].name, name) == 0)
			return kept[i].value;
	return -12345;
}

static void put(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes in place: the sampler keeps files open, as it does the kernel's. */
static void put(const char *text, const char *format, ...)
{
	char path[512];
	size_t length;
	va_list args;
	FILE *file;

	length = (size_t)snprintf(path, sizeof path, "%s/", root);
	va_start(args, format);
	vsnprintf(path + length, sizeof path - length, format, args);
	va_end(args);
	for (char *at = path + length; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	file = fopen(path, "we");
	if (!CHECK(file != NULL))
		return;
	fputs(text, file);
	fclose(file);
}

struct fake_process {
	pid_t pid, parent;
	char state;
	unsigned int minor, major, user, system, threads, start, rss_pages;
};

static void put_process(struct fake_process fake)
{
	char text[512];

	snprintf(text, sizeof text,
		"%d (a) b (c) %c %d 1 1 0 -1 4194304 %u 9 %u 9 %u %u 9 9 20 0 %u 0 %u "
		"18446744073709551615 %u 18446744073709551615 1 1\n",
		fake.pid, fake.state ? fake.state : 'R', fake.parent, fake.minor, fake.major,
		fake.user, fake.system, fake.threads, fake.start, fake.rss_pages);
	put(text, "proc/%d/stat", fake.pid);
}

static void put_thread(pid_t pid, pid_t tid, const char *children, unsigned int voluntary,
	unsigned int involuntary)
{
	char text[256];

	snprintf(text, sizeof text,
		"Name:\tx\nvoluntary_ctxt_switches:\t%u\nnonvoluntary_ctxt_switches:\t%u\n",
		voluntary, involuntary);
	put(text, "proc/%d/task/%d/status", pid, tid);
	if (children)
		put(children, "proc/%d/task/%d/children", pid, tid);
}

static void begin(void)
{
	snprintf(root, sizeof root, "/tmp/tacho-machine-XXXXXX");
	CHECK(mkdtemp(root) != NULL);
	put("", "proc/empty");
	put("", "sys/empty");
}

static struct machine_sampler *open_at(pid_t pid)
{
	char proc_root[128], sys_root[128];
	struct machine_sampler *sampler = NULL;
	struct error err = ERROR_INIT;

	snprintf(proc_root, sizeof proc_root, "%s/proc", root);
	snprintf(sys_root, sizeof sys_root, "%s/sys", root);
	if (machine_sampler_new_at(proc_root, sys_root, pid, false, &sampler, &err))
		CHECK_STR(err.message, "");
	return sampler;
}

static void tick(struct machine_sampler *sampler, uint64_t now_ns)
{
	kept_count = 0;
	machine_sampler_tick(sampler, now_ns, keep, NULL);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info;
	(void)kind;
	(void)at;
	return remove(path);
}

static void end(struct machine_sampler *sampler)
{
	machine_sampler_free(sampler);
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void keep_missing(void *context, const char *what, const char *why)
{
	size_t length = strlen(missing_text);

	(void)context;
	CHECK(why && *why);
	snprintf(missing_text + length, sizeof missing_text - length, "%s ", what);
}

static void test_process(void)
{
	struct machine_sampler *sampler;
	double page = (double)sysconf(_SC_PAGESIZE), hz = (double)sysconf(_SC_CLK_TCK);

	begin();
	put_process((struct fake_process){ .pid = 10, .threads = 3, .start = 5, .rss_pages = 7 });
	put("rchar: 100\nwchar: 200\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 0\n",
		"proc/10/io");
	put_thread(10, 10, "", 100, 10);
	put_thread(10, 12, "", 1000, 0);
	sampler = open_at(10);
	tick(sampler, SECOND);
	CHECK_NEAR(value(10, "rss"), 7 * page, 0);
	CHECK_EQ(value(10, "threads"), 3);
	CHECK(!has(10, "cpu"));
	CHECK(!has(10, "io.read"));
	CHECK(!has(10, "switches.voluntary"));

	put_process((struct fake_process){ .pid = 10,
		.threads = 4,
		.start = 5,
		.user = 100,
		.system = 50,
		.minor = 30,
		.major = 4 });
	put("10 9 1 1 0 1 0\n", "proc/10/statm");
	put("rchar: 300\nwchar: 600\nsyscr: 1\nsyscw: 1\nread_bytes: 12288\nwrite_bytes: 2048\n",
		"proc/10/io");
	/* One thread goes on, one has ended, one is new. */
	put_thread(10, 10, "", 120, 14);
	put("gone\n", "proc/10/task/12/status");
	put_thread(10, 13, "", 6, 2);
	tick(sampler, 3 * SECOND);
	CHECK_NEAR(value(10, "cpu"), 150 / hz * 100 / 2, 1e-9);
	CHECK_NEAR(value(10, "cpu.user"), 100 / hz * 100 / 2, 1e-9);
	CHECK_NEAR(value(10, "cpu.system"), 50 / hz * 100 / 2, 1e-9);
	CHECK_NEAR(value(10, "rss"), 9 * page, 0);
	CHECK_NEAR(value(10, "faults.minor"), 15, 1e-9);
	CHECK_NEAR(value(10, "faults.major"), 2, 1e-9);
	CHECK_NEAR(value(10, "io.read"), 4096, 1e-9);
	CHECK_NEAR(value(10, "io.write"), 1024, 1e-9);
	CHECK_NEAR(value(10, "io.rchar"), 100, 1e-9);
	CHECK_NEAR(value(10, "io.wchar"), 200, 1e-9);
	CHECK_NEAR(value(10, "switches.voluntary"), 13, 1e-9);
	CHECK_NEAR(value(10, "switches.involuntary"), 3, 1e-9);
	CHECK_NEAR(value(-1, "cpu"), value(10, "cpu"), 0);
	CHECK_EQ(value(-1, "processes"), 1);

	/* Between two scans: no switches, all else. */
	tick(sampler, 3 * SECOND + SECOND / 10);
	CHECK(!has(10, "switches.voluntary"));
	CHECK_NEAR(value(10, "cpu"), 0, 0);
	/* The same instant again has no rates, and does not divide by nothing. */
	tick(sampler, 3 * SECOND + SECOND / 10);
	CHECK(!has(10, "cpu"));
	CHECK(has(10, "rss"));
	end(sampler);
}

static void put_small_tree(bool with_children)
{
	put_process((struct fake_process){ .pid = 10, .parent = 1, .threads = 2, .rss_pages = 1 });
	put_process((struct fake_process){ .pid = 20, .parent = 10, .threads = 1, .rss_pages = 2 });
	put_process((struct fake_process){ .pid = 30, .parent = 20, .threads = 1, .rss_pages = 4 });
	put_process((struct fake_process){ .pid = 40, .parent = 1, .threads = 1, .rss_pages = 8 });
	put_thread(10, 10, with_children ? "" : NULL, 0, 0);
	put_thread(10, 11, with_children ? "20 " : NULL, 0, 0);
	put_thread(20, 20, with_children ? "30 " : NULL, 0, 0);
	put_thread(30, 30, with_children ? "" : NULL, 0, 0);
	put_thread(40, 40, with_children ? "" : NULL, 0, 0);
}

static void check_tree(bool with_children)
{
	double page = (double)sysconf(_SC_PAGESIZE);
	struct machine_sampler *sampler;

	begin();
	put_small_tree(with_children);
	sampler = open_at(10);
	tick(sampler, SECOND);
	CHECK_EQ(value(-1, "processes"), 3);
	CHECK_NEAR(value(-1, "rss"), 7 * page, 0);
	CHECK_EQ(value(-1, "threads"), 4);
	CHECK(has(20, "rss"));
	CHECK(has(30, "rss"));
	CHECK(!has(40, "rss"));

	/* 20 ends, 30 goes on under another parent, 50 is new below it and seen a second later. */
	put("", "proc/20/stat");
	put_process((struct fake_process){ .pid = 30, .parent = 1, .threads = 1, .rss_pages = 4 });
	put_process((struct fake_process){ .pid = 50, .parent = 30, .threads = 1 });
	put_thread(10, 11, with_children ? "" : NULL, 0, 0);
	put_thread(30, 30, with_children ? "50 bad" : NULL, 0, 0);
	put_thread(50, 50, with_children ? "" : NULL, 0, 0);
	tick(sampler, SECOND + SECOND / 10);
	CHECK(!has(20, "rss"));
	CHECK(!has(50, "rss"));
	CHECK_EQ(value(-1, "processes"), 2);
	tick(sampler, 60 * SECOND);
	CHECK(has(50, "rss"));
	CHECK(has(30, "rss"));
	CHECK_EQ(value(-1, "processes"), 3);

	/* A zombie shows nothing; a number used again is not the process it was. */
	put_process((struct fake_process){ .pid = 50, .parent = 30, .threads = 1, .state = 'Z' });
	put_process((struct fake_process){ .pid = 30, .parent = 1, .threads = 1, .start = 9 });
	tick(sampler, 60 * SECOND + SECOND / 10);
	CHECK(!has(50, "rss"));
	CHECK(!has(30, "rss"));
	put("", "proc/10/stat");
	tick(sampler, 60 * SECOND + SECOND / 5);
	CHECK(!has(-1, "rss"));
	end(sampler);
}

static void test_tree(void)
{
	check_tree(true);
}

static void test_tree_without_children_files(void)
{
	check_tree(false);
}

static void test_many_processes(void)
{
	struct machine_sampler *sampler;
	char children[4096] = "";
	size_t length = 0, listed = 0;

	begin();
	for (pid_t pid = 1001; pid <= 1300; pid++) {
		put_process((struct fake_process){ .pid = pid, .parent = 1000, .threads = 1 });
		length += (size_t)snprintf(
			children + length, sizeof children - length, "%d ", (int)pid);
	}
	put_process((struct fake_process){ .pid = 1000, .threads = 1 });
	put_thread(1000, 1000, children, 0, 0);
	sampler = open_at(1000);
	tick(sampler, SECOND);
	for (pid_t pid = 1000; pid <= 1300; pid++)
		listed += has(pid, "rss");
	CHECK_EQ(listed, MACHINE_MAX_LISTED);
	CHECK_EQ(value(-1, "processes"), 301);
	CHECK_EQ(value(-1, "threads"), 301);
	end(sampler);
}

static void test_system(void)
{
	struct machine_sampler *sampler;

	begin();
	put("cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 2 3\n", "proc/stat");
	put("MemTotal: 4096 kB\nMemFree: 10 kB\nMemAvailable: 1024 kB\nSwapCached: 7 kB\n"
	    "SwapTotal: 100 kB\nSwapFree: 40 kB\n",
		"proc/meminfo");
	put(" 8 0 sda 1 0 100 0 1 0 200 0 0 0 0\n 8 1 sda1 1 0 100 0 1 0 200 0 0 0 0\n"
	    " 7 0 loop0 9 9 999 9 9 9 999 9 9\n 8 16 short 1 2\n",
		"proc/diskstats");
	put("", "sys/block/sda/device");
	put("Inter-| Receive\n face |bytes\n    lo: 5 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n"
	    "  eth0:1000 0 0 0 0 0 0 0 2000 0 0 0 0 0 0 0\n"
	    "  br0: 1000 0 0 0 0 0 0 0 2000 0 0 0 0 0 0 0\n",
		"proc/net/dev");
	put("", "sys/class/net/eth0/device");
	put("some avg10=9.00 avg60=0.00 avg300=0.00 total=1000000\n"
	    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"proc/pressure/io");
	sampler = open_at(0);
	tick(sampler, SECOND);
	CHECK(!has(0, "cpu"));
	CHECK_EQ(value(0, "memory.total"), 4 * MIB);
	CHECK_EQ(value(0, "memory.available"), MIB);
	CHECK_EQ(value(0, "memory.used"), 3 * MIB);
	CHECK_EQ(value(0, "swap.total"), 102400);
	CHECK_EQ(value(0, "swap.used"), 61440);
	CHECK(!has(0, "disk.read"));
	CHECK(!has(-1, "processes"));

	put("cpu  120 10 105 850 4 3 2 6 0 0\n", "proc/stat");
	put(" 8 0 sda 1 0 300 0 1 0 1200 0 0 0 0\n 8 1 sda1 1 0 300 0 1 0 1200 0 0 0 0\n"
	    " 7 0 loop0 9 9 9999 9 9 9 9999 9 9\n",
		"proc/diskstats");
	put("Inter-| Receive\n face |bytes\n    lo: 50000 0 0 0 0 0 0 0 50000 0 0 0 0 0 0 0\n"
	    "  eth0:3000 0 0 0 0 0 0 0 8000 0 0 0 0 0 0 0\n"
	    "  br0: 9000 0 0 0 0 0 0 0 9000 0 0 0 0 0 0 0\n",
		"proc/net/dev");
	put("some avg10=9.00 avg60=0.00 avg300=0.00 total=1500000\n"
	    "full avg10=0.00 avg60=0.00 avg300=0.00 total=20000\n",
		"proc/pressure/io");
	tick(sampler, 3 * SECOND);
	CHECK_NEAR(value(0, "cpu"), 46, 1e-9);
	CHECK_NEAR(value(0, "cpu.user"), 30, 1e-9);
	CHECK_NEAR(value(0, "cpu.system"), 10, 1e-9);
	CHECK_NEAR(value(0, "cpu.iowait"), 4, 1e-9);
	CHECK_NEAR(value(0, "cpu.steal"), 6, 1e-9);
	CHECK(!has(0, "memory.total"));
	CHECK(has(0, "memory.used"));
	CHECK_NEAR(value(0, "disk.read"), 200 * 512 / 2, 1e-9);
	CHECK_NEAR(value(0, "disk.write"), 1000 * 512 / 2, 1e-9);
	CHECK_NEAR(value(0, "network.rx"), 1000, 1e-9);
	CHECK_NEAR(value(0, "network.tx"), 3000, 1e-9);
	CHECK_NEAR(value(0, "psi.io.some"), 25, 1e-9);
	CHECK_NEAR(value(0, "psi.io.full"), 1, 1e-9);
	end(sampler);
}

/* In a container no interface has a device below it, and all but lo count. */
static void test_virtual_network(void)
{
	struct machine_sampler *sampler;

	begin();
	put(" lo: 9 0 0 0 0 0 0 0 9 0\n eth0: 0 0 0 0 0 0 0 0 0 0\n", "proc/net/dev");
	sampler = open_at(0);
	tick(sampler, SECOND);
	put(" lo: 99 0 0 0 0 0 0 0 99 0\n eth0: 5 0 0 0 0 0 0 0 7 0\n", "proc/net/dev");
	tick(sampler, 2 * SECOND);
	CHECK_NEAR(value(0, "network.rx"), 5, 1e-9);
	CHECK_NEAR(value(0, "network.tx"), 7, 1e-9);
	/* A counter that went backwards gives no rate, then goes on from there. */
	put(" eth0: 1 0 0 0 0 0 0 0 8 0\n", "proc/net/dev");
	tick(sampler, 3 * SECOND);
	CHECK(!has(0, "network.rx"));
	CHECK_NEAR(value(0, "network.tx"), 1, 1e-9);
	put(" eth0: 3 0 0 0 0 0 0 0 8 0\n", "proc/net/dev");
	tick(sampler, 4 * SECOND);
	CHECK_NEAR(value(0, "network.rx"), 2, 1e-9);
	end(sampler);
}

static void test_cgroup_v2(void)
{
	struct machine_sampler *sampler;

	begin();
	put("0::/pod/job\n", "proc/10/cgroup");
	put("cpu memory\n", "sys/fs/cgroup/cgroup.controllers");
	put("max 100000\n", "sys/fs/cgroup/pod/job/cpu.max");
	put("max\n", "sys/fs/cgroup/pod/job/memory.max");
	/* The limits are the parent's; so are throttling and kills. */
	put("250000 100000\n", "sys/fs/cgroup/pod/cpu.max");
	put("1048576\n", "sys/fs/cgroup/pod/memory.max");
	put("524288\n", "sys/fs/cgroup/pod/memory.current");
	put("low 0\nhigh 0\nmax 5\noom 2\noom_kill 1\n", "sys/fs/cgroup/pod/memory.events");
	put("usage_usec 1\nnr_periods 100\nnr_throttled 10\nthrottled_usec 500000\n",
		"sys/fs/cgroup/pod/cpu.stat");
	sampler = open_at(10);
	tick(sampler, SECOND);
	CHECK_NEAR(value(0, "cgroup.cpu.limit"), 2.5, 1e-9);
	CHECK_EQ(value(0, "cgroup.memory.limit"), MIB);
	CHECK_EQ(value(0, "cgroup.memory.used"), MIB / 2);
	CHECK_EQ(value(0, "cgroup.oom_kills"), 1);
	CHECK(!has(0, "cgroup.cpu.throttled"));

	put("usage_usec 1\nnr_periods 120\nnr_throttled 15\nthrottled_usec 900000\n",
		"sys/fs/cgroup/pod/cpu.stat");
	tick(sampler, 3 * SECOND);
	CHECK_NEAR(value(0, "cgroup.cpu.throttled"), 20, 1e-9);
	CHECK_NEAR(value(0, "cgroup.cpu.throttled_periods"), 25, 1e-9);
	CHECK(!has(0, "cgroup.cpu.limit"));
	CHECK(!has(0, "cgroup.memory.limit"));
	CHECK(!has(0, "cgroup.oom_kills"));

	put("max 100000\n", "sys/fs/cgroup/pod/cpu.max");
	put("2097152\n", "sys/fs/cgroup/pod/memory.max");
	put("low 0\nhigh 0\nmax 5\noom 2\noom_kill 3\n", "sys/fs/cgroup/pod/memory.events");
	tick(sampler, 5 * SECOND);
	CHECK_EQ(value(0, "cgroup.cpu.limit"), 0);
	CHECK_EQ(value(0, "cgroup.memory.limit"), 2 * MIB);
	CHECK_EQ(value(0, "cgroup.oom_kills"), 3);
	end(sampler);
}

/* Version 1, in a container: the path is the host's, the mount shows only its end. */
static void test_cgroup_v1(void)
{
	struct machine_sampler *sampler;

	begin();
	put("9:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/\n", "proc/self/cgroup");
	put("-1\n", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us");
	put("100000\n", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us");
	put("nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
		"sys/fs/cgroup/cpu,cpuacct/cpu.stat");
	put("9223372036854771712\n", "sys/fs/cgroup/memory/memory.limit_in_bytes");
	put("4096\n", "sys/fs/cgroup/memory/memory.usage_in_bytes");
	put("oom_kill_disable 0\nunder_oom 0\noom_kill 4\n",
		"sys/fs/cgroup/memory/memory.oom_control");
	sampler = open_at(0);
	tick(sampler, SECOND);
	CHECK(!has(0, "cgroup.cpu.limit"));
	CHECK(!has(0, "cgroup.memory.limit"));
	CHECK_EQ(value(0, "cgroup.memory.used"), 4096);
	CHECK_EQ(value(0, "cgroup.oom_kills"), 4);
	put("150000\n", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us");
	put("nr_periods 10\nnr_throttled 5\nthrottled_time 1000000000\n",
		"sys/fs/cgroup/cpu,cpuacct/cpu.stat");
	tick(sampler, 3 * SECOND);
	CHECK_NEAR(value(0, "cgroup.cpu.limit"), 1.5, 1e-9);
	CHECK_NEAR(value(0, "cgroup.cpu.throttled"), 50, 1e-9);
	CHECK_NEAR(value(0, "cgroup.cpu.throttled_periods"), 50, 1e-9);
	end(sampler);
}

static void put_zone(const char *zone, const char *name, const char *energy_uj)
{
	char text[64];

	snprintf(text, sizeof text, "%s\n", name);
	put(text, "sys/class/powercap/%s/name", zone);
	put("1000000000\n", "sys/class/powercap/%s/max_energy_range_uj", zone);
	put(energy_uj, "sys/class/powercap/%s/energy_uj", zone);
}

static void test_rapl(void)
{
	struct machine_sampler *sampler;

	begin();
	put_zone("intel-rapl:0", "package-0", "100000000\n");
	put_zone("intel-rapl:1", "package-1", "990000000\n");
	put_zone("intel-rapl:0:0", "core", "50\n");
	put_zone("intel-rapl:0:1", "dram", "0\n");
	put_zone("intel-rapl-mmio:0", "package-0", "100000000\n");
	sampler = open_at(0);
	tick(sampler, SECOND);
	CHECK_NEAR(value(0, "energy.cpu"), 0, 0);
	CHECK(!has(0, "power.cpu"));

	/* The first package adds 100 J, the second 10 to its wrap and 20 behind it. */
	put("200000000\n", "sys/class/powercap/intel-rapl:0/energy_uj");
	put("20000000\n", "sys/class/powercap/intel-rapl:1/energy_uj");
	put("8000000\n", "sys/class/powercap/intel-rapl:0:1/energy_uj");
	tick(sampler, 3 * SECOND);
	CHECK_NEAR(value(0, "energy.cpu"), 130, 1e-9);
	CHECK_NEAR(value(0, "power.cpu"), 65, 1e-9);
	CHECK_NEAR(value(0, "energy.dram"), 8, 1e-9);
	CHECK_NEAR(value(0, "power.dram"), 4, 1e-9);
	CHECK(!has(0, "energy.platform"));
	end(sampler);
}

static void test_clocks_and_heat(void)
{
	struct machine_sampler *sampler;

	begin();
	put("1000000\n", "sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq");
	put("3000000\n", "sys/devices/system/cpu/cpufreq/policy1/scaling_cur_freq");
	put("junk\n", "sys/devices/system/cpu/cpufreq/policy2/scaling_cur_freq");
	put("x86_pkg_temp\n", "sys/class/thermal/thermal_zone0/type");
	put("61500\n", "sys/class/thermal/thermal_zone0/temp");
	put("acpitz\n", "sys/class/thermal/thermal_zone1/type");
	put("-274000\n", "sys/class/thermal/thermal_zone1/temp");
	put("nvme\n", "sys/class/hwmon/hwmon3/name");
	put("70000\n", "sys/class/hwmon/hwmon3/temp1_input");
	sampler = open_at(0);
	tick(sampler, SECOND);
	CHECK_NEAR(value(0, "cpu.frequency"), 2000, 1e-9);
	CHECK_NEAR(value(0, "cpu.frequency.min"), 1000, 1e-9);
	CHECK_NEAR(value(0, "cpu.frequency.max"), 3000, 1e-9);
	CHECK_NEAR(value(0, "temperature.max"), 70, 1e-9);
	CHECK_NEAR(value(0, "temperature.cpu"), 61.5, 1e-9);
	/* Read once a second only. */
	tick(sampler, SECOND + SECOND / 10);
	CHECK(!has(0, "cpu.frequency"));
	end(sampler);
}

static void test_malformed(void)
{
	static const char *const texts[] = { "", "\n", ":", "cpu", "cpu ", "cpu 1 2",
		"cpu 99999999999999999999999999 1 1 1 1 1 1 1", "10 (", "10 )", "10 () R",
		"10 () R 1 2 3", "some total=", "some total=x\nfull\n", "eth0:", ": 1 2 3",
		"8 0 ../../../etc/passwd 1 1 1 1 1 1 1", "MemTotal:", "MemTotal: -5 kB",
		"MemTotal: 18446744073709551615 kB", "0::", "0::/..", "nr_periods 1" };
	static const char *const files[] = { "proc/stat", "proc/meminfo", "proc/diskstats",
		"proc/net/dev", "proc/pressure/cpu", "proc/pressure/io", "proc/10/stat",
		"proc/10/io", "proc/10/statm", "proc/10/task/10/status", "proc/10/task/10/children",
		"proc/10/cgroup", "sys/fs/cgroup/cpu.stat", "sys/fs/cgroup/cpu.max",
		"sys/fs/cgroup/memory.current", "sys/fs/cgroup/memory.max",
		"sys/fs/cgroup/memory.events", "sys/class/powercap/intel-rapl:0/energy_uj",
		"sys/class/thermal/thermal_zone0/temp" };
	struct machine_sampler *sampler;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		begin();
		put("package-0", "sys/class/powercap/intel-rapl:0/name");
		for (size_t j = 0; j < sizeof files / sizeof files[0]; j++)
			put(texts[i], "%s", files[j]);
		sampler = open_at(10);
		for (uint64_t now = 1; now < 4; now++) {
			tick(sampler, now * SECOND);
			for (size_t k = 0; k < kept_count; k++)
				CHECK(kept[k].value >= 0);
		}
		end(sampler);
	}
}

static void test_missing(void)
{
	struct machine_sampler *sampler;
	struct error err = ERROR_INIT;

	begin();
	sampler = open_at(0);
	tick(sampler, SECOND);
	CHECK_EQ(kept_count, 0);
	missing_text[0] = '\0';
	machine_missing(sampler, keep_missing, NULL);
	CHECK_STR(missing_text, "cpu memory disk network psi cgroup.cpu cgroup.memory cpufreq "
				"temperature rapl ");
	end(sampler);
	sampler = NULL;
	CHECK_EQ(machine_sampler_new_at("/nonexistent", "/sys", 1, false, &sampler, &err),
		STATUS_IO);
	CHECK(sampler == NULL);
	CHECK(err.message[0] != '\0');
	machine_sampler_free(NULL);
}

/* The real thing: a child that does nothing but run. */
static void test_busy_child(void)
{
	struct machine_sampler *sampler = NULL;
	struct error err = ERROR_INIT;
	struct timespec pause = { .tv_nsec = 300000000 };
	int status;
	pid_t child;

	if (access("/proc/self/stat", R_OK) != 0)
		UNIT_SKIP("no /proc here");
	child = fork();
	if (child == 0)
		for (volatile unsigned int i = 0;; i++)
			;
	if (!CHECK(child > 0))
		return;
	if (CHECK_EQ(machine_sampler_new(getpid(), &sampler, &err), 0)) {
		tick(sampler, clock_mono_ns());
		CHECK(value(getpid(), "rss") > 0);
		CHECK(value(child, "rss") > 0);
		CHECK(value(-1, "processes") >= 2);
		nanosleep(&pause, NULL);
		tick(sampler, clock_mono_ns());
		CHECK(value(child, "cpu") > 30);
		CHECK(value(child, "cpu") < 150);
		CHECK(value(-1, "cpu") >= value(child, "cpu"));
		CHECK(value(0, "memory.used") > 0);
		CHECK(value(0, "memory.available") > 0);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	if (sampler) {
		tick(sampler, clock_mono_ns());
		CHECK(!has(child, "rss"));
		CHECK(has(getpid(), "rss"));
	}
	machine_sampler_free(sampler);
}

static const struct unit_test tests[] = {
	UNIT(test_process),
	UNIT(test_tree),
	UNIT(test_tree_without_children_files),
	UNIT(test_many_processes),
	UNIT(test_system),
	UNIT(test_virtual_network),
	UNIT(test_cgroup_v2),
	UNIT(test_cgroup_v1),
	UNIT(test_rapl),
	UNIT(test_clocks_and_heat),
	UNIT(test_malformed),
	UNIT(test_missing),
	UNIT(test_busy_child),
};

int main(int argc, char **argv)
{
	return unit_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
