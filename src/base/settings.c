// SPDX-License-Identifier: MIT OR Apache-2.0
/* The settings table and its readers. Runs in the user's process as well: no allocation. */
#include "base/settings.h"

#include "base/nearest.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX (64u << 10)

static const struct setting table[SETTING_COUNT] = {
#define XX(id, key, type, fallback, help) \
	[SETTING_##id] = { key, SETTING_TYPE_##type, fallback, help },
	SETTINGS_MAP(XX)
#undef XX
};

/* Variables of ours that are no settings. */
static const char *const other_variables[] = { "TACHO_CONFIG", "TACHO_SESSION" };

const struct setting *settings_table(size_t *ret_count)
{
	*ret_count = SETTING_COUNT;
	return table;
}

const char *setting_type_name(enum setting_type type)
{
	static const char *const names[] = { "on|off", "text", "number", "duration", "bytes" };

	return names[type];
}

const char *setting_source_name(enum setting_source source)
{
	static const char *const names[] = { "default", "file", "environment", "program",
		"command line" };

	return names[source];
}

/* Bounds that hold whatever the source. */
static int check_bounds(enum setting_key key, uint64_t number, double real, struct error *err)
{
	switch (key) {
	case SETTING_COUNTERS_RATE:
		if (real <= 0 || real > 1000)
			return error_set(err, STATUS_USAGE,
				"counters_rate: must be above 0 and at most 1000; "
				"use counters = off for none");
		break;
	case SETTING_POOL_SIZE:
		if (number < (1u << 20) || number > (256u << 20))
			return error_set(
				err, STATUS_USAGE, "pool_size: must be between 1MiB and 256MiB");
		break;
	case SETTING_NAMES_SIZE:
		if (number < (1u << 20) || number > (1u << 30))
			return error_set(
				err, STATUS_USAGE, "names_size: must be between 1MiB and 1GiB");
		break;
	default:
		break;
	}
	return STATUS_OK;
}

static int set_value(struct settings *settings, enum setting_key key, const char *value,
	enum setting_source source, struct error *err)
{
	uint64_t number = 0;
	double real = 0;
	int flag = 0, status = STATUS_OK;
	uint32_t parts[4];

	switch (table[key].type) {
	case SETTING_TYPE_BOOL:
		status = units_parse_bool(value, &flag);
		number = (uint64_t)flag;
		break;
	case SETTING_TYPE_DOUBLE:
		status = units_parse_double(value, &real);
		break;
	case SETTING_TYPE_DURATION:
		status = units_parse_duration(value, &number);
		break;
	case SETTING_TYPE_BYTES:
		status = units_parse_bytes(value, &number);
		break;
	case SETTING_TYPE_STRING:
		if (strlen(value) >= SETTING_TEXT_BYTES)
			return error_set(err, STATUS_USAGE, "%s: longer than %d bytes",
				table[key].key, SETTING_TEXT_BYTES - 1);
		break;
	}
	if (status != STATUS_OK || strlen(value) >= SETTING_TEXT_BYTES)
		return error_set(err, STATUS_USAGE, "%s: '%.60s' is not a value of type %s",
			table[key].key, value, setting_type_name(table[key].type));
	if (key == SETTING_SCHEDULE && value[0]) {
		status = settings_parse_schedule(value, parts, err);
		if (status != STATUS_OK)
			return status;
	}
	status = check_bounds(key, number, real, err);
	if (status != STATUS_OK || source < settings->values[key].source)
		return status;
	memcpy(settings->values[key].text, value, strlen(value) + 1);
	settings->values[key].number = number;
	settings->values[key].real = real;
	settings->values[key].source = source;
	return STATUS_OK;
}

void settings_init(struct settings *settings)
{
	struct error err = ERROR_INIT;

	memset(settings, 0, sizeof *settings);
	for (int i = 0; i < SETTING_COUNT; i++)
		(void)!set_value(settings, (enum setting_key)i, table[i].fallback,
			SETTING_FROM_DEFAULT, &err);
}

int settings_set(struct settings *settings, const char *key, const char *value,
	enum setting_source source, struct error *err)
{
	const char *keys[SETTING_COUNT];

	for (int i = 0; i < SETTING_COUNT; i++) {
		keys[i] = table[i].key;
		if (strcmp(key, table[i].key) == 0)
			return set_value(settings, (enum setting_key)i, value, source, err);
	}
	return error_set(err, STATUS_USAGE, "unknown setting '%.60s'; the nearest is '%s'", key,
		nearest_word(key, keys, SETTING_COUNT));
}

int settings_assign(struct settings *settings, const char *assignment, enum setting_source source,
	struct error *err)
{
	char key[64];
	const char *equals = strchr(assignment, '=');
	size_t length = equals ? (size_t)(equals - assignment) : 0;

	if (!equals || length == 0 || length >= sizeof key)
		return error_set(
			err, STATUS_USAGE, "'%.80s' is not of the form key=value", assignment);
	memcpy(key, assignment, length);
	key[length] = 0;
	return settings_set(settings, key, equals + 1, source, err);
}

int settings_load_environment(struct settings *settings, char *const *environment,
	settings_complaint *complain, void *context)
{
	int mistakes = 0;

	for (; environment && *environment; environment++) {
		const char *variable = *environment, *equals = strchr(variable, '=');
		struct error err = ERROR_INIT;
		char key[64];
		size_t length;
		int ours = 0;

		if (strncmp(variable, "TACHO_", 6) != 0 || !equals)
			continue;
		length = (size_t)(equals - variable);
		for (size_t i = 0; i < sizeof other_variables / sizeof *other_variables; i++)
			ours |= strlen(other_variables[i]) == length &&
				strncmp(other_variables[i], variable, length) == 0;
		if (ours)
			continue;
		if (length - 6 >= sizeof key)
			length = 6 + sizeof key - 1;
		for (size_t i = 6; i < length; i++)
			key[i - 6] =
				(char)(variable[i] >= 'A' && variable[i] <= 'Z' ? variable[i] + 32
										: variable[i]);
		key[length - 6] = 0;
		if (settings_set(settings, key, equals + 1, SETTING_FROM_ENVIRONMENT, &err) ==
			STATUS_OK)
			continue;
		error_prefix(&err, "%.*s: ", (int)length, variable);
		mistakes++;
		if (complain(context, &err))
			break;
	}
	return mistakes;
}

static char *trim(char *text)
{
	size_t length;

	while (*text == ' ' || *text == '\t')
		text++;
	length = strlen(text);
	while (length &&
		(text[length - 1] == ' ' || text[length - 1] == '\t' || text[length - 1] == '\r'))
		text[--length] = 0;
	return text;
}

/* One line of a settings file; comments and blank lines are fine. */
static int load_line(struct settings *settings, char *line, struct error *err)
{
	char *equals;

	line[strcspn(line, "#")] = 0;
	line = trim(line);
	if (!*line)
		return STATUS_OK;
	equals = strchr(line, '=');
	if (!equals)
		return error_set(err, STATUS_USAGE, "'%.60s' is not of the form key = value", line);
	*equals = 0;
	return settings_set(settings, trim(line), trim(equals + 1), SETTING_FROM_FILE, err);
}

int settings_load_file(
	struct settings *settings, const char *path, settings_complaint *complain, void *context)
{
	/* Not thread safe, and needs not be: called once at the start of a session. */
	static char bytes[FILE_BYTES_MAX];
	struct error err = ERROR_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned line_number = 0;
	ssize_t got;

	if (fd < 0 && errno == ENOENT)
		return STATUS_NOTFOUND;
	got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes - 1);
	if (fd >= 0)
		close(fd);
	if (got < 0) {
		error_set_errno(&err, STATUS_IO, "cannot read %s", path);
		complain(context, &err);
		return STATUS_IO;
	}
	if ((size_t)got == sizeof bytes - 1) {
		error_set(&err, STATUS_LIMIT, "%s: larger than %u bytes", path, FILE_BYTES_MAX - 2);
		complain(context, &err);
		return STATUS_LIMIT;
	}
	bytes[got] = 0;
	for (char *line = bytes, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		line_number++;
		if (load_line(settings, line, &err) == STATUS_OK)
			continue;
		error_prefix(&err, "%s line %u: ", path, line_number);
		if (complain(context, &err))
			return STATUS_USAGE;
	}
	return STATUS_OK;
}

int settings_parse_schedule(const char *text, uint32_t ret_parts[4], struct error *err)
{
	const char *at = text;
	uint32_t parts[4] = { 0 };

	for (int i = 0; i < 4; i++) {
		uint64_t value = 0;
		int digits = 0;

		for (; *at >= '0' && *at <= '9' && digits < 9; at++, digits++)
			value = value * 10 + (uint64_t)(*at - '0');
		if (!digits || *at != (i < 3 ? ',' : 0))
			return error_set(err, STATUS_USAGE,
				"schedule: '%.60s' is not wait,warmup,active,repeat, "
				"four numbers of steps such as 10,2,5,1",
				text);
		parts[i] = (uint32_t)value;
		at++;
	}
	if (parts[2] == 0)
		return error_set(
			err, STATUS_USAGE, "schedule: the third number, active, must be above 0");
	memcpy(ret_parts, parts, sizeof parts);
	return STATUS_OK;
}
