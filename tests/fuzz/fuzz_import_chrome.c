// SPDX-License-Identifier: MIT OR Apache-2.0
/* Arbitrary bytes as a Chrome trace, through the whole way: source, importer, sink, file. */
#include "import/import.h"
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	return fuzz_import(bytes, count);
}
