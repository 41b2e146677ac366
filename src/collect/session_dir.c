// SPDX-License-Identifier: MIT OR Apache-2.0
/* Session folders. Names are tacho-<uid>-<pid>-<random>. */
#include "collect/session_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSION_FILE_BYTES ((sizeof(struct shm_session) + 4095) / 4096 * 4096)

static int map_session(struct session_dir *dir, struct error *err)
{
	char path[SESSION_PATH_BYTES + 16];
	void *memory = MAP_FAILED;
	int fd;

	snprintf(path, sizeof path, "%s/session", dir->path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set_errno(err, STATUS_IO, "cannot make %s", path);
	if (posix_fallocate(fd, 0, (off_t)SESSION_FILE_BYTES) == 0)
		memory = mmap(NULL, SESSION_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return error_set(err, STATUS_IO,
			"no room in shared memory for a session at %s; "
			"free some or set session_dir",
			dir->path);
	dir->session = memory;
	return STATUS_OK;
}

static int make_in(struct session_dir *dir, const char *parent, struct error *err)
{
	char path[SESSION_PATH_BYTES + 16];
	unsigned random = 0;
	int status;

	(void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
	if (snprintf(dir->path, sizeof dir->path, "%s/tacho-%u-%d-%08x", parent,
		    (unsigned)geteuid(), (int)getpid(), random) >= (int)sizeof dir->path)
		return error_set(err, STATUS_USAGE, "%s: the path is too long", parent);
	if (mkdir(dir->path, 0700) != 0)
		return error_set_errno(
			err, STATUS_IO, "cannot make a session folder in %s", parent);
	/* The lock comes first: a folder without a locked lock is taken for stale and removed. */
	snprintf(path, sizeof path, "%s/lock", dir->path);
	dir->lock_fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (dir->lock_fd < 0 || flock(dir->lock_fd, LOCK_EX | LOCK_NB) != 0)
		status = error_set_errno(err, STATUS_IO, "cannot lock %s", path);
	else
		status = map_session(dir, err);
	if (status != STATUS_OK)
		session_dir_remove(dir);
	return status;
}

int session_dir_make(struct session_dir *dir, const char *parent, struct error *err)
{
	const char *temporary = secure_getenv("TMPDIR");

	memset(dir, 0, sizeof *dir);
	dir->lock_fd = -1;
	if (parent[0])
		return make_in(dir, parent, err);
	if (make_in(dir, "/dev/shm", err) == STATUS_OK)
		return STATUS_OK;
	if (temporary && temporary[0] && make_in(dir, temporary, err) == STATUS_OK)
		return STATUS_OK;
	return make_in(dir, "/tmp", err);
}

/* Removes a folder and the plain files in it, never following a link. */
static void remove_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(fd, entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
}

void session_dir_remove(struct session_dir *dir)
{
	if (dir->session)
		munmap(dir->session, SESSION_FILE_BYTES);
	dir->session = NULL;
	if (dir->path[0])
		remove_folder(dir->path);
	if (dir->lock_fd >= 0)
		close(dir->lock_fd);
	dir->lock_fd = -1;
	dir->path[0] = 0;
}

/* True when the folder is ours and its collector lives; removes it when that is gone. */
static bool look_at(const char *path, struct session_info *info)
{
	char file[SESSION_PATH_BYTES + 16];
	struct shm_session *session = MAP_FAILED;
	struct stat about;
	bool alive = false;
	int fd, lock;

	if (lstat(path, &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != geteuid() ||
		(about.st_mode & 077))
		return false;
	snprintf(file, sizeof file, "%s/lock", path);
	lock = open(file, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0) {
		/* With a session in it, its maker held the lock. Without, a young one may still be
		 * in the making. */
		snprintf(file, sizeof file, "%s/session", path);
		if ((lock >= 0 && access(file, F_OK) == 0) || time(NULL) > about.st_mtime + 5)
			remove_folder(path);
		if (lock >= 0)
			close(lock);
		return false;
	}
	close(lock);
	snprintf(file, sizeof file, "%s/session", path);
	fd = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &about) == 0 && about.st_size >= (off_t)sizeof *session)
		session = mmap(NULL, sizeof *session, PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (session == MAP_FAILED)
		return false;
	if (session->magic == SHM_MAGIC_SESSION && session->version == SHM_VERSION) {
		alive = true;
		snprintf(info->path, sizeof info->path, "%s", path);
		info->collector_pid = session->collector_pid;
		info->main_pid = session->main_pid;
		memcpy(info->output, session->output, sizeof info->output);
		info->output[sizeof info->output - 1] = 0;
	}
	munmap(session, sizeof *session);
	return alive;
}

static int each_in(const char *parent, int (*each)(void *context, const struct session_info *info),
	void *context)
{
	char prefix[32], path[SESSION_PATH_BYTES];
	struct session_info info;
	DIR *folder = opendir(parent);
	struct dirent *entry;
	int stop = 0;

	snprintf(prefix, sizeof prefix, "tacho-%u-", (unsigned)geteuid());
	while (folder && !stop && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
			snprintf(path, sizeof path, "%s/%s", parent, entry->d_name) >=
				(int)sizeof path)
			continue;
		if (look_at(path, &info) && each)
			stop = each(context, &info);
	}
	if (folder)
		closedir(folder);
	return stop;
}

void session_dir_each(const char *parent,
	int (*each)(void *context, const struct session_info *info), void *context)
{
	const char *temporary = secure_getenv("TMPDIR");

	if (parent[0] && each_in(parent, each, context))
		return;
	if (each_in("/dev/shm", each, context))
		return;
	if (temporary && temporary[0] && strcmp(temporary, "/tmp") != 0 &&
		each_in(temporary, each, context))
		return;
	each_in("/tmp", each, context);
}
