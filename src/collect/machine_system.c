// SPDX-License-Identifier: MIT OR Apache-2.0
/* The machine's CPU time, memory, disks, network and pressure, from /proc. Disks and interfaces are
 * counted once: a partition, a bridge or a RAID shows again what the device below it has shown. */
#include "collect/machine_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

#define SECTOR_BYTES 512 /* of diskstats, whatever the disk's own */
#define TABLE_BYTES  32768

/* The row's device in the cache; asks /sys once per name. NULL when out of memory or when the name
 * is not one. `hint` is the row's number, which seldom changes. */
static const struct machine_device *find_device(struct machine_devices *devices, size_t hint,
	struct proc_text name, const char *sys_root, const char *folder)
{
	size_t length = (size_t)(name.end - name.at);
	struct machine_device *device;
	char path[PROC_PATH];

	if (length == 0 || length >= sizeof device->name)
		return NULL;
	if (hint < devices->count && proc_text_equal(&name, devices->items[hint].name))
		return &devices->items[hint];
	for (size_t i = 0; i < devices->count; i++)
		if (proc_text_equal(&name, devices->items[i].name))
			return &devices->items[i];
	if (array_grow((void **)&devices->items, &devices->capacity, devices->count + 1,
		    sizeof *devices->items))
		return NULL;
	device = &devices->items[devices->count++];
	*device = (struct machine_device){ 0 };
	memcpy(device->name, name.at, length);
	snprintf(path, sizeof path, "%s/%s/%s", sys_root, folder, device->name);
	/* "cciss/c0d0" is a folder "cciss!c0d0"; and no name may lead out of the folder. */
	for (char *at = path + strlen(path) - length; *at; at++)
		if (*at == '/')
			*at = '!';
	length = strlen(path);
	snprintf(path + length, sizeof path - length, "/device");
	device->is_physical = access(path, F_OK) == 0;
	return device;
}

static int open_noted(const struct machine_roots *roots, const char *name, const char *what,
	struct machine_missing_list *missing)
{
	char probe[64];
	int fd = proc_file_open("%s/%s", roots->proc, name);

	/* Pressure can be opened and not read where it is switched off. */
	if (fd >= 0 && proc_file_read(fd, probe, sizeof probe) < 0) {
		int saved = errno;

		close(fd);
		errno = saved;
		fd = -1;
	}
	if (fd < 0)
		machine_missing_note(missing, what, machine_errno_text(errno));
	return fd;
}

void machine_system_init(struct machine_system *system, const struct machine_roots *roots,
	struct machine_missing_list *missing)
{
	*system = (struct machine_system){ 0 };
	system->stat_fd = open_noted(roots, "stat", "cpu", missing);
	system->meminfo_fd = open_noted(roots, "meminfo", "memory", missing);
	system->disk_fd = open_noted(roots, "diskstats", "disk", missing);
	system->net_fd = open_noted(roots, "net/dev", "network", missing);
	system->psi_fds[0] = open_noted(roots, "pressure/cpu", "psi", missing);
	system->psi_fds[1] = open_noted(roots, "pressure/memory", "psi", missing);
	system->psi_fds[2] = open_noted(roots, "pressure/io", "psi", missing);
}

void machine_system_release(struct machine_system *system)
{
	int fds[] = { system->stat_fd, system->meminfo_fd, system->disk_fd, system->net_fd,
		system->psi_fds[0], system->psi_fds[1], system->psi_fds[2] };

	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(system->disks.items);
	free(system->interfaces.items);
}

