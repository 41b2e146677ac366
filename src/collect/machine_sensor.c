// SPDX-License-Identifier: MIT OR Apache-2.0
/* Clock frequency, temperature and energy, from /sys. Virtual machines have none of them. */
#include "collect/machine_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool read_number(int fd, int64_t *ret_value)
{
	char buffer[32];
	struct proc_text text = proc_text_of(buffer, proc_file_read(fd, buffer, sizeof buffer));

	return proc_text_i64(&text, ret_value);
}

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void find_clocks(struct machine_sensors *sensors, const struct machine_roots *roots,
	struct machine_missing_list *missing)
{
	char path[PROC_PATH];
	size_t count = 0, stride, seen = 0;
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof path, "%s/devices/system/cpu/cpufreq", roots->sys);
	folder = opendir(path);
	if (!folder) {
		machine_missing_note(missing, "cpufreq", "no cpufreq in this kernel or machine");
		return;
	}
	while ((entry = readdir(folder)))
		count += has_prefix(entry->d_name, "policy");
	/* On a machine with hundreds of CPUs a spread of them tells as much. */
	stride = count / MACHINE_MAX_CLOCKS + 1;
	rewinddir(folder);
	while ((entry = readdir(folder)) && sensors->clock_count < MACHINE_MAX_CLOCKS) {
		int fd;

		if (!has_prefix(entry->d_name, "policy") || seen++ % stride != 0)
			continue;
		fd = proc_file_open("%s/%s/scaling_cur_freq", path, entry->d_name);
		if (fd >= 0)
			sensors->clock_fds[sensors->clock_count++] = fd;
	}
	closedir(folder);
	if (sensors->clock_count == 0)
		machine_missing_note(missing, "cpufreq", "no CPU tells its frequency");
}

static bool is_cpu_sensor(const char *name)
{
	static const char *const names[] = { "coretemp", "k10temp", "zenpower", "x86_pkg_temp",
		"cpu" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (has_prefix(name, names[i]))
			return true;
	return false;
}

static void add_heat(struct machine_sensors *sensors, int fd, bool is_cpu)
{
	int64_t value;

	if (fd < 0)
		return;
	if (sensors->heat_count == MACHINE_MAX_HEAT || !read_number(fd, &value)) {
		close(fd);
		return;
	}
	sensors->heat[sensors->heat_count].fd = fd;
	sensors->heat[sensors->heat_count].is_cpu = is_cpu;
	sensors->heat_count++;
}

static void find_zones(struct machine_sensors *sensors, const struct machine_roots *roots)
{
	char path[PROC_PATH], type[64];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof path, "%s/class/thermal", roots->sys);
	folder = opendir(path);
	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		if (!has_prefix(entry->d_name, "thermal_zone"))
			continue;
		proc_file_get(type, sizeof type, "%s/%s/type", path, entry->d_name);
		add_heat(sensors, proc_file_open("%s/%s/temp", path, entry->d_name),
			is_cpu_sensor(type));
	}
	closedir(folder);
}

/* tempN_input without gaps but for the first numbers, which some drivers leave out. */
static void find_hwmon(struct machine_sensors *sensors, const struct machine_roots *roots)
{
	char path[PROC_PATH], name[64];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof path, "%s/class/hwmon", roots->sys);
	folder = opendir(path);
	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		if (!has_prefix(entry->d_name, "hwmon"))
			continue;
		proc_file_get(name, sizeof name, "%s/%s/name", path, entry->d_name);
		for (int i = 1; i <= 8; i++)
			add_heat(sensors,
				proc_file_open("%s/%s/temp%d_input", path, entry->d_name, i),
				is_cpu_sensor(name));
	}
	closedir(folder);
}

/* False for zones that lie within another (core, uncore) or hold it (none known). */
static bool rapl_domain(const char *name, enum machine_rapl_domain *ret_domain)
{
	if (has_prefix(name, "package"))
		*ret_domain = MACHINE_RAPL_PACKAGE;
	else if (has_prefix(name, "dram"))
		*ret_domain = MACHINE_RAPL_DRAM;
	else if (has_prefix(name, "psys"))
		*ret_domain = MACHINE_RAPL_PSYS;
	else
		return false;
	return true;
}

/* Why there is none, or NULL. */
static const char *add_rapl(struct machine_sensors *sensors, const char *path, const char *zone)
{
	struct machine_rapl rapl = { 0 };
	char name[64];

	/* "intel-rapl-mmio:0" shows the same package a second time. */
	if (!has_prefix(zone, "intel-rapl:") || sensors->rapl_count == MACHINE_MAX_RAPL)
		return NULL;
	if (proc_file_get(name, sizeof name, "%s/%s/name", path, zone) <= 0 ||
		!rapl_domain(name, &rapl.domain))
		return NULL;
	if (!proc_file_get_u64(&rapl.range_uj, "%s/%s/max_energy_range_uj", path, zone))
		rapl.range_uj = 0;
	rapl.fd = proc_file_open("%s/%s/energy_uj", path, zone);
	if (rapl.fd < 0)
		return errno == EACCES ? "energy_uj is readable by root only"
				       : machine_errno_text(errno);
	sensors->rapl[sensors->rapl_count++] = rapl;
	return NULL;
}

