/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the victim share: modes, and numbers that outlive it in a file. */
#pragma once

#include <tacho/tacho.h>

#include <stdint.h>

struct mode {
	const char *name;
	int (*run)(int argc, char **argv); /* the exit status */
};

extern const struct mode thread_modes[], process_modes[], name_modes[];

/* Numbers in a file that the test reads, even after a kill. */
struct published {
	volatile uint64_t ended;    /* scopes that have ended */
	volatile uint64_t produced; /* scopes that were begun while recording */
	volatile uint64_t other;
};
struct published *publish(const char *path);

long number(int argc, char **argv, int index, long fallback);
void scopes(long count, const char *name);
void nap_us(long us);
double seconds(void);