/* Shares of all CPUs together: 100 % is the whole machine busy. Guest time is within user time. */
static void tick_cpu(struct machine_system *system, const struct machine_out *out)
{
	char buffer[512];
	ssize_t length = proc_file_read(system->stat_fd, buffer, sizeof buffer);
	struct proc_text text = proc_text_of(buffer, length);
	uint64_t now[MACHINE_CPU_TIMES] = { 0 }, delta[MACHINE_CPU_TIMES], total = 0;
	bool was_known = system->cpu_known;
	double scale;

	if (!proc_text_skip(&text, "cpu "))
		return;
	for (size_t i = 0; i < MACHINE_CPU_TIMES; i++)
		if (!proc_text_u64(&text, &now[i]) && i <= MACHINE_CPU_IDLE)
			return;
	for (size_t i = 0; i < MACHINE_CPU_TIMES; i++) {
		/* The kernel's iowait and idle may step back a little. */
		delta[i] = now[i] > system->cpu[i] ? now[i] - system->cpu[i] : 0;
		total += delta[i];
	}
	memcpy(system->cpu, now, sizeof now);
	system->cpu_known = true;
	if (!was_known || total == 0)
		return;
	scale = 100 / (double)total;
	machine_out_double(out, "cpu", "%",
		(double)(total - delta[MACHINE_CPU_IDLE] - delta[MACHINE_CPU_IOWAIT]) * scale);
	machine_out_double(out, "cpu.user", "%",
		(double)(delta[MACHINE_CPU_USER] + delta[MACHINE_CPU_NICE]) * scale);
	machine_out_double(out, "cpu.system", "%",
		(double)(delta[MACHINE_CPU_SYSTEM] + delta[MACHINE_CPU_IRQ] +
			 delta[MACHINE_CPU_SOFTIRQ]) *
			scale);
	machine_out_double(out, "cpu.iowait", "%", (double)delta[MACHINE_CPU_IOWAIT] * scale);
	machine_out_double(out, "cpu.steal", "%", (double)delta[MACHINE_CPU_STEAL] * scale);
}

/* The number behind `key` in KiB, as bytes. */
static bool memory_bytes(struct proc_text *text, const char *key, uint64_t *ret_bytes)
{
	uint64_t kib;

	return proc_text_key(text, key, &kib) &&
	       !__builtin_mul_overflow(kib, (uint64_t)1024, ret_bytes);
}

static void tick_memory(struct machine_system *system, const struct machine_out *out)
{
	uint64_t total, free_bytes, available, swap_total, swap_free;
	char buffer[2048];
	ssize_t length = proc_file_read(system->meminfo_fd, buffer, sizeof buffer);
	struct proc_text text = proc_text_of(buffer, length);

	if (memory_bytes(&text, "MemTotal", &total)) {
		machine_out_limit(out, &system->memory_total, "memory.total", "bytes",
			MACHINE_INTEGER, (double)total);
		/* Kernels before 3.14 lack MemAvailable. */
		if (!memory_bytes(&text, "MemFree", &free_bytes))
			free_bytes = total;
		if (!memory_bytes(&text, "MemAvailable", &available))
			available = free_bytes;
		machine_out_integer(
			out, "memory.used", "bytes", total > available ? total - available : 0);
		machine_out_integer(out, "memory.available", "bytes", available);
	}
	if (memory_bytes(&text, "SwapTotal", &swap_total) &&
		memory_bytes(&text, "SwapFree", &swap_free)) {
		machine_out_limit(out, &system->swap_total, "swap.total", "bytes", MACHINE_INTEGER,
			(double)swap_total);
		machine_out_integer(out, "swap.used", "bytes",
			swap_total > swap_free ? swap_total - swap_free : 0);
	}
}

/* "254 0 vda reads merged sectors ms writes merged sectors ms ..." */
static void tick_disk(struct machine_system *system, const struct machine_roots *roots,
	const struct machine_out *out)
{
	char buffer[TABLE_BYTES];
	ssize_t length = proc_file_read_all(system->disk_fd, buffer, sizeof buffer);
	struct proc_text text = proc_text_of(buffer, length), line, name;
	uint64_t fields[7], ignored, read = 0, written = 0;
	bool any = false;

	for (size_t row = 0; proc_text_line(&text, &line); row++) {
		const struct machine_device *device;
		size_t i = 0;

		if (!proc_text_u64(&line, &ignored) || !proc_text_u64(&line, &ignored) ||
			!proc_text_word(&line, &name))
			continue;
		device = find_device(&system->disks, row, name, roots->sys, "block");
		if (!device || !device->is_physical)
			continue;
		while (i < 7 && proc_text_u64(&line, &fields[i]))
			i++;
		if (i < 7)
			continue;
		any = true;
		read += fields[2];
		written += fields[6];
	}
	if (!any)
		return;
	machine_out_rate(out, &system->disk_read, "disk.read", "bytes/s", read, SECTOR_BYTES);
	machine_out_rate(out, &system->disk_write, "disk.write", "bytes/s", written, SECTOR_BYTES);
}

