/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A multilayer perceptron with ReLU, softmax and cross entropy, trained by Adam. */
#pragma once

#include "digits.h"
#include "matrix.h"
#include "scratch.h"

#define NETWORK_LAYERS 3

struct layer {
	const char *name;
	struct matrix weight, weight_gradient; /* inputs by outputs */
	float *bias, *bias_gradient;
	struct matrix output; /* of the last forward pass; in scratch memory */
};

struct network {
	struct layer layers[NETWORK_LAYERS];
	/* All parameters in one piece, so that the optimizer is one loop. */
	int parameter_count;
	float *parameters, *gradients, *mean, *square;
	int updates;
};

/* Returns 0, or -1 when there is no memory. */
int network_init(struct network *network, struct scratch *memory, struct random *random);

/* Class scores of a batch. Memory comes from `scratch`; no room there gives data == NULL. */
struct matrix network_forward(
	struct network *network, struct matrix input, struct scratch *scratch);

/* Mean loss and number of right answers; `scores` becomes the gradient of the loss. */
float network_loss(struct matrix scores, const int *labels, int *ret_right);

/* Gradients of all parameters, from the gradient that network_loss() left. Returns 0, or -1 when
 * `scratch` is used up. */
int network_backward(struct network *network, struct matrix input, struct matrix gradient,
	struct scratch *scratch);

/* One step of Adam. */
void network_update(struct network *network, float rate);
