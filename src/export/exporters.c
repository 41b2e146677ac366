// SPDX-License-Identifier: MIT OR Apache-2.0
/* The table of exporters: one line each, sorted by name. EXPORTER_WORDS in export.h repeats the
 * names for the table of options; a test compares them. */
#include "export/export.h"

#include <string.h>

#define EXPORTERS(XX)  \
	XX(chrome)     \
	XX(collapsed)  \
	XX(csv)        \
	XX(firefox)    \
	XX(json)       \
	XX(jsonl)      \
	XX(kineto)     \
	XX(parquet)    \
	XX(perfetto)   \
	XX(pprof)      \
	XX(speedscope) \
	XX(tacho)      \
	XX(xplane)

#define XX(name) extern const struct exporter export_##name;
EXPORTERS(XX)
#undef XX

const struct exporter *const exporters[] = {
#define XX(name) &export_##name,
	EXPORTERS(XX)
#undef XX
		NULL,
};

const struct exporter *exporter_find(const char *name)
{
	for (size_t i = 0; exporters[i]; i++)
		if (strcmp(exporters[i]->name, name) == 0)
			return exporters[i];
	return NULL;
}

const struct exporter *exporter_for_path(const char *path)
{
	const struct exporter *best = NULL;
	size_t path_length = strlen(path), best_length = 0;

	for (size_t i = 0; exporters[i]; i++) {
		const char *at = exporters[i]->extensions;

		for (size_t length; *at; at += length + (at[length] == ' ')) {
			length = strcspn(at, " ");
			if (length > best_length && length < path_length &&
				strncmp(path + path_length - length, at, length) == 0) {
				best = exporters[i];
				best_length = length;
			}
		}
	}
	return best;
}
