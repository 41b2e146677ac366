/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Converted traces in the user's cache folder, so that the second open of a foreign file is
 * instant. The key is made of the file's size, its time, its first and last bytes and the
 * importer's version. The folder is bounded; what was not used for longest goes first. */
#pragma once

#include "import/import.h"

#include <stdbool.h>

/* Where the conversion of `path` belongs. False when there is no cache (no home, not writable), or
 * the input cannot be identified (a pipe). */
bool import_cache_path(
	const char *path, const struct importer *importer, char *ret_path, size_t bytes);
/* Marks an entry as used now; false when it is not there. */
bool import_cache_touch(const char *entry);
/* Removes the least recently used entries beyond the bound, never `keep`. */
void import_cache_trim(const char *keep);
