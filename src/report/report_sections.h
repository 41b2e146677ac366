/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The sections of a report, each written onto a page. For report_text.c. */
#pragma once

#include "report/report_internal.h"
#include "report/report_page.h"

/* Names, kernels, threads, categories and phases: groups with statistics. */
void section_names(struct report_page *page, const struct report *report, enum report_rows rows,
	const char *heading);
void section_threads(struct report_page *page, const struct report *report);
void section_categories(struct report_page *page, const struct report *report);
void section_phases(struct report_page *page, const struct report *report);

/* report_steps.c */
void section_steps(struct report_page *page, const struct report *report, bool brief);
/* report_tree.c */
void section_tree(struct report_page *page, const struct report *report);
/* report_counters.c */
void section_counters(struct report_page *page, const struct report *report, bool brief);