static void find_rapl(struct machine_sensors *sensors, const struct machine_roots *roots,
	struct machine_missing_list *missing)
{
	const char *why = "no powercap zones on this machine", *one;
	char path[PROC_PATH];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof path, "%s/class/powercap", roots->sys);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		one = add_rapl(sensors, path, entry->d_name);
		if (one)
			why = one;
	}
	if (folder)
		closedir(folder);
	if (sensors->rapl_count == 0)
		machine_missing_note(missing, "rapl", why);
}

void machine_sensors_init(struct machine_sensors *sensors, const struct machine_roots *roots,
	struct machine_missing_list *missing)
{
	*sensors = (struct machine_sensors){ 0 };
	find_clocks(sensors, roots, missing);
	find_zones(sensors, roots);
	find_hwmon(sensors, roots);
	if (sensors->heat_count == 0)
		machine_missing_note(missing, "temperature", "no thermal zone or hwmon sensor");
	find_rapl(sensors, roots, missing);
}

void machine_sensors_release(struct machine_sensors *sensors)
{
	for (size_t i = 0; i < sensors->clock_count; i++)
		close(sensors->clock_fds[i]);
	for (size_t i = 0; i < sensors->heat_count; i++)
		close(sensors->heat[i].fd);
	for (size_t i = 0; i < sensors->rapl_count; i++)
		close(sensors->rapl[i].fd);
}

static void tick_clocks(struct machine_sensors *sensors, const struct machine_out *out)
{
	double sum = 0, least = 0, most = 0;
	size_t count = 0;
	int64_t khz;

	for (size_t i = 0; i < sensors->clock_count; i++) {
		double mhz;

		if (!read_number(sensors->clock_fds[i], &khz) || khz <= 0)
			continue;
		mhz = (double)khz / 1000;
		least = count == 0 || mhz < least ? mhz : least;
		most = mhz > most ? mhz : most;
		sum += mhz;
		count++;
	}
	if (count == 0)
		return;
	machine_out_double(out, "cpu.frequency", "MHz", sum / (double)count);
	machine_out_double(out, "cpu.frequency.min", "MHz", least);
	machine_out_double(out, "cpu.frequency.max", "MHz", most);
}

static void tick_heat(struct machine_sensors *sensors, const struct machine_out *out)
{
	bool any = false, any_cpu = false;
	int64_t value, most = 0, most_cpu = 0;

	for (size_t i = 0; i < sensors->heat_count; i++) {
		/* A sensor without a thing to measure says -274000 or 0x7fff and the like. */
		if (!read_number(sensors->heat[i].fd, &value) || value < -60000 || value > 200000)
			continue;
		most = !any || value > most ? value : most;
		any = true;
		if (!sensors->heat[i].is_cpu)
			continue;
		most_cpu = !any_cpu || value > most_cpu ? value : most_cpu;
		any_cpu = true;
	}
	if (any)
		machine_out_double(out, "temperature.max", "celsius", (double)most / 1000);
	if (any_cpu)
		machine_out_double(out, "temperature.cpu", "celsius", (double)most_cpu / 1000);
}

/* The zone's use since the last reading. The counter wraps within minutes at full power; one wrap
 * between two ticks is right, more cannot be seen. */
static uint64_t rapl_delta(struct machine_rapl *rapl, uint64_t now_uj)
{
	uint64_t before = rapl->last_uj;
	bool was_known = rapl->known;

	rapl->last_uj = now_uj;
	rapl->known = true;
	if (!was_known)
		return 0;
	if (now_uj >= before)
		return now_uj - before;
	return rapl->range_uj > before ? rapl->range_uj - before + now_uj : 0;
}

static void tick_rapl(struct machine_sensors *sensors, const struct machine_out *out)
{
	static const char *const energy_names[] = { "energy.cpu", "energy.dram",
		"energy.platform" };
	static const char *const power_names[] = { "power.cpu", "power.dram", "power.platform" };
	bool present[MACHINE_RAPL_DOMAINS] = { false };
	int64_t value;

	for (size_t i = 0; i < sensors->rapl_count; i++) {
		struct machine_rapl *rapl = &sensors->rapl[i];

		if (!read_number(rapl->fd, &value) || value < 0)
			continue;
		present[rapl->domain] = true;
		sensors->domains[rapl->domain].energy_uj += rapl_delta(rapl, (uint64_t)value);
	}
	for (size_t i = 0; i < MACHINE_RAPL_DOMAINS; i++) {
		uint64_t energy_uj = sensors->domains[i].energy_uj;

		if (!present[i])
			continue;
		machine_out_double(out, energy_names[i], "J", (double)energy_uj * 1e-6);
		machine_out_rate(
			out, &sensors->domains[i].counter, power_names[i], "W", energy_uj, 1e-6);
	}
}

void machine_sensors_tick(struct machine_sensors *sensors, const struct machine_out *out)
{
	tick_rapl(sensors, out);
	if (out->now_ns < sensors->next_slow_ns)
		return;
	sensors->next_slow_ns = out->now_ns + MACHINE_SLOW_NS;
	tick_clocks(sensors, out);
	tick_heat(sensors, out);
}
