// SPDX-License-Identifier: MIT OR Apache-2.0
/* Stands in for libFuzzer in ordinary builds: runs the target over every file of the folders (or
 * files) on the command line. The target aborts when a property does not hold, so that reaching
 * the end means that all passed. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned passed_count;

static int run_file(const char *path, size_t size)
{
	/* Exactly as large as the input, so that the address sanitizer sees every byte beyond it.
	 */
	uint8_t *data = malloc(size ? size : 1);
	FILE *file = fopen(path, "rb");
	int rc = -1;

	if (!data || !file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		goto out;
	}
	if (fread(data, 1, size, file) != size) {
		fprintf(stderr, "%s: cannot be read whole\n", path);
		goto out;
	}
	/* The name goes first: after an abort it is the last line. */
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(data, size);
	passed_count++;
	rc = 0;
out:
	if (file)
		fclose(file);
	free(data);
	return rc;
}

static int run_path(const char *path)
{
	struct dirent **entries;
	struct stat st;
	int count, rc = 0;

	if (stat(path, &st) < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	if (!S_ISDIR(st.st_mode))
		return run_file(path, (size_t)st.st_size);

	count = scandir(path, &entries, NULL, alphasort);
	if (count < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	for (int i = 0; i < count; i++) {
		char inner[4096];

		if (entries[i]->d_name[0] != '.') {
			snprintf(inner, sizeof(inner), "%s/%s", path, entries[i]->d_name);
			if (run_path(inner) < 0)
				rc = -1;
		}
		free(entries[i]);
	}
	free(entries);
	return rc;
}

int main(int argc, char **argv)
{
	unsigned failed_count = 0;

	/* The empty input needs no file. */
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	passed_count++;
	for (int i = 1; i < argc; i++)
		if (run_path(argv[i]) < 0)
			failed_count++;
	printf("%u passed, %u failed\n", passed_count, failed_count);
	return failed_count != 0;
}
