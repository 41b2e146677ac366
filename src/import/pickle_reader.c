// SPDX-License-Identifier: MIT OR Apache-2.0
/* A stack machine without recursion. Every length is checked against the bytes that are there,
 * since the window grows only by what was read. */
#include "import/pickle_reader.h"

#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 1024 /* bytes of an integer */

/* Opcodes by their byte; the letters are those of Python's pickletools. */
enum pickle_op {
	OP_MARK = '(',
	OP_STOP = '.',
	OP_POP = '0',
	OP_POP_MARK = '1',
	OP_DUP = '2',
	OP_BINFLOAT = 'G',
	OP_BININT = 'J',
	OP_BININT1 = 'K',
	OP_BININT2 = 'M',
	OP_NONE = 'N',
	OP_BINSTRING = 'T',
	OP_SHORT_BINSTRING = 'U',
	OP_BINUNICODE = 'X',
	OP_BINBYTES = 'B',
	OP_SHORT_BINBYTES = 'C',
	OP_EMPTY_LIST = ']',
	OP_APPEND = 'a',
	OP_APPENDS = 'e',
	OP_LIST = 'l',
	OP_EMPTY_DICT = '}',
	OP_DICT = 'd',
	OP_SETITEM = 's',
	OP_SETITEMS = 'u',
	OP_EMPTY_TUPLE = ')',
	OP_TUPLE = 't',
	OP_BINGET = 'h',
	OP_LONG_BINGET = 'j',
	OP_BINPUT = 'q',
	OP_LONG_BINPUT = 'r',
	OP_PROTO = 0x80,
	OP_TUPLE1 = 0x85,
	OP_TUPLE2 = 0x86,
	OP_TUPLE3 = 0x87,
	OP_NEWTRUE = 0x88,
	OP_NEWFALSE = 0x89,
	OP_LONG1 = 0x8a,
	OP_LONG4 = 0x8b,
	OP_SHORT_BINUNICODE = 0x8c,
	OP_BINUNICODE8 = 0x8d,
	OP_BINBYTES8 = 0x8e,
	OP_EMPTY_SET = 0x8f,
	OP_ADDITEMS = 0x90,
	OP_FROZENSET = 0x91,
	OP_MEMOIZE = 0x94,
	OP_FRAME = 0x95,
	OP_BYTEARRAY8 = 0x96,
};

void pickle_reader_init(
	struct pickle_reader *reader, struct import_source *source, uint64_t limit_bytes)
{
	memset(reader, 0, sizeof *reader);
	reader->limit_bytes = limit_bytes;
	json_input_init(&reader->window, source, limit_bytes);
	arena_init(&reader->arena, limit_bytes > SIZE_MAX ? SIZE_MAX : (size_t)limit_bytes);
}

void pickle_reader_release(struct pickle_reader *reader)
{
	json_input_release(&reader->window);
	arena_release(&reader->arena);
	free(reader->stack);
	free(reader->marks);
	free(reader->memo);
	id_map_release(&reader->memo_ids);
}

uint64_t pickle_reader_bytes(const struct pickle_reader *reader)
{
	/* An entry of the memo is remembered twice: by place and by number. */
	return reader->arena.used_bytes + reader->count * sizeof *reader->stack +
	       reader->mark_count * sizeof *reader->marks +
	       reader->memo_count * (sizeof *reader->memo + 48);
}

static int bad(const struct pickle_reader *reader, const char *what, struct error *err)
{
	return error_set_at(err, STATUS_FORMAT, reader->op_offset, "damaged pickle: %s", what);
}

static int no_room(const struct pickle_reader *reader, struct error *err)
{
	return error_set_at(err, STATUS_LIMIT, reader->op_offset,
		"the pickle needs more memory than allowed; raise --max-memory");
}

/* `count` bytes in one piece, lent until the next call. */
static int take(
	struct pickle_reader *reader, uint64_t count, const uint8_t **ret_bytes, struct error *err)
{
	struct json_input *window = &reader->window;

	while (!window->buffer || (uint64_t)(window->end - window->at) < count) {
		int more = json_input_more(window, window->at, err);

		if (more < 0)
			return more;
		if (more == 0) {
			error_set_at(err, STATUS_FORMAT, json_input_offset(window, window->end),
				"the pickle ends early");
			return STATUS_FORMAT;
		}
	}
	*ret_bytes = (const uint8_t *)window->at;
	window->at += count;
	return STATUS_OK;
}

static int take_number(
	struct pickle_reader *reader, unsigned bytes, uint64_t *ret_value, struct error *err)
{
	const uint8_t *at;
	int status = take(reader, bytes, &at, err);
	uint64_t value = 0;

