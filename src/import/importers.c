// SPDX-License-Identifier: MIT OR Apache-2.0
/* The table of importers, and which of them a file is for. */
#include "import/import.h"

#include "import/import_sink.h"
#include "import/import_source.h"

#include <string.h>

#define IMPORTERS(XX)    \
	XX(chrome)       \
	XX(collapsed)    \
	XX(nsys)         \
	XX(perf_script)  \
	XX(perfetto)     \
	XX(torch_et)     \
	XX(torch_memory) \
	XX(xplane)

#define XX(name) extern const struct importer import_##name;
IMPORTERS(XX)
#undef XX

const struct importer *const importers[] = {
#define XX(name) &import_##name,
	IMPORTERS(XX)
#undef XX
		NULL,
};

static const struct importer *best_importer(const uint8_t *head, size_t count)
{
	const struct importer *best = NULL;
	int best_score = 0;

	for (size_t i = 0; importers[i]; i++) {
		int score = importers[i]->detect(head, count);

		if (score > best_score) {
			best_score = score;
			best = importers[i];
		}
	}
	return best;
}

static int find_importer(
	struct import_source *source, const struct importer **ret_importer, struct error *err)
{
	const uint8_t *head;
	size_t count;
	int status = import_source_head(source, &head, &count, err);

	if (status != STATUS_OK)
		return status;
	if (count == 0)
		return error_set(err, STATUS_FORMAT, "the file is empty (0 bytes)");
	*ret_importer = best_importer(head, count);
	if (!*ret_importer)
		return error_set_at(err, STATUS_FORMAT, 0,
			"not a trace that tacho knows: neither a .tacho file nor one of another profiler");
	return STATUS_OK;
}

int import_detect(const char *path, const struct importer **ret_importer, struct error *err)
{
	struct import_source *source;
	int status = import_source_open(path, &source, err);

	if (status == STATUS_OK) {
		status = find_importer(source, ret_importer, err);
		import_source_close(source);
	}
	return status;
}

static int run_importer(const struct importer *importer, struct import_source *source,
	const char *output, const struct import_options *options, struct error *err)
{
	struct import_sink *sink = import_sink_new(options->max_memory);
	int status;

	if (!sink)
		return error_set(err, STATUS_NOMEM, "out of memory");
	status = importer->run(source, sink, err);
	if (status == STATUS_OK)
		status = import_sink_finish(sink, output, importer->name, err);
	import_sink_free(sink);
	return status;
}

int import_convert(const char *path, const char *output, const struct import_options *options,
	struct error *err)
{
	const struct importer *importer = NULL;
	struct import_source *source;
	int status = import_source_open(path, &source, err);

	if (status != STATUS_OK)
		return status;
	status = find_importer(source, &importer, err);
	if (status == STATUS_OK && importer)
		status = run_importer(importer, source, output, options, err);
	import_source_close(source);
	return status;
}
