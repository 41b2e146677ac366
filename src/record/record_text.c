// SPDX-License-Identifier: MIT OR Apache-2.0
/* Building short texts (paths, reasons) without printf, so that it may run anywhere. */
#include "record/record_internal.h"

size_t record_text_add(char *text, size_t bytes, size_t length, const char *more)
{
	while (*more && length + 1 < bytes)
		text[length++] = *more++;
	if (length < bytes)
		text[length] = 0;
	return length;
}

size_t record_text_number(char *text, size_t bytes, size_t length, uint64_t number)
{
	char digits[24];
	size_t at = sizeof digits - 1;

	digits[at] = 0;
	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return record_text_add(text, bytes, length, digits + at);
}