/* "  eth0: rx_bytes packets errs drop fifo frame compressed multicast tx_bytes ..." */
static bool parse_interface(
	struct proc_text line, struct proc_text *ret_name, uint64_t *ret_rx, uint64_t *ret_tx)
{
	const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
	struct proc_text head;
	uint64_t fields[9];

	if (!colon)
		return false;
	head = (struct proc_text){ line.at, colon };
	line.at = colon + 1;
	if (!proc_text_word(&head, ret_name))
		return false;
	for (size_t i = 0; i < 9; i++)
		if (!proc_text_u64(&line, &fields[i]))
			return false;
	*ret_rx = fields[0];
	*ret_tx = fields[8];
	return true;
}

/* Physical interfaces only, where there is one; in a container all but "lo". */
static void tick_network(struct machine_system *system, const struct machine_roots *roots,
	const struct machine_out *out)
{
	char buffer[TABLE_BYTES];
	ssize_t length = proc_file_read_all(system->net_fd, buffer, sizeof buffer);
	struct proc_text text = proc_text_of(buffer, length), line, name;
	uint64_t rx, tx, sum_rx[2] = { 0 }, sum_tx[2] = { 0 };
	bool any[2] = { false, false };

	for (size_t row = 0; proc_text_line(&text, &line);) {
		const struct machine_device *device;

		if (!parse_interface(line, &name, &rx, &tx) || proc_text_equal(&name, "lo"))
			continue;
		device = find_device(&system->interfaces, row++, name, roots->sys, "class/net");
		if (!device)
			continue;
		any[device->is_physical] = true;
		sum_rx[device->is_physical] += rx;
		sum_tx[device->is_physical] += tx;
	}
	if (!any[0] && !any[1])
		return;
	machine_out_rate(out, &system->net_rx, "network.rx", "bytes/s", sum_rx[any[1]], 1);
	machine_out_rate(out, &system->net_tx, "network.tx", "bytes/s", sum_tx[any[1]], 1);
}

/* The share of time in which some, or all, tasks stood still, from the running total: the averages
 * in the same file lag by ten seconds. */
static void tick_psi(struct machine_system *system, size_t which, const struct machine_out *out)
{
	static const char *const some_names[3] = { "psi.cpu.some", "psi.memory.some",
		"psi.io.some" };
	static const char *const full_names[3] = { "psi.cpu.full", "psi.memory.full",
		"psi.io.full" };
	char buffer[256];
	ssize_t length = proc_file_read(system->psi_fds[which], buffer, sizeof buffer);
	struct proc_text text = proc_text_of(buffer, length), line;

	while (proc_text_line(&text, &line)) {
		const char *total = memmem(line.at, (size_t)(line.end - line.at), "total=", 6);
		bool is_some = proc_text_skip(&line, "some ");
		bool is_full = !is_some && proc_text_skip(&line, "full ");
		uint64_t us;

		if (!total || (!is_some && !is_full))
			continue;
		line.at = total + 6;
		if (!proc_text_u64(&line, &us))
			continue;
		/* For CPU, "full" has no meaning on the machine's level. */
		if (is_some)
			machine_out_rate(
				out, &system->psi_some[which], some_names[which], "%", us, 1e-4);
		else if (which > 0)
			machine_out_rate(
				out, &system->psi_full[which], full_names[which], "%", us, 1e-4);
	}
}

void machine_system_tick(struct machine_system *system, const struct machine_roots *roots,
	const struct machine_out *out)
{
	if (system->stat_fd >= 0)
		tick_cpu(system, out);
	if (system->meminfo_fd >= 0)
		tick_memory(system, out);
	if (system->disk_fd >= 0)
		tick_disk(system, roots, out);
	if (system->net_fd >= 0)
		tick_network(system, roots, out);
	for (size_t i = 0; i < 3; i++)
		if (system->psi_fds[i] >= 0)
			tick_psi(system, i, out);
}
