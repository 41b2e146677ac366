/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Growing arrays outside arenas. One function; overflow is checked. */
#pragma once

#include "base/status.h"

#include <stddef.h>

/* Makes room for at least `need` elements of `size` bytes in *items, whose capacity is *capacity;
 * new elements are not cleared. STATUS_NOMEM leaves both untouched. Usage:
 * array_grow((void **)&a->items, &a->capacity, a->count + 1, sizeof *a->items) */
int array_grow(void **items, size_t *capacity, size_t need, size_t size) MUST_USE;
