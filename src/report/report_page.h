/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A page being written: the same headings, lines and tables as text for a terminal or as Markdown.
 */
#pragma once

#include "report/text_table.h"

struct report_page {
	struct buffer *out;
	bool markdown;
	unsigned width; /* text */
	bool colour;    /* text */
};

void page_title(struct report_page *page, const char *text);
void page_heading(struct report_page *page, const char *text);
/* "label   value", a bullet in Markdown. The value is plain text. */
void page_fact(struct report_page *page, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void page_note(struct report_page *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void page_warning(struct report_page *page, const char *text);
/* Writes the table and releases it. */
void page_table(struct report_page *page, struct text_table *table);
