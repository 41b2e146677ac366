// SPDX-License-Identifier: MIT OR Apache-2.0
/* Writes the stored sample of format version 1: make_v1 tests/data/v1/small.tacho. Run once; after
 * a release the stored file is read for ever and not written again. */
#include "tests/unit/sample_trace.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;

	if (argc != 2) {
		fprintf(stderr, "usage: make_v1 FILE\n");
		return 2;
	}
	if (sample_trace_write(argv[1], &err) != STATUS_OK) {
		fprintf(stderr, "make_v1: %s\n", err.message);
		return 1;
	}
	return 0;
}
