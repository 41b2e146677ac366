// SPDX-License-Identifier: MIT OR Apache-2.0
/* Loads a library that uses libtacho, lets it record, unloads it; ROUNDS times. Then it may become
 * another program, which reads the environment. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	for (long i = 0; i < atol(argv[2]); i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		void (*work)(void);

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		*(void **)&work = dlsym(library, "plugin_work");
		if (!work)
			return 1;
		work();
		dlclose(library);
	}
	if (argc > 3)
		execvp(argv[3], argv + 3);
	return argc > 3;
}
