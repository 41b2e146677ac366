// SPDX-License-Identifier: MIT OR Apache-2.0
/* A collector for a program that was not started by `tacho record`: a process that the program
 * cannot see as a child. It is cloned without an exit signal, so no SIGCHLD and no wait() tells of
 * it, and the process that starts the tool is a grandchild in a session of its own. */
#include "record/record_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_TIMEOUT_MS 5000
#define ARGUMENTS_MAX    64
#define VARIABLES_MAX    1024

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

extern char **environ;

struct find_self {
	uintptr_t address;
	char path[PATH_BYTES];
};

static int find_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct find_self *self = context;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || self->address < start ||
			self->address >= start + part->p_memsz)
			continue;
		record_text_add(self->path, sizeof self->path, 0, info->dlpi_name);
		return 1;
	}
	return 0;
}

/* Cuts the last `parts` components off a path. */
static void cut_path(char *path, int parts)
{
	while (parts--) {
		char *slash = strrchr(path, '/');

		if (!slash) {
			path[0] = 0;
			return;
		}
		*slash = 0;
	}
}

static bool in_path(char *program, size_t bytes)
{
	const char *path = secure_getenv("PATH");

	while (path && *path) {
		size_t length = strcspn(path, ":");

		if (length + 8 < bytes) {
			memcpy(program, path, length);
			program[length] = 0;
			record_text_add(program, bytes, length, "/tacho");
			if (access(program, X_OK) == 0)
				return true;
		}
		path += length + (path[length] == ':');
	}
	return false;
}

/* The tacho program: the setting, else beside this library (lib/../bin), else in PATH. */
static bool find_program(const struct settings *settings, char *program, size_t bytes)
{
	const char *given = settings_text(settings, SETTING_COLLECTOR);
	struct find_self self = { .address = (uintptr_t)&find_program };

	if (given[0]) {
		record_text_add(program, bytes, 0, given);
		return access(program, X_OK) == 0;
	}
	dl_iterate_phdr(find_object, &self);
	if (strchr(self.path, '/')) {
		cut_path(self.path, 2);
		record_text_add(program, bytes, record_text_add(program, bytes, 0, self.path),
			"/bin/tacho");
		if (access(program, X_OK) == 0)
			return true;
		/* Multiarch: lib/x86_64-linux-gnu/libtacho.so */
		cut_path(self.path, 1);
		record_text_add(program, bytes, record_text_add(program, bytes, 0, self.path),
			"/bin/tacho");
		if (access(program, X_OK) == 0)
			return true;
	}
	return in_path(program, bytes);
}

struct launch {
	char program[PATH_BYTES];
	char pid[24], fd[24];
	char sets[SETTING_COUNT][SETTING_TEXT_BYTES + 32];
	char *arguments[ARGUMENTS_MAX];
	char *variables[VARIABLES_MAX];
};

static void fill_launch(
	struct launch *launch, const struct settings *settings, const char *output, int ready_fd)
{
	size_t count, at = 0, variables = 0;
	const struct setting *table = settings_table(&count);

	record_text_number(launch->pid, sizeof launch->pid, 0, (uint64_t)getpid());
	record_text_number(launch->fd, sizeof launch->fd, 0, (uint64_t)ready_fd);
	launch->arguments[at++] = launch->program;
	launch->arguments[at++] = (char *)"collect";
	launch->arguments[at++] = (char *)"--pid";
	launch->arguments[at++] = launch->pid;
	launch->arguments[at++] = (char *)"--ready-fd";
	launch->arguments[at++] = launch->fd;
	for (size_t i = 0; i < count && at + 3 < ARGUMENTS_MAX; i++) {
		size_t length;
		const char *value = settings->values[i].text;

		if (i == SETTING_OUTPUT && output[0])
			value = output;
		else if (settings->values[i].source == SETTING_FROM_DEFAULT)
			continue;
		length = record_text_add(launch->sets[i], sizeof launch->sets[i], 0, table[i].key);
		length = record_text_add(launch->sets[i], sizeof launch->sets[i], length, "=");
		record_text_add(launch->sets[i], sizeof launch->sets[i], length, value);
		launch->arguments[at++] = (char *)"--set";
		launch->arguments[at++] = launch->sets[i];
	}
	launch->arguments[at] = NULL;
	/* The collector is not to be traced, preloaded or configured twice. */
	for (char **variable = environ; variable && *variable && variables + 1 < VARIABLES_MAX;
		variable++)
		if (strncmp(*variable, "LD_PRELOAD=", 11) != 0 &&
			strncmp(*variable, "TACHO_", 6) != 0)
			launch->variables[variables++] = *variable;
	launch->variables[variables] = NULL;
}

