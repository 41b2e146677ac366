/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A data set without files: digits drawn from a 5 by 7 font, moved, slanted and covered with noise.
 * The same seed draws the same images on every machine. */
#pragma once

#include <stdint.h>

#define DIGITS_SIDE    20
#define DIGITS_PIXELS  (DIGITS_SIDE * DIGITS_SIDE)
#define DIGITS_CLASSES 10

/* Random numbers that are the same everywhere. */
struct random {
	uint64_t state;
};
uint64_t random_next(struct random *random);
/* From 0 to 1. */
float random_unit(struct random *random);

/* Draws `count` digits, DIGITS_PIXELS floats each, and says which they are. */
void digits_draw(struct random *random, int count, float *images, int *labels);