	if (status != STATUS_OK)
		return status;
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	*ret_value = value;
	return STATUS_OK;
}

static int push(struct pickle_reader *reader, struct pickle_value value, struct error *err)
{
	if (pickle_reader_bytes(reader) > reader->limit_bytes ||
		array_grow((void **)&reader->stack, &reader->capacity, reader->count + 1,
			sizeof *reader->stack) != STATUS_OK)
		return no_room(reader, err);
	reader->stack[reader->count++] = value;
	return STATUS_OK;
}

/* Values above the newest mark, or above nothing when there is none. */
static size_t floor_of(const struct pickle_reader *reader)
{
	return reader->mark_count ? reader->marks[reader->mark_count - 1] : 0;
}

static int append(struct pickle_reader *reader, struct pickle_list *list,
	const struct pickle_value *items, size_t count, struct error *err)
{
	if (count > UINT32_MAX / 2 - list->count)
		return no_room(reader, err);
	if (list->count + count > list->capacity) {
		size_t capacity = list->count + count;
		struct pickle_value *grown;

		/* The first batch is mostly the only one: no slack for it. */
		if (list->capacity)
			capacity += list->capacity;
		grown = arena_array(&reader->arena, capacity, sizeof *grown);
		if (!grown)
			return no_room(reader, err);
		if (list->count)
			memcpy(grown, list->items, list->count * sizeof *grown);
		list->items = grown;
		list->capacity = (uint32_t)capacity;
	}
	if (count)
		memcpy(list->items + list->count, items, count * sizeof *items);
	list->count += (uint32_t)count;
	return STATUS_OK;
}

/* A new container of the top `count` values, which it replaces. */
static int gather(
	struct pickle_reader *reader, enum pickle_kind kind, size_t count, struct error *err)
{
	struct pickle_list *list;
	int status;

	if (reader->count - floor_of(reader) < count)
		return bad(reader, "the stack is empty", err);
	list = arena_alloc(&reader->arena, sizeof *list);
	if (!list)
		return no_room(reader, err);
	status = append(
		reader, list, count ? reader->stack + reader->count - count : NULL, count, err);
	reader->count -= count;
	return status == STATUS_OK
		       ? push(reader, (struct pickle_value){ .kind = (uint8_t)kind, .list = list },
				 err)
		       : status;
}

/* Values since the newest mark, which is taken away. */
static int pop_mark(struct pickle_reader *reader, size_t *ret_count, struct error *err)
{
	if (!reader->mark_count)
		return bad(reader, "there is no mark", err);
	*ret_count = reader->count - reader->marks[--reader->mark_count];
	return STATUS_OK;
}

/* Adds the top `count` values to the container below them. */
static int extend(
	struct pickle_reader *reader, enum pickle_kind kind, size_t count, struct error *err)
{
	size_t below = reader->count - count;
	int status;

	if (reader->count - floor_of(reader) <= count || reader->stack[below - 1].kind != kind)
		return bad(reader, "there is no such container", err);
	if (kind == PICKLE_DICT && count % 2)
		return bad(reader, "a key without a value", err);
	status = append(reader, reader->stack[below - 1].list, reader->stack + below, count, err);
	reader->count = below;
	return status;
}

static int read_text(struct pickle_reader *reader, unsigned length_bytes, enum pickle_kind kind,
	struct error *err)
{
	uint64_t length;
	const uint8_t *at;
	char *text;
	int status = take_number(reader, length_bytes, &length, err);

	if (status == STATUS_OK && length > UINT32_MAX / 2)
		return bad(reader, "a text of an impossible length", err);
	if (status == STATUS_OK)
		status = take(reader, length, &at, err);
	if (status != STATUS_OK)
		return status;
	text = arena_copy(&reader->arena, (const char *)at, (size_t)length);
	if (!text)
		return no_room(reader, err);
	return push(reader,
		(struct pickle_value){
			.kind = (uint8_t)kind, .length = (uint32_t)length, .text = text },
		err);
}

/* Little-endian two's complement of any length; beyond int64 as a hexadecimal text. */
static int read_long(struct pickle_reader *reader, unsigned length_bytes, struct error *err)
{
	struct pickle_value value = { .kind = PICKLE_INTEGER };
	uint64_t length, bits = 0;
	const uint8_t *at;
	char *text;
	int status = take_number(reader, length_bytes, &length, err);

	if (status == STATUS_OK && length > DIGITS_MAX)
		return bad(reader, "an integer of more than 1024 bytes", err);
	if (status == STATUS_OK)
		status = take(reader, length, &at, err);
	if (status != STATUS_OK)
		return status;
	for (unsigned i = 0; i < length && i < 8; i++)
		bits |= (uint64_t)at[i] << (8 * i);
	if (length && length < 8 && at[length - 1] & 0x80)
		bits |= ~UINT64_C(0) << (8 * length);
	value.integer = (int64_t)bits;
	if (length > 8 && !(length == 9 && at[8] == 0 && value.integer >= 0)) {
		text = arena_alloc(&reader->arena, 2 * (size_t)length + 3);
		if (!text)
			return no_room(reader, err);
		snprintf(text, 3, "0x");
		for (size_t i = 0; i < length; i++)
			snprintf(text + 2 + 2 * i, 3, "%02x", at[length - 1 - i]);
		value.kind = PICKLE_BIG;
		value.length = 2 * (uint32_t)length + 2;
		value.text = text;
	}
	return push(reader, value, err);
}

