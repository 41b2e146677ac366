/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Between the keys (line_editor.c) and what they look up (line_history.c). */
#pragma once

#include "cli/line_editor.h"

void line_editor_show(const struct line_editor *editor, const char *prompt);
void line_editor_set(struct line_editor *editor, const char *text);
void line_editor_erase(struct line_editor *editor, size_t from, size_t until);
void line_editor_insert(struct line_editor *editor, const char *bytes, size_t count);
/* Where the word in front of the cursor begins. */
size_t line_editor_word(const struct line_editor *editor);
int line_editor_key(const struct line_editor *editor);
void line_editor_put(const struct line_editor *editor, const char *text);

void line_editor_complete(struct line_editor *editor);
/* Goes to an older or a newer line of the history. */
void line_editor_browse(struct line_editor *editor, bool older);
/* Looks for lines that contain what is typed; returns the key that ended it. */
int line_editor_search(struct line_editor *editor);
