// SPDX-License-Identifier: MIT OR Apache-2.0
/* tacho collect: the collector of a program that records itself. Started by libtacho, not by
 * people, so it stands in no table. Its first line on --ready-fd is the session's folder, or "!"
 * and why there is none. Ends when the program has ended. */
#include "base/clock.h"
#include "base/units.h"
#include "cli/calibrate.h"
#include "cli/cli.h"
#include "cli/recording_settings.h"
#include "collect/collector.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct collect_options {
	uint64_t pid, ready_fd;
	struct option_list set;
};

#define AT(field) offsetof(struct collect_options, field)
static const struct option_spec collect_specs[] = {
	{ OPTION_U64, 0, "pid", "PID", AT(pid), "the program" },
	{ OPTION_U64, 0, "ready-fd", "FD", AT(ready_fd), "where to write the session's folder" },
	{ OPTION_LIST, 0, "set", "KEY=VALUE", AT(set), "a setting" },
	{ 0 },
};
#undef AT

static volatile sig_atomic_t dump_asked, stop_asked;

static void on_signal(int signal)
{
	if (signal == SIGUSR2)
		dump_asked = 1;
	else
		stop_asked = 1;
}

static void answer(int fd, const char *mark, const char *text)
{
	char line[512];
	int length = snprintf(line, sizeof line, "%s%s\n", mark, text);

	(void)!write(fd, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
	close(fd);
}

static void program_name(pid_t pid, char *name, size_t bytes)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	snprintf(name, bytes, "program");
	if (file && fgets(name, (int)bytes, file))
		name[strcspn(name, "\n")] = 0;
	if (file)
		fclose(file);
}

static bool is_gone(int pid_fd, pid_t pid, uint64_t wait_ns)
{
	struct pollfd ready = { .fd = pid_fd, .events = POLLIN };
	struct timespec time = { .tv_nsec = (long)wait_ns };

	if (ppoll(&ready, pid_fd >= 0, &time, NULL) > 0)
		return true;
	return pid_fd < 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

static void watch(struct collector *collector, pid_t pid)
{
	int pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct collector_cost cost = { 0 };
	struct collector_summary summary;
	struct calibration calibration;
	struct error err = ERROR_INIT;
	char path[1100];

	while (!stop_asked && !collector_is_over(collector) &&
		!is_gone(pid_fd, pid, collector_tick(collector))) {
		if (dump_asked)
			(void)!collector_dump(
				collector, 0, NULL, "signal", path, sizeof path, &err);
		dump_asked = 0;
	}
	collector_stop(collector);
	if (calibrate_cached(&calibration, &err) == STATUS_OK) {
		cost.scope_ns = calibration.scope_ns;
		cost.event_ns = calibration.event_ns;
	}
	(void)!collector_finish(collector, &cost, &summary, &err);
	if (pid_fd >= 0)
		close(pid_fd);
}

static int run_collect(struct cli *cli, int argc, char **argv)
{
	static struct settings settings;
	struct collect_options options = { 0 };
	struct collector *collector = NULL;
	struct error err = ERROR_INIT;
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t none;
	char name[64];
	int count, status = options_parse(cli, collect_specs, &options, argc, argv, false, &count);

	if (status)
		return options_exit(status);
	settings_init(&settings);
	status = recording_settings_assign(cli, &settings, &options.set);
	option_list_release(&options.set);
	if (status != EXIT_FINE || options.pid == 0)
		return EXIT_USAGE;
	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* Whoever started us blocked them all, since its handlers are not ours. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	program_name((pid_t)options.pid, name, sizeof name);
	if (collector_new(&settings, &collector, &err) != STATUS_OK ||
		collector_start(collector, (pid_t)options.pid, name, NULL, &err) != STATUS_OK) {
		answer((int)options.ready_fd, "!", err.message);
		collector_free(collector);
		return EXIT_USAGE;
	}
	answer((int)options.ready_fd, "", collector_folder(collector));
	watch(collector, (pid_t)options.pid);
	collector_free(collector);
	return EXIT_FINE;
}

const struct command cmd_collect = {
	.name = "collect",
	.group = "internal",
	.summary = "collect for a program that records itself",
	.usage = "tacho collect --pid PID --ready-fd FD",
	.options = collect_specs,
	.run = run_collect,
};
