// SPDX-License-Identifier: MIT OR Apache-2.0
/* The fingerprint over a written /proc and /sys, over a scripted NVML, and on this machine. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/fingerprint_internal.h"
#include "tests/unit/unit.h"

static struct {
	char key[64];
	char value[256];
} facts[256];
static size_t fact_count;
static char root[64], proc_root[96], sys_root[96];

static void keep(void *context, const char *key, const char *value)
{
	(void)context;
	if (fact_count == sizeof facts / sizeof facts[0])
		return;
	snprintf(facts[fact_count].key, sizeof facts[0].key, "%s", key);
	snprintf(facts[fact_count].value, sizeof facts[0].value, "%s", value);
	fact_count++;
}

static const struct fingerprint_out out = { .sink = keep };

static const char *fact(const char *key)
{
	for (size_t i = 0; i < fact_count; i++)
		if (strcmp(facts[i].key, key) == 0)
			return facts[i].value;
	return NULL;
}

static void put(const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", root, name);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
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

static void begin(void)
{
	fact_count = 0;
	snprintf(root, sizeof root, "/tmp/tacho-fingerprint-XXXXXX");
	CHECK(mkdtemp(root) != NULL);
	snprintf(proc_root, sizeof proc_root, "%s/proc", root);
	snprintf(sys_root, sizeof sys_root, "%s/sys", root);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info;
	(void)kind;
	(void)at;
	return remove(path);
}

static void end(void)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void test_machine(void)
{
	begin();
	put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU 9000\nflags\t\t: fpu avx avx2 "
			    "avx512f2 amx_tile\n"
			    "\nprocessor\t: 1\nmodel name\t: Another\nflags\t\t: fpu avx512f\n");
	put("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\n");
	put("proc/self/cgroup", "0::/job\n");
	put("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	put("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
	put("sys/fs/cgroup/job/memory.max", "max\n");
	put("sys/devices/system/cpu/online", "0-2,5\n");
	put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2\n");
	put("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,5\n");
	put("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2\n");
	put("sys/devices/system/cpu/cpu5/topology/thread_siblings_list", "1,5\n");
	put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	put("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000\n");
	put("sys/devices/system/node/online", "0-1\n");
	put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	fingerprint_put_machine(&out, proc_root, sys_root);
	CHECK_STR(fact("cpu.model"), "Some CPU 9000");
	CHECK_STR(fact("cpu.flags_simd"), "avx avx2 amx_tile");
	CHECK_STR(fact("cpu.cores"), "2");
	CHECK_STR(fact("cpu.threads"), "4");
	CHECK_STR(fact("cpu.governor"), "performance");
	CHECK_STR(fact("cpu.mhz_max"), "3700");
	CHECK_STR(fact("memory.bytes"), "1024000");
	CHECK_STR(fact("memory.thp"), "madvise");
	CHECK_STR(fact("numa.nodes"), "2");
	CHECK_STR(fact("cgroup.cpu_limit"), "1.5");
	CHECK_STR(fact("cgroup.memory_limit"), "none");
	CHECK_STR(fact("clocksource"), "tsc");
	end();
}

static void test_malformed(void)
{
	begin();
	put("proc/cpuinfo", "model name\t:\nflags\t:\n::::\n");
	put("proc/meminfo", "MemTotal: 99999999999999999999999 kB\n");
	put("proc/self/cgroup", "0::\n:::\n7\n0::/../../../../etc\n");
	put("sys/devices/system/cpu/online", "5-1\n");
	put("sys/devices/system/node/online", "0-99999999999\n");
	put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise never\n");
	put("sys/devices/system/clocksource/clocksource0/current_clocksource", "a\x01\x1b[b\n");
	fingerprint_put_machine(&out, proc_root, sys_root);
	CHECK_STR(fact("cpu.model"), NULL);
	CHECK_STR(fact("cpu.flags_simd"), NULL);
	CHECK_STR(fact("cpu.threads"), NULL);
	CHECK_STR(fact("memory.bytes"), NULL);
	CHECK_STR(fact("memory.thp"), NULL);
	CHECK_STR(fact("numa.nodes"), NULL);
	CHECK_STR(fact("cgroup.cpu_limit"), NULL);
	CHECK_STR(fact("clocksource"), "a??[b");
	end();
}

static void test_limits_of_ancestors(void)
{
	begin();
	put("proc/self/cgroup", "0::/outer/middle/inner\n");
	put("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	put("sys/fs/cgroup/outer/cpu.max", "400000 100000\n");
	put("sys/fs/cgroup/outer/memory.max", "4096\n");
	put("sys/fs/cgroup/outer/middle/cpu.max", "50000 100000\n");
	put("sys/fs/cgroup/outer/middle/memory.max", "max\n");
	put("sys/fs/cgroup/outer/middle/inner/cpu.max", "max 100000\n");
	put("sys/fs/cgroup/outer/middle/inner/memory.max", "8192\n");
	fingerprint_put_machine(&out, proc_root, sys_root);
	CHECK_STR(fact("cgroup.cpu_limit"), "0.5");
	CHECK_STR(fact("cgroup.memory_limit"), "4096");
	end();
}

static void test_rank(void)
{
	static const char *const names[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
		"SLURM_PROCID" };

	for (size_t i = 0; i < 4; i++)
		unsetenv(names[i]);
	CHECK_STR(fingerprint_rank(), NULL);
	setenv("SLURM_PROCID", "4", 1);
	CHECK_STR(fingerprint_rank(), "4");
	setenv("PMI_RANK", "3", 1);
	CHECK_STR(fingerprint_rank(), "3");
	setenv("OMPI_COMM_WORLD_RANK", "2", 1);
	CHECK_STR(fingerprint_rank(), "2");
	setenv("RANK", "1", 1);
	CHECK_STR(fingerprint_rank(), "1");
	setenv("RANK", "first", 1);
	CHECK_STR(fingerprint_rank(), "2");
	for (size_t i = 0; i < 4; i++)
		unsetenv(names[i]);
}

static void test_environment(void)
{
	fact_count = 0;
	setenv("WORLD_SIZE", "8", 1);
	setenv("OMP_NUM_THREADS", "4", 1);
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
	fingerprint_put_environment(&out);
	CHECK_STR(fact("world_size"), "8");
	CHECK_STR(fact("env.OMP_NUM_THREADS"), "4");
	CHECK_STR(fact("env.AWS_SECRET_ACCESS_KEY"), NULL);
	for (size_t i = 0; i < fact_count; i++)
		CHECK(strstr(facts[i].value, "secret") == NULL);
	for (size_t i = 1; i < fact_count; i++)
		if (strncmp(facts[i - 1].key, "env.", 4) == 0)
			CHECK(strcmp(facts[i - 1].key, facts[i].key) < 0);
}

/* ---- scripted NVML ---- */

