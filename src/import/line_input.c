// SPDX-License-Identifier: MIT OR Apache-2.0
/* Lines through the window that json_input keeps over a source. */
#include "import/line_input.h"

#include <string.h>

void line_input_init(struct line_input *input, struct import_source *source, uint64_t limit_bytes)
{
	json_input_init(&input->window, source, limit_bytes);
	input->offset = 0;
}

void line_input_release(struct line_input *input)
{
	json_input_release(&input->window);
}

int line_input_next(
	struct line_input *input, const char **ret_text, size_t *ret_length, struct error *err)
{
	struct json_input *window = &input->window;
	size_t searched = 0;

	for (;;) {
		size_t have = window->buffer ? (size_t)(window->end - window->at) : 0;
		const char *end = have > searched
					  ? memchr(window->at + searched, '\n', have - searched)
					  : NULL;
		int more;

		if (!end) {
			searched = have;
			more = json_input_more(window, window->at, err);
			if (more < 0)
				return more;
			if (more)
				continue;
			if (!have)
				return 0;
			end = window->end; /* the last line need not end */
		}
		*ret_text = window->at;
		*ret_length = (size_t)(end - window->at);
		input->offset = json_input_offset(window, window->at);
		if (*ret_length && end[-1] == '\r')
			--*ret_length;
		window->at = end < window->end ? end + 1 : end;
		return 1;
	}
}
