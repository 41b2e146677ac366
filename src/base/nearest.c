// SPDX-License-Identifier: MIT OR Apache-2.0
/* Edit distance in one row; words beyond 63 bytes are compared by their first 63. */
#include "base/nearest.h"

#include <string.h>

#define WORD_MAX 63

static unsigned distance(const char *a, const char *b)
{
	unsigned row[WORD_MAX + 1];
	size_t a_length = strnlen(a, WORD_MAX), b_length = strnlen(b, WORD_MAX);

	for (size_t j = 0; j <= b_length; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned corner = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			unsigned above = row[j], best = corner + (a[i - 1] != b[j - 1]);

			if (above + 1 < best)
				best = above + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			corner = above;
		}
	}
	return row[b_length];
}

const char *nearest_word(const char *word, const char *const *words, size_t count)
{
	const char *best = "";
	unsigned best_distance = (unsigned)-1;

	for (size_t i = 0; i < count; i++) {
		unsigned d = distance(word, words[i]);

		if (d < best_distance) {
			best_distance = d;
			best = words[i];
		}
	}
	return best;
}
