// SPDX-License-Identifier: MIT OR Apache-2.0
/* Drawing digits. */
#include "digits.h"

#include <tacho/tacho.h>

#define FONT_ROWS    7
#define FONT_COLUMNS 5
#define SCALE        2

/* One string per digit, rows from the top. */
static const char *const font[DIGITS_CLASSES] = {
	" ### #   ##  ### # ###  ##   # ### ",
	"  #   ##    #    #    #    #   ### ",
	" ### #   #    #   #   #   #   #####",
	"#####   #   #     #     ##   # ### ",
	"   #   ##  # # #  # #####   #    # ",
	"######    ####     #    ##   # ### ",
	"  ##  #   #    #### #   ##   # ### ",
	"#####    #   #   #   #    #    #   ",
	" ### #   ##   # ### #   ##   # ### ",
	" ### #   ##   # ####    #   #  ##  ",
};

uint64_t random_next(struct random *random)
{
	uint64_t x = random->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

float random_unit(struct random *random)
{
	return (float)(random_next(random) >> 40) / (float)(1 << 24);
}

static void draw_digit(struct random *random, int digit, float *image)
{
	int left = (int)(random_next(random) % (DIGITS_SIDE - FONT_COLUMNS * SCALE - 3));
	int top = (int)(random_next(random) % (DIGITS_SIDE - FONT_ROWS * SCALE));
	int slant = (int)(random_next(random) % 4);
	float ink = 0.6f + 0.4f * random_unit(random);

	for (int i = 0; i < DIGITS_PIXELS; i++)
		image[i] = 0.4f * random_unit(random);
	for (int y = 0; y < FONT_ROWS * SCALE; y++) {
		int shift = slant * (FONT_ROWS * SCALE - y) / (FONT_ROWS * SCALE);
		float *row = image + (top + y) * DIGITS_SIDE + left + shift;

		for (int x = 0; x < FONT_COLUMNS * SCALE; x++)
			if (font[digit][y / SCALE * FONT_COLUMNS + x / SCALE] == '#')
				row[x] += ink;
	}
}

void digits_draw(struct random *random, int count, float *images, int *labels)
{
	TACHO_SCOPE_CATEGORY("draw_digits", "data");

	for (int i = 0; i < count; i++) {
		labels[i] = (int)(random_next(random) % DIGITS_CLASSES);
		draw_digit(random, labels[i], images + (long)i * DIGITS_PIXELS);
	}
	TACHO_ARG_INT("images", count);
}
