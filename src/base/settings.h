/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The settings: one table that the command line, the API, TACHO_* variables, tacho.conf and the
 * docs all come from. Precedence: command line over API over environment over file over default.
 * Safe in a foreign process: allocates nothing, prints nothing. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* key, type, fallback, help */
#define SETTINGS_MAP(XX)                                                                           \
	XX(COLLECTOR, "collector", STRING, "",                                                     \
		"path of the tacho program that a self-recording process starts as its collector") \
	XX(COUNTERS, "counters", BOOL, "on", "sample counters of the machine and the processes")   \
	XX(COUNTERS_RATE, "counters_rate", DOUBLE, "10",                                           \
		"counter samples per second, at most 1000")                                        \
	XX(DUMP_ON_OUTLIER, "dump_on_outlier", BOOL, "on",                                         \
		"flight recorder: write a dump when a step takes far longer than its neighbours")  \
	XX(DURATION, "duration", DURATION, "0",                                                    \
		"end the recording, not the program, after this time; 0: never")                   \
	XX(ENABLED, "enabled", BOOL, "off",                                                        \
		"record from the start a program that runs without `tacho record`")                \
	XX(FOLLOW, "follow", BOOL, "on", "record child processes too")                             \
	XX(LAST, "last", DURATION, "0", "flight recorder: keep only this much time; 0: keep all")  \
	XX(LAST_BYTES, "last_bytes", BYTES, "64MiB",                                               \
		"flight recorder: keep at most this many bytes")                                   \
	XX(MAX_SIZE, "max_size", BYTES, "0",                                                       \
		"largest trace file; what comes after is counted and not written; 0: no limit")    \
	XX(NAMES_SIZE, "names_size", BYTES, "64MiB", "shared memory for names, at most 1GiB")      \
	XX(OUTPUT, "output", STRING, "",                                                           \
		"trace file; {pid}, {rank}, {host}, {time} and {name} are replaced")               \
	XX(POOL_SIZE, "pool_size", BYTES, "32MiB",                                                 \
		"shared memory for events of one process, taken as needed, at most 256MiB")        \
	XX(RECORD_SHAPES, "record_shapes", BOOL, "on",                                             \
		"record the shapes and dtypes of operations")                                      \
	XX(SCHEDULE, "schedule", STRING, "",                                                       \
		"record by steps: wait,warmup,active,repeat (repeat 0: for ever)")                 \
	XX(SESSION_DIR, "session_dir", STRING, "",                                                 \
		"folder for the shared memory instead of /dev/shm or the temporary folder")        \
	XX(STORE_COMMAND, "store_command", BOOL, "off",                                            \
		"store the whole command line in the trace; it may hold secrets")                  \
	XX(WITH_FLOPS, "with_flops", BOOL, "on", "record the FLOPs that the program states")

enum setting_key {
#define XX(id, key, type, fallback, help) SETTING_##id,
	SETTINGS_MAP(XX)
#undef XX
		SETTING_COUNT
};

enum setting_type {
	SETTING_TYPE_BOOL,
	SETTING_TYPE_STRING,
	SETTING_TYPE_DOUBLE,
	SETTING_TYPE_DURATION,
	SETTING_TYPE_BYTES,
};

enum setting_source {
	SETTING_FROM_DEFAULT,
	SETTING_FROM_FILE,
	SETTING_FROM_ENVIRONMENT,
	SETTING_FROM_API,
	SETTING_FROM_COMMAND_LINE,
};

struct setting {
	const char *key;
	enum setting_type type;
	const char *fallback;
	const char *help;
};

#define SETTING_TEXT_BYTES 512

struct settings {
	struct {
		char text[SETTING_TEXT_BYTES];
		uint64_t number; /* bool, nanoseconds or bytes */
		double real;
		enum setting_source source;
	} values[SETTING_COUNT];
};

const struct setting *settings_table(size_t *ret_count);
const char *setting_type_name(enum setting_type type);
const char *setting_source_name(enum setting_source source);

void settings_init(struct settings *settings);

/* Sets one by its key. A weaker source never overwrites a stronger one. STATUS_USAGE with a message
 * for an unknown key (the nearest one is named) or a bad value. */
int settings_set(struct settings *settings, const char *key, const char *value,
	enum setting_source source, struct error *err) MUST_USE;
/* The same from "key=value". */
int settings_assign(struct settings *settings, const char *assignment, enum setting_source source,
	struct error *err) MUST_USE;

/* Called for each mistake; return non-zero to stop. */
typedef int settings_complaint(void *context, const struct error *err);

/* All TACHO_* variables of `environment`. Returns the number of mistakes. */
int settings_load_environment(struct settings *settings, char *const *environment,
	settings_complaint *complain, void *context);
/* All lines of a settings file, "key = value", # begins a comment. A file that is not there is
 * STATUS_NOTFOUND without a complaint. */
int settings_load_file(struct settings *settings, const char *path, settings_complaint *complain,
	void *context) MUST_USE;

static inline const char *settings_text(const struct settings *settings, enum setting_key key)
{
	return settings->values[key].text;
}
static inline uint64_t settings_number(const struct settings *settings, enum setting_key key)
{
	return settings->values[key].number;
}
static inline double settings_real(const struct settings *settings, enum setting_key key)
{
	return settings->values[key].real;
}

/* "wait,warmup,active,repeat" as four numbers. */
int settings_parse_schedule(const char *text, uint32_t ret_parts[4], struct error *err) MUST_USE;
