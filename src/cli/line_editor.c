// SPDX-License-Identifier: MIT OR Apache-2.0
/* Keys of a terminal, and what they do to a line. */
#include "cli/line_editor.h"

#include "cli/line_editor_internal.h"

#include "report/text_table.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT  80
#define LINE_MAX_BYTES (64u << 10)
#define ESCAPE_WAIT_MS 50

enum key {
	KEY_UP = 0x110000,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_DELETE,
	KEY_WORD_LEFT,
	KEY_WORD_RIGHT,
	KEY_OTHER,
};
#define CONTROL(letter) ((letter)&0x1f)

void line_editor_init(
	struct line_editor *editor, int in, int out, line_complete *complete, void *context)
{
	memset(editor, 0, sizeof *editor);
	editor->in = in;
	editor->out = out;
	editor->complete = complete;
	editor->context = context;
	buffer_init(&editor->text);
}

void line_editor_release(struct line_editor *editor)
{
	for (size_t i = 0; i < editor->history_count; i++)
		free(editor->history[i]);
	free(editor->unfinished);
	buffer_release(&editor->text);
	memset(editor, 0, sizeof *editor);
}

static void put(const struct line_editor *editor, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count) {
		ssize_t done = write(editor->out, at, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		at += done;
		count -= (size_t)done;
	}
}

