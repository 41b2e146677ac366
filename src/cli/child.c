// SPDX-License-Identifier: MIT OR Apache-2.0
/* The recorded program as our child. It stays in our process group, so the terminal's signals reach
 * it directly; those sent to us alone are passed on. As PID 1 of a container we also reap orphans.
 */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_MAX 65536u

static const int watched[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
	SIGWINCH, SIGALRM };

/* We need a descriptor per process, counter and file; the program keeps the limit it had. */
static void raise_file_limit(struct child *child)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	child->old_files = limit;
	limit.rlim_cur = limit.rlim_max < FILES_MAX ? limit.rlim_max : FILES_MAX;
	if (limit.rlim_cur > child->old_files.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &limit);
}

static void run_program(struct child *child, char **argv, const char *session, int go, int report)
{
	char byte;
	int failure;

	/* Without a go the parent could not set up: end without a trace. */
	if (read(go, &byte, 1) != 1)
		_exit(CHILD_STATUS_OWN);
	sigaction(SIGCHLD, &child->old_chld, NULL);
	sigaction(SIGXFSZ, &child->old_xfsz, NULL);
	if (child->old_files.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &child->old_files);
	sigprocmask(SIG_SETMASK, &child->old_mask, NULL);
	setenv("TACHO_SESSION", session, 1);
	execvp(argv[0], argv);
	failure = errno;
	(void)!write(report, &failure, sizeof failure);
	_exit(failure == ENOENT ? CHILD_STATUS_NOT_FOUND : CHILD_STATUS_NOT_EXEC);
}

int child_prepare(struct child *child, char **argv, const char *session, struct error *err)
{
	struct sigaction normal = { .sa_handler = SIG_DFL }, ignore = { .sa_handler = SIG_IGN };
	int go[2] = { -1, -1 }, report[2] = { -1, -1 };
	sigset_t mask;

	memset(child, 0, sizeof *child);
	/* Ignored by whoever started us, the program's end would never be seen; and a file that
	 * grows beyond the limit is to be an error, not our death. */
	sigaction(SIGCHLD, &normal, &child->old_chld);
	sigaction(SIGXFSZ, &ignore, &child->old_xfsz);
	raise_file_limit(child);
	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
		sigaddset(&mask, watched[i]);
	sigprocmask(SIG_BLOCK, &mask, &child->old_mask);
	child->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (child->signal_fd < 0 || pipe2(go, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0)
		return error_set_errno(err, STATUS_IO, "cannot prepare to start a program");
	child->pid = fork();
	if (child->pid < 0)
		return error_set_errno(err, STATUS_IO, "cannot start a process");
	if (child->pid == 0) {
		/* The write end of `go` is ours alone, so that our death is seen as end of file. */
		close(go[1]);
		run_program(child, argv, session, go[0], report[1]);
	}
	close(go[0]);
	close(report[1]);
	child->go_fd = go[1];
	child->error_fd = report[0];
	return STATUS_OK;
}

int child_go(struct child *child, int *ret_status, struct error *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	int failure = 0;

	/* A child that was killed meanwhile must not take us along. */
	sigaction(SIGPIPE, &ignore, &before);
	(void)!write(child->go_fd, "g", 1);
	sigaction(SIGPIPE, &before, NULL);
	close(child->go_fd);
	/* The pipe closes itself at a successful exec. */
	if (read(child->error_fd, &failure, sizeof failure) != (ssize_t)sizeof failure)
		failure = 0;
	close(child->error_fd);
	if (!failure)
		return STATUS_OK;
	waitpid(child->pid, NULL, 0);
	*ret_status = failure == ENOENT ? CHILD_STATUS_NOT_FOUND : CHILD_STATUS_NOT_EXEC;
	errno = failure;
	return error_set_errno(err, STATUS_NOTFOUND, "cannot run the program");
}

void child_abandon(struct child *child)
{
	close(child->go_fd);
	close(child->error_fd);
	waitpid(child->pid, NULL, 0);
}

static void reap(struct child *child)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == child->pid) {
			child->ended = true;
			child->wait_status = status;
		}
}

void child_handle_signals(struct child *child)
{
	struct signalfd_siginfo info;

	while (read(child->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
		int signal = (int)info.ssi_signo;

		if (signal == SIGCHLD) {
			reap(child);
		} else if (signal == SIGUSR2) {
			child->dump_asked = true;
		} else if (!child->ended && info.ssi_code != SI_KERNEL && signal != SIGWINCH) {
			/* The terminal's own signals (SI_KERNEL) have reached the program already.
			 */
			kill(child->pid, signal);
		}
	}
}

int child_exit_like(const struct child *child)
{
	struct rlimit none = { 0, 0 };
	sigset_t mask;
	int signal;

	if (WIFEXITED(child->wait_status))
		return WEXITSTATUS(child->wait_status);
	if (!WIFSIGNALED(child->wait_status))
		return CHILD_STATUS_OWN;
	signal = WTERMSIG(child->wait_status);
	/* The program has left its core; ours would only hide it. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(signal, &action, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	/* As PID 1 the kernel does not deliver it: end as a shell would say it. */
	return 128 + signal;
}
