// SPDX-License-Identifier: MIT OR Apache-2.0
/* Names by number. The texts lie in one range of memory that is private until the process records
 * and then becomes a file the collector reads; the range keeps its address, so numbers stay valid.
 * Forked children share the file and go on adding to it. The lookup table is private, lock-free to
 * read; new names take a lock that a forked child finds open. */
#include "record/record_internal.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_TABLE_SLOTS 1024u
#define RANGE_BYTES       (UINT64_C(1) << 30) /* address space only; less where that is limited */
#define RANGE_BYTES_MIN   (UINT64_C(1) << 20)
#define FIRST_RESERVE     (64u << 10)
#define LOCK_SPINS        2000

struct name_table {
	uint32_t mask;
	_Atomic uint32_t used;
	_Atomic uint32_t slots[];
};

static struct {
	uint8_t *range; /* struct shm_names at its start */
	uint64_t range_bytes;
	_Atomic(struct name_table *) table;
	uint32_t serial; /* of the shared file; 0 while private */
	uint32_t session;
	char path[PATH_BYTES + 32];
} names;

static uint32_t hash_bytes(const char *text, size_t length, uint32_t hash)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return hash ^ hash >> 15;
}

static struct shm_names *header(void)
{
	return (struct shm_names *)(void *)names.range;
}

static struct shm_name *entry_at(uint32_t id)
{
	return (struct shm_name *)(void *)(names.range + (uint64_t)id * SHM_NAME_UNIT);
}

static bool same(uint32_t id, uint32_t hash, const char *name, size_t name_bytes,
	const char *category, size_t category_bytes)
{
	const struct shm_name *entry = entry_at(id);
	const char *text = (const char *)(entry + 1);

	return entry->hash == hash && entry->name_bytes == name_bytes &&
	       entry->category_bytes == category_bytes && memcmp(text, name, name_bytes) == 0 &&
	       memcmp(text + name_bytes + 1, category, category_bytes) == 0;
}

/* Whether this thread is at the lock: a signal handler that interrupts it there must not wait for
 * what only the interrupted code can let go. */
static __thread int locking __attribute__((tls_model("initial-exec")));

/* Bounded: the holder may have been stopped. */
static bool lock(void)
{
	if (locking)
		return false;
	locking = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (int i = 0; i < LOCK_SPINS; i++) {
		uint32_t open = 0;

		if (atomic_compare_exchange_weak_explicit(&record_globals.process->names_lock,
			    &open, 1, memory_order_acquire, memory_order_relaxed))
			return true;
		if (i > 100)
			sched_yield();
	}
	locking = 0;
	return false;
}

static void unlock(void)
{
	atomic_store_explicit(&record_globals.process->names_lock, 0, memory_order_release);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	locking = 0;
}

static bool make_range(void)
{
	uint64_t bytes = RANGE_BYTES;
	void *memory = MAP_FAILED;

	if (names.range)
		return true;
	for (; memory == MAP_FAILED && bytes >= RANGE_BYTES_MIN; bytes /= 4) {
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		names.range_bytes = bytes;
	}
	if (memory == MAP_FAILED)
		return false;
	names.range = memory;
	header()->magic = SHM_MAGIC_NAMES;
	header()->version = SHM_VERSION;
	header()->limit = (uint32_t)(names.range_bytes / SHM_NAME_UNIT);
	atomic_store(&header()->used, SHM_NAME_FIRST);
	atomic_store(&header()->reserved, header()->limit);
	return true;
}

static struct name_table *new_table(uint32_t slots)
{
	void *memory = mmap(NULL, sizeof(struct name_table) + (size_t)slots * sizeof(uint32_t),
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct name_table *table = memory;

	if (memory == MAP_FAILED)
		return NULL;
	table->mask = slots - 1;
	return table;
}

static void table_put(struct name_table *table, uint32_t hash, uint32_t id)
{
	uint32_t slot = hash & table->mask;

	while (atomic_load_explicit(&table->slots[slot], memory_order_relaxed))
		slot = (slot + 1) & table->mask;
	atomic_store_explicit(&table->slots[slot], id, memory_order_release);
	atomic_fetch_add_explicit(&table->used, 1, memory_order_relaxed);
}

/* Under the lock: a table with room. Old tables stay mapped, since readers may be in them. */
static struct name_table *table_with_room(void)
{
	struct name_table *table = atomic_load(&names.table), *bigger;

