// SPDX-License-Identifier: MIT OR Apache-2.0
/* Results on their way out. */
#include "cli/cli_output.h"

#include <stdio.h>
#include <unistd.h>

int cli_output_open(struct cli_output *output, const char *path, struct error *err)
{
	int status;

	/* What was printed before goes out before. */
	fflush(stdout);
	status = output_file_open(&output->file, path, STDOUT_FILENO, err);
	if (status != STATUS_OK)
		return status;
	buffer_init(&output->text);
	json_writer_init(&output->json, output_file_write, &output->file);
	output->json.pretty = true;
	return STATUS_OK;
}

void cli_output_finish(struct cli_output *output, bool json, struct error *err)
{
	bool failed;

	if (json) {
		failed = json_writer_finish(&output->json) != STATUS_OK;
	} else {
		failed = !buffer_ok(&output->text);
		if (!failed)
			output_file_write(&output->file, output->text.data, output->text.length);
	}
	if (failed && !output->file.saved_errno) {
		error_set(err, STATUS_NOMEM, "out of memory");
		output_file_release(&output->file);
	} else if (output_file_finish(&output->file, err) == STATUS_OK) {
		err->status = STATUS_OK;
	}
	buffer_release(&output->text);
	json_writer_release(&output->json);
}
