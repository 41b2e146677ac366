// SPDX-License-Identifier: MIT OR Apache-2.0
/* The sampler as a whole: opening, one tick over all parts, and the ways a value goes out. The
 * parts are in machine_process.c, machine_system.c, machine_cgroup.c and machine_sensor.c. */
#include "collect/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/machine_internal.h"

struct machine_sampler {
	char proc_path[PROC_PATH / 2];
	char sys_path[PROC_PATH / 2];
	struct machine_roots roots;
	bool is_live;
	struct machine_tree tree;
	struct machine_system system;
	struct machine_cgroup cgroup;
	struct machine_sensors sensors;
	struct machine_missing_list missing;
};

void machine_out_integer(
	const struct machine_out *out, const char *name, const char *unit, uint64_t value)
{
	struct machine_sample sample = {
		.pid = out->pid,
		.name = name,
		.unit = unit,
		.kind = MACHINE_INTEGER,
		.integer = value > INT64_MAX ? INT64_MAX : (int64_t)value,
	};

	out->sink(out->context, &sample);
}

void machine_out_double(
	const struct machine_out *out, const char *name, const char *unit, double value)
{
	struct machine_sample sample = {
		.pid = out->pid,
		.name = name,
		.unit = unit,
		.kind = MACHINE_DOUBLE,
		.real = value,
	};

	out->sink(out->context, &sample);
}

bool machine_counter_rate(
	struct machine_counter *counter, uint64_t value, uint64_t now_ns, double *ret_per_second)
{
	struct machine_counter before = *counter;

	*counter = (struct machine_counter){ .value = value, .at_ns = now_ns, .known = true };
	if (!before.known || now_ns <= before.at_ns || value < before.value)
		return false;
	*ret_per_second = (double)(value - before.value) * 1e9 / (double)(now_ns - before.at_ns);
	return true;
}

void machine_out_rate(const struct machine_out *out, struct machine_counter *counter,
	const char *name, const char *unit, uint64_t value, double scale)
{
	double rate;

	if (machine_counter_rate(counter, value, out->now_ns, &rate))
		machine_out_double(out, name, unit, rate * scale);
}

void machine_out_limit(const struct machine_out *out, struct machine_limit *limit, const char *name,
	const char *unit, enum machine_value kind, double value)
{
	if (limit->known && limit->value == value)
		return;
	*limit = (struct machine_limit){ .value = value, .known = true };
	if (kind == MACHINE_DOUBLE)
		machine_out_double(out, name, unit, value);
	else
		machine_out_integer(out, name, unit, (uint64_t)value);
}

void machine_missing_note(struct machine_missing_list *list, const char *what, const char *why)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].what, what) == 0)
			return;
	if (list->count == sizeof list->items / sizeof list->items[0])
		return;
	list->items[list->count].what = what;
	list->items[list->count].why = why;
	list->count++;
}

const char *machine_errno_text(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return "not offered by this kernel";
	case EACCES:
	case EPERM:
		return "not readable by this user";
	case EOPNOTSUPP:
		return "switched off in this kernel";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	default:
		return "cannot be read";
	}
}

int machine_sampler_new_at(const char *proc_root, const char *sys_root, pid_t root, bool is_live,
	struct machine_sampler **ret_sampler, struct error *err)
{
	struct machine_sampler *sampler;

	if (strlen(proc_root) >= sizeof sampler->proc_path ||
		strlen(sys_root) >= sizeof sampler->sys_path)
		return error_set(err, STATUS_USAGE, "machine counters: path too long");
	if (access(proc_root, R_OK | X_OK) != 0)
		return error_set_errno(err, STATUS_IO, "machine counters: %s", proc_root);
	sampler = calloc(1, sizeof *sampler);
	if (!sampler)
		return error_set(err, STATUS_NOMEM, "machine counters: out of memory");
	memcpy(sampler->proc_path, proc_root, strlen(proc_root) + 1);
	memcpy(sampler->sys_path, sys_root, strlen(sys_root) + 1);
	sampler->roots = (struct machine_roots){ sampler->proc_path, sampler->sys_path };
	sampler->is_live = is_live;
	machine_tree_init(&sampler->tree, &sampler->roots, root, is_live);
	machine_system_init(&sampler->system, &sampler->roots, &sampler->missing);
	machine_cgroup_init(&sampler->cgroup, &sampler->roots, root, &sampler->missing);
	machine_sensors_init(&sampler->sensors, &sampler->roots, &sampler->missing);
	*ret_sampler = sampler;
	return STATUS_OK;
}

int machine_sampler_new(pid_t root, struct machine_sampler **ret_sampler, struct error *err)
{
	return machine_sampler_new_at("/proc", "/sys", root, true, ret_sampler, err);
}

void machine_sampler_free(struct machine_sampler *sampler)
{
	if (!sampler)
		return;
	machine_tree_release(&sampler->tree);
	machine_system_release(&sampler->system);
	machine_cgroup_release(&sampler->cgroup);
	machine_sensors_release(&sampler->sensors);
	free(sampler);
}

void machine_sampler_tick(
	struct machine_sampler *sampler, uint64_t now_ns, machine_sink *sink, void *context)
{
	struct machine_out out = { .sink = sink, .context = context, .now_ns = now_ns };

	machine_tree_tick(
		&sampler->tree, &sampler->roots, sampler->is_live, &sampler->missing, &out);
	out.pid = 0;
	machine_system_tick(&sampler->system, &sampler->roots, &out);
	machine_cgroup_tick(&sampler->cgroup, &out);
	machine_sensors_tick(&sampler->sensors, &out);
}

void machine_missing(const struct machine_sampler *sampler,
	void (*each)(void *context, const char *what, const char *why), void *context)
{
	for (size_t i = 0; i < sampler->missing.count; i++)
		each(context, sampler->missing.items[i].what, sampler->missing.items[i].why);
}
