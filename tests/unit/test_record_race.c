// SPDX-License-Identifier: MIT OR Apache-2.0
/* The recorder and the collector as threads of one process, for the thread sanitizer: producers
 * that begin, nest, end, name, count, come and go, one that switches recording off and on, while
 * the main thread collects. A file that is mapped a second time gets the address of the first: the
 * sanitizer goes by address, and would not see that both sides touch the same memory. */
#include "base/settings.h"
#include "collect/collector.h"
#include "record/record_internal.h"
#include "tests/unit/unit.h"
#include "trace/trace.h"

#include <tacho/tacho.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PRODUCERS 4
#define ROUNDS    60
#define EACH      200
#define MAPPINGS  32

static struct mapping {
	dev_t device;
	ino_t inode;
	void *address;
	size_t bytes;
	unsigned users;
} mappings[MAPPINGS];
static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER;

void *__real_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *address, size_t bytes);
int __wrap_munmap(void *address, size_t bytes);

/* A file put in place of memory with the same content is no write, which the sanitizer takes it
 * for: it is not told. */
static void *map_new(void *address, size_t bytes, int flags, int fd, off_t offset)
{
	int protection = PROT_READ | PROT_WRITE;

	if (flags & MAP_FIXED)
		return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
	return __real_mmap(address, bytes, protection, flags, fd, offset);
}

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	struct mapping *found = NULL, *empty = NULL;
	struct stat info;

	if (fd < 0 || !(flags & MAP_SHARED) || fstat(fd, &info) != 0)
		return __real_mmap(address, bytes, protection, flags, fd, offset);
	pthread_mutex_lock(&mappings_lock);
	for (size_t i = 0; i < MAPPINGS; i++) {
		struct mapping *mapping = &mappings[i];

		if (mapping->users && mapping->device == info.st_dev &&
			mapping->inode == info.st_ino && mapping->bytes >= bytes)
			found = mapping;
		else if (!mapping->users)
			empty = mapping;
	}
	if (found) {
		found->users++;
		address = found->address;
	} else {
		address = map_new(address, bytes, flags, fd, offset);
		if (empty && address != MAP_FAILED)
			*empty = (struct mapping){ info.st_dev, info.st_ino, address, bytes, 1 };
	}
	pthread_mutex_unlock(&mappings_lock);
	return address;
}

int __wrap_munmap(void *address, size_t bytes)
{
	int result = 0;

	pthread_mutex_lock(&mappings_lock);
	for (size_t i = 0; i < MAPPINGS; i++)
		if (mappings[i].users && mappings[i].address == address) {
			if (--mappings[i].users == 0)
				result = __real_munmap(address, mappings[i].bytes);
			pthread_mutex_unlock(&mappings_lock);
			return result;
		}
	pthread_mutex_unlock(&mappings_lock);
	return __real_munmap(address, bytes);
}

static _Atomic uint64_t scopes_begun, events_made;
static atomic_int producers_left, switching;

/* A scope that is certainly begun: whoever switches may do so between the question and the call, so
 * the functions behind the macros are called. */
static void begin(uint32_t id)
{
	tacho_begin_id(id);
	atomic_fetch_add(&scopes_begun, 1);
}

static void *brief(void *argument)
{
	uint32_t id = tacho_name("brief", "");

	(void)argument;
	for (int i = 0; i < 20; i++) {
		begin(id);
		tacho_end_scope();
	}
	return NULL;
}

static void produce(int which, int round)
{
	static struct tacho_site site = TACHO_SITE_INIT("site", "race");
	uint32_t outer = tacho_name("outer", "race"), key = tacho_name("i", "");
	char name[32];

	snprintf(name, sizeof name, "name %d", (which * ROUNDS + round) % 97);
	for (int i = 0; i < EACH; i++) {
		begin(outer);
		begin(tacho_name(name, "race"));
		/* Events ask tacho_on() themselves, so they are only counted while nobody switches.
		 */
		tacho_arg_int_id(key, i);
		tacho_counter_int(name, "things", i);
		tacho_end_scope();
		tacho_begin_site(&site);
		atomic_fetch_add(&scopes_begun, 1);
		tacho_end_scope();
		tacho_end_scope();
		atomic_fetch_add(&events_made, 2);
	}
}

static void *producer(void *argument)
{
	int which = (int)(intptr_t)argument;

	for (int round = 0; round < ROUNDS; round++) {
		pthread_t thread;

		produce(which, round);
		if (round % 10 == 0 && pthread_create(&thread, NULL, brief, NULL) == 0)
			pthread_join(thread, NULL);
	}
	atomic_fetch_sub(&producers_left, 1);
	return NULL;
}

static void *switcher(void *argument)
{
	(void)argument;
	while (atomic_load(&producers_left)) {
		tacho_stop();
		usleep(200);
		(void)tacho_start(NULL);
		usleep(700);
		(void)tacho_status();
		(void)tacho_status_text();
	}
	return NULL;
}

