/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* "Did you mean": the word of a list that a typing error is nearest to. Allocates nothing. */
#pragma once

#include <stddef.h>

/* The word with the smallest edit distance to `word`; "" for an empty list. */
const char *nearest_word(const char *word, const char *const *words, size_t count);