static int read_float(struct pickle_reader *reader, struct error *err)
{
	struct pickle_value value = { .kind = PICKLE_DOUBLE };
	const uint8_t *at;
	uint64_t bits = 0;
	int status = take(reader, 8, &at, err);

	if (status != STATUS_OK)
		return status;
	for (int i = 0; i < 8; i++)
		bits = bits << 8 | at[i];
	memcpy(&value.number, &bits, sizeof bits);
	return push(reader, value, err);
}

static int memoize(struct pickle_reader *reader, uint64_t number, struct error *err)
{
	if (reader->count == floor_of(reader))
		return bad(reader, "nothing to remember", err);
	if (pickle_reader_bytes(reader) > reader->limit_bytes ||
		array_grow((void **)&reader->memo, &reader->memo_capacity, reader->memo_count + 1,
			sizeof *reader->memo) ||
		id_map_put(&reader->memo_ids, number, reader->memo_count))
		return no_room(reader, err);
	reader->memo[reader->memo_count++] = reader->stack[reader->count - 1];
	return STATUS_OK;
}

static int recall(struct pickle_reader *reader, uint64_t number, struct error *err)
{
	uint64_t place;

	if (!id_map_get(&reader->memo_ids, number, &place))
		return bad(reader, "a reference to nothing", err);
	return push(reader, reader->memo[place], err);
}

static int read_memo(struct pickle_reader *reader, uint8_t op, struct error *err)
{
	uint64_t number = reader->memo_ids.count;
	int status = STATUS_OK;

	if (op != OP_MEMOIZE)
		status = take_number(
			reader, op == OP_BINGET || op == OP_BINPUT ? 1 : 4, &number, err);
	if (status != STATUS_OK)
		return status;
	return op == OP_BINGET || op == OP_LONG_BINGET ? recall(reader, number, err)
						       : memoize(reader, number, err);
}

static int read_integer(struct pickle_reader *reader, uint8_t op, struct error *err)
{
	struct pickle_value value = { .kind = PICKLE_INTEGER };
	uint64_t number;
	int status = take_number(reader,
		op == OP_BININT1   ? 1
		: op == OP_BININT2 ? 2
				   : 4,
		&number, err);

	if (status != STATUS_OK)
		return status;
	value.integer = op == OP_BININT ? (int32_t)(uint32_t)number : (int64_t)number;
	return push(reader, value, err);
}

/* Containers: made, filled, closed. */
static int read_container(struct pickle_reader *reader, uint8_t op, struct error *err)
{
	enum pickle_kind kind =
		op == OP_EMPTY_DICT || op == OP_DICT || op == OP_SETITEM || op == OP_SETITEMS
			? PICKLE_DICT
			: PICKLE_LIST;
	size_t count = 0;
	int status = STATUS_OK;

	switch (op) {
	case OP_EMPTY_LIST:
	case OP_EMPTY_DICT:
	case OP_EMPTY_TUPLE:
	case OP_EMPTY_SET:
		return gather(reader, kind, 0, err);
	case OP_TUPLE1:
	case OP_TUPLE2:
	case OP_TUPLE3:
		return gather(reader, kind, (size_t)op - OP_TUPLE1 + 1, err);
	case OP_APPEND:
		return extend(reader, kind, 1, err);
	case OP_SETITEM:
		return extend(reader, kind, 2, err);
	default:
		break;
	}
	status = pop_mark(reader, &count, err);
	if (status != STATUS_OK)
		return status;
	if (op == OP_APPENDS || op == OP_SETITEMS || op == OP_ADDITEMS)
		return extend(reader, kind, count, err);
	if (kind == PICKLE_DICT && count % 2)
		return bad(reader, "a key without a value", err);
	return gather(reader, kind, count, err);
}