	if (table && atomic_load(&table->used) * 2 < table->mask)
		return table;
	bigger = new_table(table ? (table->mask + 1) * 2 : FIRST_TABLE_SLOTS);
	if (!bigger)
		return NULL;
	for (uint32_t i = 0; table && i <= table->mask; i++) {
		uint32_t id = atomic_load_explicit(&table->slots[i], memory_order_relaxed);

		if (id)
			table_put(bigger, entry_at(id)->hash, id);
	}
	atomic_store_explicit(&names.table, bigger, memory_order_release);
	return bigger;
}

static uint32_t find(uint32_t hash, const char *name, size_t name_bytes, const char *category,
	size_t category_bytes)
{
	struct name_table *table = atomic_load_explicit(&names.table, memory_order_acquire);
	uint32_t slot, id;

	if (!table)
		return 0;
	for (slot = hash & table->mask;; slot = (slot + 1) & table->mask) {
		id = atomic_load_explicit(&table->slots[slot], memory_order_acquire);
		if (!id || same(id, hash, name, name_bytes, category, category_bytes))
			return id;
	}
}

/* Backs the shared file up to `until` units. */
static bool grow_file(uint32_t until)
{
	struct shm_names *head = header();
	uint32_t reserved = atomic_load(&head->reserved);
	uint64_t wanted = (uint64_t)reserved * 2;
	int fd;
	bool done;

	if (until <= reserved)
		return true;
	if (wanted < until)
		wanted = until;
	if (wanted > head->limit)
		wanted = head->limit;
	if (until > wanted)
		return false;
	fd = open(names.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	done = posix_fallocate(fd, (off_t)reserved * SHM_NAME_UNIT,
		       (off_t)((wanted - reserved) * SHM_NAME_UNIT)) == 0;
	close(fd);
	while (done && reserved < wanted &&
		!atomic_compare_exchange_weak(&head->reserved, &reserved, (uint32_t)wanted))
		;
	return done;
}

/* Under the lock: writes a new entry and returns its number. */
static uint32_t add_entry(uint32_t hash, const char *name, size_t name_bytes, const char *category,
	size_t category_bytes)
{
	uint64_t bytes = sizeof(struct shm_name) + name_bytes + category_bytes + 2;
	uint32_t units = (uint32_t)((bytes + SHM_NAME_UNIT - 1) / SHM_NAME_UNIT), id;
	struct shm_names *head = header();
	struct shm_name *entry;
	char *text;

	/* Forked relatives share the file, so the place is claimed atomically. */
	id = atomic_load(&head->used);
	do {
		if (id + units > head->limit || !grow_file(id + units))
			return 0;
	} while (!atomic_compare_exchange_weak(&head->used, &id, id + units));
	entry = entry_at(id);
	entry->name_bytes = (uint32_t)name_bytes;
	entry->category_bytes = (uint32_t)category_bytes;
	entry->hash = hash;
	text = (char *)(entry + 1);
	memcpy(text, name, name_bytes);
	memcpy(text + name_bytes + 1, category, category_bytes);
	return id;
}

static uint32_t add(uint32_t hash, const char *name, size_t name_bytes, const char *category,
	size_t category_bytes)
{
	struct name_table *table;
	uint32_t id = 0;

	if (!record_globals.process || !lock())
		return 0;
	if (make_range()) {
		id = find(hash, name, name_bytes, category, category_bytes);
		table = id ? NULL : table_with_room();
		if (table) {
			id = add_entry(hash, name, name_bytes, category, category_bytes);
			if (id)
				table_put(table, hash, id);
		}
	}
	unlock();
	return id;
}

static bool is_ready(void)
{
	return record_globals.process &&
	       atomic_load(&record_globals.process->phase) == PROCESS_READY;
}

static size_t text_bytes(const char *text)
{
	size_t bytes = strnlen(text, SHM_NAME_MAX + 1);

	if (LIKELY(bytes <= SHM_NAME_MAX))
		return bytes;
	if (is_ready())
		atomic_fetch_add(&record_globals.pool->cut_strings, 1);
	return SHM_NAME_MAX;
}

uint32_t record_name(const char *name, const char *category)
{
	size_t name_bytes, category_bytes;
	uint32_t hash, id;

	name = name ? name : "";
	category = category ? category : "";
	name_bytes = text_bytes(name);
	category_bytes = text_bytes(category);
	hash = hash_bytes(category, category_bytes, hash_bytes(name, name_bytes, 2166136261u));
	id = find(hash, name, name_bytes, category, category_bytes);
	if (LIKELY(id))
		return id;
	id = add(hash, name, name_bytes, category, category_bytes);
	if (!id && is_ready())
		atomic_fetch_add(&record_globals.pool->names_lost, 1);
	return id;
}

uint32_t record_names_serial(void)
{
	return names.serial;
}

/* Puts a file in place of the private range: same address, same content. */
static bool replace_range(int fd, uint64_t limit_bytes)
{
	uint64_t used = (uint64_t)atomic_load(&header()->used) * SHM_NAME_UNIT;
	uint64_t reserve = FIRST_RESERVE > used ? FIRST_RESERVE : used;
	struct shm_names copy;
	void *memory;

	if (limit_bytes > names.range_bytes)
		limit_bytes = names.range_bytes;
	if (limit_bytes > record_file_limit())
		limit_bytes = record_file_limit() & ~UINT64_C(4095);
	if (used > limit_bytes || reserve > limit_bytes || ftruncate(fd, (off_t)limit_bytes) != 0 ||
		posix_fallocate(fd, 0, (off_t)reserve) != 0)
		return false;
	for (uint64_t done = sizeof copy; done < used;) {
		ssize_t wrote = pwrite(fd, names.range + done, used - done, (off_t)done);

		if (wrote <= 0)
			return false;
		done += (uint64_t)wrote;
	}
	memset(&copy, 0, sizeof copy);
	copy.magic = SHM_MAGIC_NAMES;
	copy.version = SHM_VERSION;
	copy.limit = (uint32_t)(limit_bytes / SHM_NAME_UNIT);
	atomic_store(&copy.used, (uint32_t)(used / SHM_NAME_UNIT));
	atomic_store(&copy.reserved, (uint32_t)(reserve / SHM_NAME_UNIT));
	if (pwrite(fd, &copy, sizeof copy, 0) != (ssize_t)sizeof copy)
		return false;
	memory = mmap(
		names.range, limit_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	return memory != MAP_FAILED;
}

bool record_names_share(const char *folder, uint32_t session, uint64_t limit_bytes)
{
	uint32_t serial;
	size_t length;
	bool done = false;
	int fd;

	/* A child whose family is long gone may find that the collector has removed the file. */
	if (names.serial && names.session == session && access(names.path, F_OK) == 0)
		return true;
	if (!lock())
		return false;
	if (make_range()) {
		serial = (uint32_t)getpid() ^ (uint32_t)clock_mono_ns() << 8;
		serial = serial ? serial : 1;
		length = record_text_add(names.path, sizeof names.path, 0, folder);
		length = record_text_add(names.path, sizeof names.path, length, "/names-");
		record_text_number(names.path, sizeof names.path, length, serial);
		fd = open(names.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0) {
			done = replace_range(fd, limit_bytes);
			close(fd);
			if (!done)
				unlink(names.path);
		}
		if (done) {
			names.serial = serial;
			names.session = session;
		}
	}
	unlock();
	return done;
}
