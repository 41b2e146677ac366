// SPDX-License-Identifier: MIT OR Apache-2.0
/* A data loader as deep learning frameworks have it: processes made by fork() prepare batches and
 * send them through pipes to the process that trains.
 *
 *     loader_fork                       runs as any program does
 *     tacho record -- loader_fork       records it: one trace, four processes
 *
 * A forked child needs no call of its own: it records from its first event. The last worker ends by
 * _exit(), which runs no handlers; what it recorded is in the trace all the same.
 *
 * The parent fits a line through what the workers send, in integers, so the result is the same in
 * every run. Exit status: 0 when all batches came and all workers ended well. */
#include <tacho/tacho.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS    3
#define BATCHES    120
#define BATCH_SIZE 256

struct batch {
	uint32_t number;
	int32_t x[BATCH_SIZE], y[BATCH_SIZE];
};

struct worker {
	pid_t pid;
	int fd; /* where its batches come from */
};

/* Writes or reads all of it; -1 when the other side is gone. */
static int transfer(int fd, void *memory, size_t bytes, int writing)
{
	char *at = memory;

	while (bytes) {
		ssize_t done = writing ? write(fd, at, bytes) : read(fd, at, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		at += done;
		bytes -= (size_t)done;
	}
	return 0;
}

/* Samples of y = 3 x + 7 with noise that sums up to nothing over a batch. */
static void prepare_batch(struct batch *batch, uint32_t number)
{
	uint32_t state = number * 2654435761u + 1;
	TACHO_SCOPE_CATEGORY("prepare_batch", "data");

	TACHO_ARG_INT("batch", number);
	batch->number = number;
	for (int i = 0; i < BATCH_SIZE; i++) {
		/* Stands for decoding and augmenting. */
		for (int round = 0; round < 1000; round++)
			state = state * 1664525u + 1013904223u;
		batch->x[i] = (int32_t)(state >> 20) - 2048;
		batch->y[i] = 3 * batch->x[i] + 7 + (i % 2 ? 50 : -50);
	}
}

/* In the child: every WORKERS-th batch, from `first` on. */
static int work(int fd, uint32_t first)
{
	static struct batch batch;
	char name[16];

	snprintf(name, sizeof name, "loader %u", first);
	tacho_thread_name(name);
	for (uint32_t number = first; number < BATCHES; number += WORKERS) {
		int status;

		prepare_batch(&batch, number);
		TACHO_BEGIN_CATEGORY("send", "data");
		status = transfer(fd, &batch, sizeof batch, 1);
		TACHO_END();
		if (status)
			return 1;
	}
	return 0;
}

static int start_worker(struct worker *worker, uint32_t number)
{
	int ends[2], status;

	if (pipe(ends))
		return -1;
	worker->pid = fork();
	if (worker->pid == 0) {
		close(ends[0]);
		status = work(ends[1], number);
		if (number == WORKERS - 1)
			_exit(status);
		exit(status);
	}
	close(ends[1]);
	worker->fd = ends[0];
	return worker->pid < 0 ? -1 : 0;
}

/* Sums for a least-squares line. */
struct line {
	int64_t count, x, y, xx, xy;
};

static void fit(struct line *line, const struct batch *batch)
{
	for (int i = 0; i < BATCH_SIZE; i++) {
		line->count++;
		line->x += batch->x[i];
		line->y += batch->y[i];
		line->xx += (int64_t)batch->x[i] * batch->x[i];
		line->xy += (int64_t)batch->x[i] * batch->y[i];
	}
	TACHO_FLOPS(8.0 * BATCH_SIZE);
}

static double line_slope(const struct line *line)
{
	double n = (double)line->count, x = (double)line->x, y = (double)line->y;

	return (n * (double)line->xy - x * y) / (n * (double)line->xx - x * x);
}

/* Returns 0, or -1 when a batch did not come. */
static int train(struct worker *workers, struct line *line, uint64_t *ret_checksum)
{
	static struct batch batch;
	TACHO_SCOPE("train");

	for (uint32_t step = 0; step < BATCHES; step++) {
		tacho_step(step);
		tacho_phase("data");
		if (transfer(workers[step % WORKERS].fd, &batch, sizeof batch, 0) ||
			batch.number != step)
			return -1;
		tacho_phase("compute");
		fit(line, &batch);
		for (int i = 0; i < BATCH_SIZE; i++)
			*ret_checksum = *ret_checksum * 31 + (uint32_t)batch.y[i];
		TACHO_COUNTER_DOUBLE("slope", "", line_slope(line));
	}
	return 0;
}

int main(void)
{
	struct worker workers[WORKERS];
	struct line line = { 0 };
	uint64_t checksum = 0;
	int failed = 0, status;

	for (uint32_t i = 0; i < WORKERS; i++)
		if (start_worker(&workers[i], i)) {
			perror("loader_fork: cannot start a worker");
			return 1;
		}
	failed = train(workers, &line, &checksum);
	for (int i = 0; i < WORKERS; i++) {
		close(workers[i].fd);
		if (waitpid(workers[i].pid, &status, 0) < 0 || status)
			failed = -1;
	}
	if (failed) {
		fprintf(stderr, "loader_fork: a worker failed\n");
		return 1;
	}
	printf("batches %d, slope %.3f, checksum %016llx\n", BATCHES, line_slope(&line),
		(unsigned long long)checksum);
	return 0;
}
