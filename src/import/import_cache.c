// SPDX-License-Identifier: MIT OR Apache-2.0
/* The cache of converted traces: plain files named by a hash, used times kept as modification
 * times. */
#include "import/import_cache.h"

#include "base/array.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define CACHE_BYTES_MAX (UINT64_C(8) << 30)
#define SAMPLE_BYTES    (64u << 10)

/* The folder, made when it is not there. */
static bool cache_folder(char *folder, size_t bytes)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	size_t length;

	if (cache && cache[0] == '/')
		length = (size_t)snprintf(folder, bytes, "%s", cache);
	else if (home && home[0] == '/')
		length = (size_t)snprintf(folder, bytes, "%s/.cache", home);
	else
		return false;
	if (length + 32 >= bytes)
		return false;
	mkdir(folder, 0700);
	snprintf(folder + length, bytes - length, "/tacho");
	mkdir(folder, 0700);
	snprintf(folder + length, bytes - length, "/tacho/traces");
	mkdir(folder, 0700);
	return access(folder, W_OK | X_OK) == 0;
}

/* Hash of what identifies the content without reading all of it. */
static bool identify(const char *path, const struct importer *importer, uint64_t ret_key[2])
{
	static uint8_t bytes[2 * SAMPLE_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;
	ssize_t head, tail = 0;
	char facts[256];
	int length;

	if (fd < 0)
		return false;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		close(fd);
		return false;
	}
	head = pread(fd, bytes, SAMPLE_BYTES, 0);
	if (info.st_size > (off_t)SAMPLE_BYTES)
		tail = pread(fd, bytes + SAMPLE_BYTES, SAMPLE_BYTES, info.st_size - SAMPLE_BYTES);
	close(fd);
	if (head < 0 || tail < 0)
		return false;
	length = snprintf(facts, sizeof facts, "%lld %lld.%09ld %s %u", (long long)info.st_size,
		(long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec, importer->name,
		importer->version);
	ret_key[0] = XXH3_64bits(facts, (size_t)length);
	ret_key[1] = XXH3_64bits_withSeed(bytes, (size_t)head, 1) ^
		     XXH3_64bits_withSeed(bytes + SAMPLE_BYTES, (size_t)tail, 2);
	return true;
}

bool import_cache_path(
	const char *path, const struct importer *importer, char *ret_path, size_t bytes)
{
	char folder[PATH_MAX];
	uint64_t key[2];

	if (!cache_folder(folder, sizeof folder) || !identify(path, importer, key))
		return false;
	return snprintf(ret_path, bytes, "%s/%016llx%016llx.tacho", folder,
		       (unsigned long long)key[0], (unsigned long long)key[1]) < (int)bytes;
}

bool import_cache_touch(const char *entry)
{
	return utimensat(AT_FDCWD, entry, NULL, 0) == 0;
}

struct cached {
	char name[80];
	uint64_t bytes;
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct cached *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

void import_cache_trim(const char *keep)
{
	char folder[PATH_MAX];
	struct cached *items = NULL;
	size_t count = 0, capacity = 0;
	uint64_t total = 0;
	const char *kept = strrchr(keep, '/') ? strrchr(keep, '/') + 1 : keep;
	struct dirent *entry;
	struct stat info;
	DIR *directory;

	if (!cache_folder(folder, sizeof folder) || !(directory = opendir(folder)))
		return;
	while ((entry = readdir(directory))) {
		if (strlen(entry->d_name) >= sizeof items->name ||
			fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
			!S_ISREG(info.st_mode) ||
			array_grow((void **)&items, &capacity, count + 1, sizeof *items))
			continue;
		total += (uint64_t)info.st_size;
		items[count].bytes = (uint64_t)info.st_size;
		items[count].used = info.st_mtim;
		memcpy(items[count++].name, entry->d_name, strlen(entry->d_name) + 1);
	}
	if (count)
		qsort(items, count, sizeof *items, by_use);
	for (size_t i = 0; i < count && total > CACHE_BYTES_MAX; i++)
		if (strcmp(items[i].name, kept) != 0 &&
			unlinkat(dirfd(directory), items[i].name, 0) == 0)
			total -= items[i].bytes;
	closedir(directory);
	free(items);
}
