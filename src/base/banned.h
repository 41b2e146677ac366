/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls nobody may use: each becomes a compile error that names what to use instead. The build
 * includes this file in front of every source (after the system headers it pulls in itself). */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef alloca
#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol gets alloca gmtime localtime
/* strcpy, strcat, sprintf: snprintf or struct buffer.  strtok: strcspn.  atoi: units_parse_u64.
 * gmtime, localtime: gmtime_r, localtime_r.  alloca: struct arena. */
