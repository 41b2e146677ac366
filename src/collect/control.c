// SPDX-License-Identifier: MIT OR Apache-2.0
/* Both ends of the control socket. */
#include "collect/control.h"

#include "base/units.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_BYTES      4200
#define REQUEST_WAIT_MS 200 /* a slow client must not hold up the recording */
#define ANSWER_WAIT_S   60

static int socket_address(const char *folder, struct sockaddr_un *address)
{
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	return snprintf(address->sun_path, sizeof address->sun_path, "%s/control", folder) <
			       (int)sizeof address->sun_path
		       ? 0
		       : -1;
}

int control_listen(const char *folder)
{
	struct sockaddr_un address;
	int fd;

	if (socket_address(folder, &address) != 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 8) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* One line without its newline; -1 when none came in time. */
static int read_line(int fd, char *line, size_t bytes, int wait_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	size_t length = 0;

	while (length + 1 < bytes && poll(&ready, 1, wait_ms) > 0) {
		ssize_t got = read(fd, line + length, bytes - 1 - length);
		char *end;

		if (got <= 0)
			return -1;
		length += (size_t)got;
		line[length] = 0;
		end = strchr(line, '\n');
		if (end) {
			*end = 0;
			return 0;
		}
	}
	return -1;
}

static void answer(int fd, const char *word, const char *text)
{
	char line[LINE_BYTES];
	int length = snprintf(line, sizeof line, "%s %s\n", word, text);

	(void)!send(fd, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1,
		MSG_NOSIGNAL | MSG_DONTWAIT);
}

void control_serve(int listener, control_dump *dump, void *context)
{
	char line[LINE_BYTES], path[1100] = "", *rest, *reason;
	struct error err = ERROR_INIT;
	uint64_t last_ns;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (read_line(fd, line, sizeof line, REQUEST_WAIT_MS) != 0 ||
		strncmp(line, "dump ", 5) != 0) {
		answer(fd, "error", "the request was not understood");
		close(fd);
		return;
	}
	rest = line + 5;
	rest[strcspn(rest, " ")] = 0;
	reason = rest + strlen(rest) + 1;
	if (units_parse_u64(rest, &last_ns) != STATUS_OK || !strchr(reason, ' ')) {
		answer(fd, "error", "the request was not understood");
		close(fd);
		return;
	}
	rest = strchr(reason, ' ');
	*rest++ = 0;
	if (dump(context, last_ns, strcmp(rest, "-") == 0 ? NULL : rest, reason, path, sizeof path,
		    &err) == STATUS_OK)
		answer(fd, "ok", path);
	else
		answer(fd, "error", err.message);
	close(fd);
}

int control_ask_dump(const char *folder, uint64_t last_ns, const char *path, char *ret_path,
	size_t path_bytes, struct error *err)
{
	struct sockaddr_un address;
	char line[LINE_BYTES];
	int status = STATUS_OK, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return error_set_errno(err, STATUS_IO, "no socket");
	if (socket_address(folder, &address) != 0 ||
		connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
		close(fd);
		return error_set(
			err, STATUS_NOTFOUND, "the recorder at %s does not answer", folder);
	}
	snprintf(line, sizeof line, "dump %llu asked %s\n", (unsigned long long)last_ns,
		path ? path : "-");
	if (send(fd, line, strlen(line), MSG_NOSIGNAL) != (ssize_t)strlen(line) ||
		read_line(fd, line, sizeof line, ANSWER_WAIT_S * 1000) != 0)
		status = error_set(err, STATUS_IO, "the recorder at %s does not answer", folder);
	else if (strncmp(line, "ok ", 3) == 0)
		snprintf(ret_path, path_bytes, "%s", line + 3);
	else
		status = error_set(err, STATUS_IO, "%s",
			strncmp(line, "error ", 6) == 0 ? line + 6 : "the recorder refused");
	close(fd);
	return status;
}
