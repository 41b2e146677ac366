/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Session folders in shared memory: making, finding, removing. A folder is 0700, belongs to the
 * user and is never a link; its `lock` file is locked as long as its collector lives. */
#pragma once

#include "base/error.h"
#include "format/shm_layout.h"

#include <sys/types.h>

#define SESSION_PATH_BYTES 200

struct session_dir {
	char path[SESSION_PATH_BYTES];
	int lock_fd;
	struct shm_session *session; /* mapped */
};

/* Makes a folder under `parent`, or where it fits when that is "": /dev/shm, then TMPDIR, /tmp. */
int session_dir_make(struct session_dir *dir, const char *parent, struct error *err) MUST_USE;
/* Unmaps, and removes the folder with everything in it. */
void session_dir_remove(struct session_dir *dir);

/* A session of this user that is being recorded. */
struct session_info {
	char path[SESSION_PATH_BYTES];
	pid_t collector_pid, main_pid;
	char output[SHM_OUTPUT_BYTES];
};

/* Calls back for each live session of this user; return non-zero to stop. Folders whose collector
 * is gone are removed on the way. */
void session_dir_each(const char *parent,
	int (*each)(void *context, const struct session_info *info), void *context);
