// SPDX-License-Identifier: MIT OR Apache-2.0
/* Trains a small neural network to read digits, and records every part of it.
 *
 *     train_c                          runs as any program does
 *     tacho record -- train_c          records it
 *     train_c --steps 20 --target 0    a short run
 *
 * What to look at, each a few lines that can be copied:
 *     a training step with its phases            train_step(), below
 *     operations with shapes, FLOPs and bytes    matrix.c
 *     scopes whose name is data                  layer_begin() in network.c
 *     counters and metadata                      train(), below
 *     an allocator of one's own                  scratch.c
 *
 * The data set is drawn by digits.c, so the result is the same in every run. Exit status: 0 when
 * the network reads enough unseen digits, 1 when it does not, 2 for wrong use. */
#include "digits.h"
#include "matrix.h"
#include "network.h"
#include "scratch.h"

#include <tacho/tacho.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH      128
#define TEST_COUNT 512
#define RATE       0.002f

struct options {
	long steps;
	double target; /* percent of unseen digits that must be read */
};

struct trainer {
	struct network network;
	struct scratch weights, activations;
	struct random random;
	struct matrix batch, test;
	int labels[BATCH], test_labels[TEST_COUNT];
};

static int parse_options(int argc, char **argv, struct options *options)
{
	for (int i = 1; i < argc; i += 2) {
		char *end = NULL;

		if (i + 1 < argc && strcmp(argv[i], "--steps") == 0)
			options->steps = strtol(argv[i + 1], &end, 10);
		else if (i + 1 < argc && strcmp(argv[i], "--target") == 0)
			options->target = strtod(argv[i + 1], &end);
		if (!end || *end || end == argv[i + 1] || options->steps < 1) {
			fprintf(stderr, "usage: train_c [--steps N] [--target PERCENT]\n");
			return -1;
		}
	}
	return 0;
}

static void trainer_release(struct trainer *trainer)
{
	scratch_release(&trainer->weights);
	scratch_release(&trainer->activations);
	free(trainer->batch.data);
	free(trainer->test.data);
}

/* Returns 0, or -1 when there is no memory. */
static int trainer_init(struct trainer *trainer)
{
	TACHO_SCOPE("prepare");

	trainer->random.state = 42;
	trainer->batch = (struct matrix){ calloc(BATCH * DIGITS_PIXELS, sizeof(float)), BATCH,
		DIGITS_PIXELS };
	trainer->test = (struct matrix){ calloc(TEST_COUNT * DIGITS_PIXELS, sizeof(float)),
		TEST_COUNT, DIGITS_PIXELS };
	if (!trainer->batch.data || !trainer->test.data)
		return -1;
	if (scratch_init(&trainer->weights, "weights", 1 << 20) ||
		scratch_init(&trainer->activations, "activations", 1 << 20) ||
		network_init(&trainer->network, &trainer->weights, &trainer->random))
		return -1;
	digits_draw(&trainer->random, TEST_COUNT, trainer->test.data, trainer->test_labels);
	return 0;
}

/* One step: each call of tacho_phase() ends the phase before it. Returns the loss, negative when
 * memory ran out. */
static float train_step(struct trainer *trainer, int *ret_right)
{
	struct matrix scores;
	float loss;

	tacho_phase("data");
	digits_draw(&trainer->random, BATCH, trainer->batch.data, trainer->labels);

	tacho_phase("forward");
	scores = network_forward(&trainer->network, trainer->batch, &trainer->activations);
	if (!scores.data)
		return -1;
	loss = network_loss(scores, trainer->labels, ret_right);

	tacho_phase("backward");
	if (network_backward(&trainer->network, trainer->batch, scores, &trainer->activations))
		return -1;

	tacho_phase("optimizer");
	network_update(&trainer->network, RATE);
	scratch_reset(&trainer->activations);
	return loss;
}

/* Percent of unseen digits that the network reads. */
static double evaluate(struct trainer *trainer)
{
	TACHO_SCOPE("evaluate");
	struct matrix scores =
		network_forward(&trainer->network, trainer->test, &trainer->activations);
	int right = 0;

	if (scores.data)
		network_loss(scores, trainer->test_labels, &right);
	scratch_reset(&trainer->activations);
	return 100.0 * right / TEST_COUNT;
}

/* Returns 0, or -1 when memory ran out. */
static int train(struct trainer *trainer, long steps)
{
	TACHO_SCOPE("train");

	for (long i = 0; i < steps; i++) {
		int right = 0;
		float loss;

		tacho_step((uint64_t)i);
		loss = train_step(trainer, &right);
		if (loss < 0)
			return -1;
		TACHO_COUNTER_DOUBLE("loss", "", (double)loss);
		TACHO_COUNTER_DOUBLE("accuracy", "%", 100.0 * right / BATCH);
		if (i % 50 == 0 || i + 1 == steps)
			printf("step %3ld  loss %.3f  accuracy %5.1f %%\n", i, (double)loss,
				100.0 * right / BATCH);
	}
	return 0;
}

static void describe(const struct network *network)
{
	char text[32];

	tacho_thread_name("trainer");
	tacho_metadata("model", "mlp 400-256-128-10");
	tacho_metadata("optimizer", "adam");
	snprintf(text, sizeof text, "%d", network->parameter_count);
	tacho_metadata("parameters", text);
	snprintf(text, sizeof text, "%d", BATCH);
	tacho_metadata("batch", text);
}

int main(int argc, char **argv)
{
	static struct trainer trainer;
	struct options options = { .steps = 300, .target = 95 };
	double accuracy;
	int status = 1;

	if (parse_options(argc, argv, &options))
		return 2;
	if (trainer_init(&trainer)) {
		fprintf(stderr, "train_c: out of memory\n");
		goto out;
	}
	describe(&trainer.network);
	if (train(&trainer, options.steps)) {
		fprintf(stderr, "train_c: out of memory\n");
		goto out;
	}
	accuracy = evaluate(&trainer);
	printf("test accuracy %.1f %%\n", accuracy);
	if (accuracy >= options.target)
		status = 0;
	else
		fprintf(stderr, "train_c: the accuracy is below %.1f %%\n", options.target);
out:
	trainer_release(&trainer);
	return status;
}
