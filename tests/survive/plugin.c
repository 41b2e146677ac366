// SPDX-License-Identifier: MIT OR Apache-2.0
/* A library that records, to be loaded and unloaded again and again. */
#include <tacho/tacho.h>

void plugin_work(void);

__attribute__((visibility("default"))) void plugin_work(void)
{
	for (int i = 0; i < 100; i++) {
		TACHO_SCOPE("plugin");
	}
}
