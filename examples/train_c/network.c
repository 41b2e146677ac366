// SPDX-License-Identifier: MIT OR Apache-2.0
/* The network: each layer is a scope of category "layer" around the operations it consists of. */
#include "network.h"

#include <tacho/tacho.h>

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static const int sizes[NETWORK_LAYERS + 1] = { DIGITS_PIXELS, 256, 128, DIGITS_CLASSES };
static const char *const names[NETWORK_LAYERS] = { "fc1", "fc2", "fc3" };

int network_init(struct network *network, struct scratch *memory, struct random *random)
{
	int count = 0, at = 0;

	for (int i = 0; i < NETWORK_LAYERS; i++)
		count += (sizes[i] + 1) * sizes[i + 1];
	network->parameter_count = count;
	network->updates = 0;
	network->parameters = scratch_take(memory, (size_t)count);
	network->gradients = scratch_take(memory, (size_t)count);
	network->mean = scratch_take(memory, (size_t)count);
	network->square = scratch_take(memory, (size_t)count);
	if (!network->square)
		return -1;
	for (int i = 0; i < NETWORK_LAYERS; i++) {
		struct layer *layer = &network->layers[i];
		int weights = sizes[i] * sizes[i + 1];
		float range = sqrtf(6.0f / (float)sizes[i]);

		layer->name = names[i];
		layer->weight = (struct matrix){ network->parameters + at, sizes[i], sizes[i + 1] };
		layer->weight_gradient =
			(struct matrix){ network->gradients + at, sizes[i], sizes[i + 1] };
		layer->bias = network->parameters + at + weights;
		layer->bias_gradient = network->gradients + at + weights;
		for (int j = 0; j < weights; j++)
			layer->weight.data[j] = range * (2 * random_unit(random) - 1);
		at += weights + sizes[i + 1];
	}
	return 0;
}

/* A scope whose name is data: looked up at each call, so only where that is cheap beside the work.
 */
static bool layer_begin(const struct layer *layer)
{
	if (!tacho_on())
		return false;
	tacho_begin_name(layer->name, "layer");
	return true;
}

struct matrix network_forward(struct network *network, struct matrix input, struct scratch *scratch)
{
	struct matrix at = input;

	for (int i = 0; i < NETWORK_LAYERS && at.data; i++) {
		struct layer *layer = &network->layers[i];
		size_t count = (size_t)input.rows * (size_t)layer->weight.columns;
		bool entered = layer_begin(layer);

		layer->output = (struct matrix){ scratch_take(scratch, count), input.rows,
			layer->weight.columns };
		if (layer->output.data) {
			matrix_multiply(at, layer->weight, layer->output);
			matrix_add_bias(layer->output, layer->bias);
			if (i + 1 < NETWORK_LAYERS)
				matrix_relu(layer->output);
		}
		at = layer->output;
		if (entered)
			tacho_end_scope();
	}
	return at;
}

float network_loss(struct matrix scores, const int *labels, int *ret_right)
{
	TACHO_SCOPE_CATEGORY("softmax_cross_entropy", "op");
	double loss = 0;
	int right = 0;

	for (int i = 0; i < scores.rows; i++) {
		float *row = scores.data + (size_t)i * (size_t)scores.columns;
		float sum = 0, largest = row[0];
		int best = 0;

		for (int j = 1; j < scores.columns; j++)
			if (row[j] > largest) {
				largest = row[j];
				best = j;
			}
		for (int j = 0; j < scores.columns; j++)
			sum += expf(row[j] - largest);
		loss -= row[labels[i]] - largest - logf(sum);
		right += best == labels[i];
		for (int j = 0; j < scores.columns; j++)
			row[j] = (expf(row[j] - largest) / sum - (j == labels[i])) /
				 (float)scores.rows;
	}
	*ret_right = right;
	return (float)(loss / scores.rows);
}

/* Gradients of one layer; returns that of its input, or NULL for the first layer and on failure. */
static struct matrix layer_backward(
	struct layer *layer, struct matrix input, struct matrix gradient, struct scratch *scratch)
{
	size_t input_count = (size_t)input.rows * (size_t)input.columns;
	size_t weight_count = (size_t)layer->weight.rows * (size_t)layer->weight.columns;
	struct matrix turned_input = { scratch_take(scratch, input_count), input.columns,
		input.rows };
	struct matrix turned_weight = { scratch_take(scratch, weight_count), layer->weight.columns,
		layer->weight.rows };
	struct matrix result = { scratch_take(scratch, input_count), input.rows, input.columns };

	if (!result.data)
		return result;
	matrix_transpose(input, turned_input);
	matrix_multiply(turned_input, gradient, layer->weight_gradient);
	matrix_sum_rows(gradient, layer->bias_gradient);
	matrix_transpose(layer->weight, turned_weight);
	matrix_multiply(gradient, turned_weight, result);
	return result;
}

int network_backward(struct network *network, struct matrix input, struct matrix gradient,
	struct scratch *scratch)
{
	for (int i = NETWORK_LAYERS - 1; i >= 0; i--) {
		struct matrix below = i ? network->layers[i - 1].output : input;
		bool entered = layer_begin(&network->layers[i]);

		gradient = layer_backward(&network->layers[i], below, gradient, scratch);
		if (gradient.data && i)
			matrix_relu_backward(below, gradient);
		if (entered)
			tacho_end_scope();
		if (!gradient.data)
			return -1;
	}
	return 0;
}

void network_update(struct network *network, float rate)
{
	const float keep_mean = 0.9f, keep_square = 0.999f, tiny = 1e-8f;
	float mean_scale, square_scale;
	TACHO_SCOPE_CATEGORY("adam", "op");

	network->updates++;
	mean_scale = 1 / (1 - powf(keep_mean, (float)network->updates));
	square_scale = 1 / (1 - powf(keep_square, (float)network->updates));
	for (int i = 0; i < network->parameter_count; i++) {
		float gradient = network->gradients[i];

		network->mean[i] = keep_mean * network->mean[i] + (1 - keep_mean) * gradient;
		network->square[i] =
			keep_square * network->square[i] + (1 - keep_square) * gradient * gradient;
		network->parameters[i] -= rate * network->mean[i] * mean_scale /
					  (sqrtf(network->square[i] * square_scale) + tiny);
	}
	TACHO_FLOPS(13.0 * network->parameter_count);
}
