/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What every fuzzer of an importer does: the bytes as a file in memory, converted into another. */
#pragma once

#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static inline int fuzz_import(const uint8_t *bytes, size_t count)
{
	static char output[64];
	struct import_options options = { .max_memory = 64u << 20 };
	struct error err = ERROR_INIT;
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC), status;

	if (!output[0])
		snprintf(output, sizeof output, "/dev/shm/tacho-fuzz-%d.tacho", (int)getpid());
	if (fd < 0 || write(fd, bytes, count) != (ssize_t)count)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	status = import_convert(path, output, &options, &err);
	/* A failure has a message, a success none. */
	if ((status != STATUS_OK) != (err.message[0] != 0))
		abort();
	unlink(output);
	close(fd);
	return 0;
}
