// SPDX-License-Identifier: MIT OR Apache-2.0
/* Converts a foreign trace: `import_convert IN OUT.tacho [MAX_MEMORY_BYTES]`. A helper of the
 * tests: it goes past the cache and the command line. */
#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct import_options options = { 0 };

	if (argc < 3) {
		fprintf(stderr, "usage: import_convert IN OUT.tacho [MAX_MEMORY_BYTES]\n");
		return 2;
	}
	if (argc > 3)
		options.max_memory = strtoull(argv[3], NULL, 10);
	if (import_convert(argv[1], argv[2], &options, &err) != STATUS_OK) {
		fprintf(stderr, "%s: %s\n", argv[1], err.message);
		return 2;
	}
	return 0;
}
