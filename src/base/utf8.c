// SPDX-License-Identifier: MIT OR Apache-2.0
/* Decoding of UTF-8. */
#include "base/utf8.h"

size_t utf8_decode(const char *text, size_t left, uint32_t *ret_code)
{
	const unsigned char *at = (const unsigned char *)text;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code = at[0];
	size_t length = 1;

	if (code >= 0x80) {
		if (code < 0xc2 || code > 0xf4)
			return 0;
		length = code >= 0xf0 ? 4 : code >= 0xe0 ? 3 : 2;
		if (left < length)
			return 0;
		code &= 0x7fu >> length;
		for (size_t i = 1; i < length; i++) {
			if ((at[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (at[i] & 0x3fu);
		}
		if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			return 0;
	}
	if (ret_code)
		*ret_code = code;
	return length;
}
