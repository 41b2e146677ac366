// SPDX-License-Identifier: MIT OR Apache-2.0
/* History and completion of the line editor. */
#include "cli/line_editor_internal.h"

#include "base/array.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define LISTED_MAX 100

void line_words_add(struct line_words *words, const char *word, const char *candidate)
{
	if (strncasecmp(word, candidate, strlen(word)) != 0)
		return;
	for (size_t i = 0; i < words->count; i++)
		if (strcasecmp(words->items[i], candidate) == 0)
			return;
	if (array_grow((void **)&words->items, &words->capacity, words->count + 1,
		    sizeof *words->items) == STATUS_OK)
		words->items[words->count++] = candidate;
}

/* A text that does not end with a NUL, as one that does. */
static char *copy_text(const char *text, size_t length)
{
	char *copy = malloc(length + 1);

	if (copy) {
		memcpy(copy, text, length);
		copy[length] = 0;
	}
	return copy;
}

static void list_words(const struct line_editor *editor, const struct line_words *words)
{
	struct buffer out;

	buffer_init(&out);
	buffer_text(&out, "\r\n");
	for (size_t i = 0; i < words->count && i < LISTED_MAX; i++)
		buffer_printf(&out, "%s%s", i ? "  " : "", words->items[i]);
	buffer_text(&out, "\r\n");
	buffer_byte(&out, 0);
	if (buffer_ok(&out))
		line_editor_put(editor, (const char *)out.data);
	buffer_release(&out);
}

/* How many bytes all candidates share. */
static size_t common_length(const struct line_words *words)
{
	size_t length = strlen(words->items[0]);

	for (size_t i = 1; i < words->count; i++) {
		size_t same = 0;

		while (same < length && words->items[i][same] &&
			tolower((unsigned char)words->items[i][same]) ==
				tolower((unsigned char)words->items[0][same]))
			same++;
		length = same;
	}
	return length;
}

/* What follows a dot is a column of some table or alias: only that part is completed. */
void line_editor_complete(struct line_editor *editor)
{
	size_t start = line_editor_word(editor), typed, length;
	struct line_words words = { 0 };
	const char *line = (const char *)editor->text.data;
	char *word;

	for (size_t i = start + 1; i < editor->cursor; i++)
		if (line[i] == '.')
			start = i + 1;
	typed = editor->cursor - start;
	word = typed ? copy_text(line + start, typed) : strdup("");
	if (!word || !editor->complete)
		goto out;
	editor->complete(editor->context, word, &words);
	if (words.count == 0)
		goto out;
	length = common_length(&words);
	if (length > typed || words.count == 1) {
		line_editor_erase(editor, start, editor->cursor);
		line_editor_insert(editor, words.items[0], length);
		if (words.count == 1)
			line_editor_insert(editor, " ", 1);
	} else if (editor->tab_before) {
		list_words(editor, &words);
	}
	editor->tab_before = true;
out:
	free(word);
	free(words.items);
}

void line_editor_browse(struct line_editor *editor, bool older)
{
	size_t to = editor->browsing;

	if (older ? to == 0 : to == editor->history_count)
		return;
	if (to == editor->history_count) {
		free(editor->unfinished);
		editor->unfinished =
			editor->text.length
				? copy_text((const char *)editor->text.data, editor->text.length)
				: strdup("");
	}
	editor->browsing = to = older ? to - 1 : to + 1;
	if (to < editor->history_count)
		line_editor_set(editor, editor->history[to]);
	else
		line_editor_set(editor, editor->unfinished ? editor->unfinished : "");
}

/* The newest line before `until` that holds `text`; `until` when there is none. */
static size_t find_line(const struct line_editor *editor, const char *text, size_t until)
{
	for (size_t i = until; i-- > 0;)
		if (strstr(editor->history[i], text))
			return i;
	return until;
}

int line_editor_search(struct line_editor *editor)
{
	char text[128] = "", prompt[160];
	size_t length = 0, at = editor->history_count;

	for (;;) {
		int key;

		snprintf(prompt, sizeof prompt, "(search)'%s': ", text);
		line_editor_show(editor, prompt);
		key = line_editor_key(editor);
		if (key == ('R' & 0x1f) && length) {
			at = find_line(editor, text, at);
		} else if ((key == 127 || key == 8) && length) {
			text[--length] = 0;
			at = find_line(editor, text, editor->history_count);
		} else if (key >= 0x20 && key < 0x7f && length + 1 < sizeof text) {
			text[length++] = (char)key;
			text[length] = 0;
			at = find_line(editor, text, editor->history_count);
		} else if (key == ('C' & 0x1f) || key == ('G' & 0x1f) || key == -1) {
			line_editor_set(editor, "");
			return key;
		} else if (key != ('R' & 0x1f)) {
			return key == '\n' ? '\r' : key;
		}
		if (length && at < editor->history_count) {
			line_editor_set(editor, editor->history[at]);
			editor->browsing = at;
		}
	}
}

void line_editor_remember(struct line_editor *editor, const char *line)
{
	char *copy;

	if (editor->history_count && strcmp(editor->history[editor->history_count - 1], line) == 0)
		return;
	copy = strdup(line);
	if (!copy)
		return;
	if (editor->history_count == LINE_HISTORY_MAX) {
		free(editor->history[0]);
		memmove(editor->history, editor->history + 1,
			(LINE_HISTORY_MAX - 1) * sizeof *editor->history);
		editor->history_count--;
	}
	editor->history[editor->history_count++] = copy;
	editor->history_new++;
}

/* $XDG_STATE_HOME/tacho/NAME or ~/.local/state/tacho/NAME; the folders are made when asked for. */
static char *history_path(const char *name, bool make)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int length;

	if (state && state[0] == '/')
		length = asprintf(&path, "%s/tacho/%s", state, name);
	else if (home && home[0] == '/')
		length = asprintf(&path, "%s/.local/state/tacho/%s", home, name);
	else
		return NULL;
	if (length < 0)
		return NULL;
	for (char *slash = strchr(path + 1, '/'); make && slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
	return path;
}

void line_editor_load(struct line_editor *editor, const char *name)
{
	char *path = history_path(name, false), *line = NULL;
	FILE *file = path ? fopen(path, "re") : NULL;
	size_t capacity = 0;

	while (file && getline(&line, &capacity, file) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (*line)
			line_editor_remember(editor, line);
	}
	if (file)
		fclose(file);
	editor->history_new = 0;
	free(line);
	free(path);
}

void line_editor_save(const struct line_editor *editor, const char *name)
{
	char *path, *temporary = NULL;
	FILE *file = NULL;
	int fd = -1;

	if (editor->history_new == 0)
		return;
	path = history_path(name, true);
	if (!path || asprintf(&temporary, "%s.%d.tmp", path, (int)getpid()) < 0)
		goto out;
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!file)
		goto out;
	for (size_t i = 0; i < editor->history_count; i++)
		fprintf(file, "%s\n", editor->history[i]);
	if (fclose(file) != 0 || rename(temporary, path) != 0)
		unlink(temporary);
	fd = -1;
out:
	if (fd >= 0)
		close(fd);
	free(temporary);
	free(path);
}
