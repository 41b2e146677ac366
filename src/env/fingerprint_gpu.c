// SPDX-License-Identifier: MIT OR Apache-2.0
/* Facts about NVIDIA GPUs, from NVML. The library comes with the driver and is looked for at run
 * time; a machine without it has no such facts. Serial numbers and UUIDs are nobody's business. */
#include "env/fingerprint_internal.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#define MAX_GPUS         64
#define CLOCK_SM         1
#define CLOCK_MEMORY     2
#define MEMORY_V2        ((unsigned int)sizeof(struct nvml_memory_v2) | 2u << 24)
#define NOT_AVAILABLE_MW 0xffffffffu

_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");

static void put_gpu(
	const struct fingerprint_out *out, const struct nvml_calls *calls, unsigned int index)
{
	struct nvml_memory_v2 memory = { .version = MEMORY_V2 };
	char name[96] = "", key[48];
	unsigned int number;
	void *device;

	if (calls->handle(index, &device) != 0)
		return;
	if (calls->name && calls->name(device, name, sizeof name) == 0) {
		name[sizeof name - 1] = '\0';
		snprintf(key, sizeof key, "gpu.%u.name", index);
		fingerprint_put(out, key, "%s", name);
	}
	if (calls->memory && calls->memory(device, &memory) == 0) {
		snprintf(key, sizeof key, "gpu.%u.memory_bytes", index);
		fingerprint_put(out, key, "%llu", memory.total);
	}
	if (calls->power_limit && calls->power_limit(device, &number) == 0 &&
		number != NOT_AVAILABLE_MW) {
		snprintf(key, sizeof key, "gpu.%u.power_limit_w", index);
		fingerprint_put(out, key, "%u", (number + 500) / 1000);
	}
	if (calls->max_clock && calls->max_clock(device, CLOCK_SM, &number) == 0) {
		snprintf(key, sizeof key, "gpu.%u.clock_sm_max_mhz", index);
		fingerprint_put(out, key, "%u", number);
	}
	if (calls->max_clock && calls->max_clock(device, CLOCK_MEMORY, &number) == 0) {
		snprintf(key, sizeof key, "gpu.%u.clock_mem_max_mhz", index);
		fingerprint_put(out, key, "%u", number);
	}
}

void fingerprint_put_gpus(const struct fingerprint_out *out, const struct nvml_calls *calls)
{
	char driver[96] = "";
	unsigned int count = 0;
	int version = 0;

	if (!calls->init || !calls->count || !calls->handle || calls->init() != 0)
		return;
	if (calls->driver_version && calls->driver_version(driver, sizeof driver) == 0) {
		driver[sizeof driver - 1] = '\0';
		fingerprint_put(out, "driver.nvidia", "%s", driver);
	}
	if (calls->cuda_version && calls->cuda_version(&version) == 0 && version > 0)
		fingerprint_put(
			out, "cuda.driver_version", "%d.%d", version / 1000, version % 1000 / 10);
	if (calls->count(&count) == 0) {
		fingerprint_put(out, "gpu.count", "%u", count);
		for (unsigned int i = 0; i < count && i < MAX_GPUS; i++)
			put_gpu(out, calls, i);
	}
	if (calls->shutdown)
		calls->shutdown();
}

/* The names carry their version: the short ones are macros of the vendor's header, or older calls
 * with other structs. */
static const struct {
	const char *name;
	size_t offset;
} symbols[] = {
	{ "nvmlInit_v2", offsetof(struct nvml_calls, init) },
	{ "nvmlShutdown", offsetof(struct nvml_calls, shutdown) },
	{ "nvmlSystemGetDriverVersion", offsetof(struct nvml_calls, driver_version) },
	{ "nvmlSystemGetCudaDriverVersion_v2", offsetof(struct nvml_calls, cuda_version) },
	{ "nvmlDeviceGetCount_v2", offsetof(struct nvml_calls, count) },
	{ "nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml_calls, handle) },
	{ "nvmlDeviceGetName", offsetof(struct nvml_calls, name) },
	{ "nvmlDeviceGetMemoryInfo_v2", offsetof(struct nvml_calls, memory) },
	{ "nvmlDeviceGetEnforcedPowerLimit", offsetof(struct nvml_calls, power_limit) },
	{ "nvmlDeviceGetMaxClockInfo", offsetof(struct nvml_calls, max_clock) },
};

void fingerprint_put_nvml(const struct fingerprint_out *out)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	struct nvml_calls calls = { 0 };

	if (!library)
		return;
	for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
		*(void **)((char *)&calls + symbols[i].offset) = dlsym(library, symbols[i].name);
	fingerprint_put_gpus(out, &calls);
	dlclose(library);
}
