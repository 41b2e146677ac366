// SPDX-License-Identifier: MIT OR Apache-2.0
/* Arbitrary bytes as a PyTorch memory snapshot, through importer, sink and file. */
#include "tests/fuzz/fuzz_import.h"

extern const struct importer import_torch_memory;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	return fuzz_importer(&import_torch_memory, bytes, count);
}
