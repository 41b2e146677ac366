#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Benchmarks of reading: size on disk, opening, a window, statistics of a file of 50 million scopes.
exec "$TEST_BUILD/bench/bench_read"
