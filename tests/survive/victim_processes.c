// SPDX-License-Identifier: MIT OR Apache-2.0
/* The victim's modes with more than one process. */
#define _GNU_SOURCE
#include "victim.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char self[] = "/proc/self/exe";

static int wait_for(pid_t child)
{
	int status;

	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : 99;
}

/* COUNT SCOPES: children one after the other that record and _exit */
static int run_forks(int argc, char **argv)
{
	long count = number(argc, argv, 0, 1000), each = number(argc, argv, 1, 3);

	scopes(1, "parent");
	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0) {
			scopes(each, "child");
			_exit(0);
		}
		if (wait_for(child) != 0)
			return 4;
	}
	return 0;
}

/* COUNT: the program runs itself anew that many times, as the same process */
static int run_exec(int argc, char **argv)
{
	long left = number(argc, argv, 0, 20);
	char text[24];
	char *arguments[] = { (char *)"victim", (char *)"exec", text, NULL };

	scopes(10, "exec");
	if (left == 0)
		return 5;
	snprintf(text, sizeof text, "%ld", left - 1);
	execv(self, arguments);
	return 98;
}

/* fork+exec, vfork+exec and posix_spawn of itself */
static int run_children(int argc, char **argv)
{
	char *arguments[] = { (char *)"victim", (char *)"scopes", (char *)"100", NULL };
	volatile int bad = 0; /* vfork */
	pid_t child;

	(void)argc, (void)argv;
	scopes(10, "parent");
	child = fork();
	if (child == 0) {
		execv(self, arguments);
		_exit(98);
	}
	bad = bad + (wait_for(child) != 0);
	child = vfork();
	if (child == 0) {
		execv(self, arguments);
		_exit(98);
	}
	bad = bad + (wait_for(child) != 0);
	if (posix_spawn(&child, self, NULL, NULL, arguments, environ) != 0)
		return 97;
	bad = bad + (wait_for(child) != 0);
	scopes(10, "parent");
	return bad;
}

/* PATH: becomes a daemon that writes its number to PATH and goes on for two seconds */
static int run_daemon(int argc, char **argv)
{
	double until;
	FILE *file;

	scopes(10, "before");
	if (fork() > 0)
		_exit(0);
	setsid();
	if (fork() > 0)
		_exit(0);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	until = seconds() + 2;
	while (seconds() < until) {
		TACHO_SCOPE("daemon");
		nap_us(1000);
	}
	file = fopen(argc ? argv[0] : "/dev/null", "w");
	if (file) {
		fprintf(file, "%d\n", (int)getpid());
		fclose(file);
	}
	return 0;
}

/* COUNT: orphans that end after their parents have; only a good process 1 reaps them. */
static int run_orphans(int argc, char **argv)
{
	long count = number(argc, argv, 0, 20), zombies = 0;

	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0) {
			if (fork() == 0) {
				nap_us(50000);
				_exit(0);
			}
			_exit(0);
		}
		(void)wait_for(child);
	}
	nap_us(1000000);
	for (int pid = 2; pid < 200; pid++) {
		char path[64], line[256], *state;
		FILE *file;

		snprintf(path, sizeof path, "/proc/%d/stat", pid);
		file = fopen(path, "r");
		if (file && fgets(line, sizeof line, file) && (state = strrchr(line, ')')))
			zombies += state[2] == 'Z';
		if (file)
			fclose(file);
	}
	printf("%ld zombies\n", zombies);
	return zombies ? 1 : 6;
}

/* COMMAND...: runs it as a child; for a session inside a session */
static int run_wrap(int argc, char **argv)
{
	pid_t child;

	scopes(10, "outside");
	child = fork();
	if (child == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	(void)argc;
	return wait_for(child);
}

const struct mode process_modes[] = {
	{ "forks", run_forks },
	{ "exec", run_exec },
	{ "children", run_children },
	{ "daemon", run_daemon },
	{ "orphans", run_orphans },
	{ "wrap", run_wrap },
	{ NULL, NULL },
};
