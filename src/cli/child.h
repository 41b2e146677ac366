/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Running a program as if we were not there: its status, its signals, its terminal. */
#pragma once

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#define CHILD_STATUS_OWN       125 /* we could not set up */
#define CHILD_STATUS_NOT_EXEC  126
#define CHILD_STATUS_NOT_FOUND 127

struct child {
	pid_t pid;
	int go_fd;    /* write end: the program is not started before child_go() */
	int error_fd; /* read end: errno of a failed exec */
	int signal_fd;
	sigset_t old_mask;
	struct sigaction old_chld, old_xfsz;
	struct rlimit old_files;
	bool ended;
	int wait_status;
	bool dump_asked; /* SIGUSR2 came */
};

/* Forks; the child waits for child_go(), then runs argv with TACHO_SESSION set to `session`. */
int child_prepare(
	struct child *child, char **argv, const char *session, struct error *err) MUST_USE;
/* Lets the child run the program; on failure to start it the status is in `ret_status`. */
int child_go(struct child *child, int *ret_status, struct error *err) MUST_USE;
/* Ends a child that was never let go. */
void child_abandon(struct child *child);
/* Handles what signal_fd has to say: forwards signals, reaps. */
void child_handle_signals(struct child *child);
/* Ends this process as the child ended: by its status, or by its signal. */
int child_exit_like(const struct child *child);
