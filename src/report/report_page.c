// SPDX-License-Identifier: MIT OR Apache-2.0
/* The two looks of a page. */
#include "report/report_page.h"

#include <stdarg.h>
#include <stdio.h>

#define LABEL_COLUMNS 11
#define FACT_BYTES    1024

void page_title(struct report_page *page, const char *text)
{
	buffer_text(page->out, page->markdown ? "# " : page->colour ? "\033[1m" : "");
	text_plain(page->out, text);
	buffer_text(page->out, page->markdown ? "\n\n" : page->colour ? "\033[0m\n" : "\n");
}

void page_heading(struct report_page *page, const char *text)
{
	if (page->markdown)
		buffer_printf(page->out, "\n## %s\n\n", text);
	else
		buffer_printf(page->out, page->colour ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

void page_fact(struct report_page *page, const char *label, const char *format, ...)
{
	char text[FACT_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (page->markdown)
		buffer_printf(page->out, "- %s: ", label);
	else
		buffer_printf(page->out, "%-*s", LABEL_COLUMNS, label);
	text_plain(page->out, text);
	buffer_byte(page->out, '\n');
}

void page_note(struct report_page *page, const char *format, ...)
{
	char text[FACT_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	buffer_text(page->out, page->markdown ? "\n" : "");
	text_plain(page->out, text);
	buffer_byte(page->out, '\n');
}

void page_warning(struct report_page *page, const char *text)
{
	if (page->markdown)
		buffer_printf(page->out, "\n**Warning:** %s\n", text);
	else
		buffer_printf(page->out,
			page->colour ? "\033[1;33mwarning:\033[0m %s\n" : "warning: %s\n", text);
}

void page_table(struct report_page *page, struct text_table *table)
{
	if (!text_table_ok(table))
		page->out->failed = true;
	else if (page->markdown)
		text_table_markdown(table, page->out);
	else
		text_table_render(table, page->width, page->colour, page->out);
	text_table_release(table);
}