static int nvml_open_count, nvml_close_count;

static int fake_init(void)
{
	nvml_open_count++;
	return 0;
}

static int fake_shutdown(void)
{
	nvml_close_count++;
	return 0;
}

static int fake_fails(void)
{
	return 9;
}

static int fake_driver(char *text, unsigned int size)
{
	snprintf(text, size, "570.12.34");
	return 0;
}

static int fake_cuda(int *version)
{
	*version = 12080;
	return 0;
}

static int fake_count(unsigned int *count)
{
	*count = 2;
	return 0;
}

static int fake_handle(unsigned int index, void **device)
{
	static int devices[2];

	*device = &devices[index];
	return index == 0 ? 0 : 15; /* the second GPU is lost */
}

static int fake_name(void *device, char *text, unsigned int size)
{
	(void)device;
	snprintf(text, size, "NVIDIA H200");
	return 0;
}

static int fake_memory(void *device, struct nvml_memory_v2 *memory)
{
	(void)device;
	if (memory->version != 0x02000028)
		return 25;
	memory->total = 150000000000ull;
	return 0;
}

static int fake_power(void *device, unsigned int *milliwatts)
{
	(void)device;
	*milliwatts = 700000;
	return 0;
}

static int fake_clock(void *device, int type, unsigned int *mhz)
{
	(void)device;
	if (type == 2)
		return 3;
	*mhz = 1980;
	return 0;
}

static void test_gpus(void)
{
	struct nvml_calls calls = { fake_init, fake_shutdown, fake_driver, fake_cuda, fake_count,
		fake_handle, fake_name, fake_memory, fake_power, fake_clock };

	fact_count = 0;
	nvml_open_count = nvml_close_count = 0;
	fingerprint_put_gpus(&out, &calls);
	CHECK_STR(fact("driver.nvidia"), "570.12.34");
	CHECK_STR(fact("cuda.driver_version"), "12.8");
	CHECK_STR(fact("gpu.count"), "2");
	CHECK_STR(fact("gpu.0.name"), "NVIDIA H200");
	CHECK_STR(fact("gpu.0.memory_bytes"), "150000000000");
	CHECK_STR(fact("gpu.0.power_limit_w"), "700");
	CHECK_STR(fact("gpu.0.clock_sm_max_mhz"), "1980");
	CHECK_STR(fact("gpu.0.clock_mem_max_mhz"), NULL);
	CHECK_STR(fact("gpu.1.name"), NULL);
	CHECK_STR(fact("gpu.0.uuid"), NULL);
	CHECK_EQ(nvml_open_count, 1);
	CHECK_EQ(nvml_close_count, 1);
}

static void test_gpus_absent(void)
{
	struct nvml_calls none = { 0 };
	struct nvml_calls failing = { .init = fake_fails,
		.shutdown = fake_shutdown,
		.count = fake_count,
		.handle = fake_handle };
	struct nvml_calls few = { .init = fake_init, .count = fake_count, .handle = fake_handle };

	fact_count = 0;
	nvml_close_count = 0;
	fingerprint_put_gpus(&out, &none);
	fingerprint_put_gpus(&out, &failing);
	CHECK_EQ(fact_count, 0);
	CHECK_EQ(nvml_close_count, 0);
	fingerprint_put_gpus(&out, &few);
	CHECK_EQ(fact_count, 1);
	CHECK_STR(fact("gpu.count"), "2");
}

static void test_this_machine(void)
{
	fact_count = 0;
	fingerprint_collect(keep, NULL);
	CHECK(fact("kernel.release") != NULL);
	CHECK(fact("libc.version") != NULL);
	CHECK(fact("memory.bytes") != NULL);
	for (size_t i = 0; i < fact_count; i++) {
		CHECK(facts[i].value[0] != '\0');
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(facts[i].key, facts[j].key) != 0);
	}
}

static const struct unit_test tests[] = {
	UNIT(test_machine),
	UNIT(test_malformed),
	UNIT(test_limits_of_ancestors),
	UNIT(test_rank),
	UNIT(test_environment),
	UNIT(test_gpus),
	UNIT(test_gpus_absent),
	UNIT(test_this_machine),
};

int main(int argc, char **argv)
{
	return unit_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
