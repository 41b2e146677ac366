/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Matrices of floats, row by row, and the few operations a network needs. Each operation is
 * recorded with the shapes of its inputs, its floating-point operations and the bytes it moves. */
#pragma once

struct matrix {
	float *data;
	int rows, columns;
};

/* out = a b */
void matrix_multiply(struct matrix a, struct matrix b, struct matrix out);
/* out = transpose of a */
void matrix_transpose(struct matrix a, struct matrix out);
/* Adds the vector `bias` to every row. */
void matrix_add_bias(struct matrix a, const float *bias);
/* Sets what is negative to 0. */
void matrix_relu(struct matrix a);
/* Sets to 0 every element of `gradient` whose element in `output` is 0. */
void matrix_relu_backward(struct matrix output, struct matrix gradient);
/* sums[j] = sum of column j */
void matrix_sum_rows(struct matrix a, float *sums);