/* Nothing of the program's may stay open in a process that outlives it. */
static void close_others(int kept)
{
	struct rlimit limit = { .rlim_cur = 1024 };
	int fd;

	if (syscall(SYS_close_range, 3u, (unsigned)kept - 1, 0u) == 0 || kept == 3)
		if (syscall(SYS_close_range, (unsigned)kept + 1, ~0u, 0u) == 0)
			return;
	getrlimit(RLIMIT_NOFILE, &limit);
	for (fd = 3; fd < (limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536); fd++)
		if (fd != kept)
			close(fd);
}

/* In the grandchild, between clone and exec: only calls that are safe there. Signals
 * stay blocked until the collector has its own handlers. */
static void become_collector(struct launch *launch, int ready_fd)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		if (null != fd)
			dup2(null, fd);
	close_others(ready_fd);
	fcntl(ready_fd, F_SETFD, 0);
	execve(launch->program, launch->arguments, launch->variables);
}

static long clone_silently(void)
{
	return syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
}

/* The collector's first line is its session folder, or "!" and why there is none. */
static bool read_answer(int fd, char *answer, size_t bytes)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	size_t length = 0;

	while (length + 1 < bytes && poll(&wait, 1, START_TIMEOUT_MS) > 0) {
		ssize_t got = read(fd, answer + length, bytes - 1 - length);

		if (got <= 0)
			break;
		length += (size_t)got;
		answer[length] = 0;
		if (strchr(answer, '\n')) {
			*strchr(answer, '\n') = 0;
			return true;
		}
	}
	return false;
}

/* Descriptors 0 to 2 may be free in the program; in the collector they are taken. */
static bool make_pipe(int ends[2])
{
	int low[2];
	bool made;

	if (pipe2(low, O_CLOEXEC) != 0)
		return false;
	ends[0] = fcntl(low[0], F_DUPFD_CLOEXEC, 3);
	ends[1] = fcntl(low[1], F_DUPFD_CLOEXEC, 3);
	made = ends[0] >= 0 && ends[1] >= 0;
	for (int i = 0; i < 2; i++) {
		close(low[i]);
		if (!made && ends[i] >= 0)
			close(ends[i]);
	}
	return made;
}

/* Signals wait meanwhile: the program's handlers must not run in a copy of it. */
static bool launch_collector(struct launch *launch, int ready_fd)
{
	sigset_t all, before;
	long child;
	int status;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	child = clone_silently();
	if (child == 0) {
		setsid();
		if (clone_silently() == 0)
			become_collector(launch, ready_fd);
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (child > 0)
		while (waitpid((pid_t)child, &status, __WCLONE) < 0 && errno == EINTR)
			;
	return child > 0;
}

bool record_start_collector(const struct settings *settings, const char *output, char *folder,
	size_t folder_bytes, char *ret_why, size_t why_bytes)
{
	static struct launch launch; /* large, and start is not called in parallel */
	int ends[2];
	bool answered;

	if (!find_program(settings, launch.program, sizeof launch.program)) {
		record_text_add(ret_why, why_bytes, 0,
			"the tacho program was not found: put it in PATH or set TACHO_COLLECTOR");
		return false;
	}
	if (strlen(output) >= SETTING_TEXT_BYTES) {
		record_text_add(ret_why, why_bytes, 0, "the output's name is too long");
		return false;
	}
	if (!make_pipe(ends)) {
		record_text_add(ret_why, why_bytes, 0, "no pipe could be made");
		return false;
	}
	fill_launch(&launch, settings, output, ends[1]);
	answered = launch_collector(&launch, ends[1]);
	close(ends[1]);
	answered = answered && read_answer(ends[0], folder, folder_bytes);
	close(ends[0]);
	if (answered && folder[0] != '!')
		return true;
	record_text_add(ret_why, why_bytes, 0,
		answered ? folder + 1 : "the collector could not be started or did not answer");
	return false;
}
