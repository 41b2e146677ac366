// SPDX-License-Identifier: MIT OR Apache-2.0
/* Texts of the status codes. */
#include "base/status.h"

const char *status_text(int status)
{
	switch (status) {
#define XX(name, code, text) \
	case STATUS_##name:  \
		return text;
		STATUS_MAP(XX)
#undef XX
	}
	return "unknown status";
}
