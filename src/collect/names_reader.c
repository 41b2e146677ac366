// SPDX-License-Identifier: MIT OR Apache-2.0
/* Names of recorded processes: from a place in their shared file to a number in the trace. */
#include "collect/process_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct names_reader *names_reader_open(const char *folder, uint32_t serial)
{
	struct names_reader *names = calloc(1, sizeof *names);
	struct stat info;
	void *memory = MAP_FAILED;
	int fd;

	if (!names)
		return NULL;
	names->serial = serial;
	snprintf(names->path, sizeof names->path, "%s/names-%u", folder, serial);
	fd = open(names->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	/* The whole file is mapped at once: pages that are not reserved yet are never read, since a
	 * name is only looked at below `reserved`. */
	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size >= (off_t)sizeof(struct shm_names))
		memory = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (memory == MAP_FAILED) {
		free(names);
		return NULL;
	}
	names->bytes = memory;
	names->mapped = (size_t)info.st_size;
	return names;
}

void names_reader_free(struct names_reader *names)
{
	if (!names)
		return;
	munmap((void *)names->bytes, names->mapped);
	free(names->ids);
	free(names);
}

/* The entry's texts, or false when the id is none. Lengths are read once and then checked. */
static bool find_entry(const struct names_reader *names, uint32_t id, const char **ret_name,
	uint32_t *ret_name_bytes, const char **ret_category, uint32_t *ret_category_bytes)
{
	const struct shm_names *head = (const void *)names->bytes;
	uint64_t reserved = (uint64_t)atomic_load_explicit(&head->reserved, memory_order_acquire) *
			    SHM_NAME_UNIT;
	uint64_t at = (uint64_t)id * SHM_NAME_UNIT, end;
	struct shm_name entry;

	if (reserved > names->mapped)
		reserved = names->mapped;
	if (id < SHM_NAME_FIRST || at + sizeof entry > reserved)
		return false;
	memcpy(&entry, names->bytes + at, sizeof entry);
	end = at + sizeof entry + (uint64_t)entry.name_bytes + entry.category_bytes + 2;
	if (entry.name_bytes > SHM_NAME_MAX || entry.category_bytes > SHM_NAME_MAX ||
		end > reserved)
		return false;
	*ret_name = (const char *)names->bytes + at + sizeof entry;
	*ret_name_bytes = entry.name_bytes;
	*ret_category = *ret_name + entry.name_bytes + 1;
	*ret_category_bytes = entry.category_bytes;
	return true;
}

void names_reader_strings(struct names_reader *names, struct recording *recording, uint32_t id,
	uint32_t *ret_name, uint32_t *ret_category)
{
	struct trace_dict *dict = &recording->store.dict;
	const char *name = "?", *category = "";
	uint32_t name_bytes = 1, category_bytes = 0;

	if (!find_entry(names, id, &name, &name_bytes, &category, &category_bytes))
		recording->names_unknown++;
	if (trace_dict_string(dict, name, name_bytes, ret_name) != STATUS_OK)
		*ret_name = 0;
	if (trace_dict_string(dict, category, category_bytes, ret_category) != STATUS_OK)
		*ret_category = 0;
}

static bool grow_ids(struct names_reader *names, uint32_t id)
{
	size_t wanted = names->id_count ? names->id_count : 4096;
	uint32_t *ids;

	if (id >= names->mapped / SHM_NAME_UNIT)
		return false;
	while (wanted <= id)
		wanted *= 2;
	ids = realloc(names->ids, wanted * sizeof *ids);
	if (!ids)
		return false;
	memset(ids + names->id_count, 0, (wanted - names->id_count) * sizeof *ids);
	names->ids = ids;
	names->id_count = wanted;
	return true;
}

uint32_t names_reader_name(struct names_reader *names, struct recording *recording, uint32_t id)
{
	uint32_t name, category, number = 0;

	if (id < names->id_count && names->ids[id])
		return names->ids[id] - 1;
	names_reader_strings(names, recording, id, &name, &category);
	if (trace_dict_name(&recording->store.dict, name, category, &number) != STATUS_OK)
		return 0;
	if (id < names->id_count || grow_ids(names, id))
		names->ids[id] = number + 1;
	return number;
}