static struct collector *start_collector(char *output)
{
	static struct settings settings;
	struct collector *collector = NULL;
	struct error err = ERROR_INIT;
	char why[200];
	int fd = mkstemps(output, 6);

	if (fd >= 0)
		close(fd);
	settings_init(&settings);
	if (settings_assign(&settings, "pool_size=2MiB", SETTING_FROM_COMMAND_LINE, &err) ||
		settings_set(&settings, "output", output, SETTING_FROM_COMMAND_LINE, &err) ||
		settings_assign(&settings, "counters=off", SETTING_FROM_COMMAND_LINE, &err) ||
		collector_new(&settings, &collector, &err) ||
		collector_start(collector, getpid(), "race", NULL, &err)) {
		fprintf(stderr, "%s\n", err.message);
		CHECK(false);
		collector_free(collector);
		return NULL;
	}
	CHECK(record_join(collector_folder(collector), why, sizeof why));
	return collector;
}

static void collect_until_done(struct collector *collector)
{
	const struct collector_cost cost = { 0 };
	struct collector_summary summary;
	struct error err = ERROR_INIT;

	while (atomic_load(&producers_left))
		usleep((useconds_t)(collector_tick(collector) / 4000));
	CHECK_EQ(collector_finish(collector, &cost, &summary, &err), STATUS_OK);
	/* Whoever switches makes the number of events that were asked for uncertain. */
	if (!atomic_load(&switching))
		CHECK_EQ(summary.scopes + summary.events + summary.dropped,
			atomic_load(&scopes_begun) + atomic_load(&events_made));
	CHECK(summary.scopes > 0);
}

static uint64_t entry(const struct ledger *ledger, const char *what)
{
	uint64_t count = 0;

	for (size_t i = 0; i < ledger->count; i++)
		if (strncmp(ledger->entries[i].what, what, strlen(what)) == 0)
			count += ledger->entries[i].count;
	return count;
}

static void check_file(const char *output)
{
	struct error err = ERROR_INIT;
	struct trace *trace;

	if (!CHECK(trace_open(output, &trace, &err) == STATUS_OK)) {
		fprintf(stderr, "%s\n", err.message);
		return;
	}
	CHECK_EQ(trace->row_counts[TABLE_SPANS] + entry(&trace->ledger, "scopes dropped") +
			 entry(&trace->ledger, "events dropped before"),
		atomic_load(&scopes_begun));
	CHECK_EQ(entry(&trace->ledger, "records that make no sense"), 0);
	CHECK_EQ(entry(&trace->ledger, "names that could not be read"), 0);
	CHECK_EQ(entry(&trace->ledger, "scopes still open"), 0);
	trace_close(trace);
}

static void race(bool with_switcher)
{
	char output[] = "/tmp/tacho-race-XXXXXX.tacho";
	pthread_t threads[PRODUCERS], other;
	struct collector *collector = start_collector(output);

	if (!collector)
		return;
	atomic_store(&scopes_begun, 0);
	atomic_store(&events_made, 0);
	atomic_store(&switching, with_switcher);
	atomic_store(&producers_left, PRODUCERS);
	for (intptr_t i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, producer, (void *)i);
	if (with_switcher)
		pthread_create(&other, NULL, switcher, NULL);
	collect_until_done(collector);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	if (with_switcher)
		pthread_join(other, NULL);
	check_file(output);
	collector_free(collector);
	unlink(output);
}

static void test_counts_are_exact(void)
{
	race(false);
}

/* A second session in the same process, too. */
static void test_switching_while_recording(void)
{
	race(true);
}

/* Threads go on while one session ends and the next begins. */
static void test_join_while_recording(void)
{
	char first[] = "/tmp/tacho-race-XXXXXX.tacho", second[] = "/tmp/tacho-race-XXXXXX.tacho";
	struct collector *collector = start_collector(first);
	struct collector_summary summary;
	const struct collector_cost cost = { 0 };
	struct error err = ERROR_INIT;
	pthread_t threads[PRODUCERS];

	if (!collector)
		return;
	atomic_store(&producers_left, PRODUCERS);
	for (intptr_t i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, producer, (void *)i);
	for (int i = 0; i < 20; i++)
		usleep((useconds_t)(collector_tick(collector) / 4000));
	CHECK_EQ(collector_finish(collector, &cost, &summary, &err), STATUS_OK);
	collector_free(collector);
	collector = start_collector(second);
	while (collector && atomic_load(&producers_left))
		usleep((useconds_t)(collector_tick(collector) / 4000));
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	if (collector)
		CHECK_EQ(collector_finish(collector, &cost, &summary, &err), STATUS_OK);
	collector_free(collector);
	unlink(first);
	unlink(second);
}

static const struct unit_test tests[] = {
	UNIT(test_counts_are_exact),
	UNIT(test_switching_while_recording),
	UNIT(test_join_while_recording),
};

int main(int argc, char **argv)
{
	return unit_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
