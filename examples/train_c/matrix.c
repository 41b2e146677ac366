// SPDX-License-Identifier: MIT OR Apache-2.0
/* Matrix operations. The multiplication goes through panels of 16 columns, whose sums stay in
 * registers, and blocks of rows of `b`, which stay in the cache. */
#include "matrix.h"

#include <tacho/tacho.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PANEL 16
#define DEPTH 128

/* Opens the recorded operation; close it with tacho_end(). */
static void begin_op(const char *name, struct matrix a, struct matrix b, double flops)
{
	const int64_t shapes[2][2] = { { a.rows, a.columns }, { b.rows, b.columns } };
	const struct tacho_tensor inputs[2] = { { shapes[0], 2, TACHO_FLOAT32 },
		{ shapes[1], 2, TACHO_FLOAT32 } };
	uint64_t elements = (uint64_t)a.rows * (uint64_t)a.columns;

	if (!tacho_on())
		return;
	if (b.data)
		elements += (uint64_t)b.rows * (uint64_t)b.columns;
	tacho_op_begin(name, inputs, b.data ? 2 : 1);
	if (flops > 0)
		tacho_flops(flops);
	tacho_bytes(elements * sizeof(float));
}

static void begin_unary(const char *name, struct matrix a, double flops)
{
	begin_op(name, a, (struct matrix){ NULL, 0, 0 }, flops);
}

/* Adds a[0..depth) times `depth` rows of b to PANEL elements of a row of the result. */
static void multiply_panel(const float *a, const float *b, int stride, int depth, float *out)
{
	float sums[PANEL];

	memcpy(sums, out, sizeof sums);
	for (int k = 0; k < depth; k++)
		for (int j = 0; j < PANEL; j++)
			sums[j] += a[k] * b[(size_t)k * (size_t)stride + (size_t)j];
	memcpy(out, sums, sizeof sums);
}

/* The same for the last columns, fewer than PANEL. */
static void multiply_rest(
	const float *a, const float *b, int stride, int depth, int width, float *out)
{
	for (int k = 0; k < depth; k++)
		for (int j = 0; j < width; j++)
			out[j] += a[k] * b[(size_t)k * (size_t)stride + (size_t)j];
}

static void multiply_block(struct matrix a, struct matrix b, struct matrix out, int from, int depth)
{
	int whole = out.columns / PANEL * PANEL;

	for (int j = 0; j < whole; j += PANEL)
		for (int i = 0; i < out.rows; i++)
			multiply_panel(a.data + (size_t)i * (size_t)a.columns + from,
				b.data + (size_t)from * (size_t)b.columns + j, b.columns, depth,
				out.data + (size_t)i * (size_t)out.columns + j);
	for (int i = 0; whole < out.columns && i < out.rows; i++)
		multiply_rest(a.data + (size_t)i * (size_t)a.columns + from,
			b.data + (size_t)from * (size_t)b.columns + whole, b.columns, depth,
			out.columns - whole, out.data + (size_t)i * (size_t)out.columns + whole);
}

void matrix_multiply(struct matrix a, struct matrix b, struct matrix out)
{
	begin_op("matmul", a, b, 2.0 * a.rows * a.columns * b.columns);
	memset(out.data, 0, (size_t)out.rows * (size_t)out.columns * sizeof(float));
	for (int k = 0; k < a.columns; k += DEPTH)
		multiply_block(a, b, out, k, a.columns - k < DEPTH ? a.columns - k : DEPTH);
	tacho_end();
}

void matrix_transpose(struct matrix a, struct matrix out)
{
	begin_unary("transpose", a, 0);
	for (int i = 0; i < a.rows; i++)
		for (int j = 0; j < a.columns; j++)
			out.data[(size_t)j * (size_t)a.rows + (size_t)i] =
				a.data[(size_t)i * (size_t)a.columns + (size_t)j];
	tacho_end();
}

void matrix_add_bias(struct matrix a, const float *bias)
{
	begin_unary("add_bias", a, (double)a.rows * a.columns);
	for (int i = 0; i < a.rows; i++)
		for (int j = 0; j < a.columns; j++)
			a.data[(size_t)i * (size_t)a.columns + (size_t)j] += bias[j];
	tacho_end();
}

void matrix_relu(struct matrix a)
{
	size_t count = (size_t)a.rows * (size_t)a.columns;

	begin_unary("relu", a, (double)count);
	for (size_t i = 0; i < count; i++)
		a.data[i] = a.data[i] > 0 ? a.data[i] : 0;
	tacho_end();
}

void matrix_relu_backward(struct matrix output, struct matrix gradient)
{
	size_t count = (size_t)output.rows * (size_t)output.columns;

	begin_op("relu_backward", output, gradient, (double)count);
	for (size_t i = 0; i < count; i++)
		gradient.data[i] = output.data[i] > 0 ? gradient.data[i] : 0;
	tacho_end();
}

void matrix_sum_rows(struct matrix a, float *sums)
{
	begin_unary("sum_rows", a, (double)a.rows * a.columns);
	memset(sums, 0, (size_t)a.columns * sizeof *sums);
	for (int i = 0; i < a.rows; i++)
		for (int j = 0; j < a.columns; j++)
			sums[j] += a.data[(size_t)i * (size_t)a.columns + (size_t)j];
	tacho_end();
}
