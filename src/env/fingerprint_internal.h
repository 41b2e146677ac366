/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The parts of the fingerprint, over folders and calls that a test can replace. */
#pragma once

#include "env/fingerprint.h"

struct fingerprint_out {
	fingerprint_sink *sink;
	void *context;
};

/* One fact. Control bytes become '?', an empty value is left out, a long one is cut. */
void fingerprint_put(const struct fingerprint_out *out, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void fingerprint_put_machine(
	const struct fingerprint_out *out, const char *proc_root, const char *sys_root);
void fingerprint_put_environment(const struct fingerprint_out *out);

/* NVML's entry points as we declare them: status 0 is success, a device is a handle. */
struct nvml_memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

struct nvml_calls {
	int (*init)(void);
	int (*shutdown)(void);
	int (*driver_version)(char *text, unsigned int size);
	int (*cuda_version)(int *version);
	int (*count)(unsigned int *count);
	int (*handle)(unsigned int index, void **device);
	int (*name)(void *device, char *text, unsigned int size);
	int (*memory)(void *device, struct nvml_memory_v2 *memory);
	int (*power_limit)(void *device, unsigned int *milliwatts);
	int (*max_clock)(void *device, int type, unsigned int *mhz);
};

/* Any call may be NULL: its facts are then left out; without init, count or handle, all are. */
void fingerprint_put_gpus(const struct fingerprint_out *out, const struct nvml_calls *calls);
/* The same with the calls of the driver's library, if there is one. */
void fingerprint_put_nvml(const struct fingerprint_out *out);
