// SPDX-License-Identifier: MIT OR Apache-2.0
/* Doubling growth. */
#include "base/array.h"

#include <stdlib.h>

int array_grow(void **items, size_t *capacity, size_t need, size_t size)
{
	size_t wanted = *capacity ? *capacity : 16;
	size_t bytes;
	void *memory;

	if (need <= *capacity)
		return STATUS_OK;
	while (wanted < need)
		if (__builtin_mul_overflow(wanted, (size_t)2, &wanted))
			return STATUS_NOMEM;
	if (__builtin_mul_overflow(wanted, size, &bytes))
		return STATUS_NOMEM;
	memory = realloc(*items, bytes);
	if (!memory)
		return STATUS_NOMEM;
	*items = memory;
	*capacity = wanted;
	return STATUS_OK;
}
