/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What every fuzzer of an importer does: the bytes as a file in memory, converted into another. */
#pragma once

#include "import/import.h"
#include "import/import_sink.h"
#include "import/import_source.h"

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

/* The same with one importer, whatever the bytes look like. */
static inline int fuzz_importer(const struct importer *importer, const uint8_t *bytes, size_t count)
{
	static char output[64];
	struct error err = ERROR_INIT;
	struct import_source *source;
	struct import_sink *sink;
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC), status;

	if (!output[0])
		snprintf(output, sizeof output, "/dev/shm/tacho-fuzz-%d.tacho", (int)getpid());
	if (fd < 0 || write(fd, bytes, count) != (ssize_t)count)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	(void)importer->detect(bytes, count < IMPORT_HEAD_BYTES ? count : IMPORT_HEAD_BYTES);
	if (import_source_open(path, &source, &err) == STATUS_OK) {
		sink = import_sink_new(64u << 20);
		if (!sink)
			abort();
		status = importer->run(source, sink, &err);
		if (status == STATUS_OK)
			status = import_sink_finish(sink, output, importer->name, &err);
		if ((status != STATUS_OK) != (err.message[0] != 0))
			abort();
		unlink(output);
		import_sink_free(sink);
		import_source_close(source);
	}
	close(fd);
	return 0;
}
