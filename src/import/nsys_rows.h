/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows of any table of an Nsight Systems file: columns that we know get a role, every other column
 * is an argument under its own name. No column is taken for granted and no type is trusted. */
#pragma once

#include "import/event_args.h"
#include "import/nsys_tracks.h"

enum nsys_role {
	NSYS_ARGUMENT,
	NSYS_STRING, /* an argument that refers to StringIds */
	NSYS_NAME,   /* the event's name, in text or by StringIds */
	NSYS_START,
	NSYS_END,
	NSYS_TID,
	NSYS_PID,
	/* From here on the value is an argument as well. */
	NSYS_DEVICE,
	NSYS_CONTEXT,
	NSYS_STREAM,
	NSYS_CORRELATION,
	NSYS_CLASS, /* eventClass, eventType, memoryOperationType, syncType, copyKind */
	NSYS_SOURCE_KIND,
	NSYS_TARGET_KIND,
	NSYS_BYTES,
	NSYS_ADDRESS,
	NSYS_GRAPH,
	NSYS_TYPE_ID,
	NSYS_METRIC_ID,
	NSYS_VALUE,
	NSYS_ROLES
};

struct nsys_row {
	bool has[NSYS_ROLES];
	int64_t value[NSYS_ROLES]; /* of the roles that are numbers */
	uint32_t name;             /* string; 0: none */
	double number;             /* NSYS_VALUE, whatever its type */
};

struct nsys_import;
struct nsys_table;

struct nsys_import {
	struct nsys_file file;
	struct nsys_tracks tracks;
	struct import_sink *sink;
	struct event_args args;
	struct id_map strings; /* StringIds: id -> string */
	struct id_map metrics; /* type and metric -> string */
	struct buffer text;
	uint64_t events; /* rows of tables of events, and of all tables that were known */
	struct error *err;
};

struct nsys_table {
	const char *name;
	const char *category;
	const char *title; /* name of an event that has none */
	int (*put)(struct nsys_import *import, const struct nsys_table *table,
		const struct nsys_row *row);
};

/* Hands each row to table->put, with its arguments in import->args. */
int nsys_rows_read(struct nsys_import *import, const struct nsys_table *table) MUST_USE;
/* Whether numbers in a column of this name refer to StringIds. */
bool nsys_rows_is_string(const char *column);
/* A cell as a string of the sink: its text, or what StringIds has for its number; 0: neither. */
uint32_t nsys_rows_string(struct nsys_import *import, sqlite3_stmt *statement, int column);