static size_t terminal_width(const struct line_editor *editor)
{
	struct winsize size;

	if (ioctl(editor->out, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

static bool is_inside(const struct line_editor *editor, size_t at)
{
	return at < editor->text.length && (editor->text.data[at] & 0xc0) == 0x80;
}

static size_t before(const struct line_editor *editor, size_t at)
{
	if (at)
		at--;
	while (at && is_inside(editor, at))
		at--;
	return at;
}

static size_t after(const struct line_editor *editor, size_t at)
{
	if (at < editor->text.length)
		at++;
	while (is_inside(editor, at))
		at++;
	return at;
}

/* Terminal columns of a part of the line. */
static size_t columns(const struct line_editor *editor, size_t from, size_t until)
{
	struct buffer piece;
	size_t width;

	if (until <= from)
		return 0;
	buffer_init(&piece);
	buffer_append(&piece, editor->text.data + from, until - from);
	buffer_byte(&piece, 0);
	width = buffer_ok(&piece) ? text_width((const char *)piece.data) : until - from;
	buffer_release(&piece);
	return width;
}

void line_editor_show(const struct line_editor *editor, const char *prompt)
{
	size_t room = terminal_width(editor) - 1, used = text_width(prompt);
	size_t from = 0, until = editor->text.length;
	struct buffer out;

	room = room > used + 8 ? room - used : 8;
	while (columns(editor, from, editor->cursor) > room)
		from = after(editor, from);
	while (until > editor->cursor && columns(editor, from, until) > room)
		until = before(editor, until);
	buffer_init(&out);
	buffer_printf(&out, "\r%s", prompt);
	if (until > from)
		buffer_append(&out, editor->text.data + from, until - from);
	buffer_printf(&out, "\033[K\r\033[%zuC", used + columns(editor, from, editor->cursor));
	if (buffer_ok(&out))
		put(editor, out.data, out.length);
	buffer_release(&out);
}

void line_editor_set(struct line_editor *editor, const char *text)
{
	buffer_reset(&editor->text);
	buffer_text(&editor->text, text);
	editor->cursor = editor->text.length;
}

void line_editor_erase(struct line_editor *editor, size_t from, size_t until)
{
	if (until <= from)
		return;
	memmove(editor->text.data + from, editor->text.data + until, editor->text.length - until);
	editor->text.length -= until - from;
	editor->cursor = from;
}

void line_editor_insert(struct line_editor *editor, const char *bytes, size_t count)
{
	size_t tail = editor->text.length - editor->cursor;

	if (editor->text.length + count > LINE_MAX_BYTES || !buffer_extend(&editor->text, count))
		return;
	memmove(editor->text.data + editor->cursor + count, editor->text.data + editor->cursor,
		tail);
	memcpy(editor->text.data + editor->cursor, bytes, count);
	editor->cursor += count;
}

static bool is_word(uint8_t byte)
{
	return byte >= 0x80 || byte == '_' || byte == '.' || (byte >= '0' && byte <= '9') ||
	       (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

size_t line_editor_word(const struct line_editor *editor)
{
	size_t at = editor->cursor;

	while (at && is_word(editor->text.data[at - 1]))
		at--;
	return at;
}

static size_t word_left(const struct line_editor *editor)
{
	size_t at = editor->cursor;

	while (at && !is_word(editor->text.data[at - 1]))
		at--;
	while (at && is_word(editor->text.data[at - 1]))
		at--;
	return at;
}

static size_t word_right(const struct line_editor *editor)
{
	size_t at = editor->cursor;

	while (at < editor->text.length && !is_word(editor->text.data[at]))
		at++;
	while (at < editor->text.length && is_word(editor->text.data[at]))
		at++;
	return at;
}

/* A byte, or -1 at the end. */
static int read_byte(const struct line_editor *editor)
{
	unsigned char byte;
	ssize_t got;

	do
		got = read(editor->in, &byte, 1);
	while (got < 0 && errno == EINTR);
	return got == 1 ? byte : -1;
}

static bool more_comes(const struct line_editor *editor)
{
	struct pollfd poller = { .fd = editor->in, .events = POLLIN };

	return poll(&poller, 1, ESCAPE_WAIT_MS) > 0;
}

/* What follows an escape: "[A", "[1~", "[1;5C", "OH", or a letter typed with Alt. */
static int read_escape(const struct line_editor *editor)
{
	static const struct {
		char last;
		int key;
	} letters[] = { { 'A', KEY_UP }, { 'B', KEY_DOWN }, { 'C', KEY_RIGHT }, { 'D', KEY_LEFT },
		{ 'H', KEY_HOME }, { 'F', KEY_END } };
	int byte, number = 0;
	bool modified = false;

	if (!more_comes(editor))
		return KEY_OTHER;
	byte = read_byte(editor);
	if (byte == 'b' || byte == 'f')
		return byte == 'b' ? KEY_WORD_LEFT : KEY_WORD_RIGHT;
	if (byte != '[' && byte != 'O')
		return KEY_OTHER;
	while ((byte = read_byte(editor)) == ';' || (byte >= '0' && byte <= '9')) {
		modified = modified || byte == ';';
		if (byte != ';' && !modified && number < 100)
			number = number * 10 + byte - '0';
	}
	if (byte == '~')
		return number == 1 || number == 7   ? KEY_HOME
		       : number == 4 || number == 8 ? KEY_END
		       : number == 3                ? KEY_DELETE
						    : KEY_OTHER;
	if (modified && (byte == 'C' || byte == 'D'))
		return byte == 'C' ? KEY_WORD_RIGHT : KEY_WORD_LEFT;
	for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
		if (byte == letters[i].last)
			return letters[i].key;
	return KEY_OTHER;
}

int line_editor_key(const struct line_editor *editor)
{
	int byte = read_byte(editor);

	return byte == 27 ? read_escape(editor) : byte;
}

static void move_keys(struct line_editor *editor, int key)
{
	switch (key) {
	case CONTROL('A'):
	case KEY_HOME:
		editor->cursor = 0;
		break;
	case CONTROL('E'):
	case KEY_END:
		editor->cursor = editor->text.length;
		break;
	case CONTROL('B'):
	case KEY_LEFT:
		editor->cursor = before(editor, editor->cursor);
		break;
	case CONTROL('F'):
	case KEY_RIGHT:
		editor->cursor = after(editor, editor->cursor);
		break;
	case KEY_WORD_LEFT:
		editor->cursor = word_left(editor);
		break;
	case KEY_WORD_RIGHT:
		editor->cursor = word_right(editor);
		break;
	}
}

static void erase_keys(struct line_editor *editor, int key)
{
	size_t cursor = editor->cursor;

	switch (key) {
	case 127:
	case CONTROL('H'):
		line_editor_erase(editor, before(editor, cursor), cursor);
		break;
	case CONTROL('D'):
	case KEY_DELETE:
		line_editor_erase(editor, cursor, after(editor, cursor));
		break;
	case CONTROL('K'):
		line_editor_erase(editor, cursor, editor->text.length);
		break;
	case CONTROL('U'):
		line_editor_erase(editor, 0, cursor);
		break;
	case CONTROL('W'):
		line_editor_erase(editor, word_left(editor), cursor);
		break;
	}
}

/* Does what a key asks for; the outcome when the line is done, else -2. */
static int handle(struct line_editor *editor, int key)
{
	char byte = (char)key;

	editor->tab_before = editor->tab_before && key == '\t';
	if (key == -1)
		return LINE_END;
	if (key == '\r' || key == '\n')
		return LINE_READ;
	if (key == CONTROL('C'))
		return LINE_CANCELLED;
	if (key == CONTROL('D') && editor->text.length == 0)
		return LINE_END;
	if (key == '\t')
		line_editor_complete(editor);
	else if (key == CONTROL('L'))
		put(editor, "\033[H\033[2J", 7);
	else if (key == CONTROL('P') || key == KEY_UP)
		line_editor_browse(editor, true);
	else if (key == CONTROL('N') || key == KEY_DOWN)
		line_editor_browse(editor, false);
	else if (key == CONTROL('R'))
		return line_editor_search(editor) == '\r' ? LINE_READ : -2;
	else if (key >= 0x20 && key < 0x100 && key != 127)
		line_editor_insert(editor, &byte, 1);
	move_keys(editor, key);
	erase_keys(editor, key);
	return -2;
}

static int edit(struct line_editor *editor)
{
	for (;;) {
		int outcome;

		/* No need to draw between the keys of a pasted text. */
		if (!is_inside(editor, editor->cursor))
			line_editor_show(editor, editor->prompt);
		outcome = handle(editor, line_editor_key(editor));
		if (outcome != -2)
			return outcome;
	}
}

void line_editor_put(const struct line_editor *editor, const char *text)
{
	put(editor, text, strlen(text));
}

int line_editor_read(struct line_editor *editor, const char *prompt, struct buffer *ret_line)
{
	struct termios raw;
	int outcome;

	if (tcgetattr(editor->in, &editor->before) != 0)
		return LINE_FAILED;
	raw = editor->before;
	raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
	raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(editor->in, TCSADRAIN, &raw) != 0)
		return LINE_FAILED;
	editor->prompt = prompt;
	editor->browsing = editor->history_count;
	line_editor_set(editor, "");
	outcome = edit(editor);
	editor->cursor = editor->text.length;
	if (outcome == LINE_READ)
		line_editor_show(editor, prompt);
	line_editor_put(editor, outcome == LINE_CANCELLED ? "^C\r\n" : "\r\n");
	tcsetattr(editor->in, TCSADRAIN, &editor->before);
	buffer_reset(ret_line);
	buffer_append(ret_line, editor->text.data, editor->text.length);
	buffer_byte(ret_line, 0);
	return buffer_ok(ret_line) && buffer_ok(&editor->text) ? outcome : LINE_FAILED;
}
