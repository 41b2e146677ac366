/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One line of text from a terminal: cursor keys, history with search, completion. Long lines scroll
 * sideways. Needs nothing but a terminal that knows a few of the ANSI sequences, as all do. */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#define LINE_HISTORY_MAX 1000

/* Words that completion offers. */
struct line_words {
	const char **items;
	size_t count, capacity;
};
/* Takes `candidate` when it begins with `word`, in upper or lower case, and is not there yet. */
void line_words_add(struct line_words *words, const char *word, const char *candidate);

typedef void line_complete(void *context, const char *word, struct line_words *words);

struct line_editor {
	int in, out;
	line_complete *complete;
	void *context;
	char *history[LINE_HISTORY_MAX];
	size_t history_count, history_new; /* lines since line_editor_load() */
	struct termios before;
	/* The line being edited. */
	const char *prompt;
	struct buffer text; /* without a NUL */
	size_t cursor;      /* byte */
	size_t browsing;    /* place in the history; history_count: the new line */
	char *unfinished;   /* the new line, while older ones are looked at */
	bool tab_before;    /* the key before was Tab as well */
};

enum line_outcome { LINE_END = 0, LINE_READ = 1, LINE_CANCELLED = 2, LINE_FAILED = -1 };

void line_editor_init(
	struct line_editor *editor, int in, int out, line_complete *complete, void *context);
void line_editor_release(struct line_editor *editor);
/* Reads one line into `ret_line`, with a NUL behind it. */
int line_editor_read(struct line_editor *editor, const char *prompt, struct buffer *ret_line);
/* Adds a line to the history, unless it is the last one there. */
void line_editor_remember(struct line_editor *editor, const char *line);
/* The history of that name in the user's state folder, readable by nobody else. Failures are
 * silent: a shell without a past still works. */
void line_editor_load(struct line_editor *editor, const char *name);
void line_editor_save(const struct line_editor *editor, const char *name);
