// SPDX-License-Identifier: MIT OR Apache-2.0
/* The progress line. One write() per line, so that lines of several threads never mix. */
#include "base/progress.h"

#include "base/clock.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PERIOD_NS 100000000u
/* Work that ends sooner shows nothing: a line that flashes by only disturbs. */
#define QUIET_NS 300000000u

#define ERASE "\r\033[K"

void progress_init(struct progress *progress, int fd, const char *label)
{
	progress->fd = fd;
	progress->label = label;
	progress->start_ns = clock_mono_ns();
	atomic_init(&progress->next_ns, progress->start_ns + QUIET_NS);
	atomic_init(&progress->shown, false);
}

static void write_line(const struct progress *progress, const char *line)
{
	/* A terminal that is gone is no reason to stop the work. */
	ssize_t done = write(progress->fd, line, strlen(line));

	(void)done;
}

void progress_report(void *context, uint64_t done, uint64_t total)
{
	struct progress *progress = context;
	uint64_t now, next;
	char line[160], left[UNITS_TEXT];

	if (progress->fd < 0)
		return;
	now = clock_mono_ns();
	next = atomic_load_explicit(&progress->next_ns, memory_order_relaxed);
	if (now < next ||
		!atomic_compare_exchange_strong(&progress->next_ns, &next, now + PERIOD_NS))
		return;
	if (total && done && done <= total) {
		double elapsed = (double)(now - progress->start_ns);
		double share = (double)done / (double)total;

		units_duration(left, elapsed / share - elapsed);
		snprintf(line, sizeof line, ERASE "%s: %.0f %%, %s left", progress->label,
			share * 100, left);
	} else {
		units_count(left, (double)done);
		snprintf(line, sizeof line, ERASE "%s: %s", progress->label, left);
	}
	atomic_store(&progress->shown, true);
	write_line(progress, line);
}

void progress_end(struct progress *progress)
{
	if (progress->fd >= 0 && atomic_exchange(&progress->shown, false))
		write_line(progress, ERASE);
	/* A late report of a worker must not bring the line back. */
	progress->fd = -1;
}
