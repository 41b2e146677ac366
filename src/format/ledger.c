// SPDX-License-Identifier: MIT OR Apache-2.0
/* The ledger in memory. */
#include "base/array.h"
#include "format/trace_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ledger_init(struct ledger *ledger)
{
	memset(ledger, 0, sizeof *ledger);
	ledger->overhead_percent = -1;
}

void ledger_release(struct ledger *ledger)
{
	free(ledger->entries);
	ledger_init(ledger);
}

void ledger_add(struct ledger *ledger, uint64_t count, const char *what, const char *where,
	const char *effect)
{
	struct ledger_entry *entry;

	for (size_t i = 0; i < ledger->count; i++) {
		entry = &ledger->entries[i];
		if (strcmp(entry->what, what) == 0 && strcmp(entry->where, where) == 0) {
			entry->count += count;
			return;
		}
	}
	if (array_grow((void **)&ledger->entries, &ledger->capacity, ledger->count + 1,
		    sizeof *ledger->entries) != STATUS_OK)
		return;
	entry = &ledger->entries[ledger->count++];
	entry->count = count;
	snprintf(entry->what, sizeof entry->what, "%s", what);
	snprintf(entry->where, sizeof entry->where, "%s", where);
	snprintf(entry->effect, sizeof entry->effect, "%s", effect);
}
