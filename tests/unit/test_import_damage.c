// SPDX-License-Identifier: MIT OR Apache-2.0
/* Every small file of every format, cut at every byte, with every byte changed, and with a limit on
 * memory: either a trace comes out, or one message. */
#include "tests/unit/import_fixture.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const char *const files[] = {
	"import_collapsed/stacks",
	"import_nsys/kernels",
	"import_perf_script/samples",
	"import_perfetto/events",
	"import_perfetto/packed",
	"import_torch_et/nodes",
	"import_torch_memory/protocol2",
	"import_torch_memory/protocol4",
	"import_xplane/planes",
};

#define FILE_COUNT (sizeof files / sizeof files[0])

/* A success has no message, a failure one line. */
static void convert(const uint8_t *bytes, size_t count, uint64_t max_memory)
{
	int status = import_fixture_convert(bytes, count, max_memory);
	const char *text = import_fixture_error.message;

	CHECK_EQ(status == STATUS_OK, text[0] == 0);
	CHECK(strchr(text, '\n') == NULL);
}

static void cut_at_every_byte(void)
{
	for (size_t f = 0; f < FILE_COUNT; f++) {
		size_t count = 0;
		uint8_t *bytes = import_fixture_read(files[f], &count);

		/* Exactly as large as the input, so that the address sanitizer sees every byte
		 * beyond it. */
		for (size_t length = 0; bytes && length < count; length++)
			convert(bytes, length, 0);
		free(bytes);
	}
}

static void every_byte_changed(void)
{
	static const uint8_t values[] = { 0x00, 0x7f, 0x80, 0xff };

	for (size_t f = 0; f < FILE_COUNT; f++) {
		size_t count = 0;
		uint8_t *bytes = import_fixture_read(files[f], &count);
		/* SQLite takes its time over a damaged file: every byte would be minutes. */
		size_t step = count > 2000 ? 13 : 1;

		for (size_t i = 0; bytes && i < count; i += step) {
			uint8_t was = bytes[i];

			bytes[i] = values[i % sizeof values];
			convert(bytes, count, 0);
			bytes[i] = was ^ 0x55;
			convert(bytes, count, 0);
			bytes[i] = was;
		}
		free(bytes);
	}
}

static void little_memory(void)
{
	for (size_t f = 0; f < FILE_COUNT; f++) {
		size_t count = 0;
		uint8_t *bytes = import_fixture_read(files[f], &count);

		for (uint64_t limit = 1; bytes && limit < UINT64_C(1) << 24; limit *= 3)
			convert(bytes, count, limit);
		free(bytes);
	}
}

/* A thousand copies of a message, one inside the other, and lengths that the file does not have. */
static void lying_lengths(void)
{
	uint8_t nested[3 * 1000];
	static const uint8_t lying[] = { 0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0x7f };
	static const uint8_t endless[] = { 0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff };

	for (size_t i = 0; i < sizeof nested; i += 3) {
		size_t left = sizeof nested - i - 3;

		nested[i] = i % 2 ? 0x5a : 0x0a;
		nested[i + 1] = (uint8_t)(left & 0x7f) | 0x80;
		nested[i + 2] = (uint8_t)(left >> 7);
	}
	convert(nested, sizeof nested, 0);
	convert(lying, sizeof lying, 0);
	convert(endless, sizeof endless, 0);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(cut_at_every_byte),
		UNIT(every_byte_changed),
		UNIT(little_memory),
		UNIT(lying_lengths),
	};
	int status;

	import_fixture_begin();
	status = unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);
	import_fixture_end();
	return status;
}
