/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Facts about the machine that a measurement depends on: CPU, kernel, memory, GPU, driver, clocks,
 * limits, versions, rank. Of the environment only the variables of an allow-list. */
#pragma once

/* Each fact once, keys in dotted lower case ("cpu.model", "gpu.0.power_limit"), values as text with
 * the unit in the key or none needed. Never fails: a fact that cannot be read is left out. */
typedef void fingerprint_sink(void *context, const char *key, const char *value);
void fingerprint_collect(fingerprint_sink *sink, void *context);

/* The rank of this process by the usual launchers' variables, or NULL. */
const char *fingerprint_rank(void);
