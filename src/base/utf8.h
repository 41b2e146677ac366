/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes of the sequence at `text`, of which `left` bytes may be looked at (at least 1); 0 when the
 * bytes are no UTF-8. The code point goes to *ret_code when it is not NULL. */
size_t utf8_decode(const char *text, size_t left, uint32_t *ret_code);

/* U+FFFD: what stands in for bytes that are no UTF-8. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"
