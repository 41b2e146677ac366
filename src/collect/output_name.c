// SPDX-License-Identifier: MIT OR Apache-2.0
/* Expansion of placeholders in the output's name. */
#include "collect/output_name.h"

#include "env/fingerprint.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The value of the placeholder that starts at `at`, and its length; NULL when there is none. */
static const char *placeholder(const char *at, const char *program, pid_t pid, char *room,
	size_t room_bytes, size_t *ret_length)
{
	static const char *const names[] = { "{pid}", "{rank}", "{host}", "{time}", "{name}" };
	const char *rank = fingerprint_rank(), *slash = strrchr(program, '/');
	time_t now = time(NULL);
	struct tm local;
	size_t which = 0;

	while (which < 5 && strncmp(at, names[which], strlen(names[which])) != 0)
		which++;
	if (which == 5)
		return NULL;
	*ret_length = strlen(names[which]);
	switch (which) {
	case 0:
		snprintf(room, room_bytes, "%d", (int)pid);
		break;
	case 1:
		snprintf(room, room_bytes, "%s", rank ? rank : "0");
		break;
	case 2:
		if (gethostname(room, room_bytes) != 0)
			snprintf(room, room_bytes, "host");
		room[room_bytes - 1] = 0;
		break;
	case 3:
		localtime_r(&now, &local);
		strftime(room, room_bytes, "%Y%m%d-%H%M%S", &local);
		break;
	default:
		snprintf(room, room_bytes, "%s", slash ? slash + 1 : program);
		break;
	}
	/* None of them may lead into another folder. */
	for (char *c = room; *c; c++)
		if (*c == '/')
			*c = '_';
	return room;
}

int output_name(const char *pattern, const char *program, pid_t pid, char *ret_path,
	size_t path_bytes, struct error *err)
{
	char room[256];
	size_t length = 0;

	if (!pattern[0])
		pattern = fingerprint_rank() ? "{name}-rank{rank}-{time}.tacho"
					     : "{name}-{time}.tacho";
	while (*pattern) {
		size_t taken = 1;
		const char *value = NULL;

		if (*pattern == '{') {
			value = placeholder(pattern, program, pid, room, sizeof room, &taken);
			if (!value)
				return error_set(err, STATUS_USAGE,
					"output: unknown placeholder at '%.20s'; "
					"there are {pid} {rank} {host} {time} {name}",
					pattern);
		}
		length += (size_t)snprintf(ret_path + length, path_bytes - length, "%.*s",
			value ? (int)sizeof room : 1, value ? value : pattern);
		if (length >= path_bytes)
			return error_set(err, STATUS_USAGE, "output: the name is too long");
		pattern += taken;
	}
	return STATUS_OK;
}
