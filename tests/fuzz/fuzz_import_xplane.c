// SPDX-License-Identifier: MIT OR Apache-2.0
/* Arbitrary bytes as an XPlane profile, through importer, sink and file. */
#include "tests/fuzz/fuzz_import.h"

extern const struct importer import_xplane;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	return fuzz_importer(&import_xplane, bytes, count);
}