static int read_stack(struct pickle_reader *reader, uint8_t op, struct error *err)
{
	size_t count = 0;

	if (op == OP_MARK) {
		if (pickle_reader_bytes(reader) > reader->limit_bytes ||
			array_grow((void **)&reader->marks, &reader->mark_capacity,
				reader->mark_count + 1, sizeof *reader->marks))
			return no_room(reader, err);
		reader->marks[reader->mark_count++] = reader->count;
		return STATUS_OK;
	}
	if (op == OP_POP_MARK) {
		int status = pop_mark(reader, &count, err);

		if (status == STATUS_OK)
			reader->count -= count;
		return status;
	}
	if (reader->count == floor_of(reader))
		return bad(reader, "the stack is empty", err);
	if (op == OP_POP) {
		reader->count--;
		return STATUS_OK;
	}
	return push(reader, reader->stack[reader->count - 1], err);
}

static int refuse(const struct pickle_reader *reader, uint8_t op, struct error *err)
{
	static const char calls[] = "cRbioPQ\x81\x82\x83\x84\x92\x93";

	if (op && strchr(calls, op))
		return error_set_at(err, STATUS_DENIED, reader->op_offset,
			"the pickle wants to call a function (opcode 0x%02x); only data is read",
			op);
	return error_set_at(err, STATUS_FORMAT, reader->op_offset,
		"not a pickle of protocol 2 to 5: opcode 0x%02x", op);
}

static int skip(struct pickle_reader *reader, unsigned bytes, struct error *err)
{
	const uint8_t *at;

	return take(reader, bytes, &at, err);
}

static int read_op(struct pickle_reader *reader, uint8_t op, struct error *err)
{
	switch (op) {
	case OP_PROTO:
		return skip(reader, 1, err);
	case OP_FRAME:
		return skip(reader, 8, err); /* a hint for buffering */
	case OP_NONE:
		return push(reader, (struct pickle_value){ .kind = PICKLE_NONE }, err);
	case OP_NEWTRUE:
		return push(reader, (struct pickle_value){ .kind = PICKLE_TRUE }, err);
	case OP_NEWFALSE:
		return push(reader, (struct pickle_value){ .kind = PICKLE_FALSE }, err);
	case OP_BININT:
	case OP_BININT1:
	case OP_BININT2:
		return read_integer(reader, op, err);
	case OP_LONG1:
		return read_long(reader, 1, err);
	case OP_LONG4:
		return read_long(reader, 4, err);
	case OP_BINFLOAT:
		return read_float(reader, err);
	case OP_SHORT_BINUNICODE:
	case OP_SHORT_BINSTRING:
		return read_text(reader, 1, PICKLE_TEXT, err);
	case OP_BINUNICODE:
	case OP_BINSTRING:
		return read_text(reader, 4, PICKLE_TEXT, err);
	case OP_BINUNICODE8:
		return read_text(reader, 8, PICKLE_TEXT, err);
	case OP_SHORT_BINBYTES:
		return read_text(reader, 1, PICKLE_BYTES, err);
	case OP_BINBYTES:
		return read_text(reader, 4, PICKLE_BYTES, err);
	case OP_BINBYTES8:
	case OP_BYTEARRAY8:
		return read_text(reader, 8, PICKLE_BYTES, err);
	case OP_MARK:
	case OP_POP:
	case OP_POP_MARK:
	case OP_DUP:
		return read_stack(reader, op, err);
	case OP_BINGET:
	case OP_LONG_BINGET:
	case OP_BINPUT:
	case OP_LONG_BINPUT:
	case OP_MEMOIZE:
		return read_memo(reader, op, err);
	case OP_EMPTY_LIST:
	case OP_EMPTY_DICT:
	case OP_EMPTY_TUPLE:
	case OP_EMPTY_SET:
	case OP_APPEND:
	case OP_APPENDS:
	case OP_ADDITEMS:
	case OP_FROZENSET:
	case OP_LIST:
	case OP_DICT:
	case OP_SETITEM:
	case OP_SETITEMS:
	case OP_TUPLE:
	case OP_TUPLE1:
	case OP_TUPLE2:
	case OP_TUPLE3:
		return read_container(reader, op, err);
	default:
		return refuse(reader, op, err);
	}
}

int pickle_reader_load(
	struct pickle_reader *reader, struct pickle_value *ret_value, struct error *err)
{
	for (;;) {
		const uint8_t *at;
		uint8_t op;
		int status = take(reader, 1, &at, err);

		if (status != STATUS_OK)
			return status;
		op = *at;
		reader->op_offset = json_input_offset(&reader->window, (const char *)at);
		if (op == OP_STOP)
			break;
		status = read_op(reader, op, err);
		if (status != STATUS_OK)
			return status;
	}
	if (reader->count == 0)
		return bad(reader, "it holds no value", err);
	*ret_value = reader->stack[reader->count - 1];
	return STATUS_OK;
}
