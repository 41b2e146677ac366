// SPDX-License-Identifier: MIT OR Apache-2.0
/* PyTorch's execution trace: the operators of a program with their inputs and the one that called
 * them, without times. Node ids count in the order in which operators began, so time here is that
 * order: a node begins at twice the rank of its id and lasts to the last of its descendants. */
#include "import/event_args.h"
#include "import/json_input.h"

#include "base/array.h"
#include "base/id_map.h"
#include "format/span_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct et_node {
	int64_t id, parent, tid;
	uint32_t name;
	bool has_parent, has_tid;
	uint32_t last; /* rank of the last descendant */
	uint32_t argument_count;
	uint8_t *arguments; /* values, keys, types in one piece */
};

struct et_import {
	struct import_sink *sink;
	struct event_args args;
	struct json_input input;
	struct et_node *nodes;
	size_t count, capacity;
	struct id_map ranks, threads;
	struct buffer text;
	uint32_t process;
	int64_t pid;
	struct error *err;
};

static int fail(struct et_import *import, int status)
{
	return event_fail(import->err, status);
}

/* The next member of an object, or item of an array, whose text is complete: 1, 0 at the end. The
 * scanner has checked it, so nothing else can come. */
static int next_item(
	const char **at, const char *end, struct json_slice *ret_key, struct json_slice *ret_value)
{
	*at = json_space(*at, end);
	if (*at < end && **at == ',')
		*at = json_space(*at + 1, end);
	if (*at >= end || **at == '}' || **at == ']')
		return 0;
	if (ret_key) {
		if (json_scan_value(at, end, true, ret_key) != JSON_OK ||
			ret_key->kind != JSON_STRING)
			return 0;
		*at = json_space(*at, end);
		if (*at < end && **at == ':')
			*at = json_space(*at + 1, end);
	}
	return json_scan_value(at, end, true, ret_value) == JSON_OK;
}

static bool key_is(const struct json_slice *key, const char *word)
{
	return key->length == strlen(word) && memcmp(key->text, word, key->length) == 0;
}

/* The string of a slice, without escapes. */
static uint32_t intern(struct et_import *import, const struct json_slice *slice)
{
	if (!slice->escaped)
		return event_args_key(&import->args, slice->text, slice->length);
	buffer_reset(&import->text);
	json_unescape(slice, &import->text);
	return event_args_key(&import->args, (const char *)import->text.data, import->text.length);
}

static void add_argument(struct et_import *import, uint32_t key, const struct json_slice *value)
{
	struct event_args *args = &import->args;

	if (value->kind == JSON_INTEGER)
		event_args_add(args, key, ARG_INTEGER, (uint64_t)value->integer);
	else if (value->kind == JSON_STRING)
		event_args_add(args, key, ARG_STRING, intern(import, value));
	else
		event_args_json(args, key, value->text, value->length);
}

/* attrs: a list of { name, type, value }. */
static void read_attributes(
	struct et_import *import, struct et_node *node, const struct json_slice *list)
{
	const char *at = list->text + 1, *end = list->text + list->length;
	struct json_slice item;

	while (next_item(&at, end, NULL, &item)) {
		const char *inner = item.text + 1, *inner_end = item.text + item.length;
		struct json_slice key, value, name = { 0 }, found = { 0 };

		if (item.kind != JSON_OBJECT)
			continue;
		while (next_item(&inner, inner_end, &key, &value)) {
			if (key_is(&key, "name"))
				name = value;
			else if (key_is(&key, "value"))
				found = value;
		}
		if (name.kind != JSON_STRING || !name.text || !found.text)
			continue;
		if (key_is(&name, "tid") && found.kind == JSON_INTEGER) {
			node->tid = found.integer;
			node->has_tid = true;
		}
		add_argument(import, intern(import, &name), &found);
	}
}

/* inputs and outputs: { values, shapes, types, strides }, each kept as it was written. */
static void read_values(
	struct et_import *import, const char *prefix, const struct json_slice *object)
{
	const char *at = object->text + 1, *end = object->text + object->length;
	struct json_slice key, value;
	char name[64];

	while (next_item(&at, end, &key, &value)) {
		snprintf(name, sizeof name, "%s.%.*s", prefix,
			(int)(key.length < 40 ? key.length : 40), key.text);
		add_argument(import, event_args_key(&import->args, name, strlen(name)), &value);
	}
}

static void read_member(struct et_import *import, struct et_node *node,
	const struct json_slice *key, const struct json_slice *value)
{
	if (key_is(key, "name") && value->kind == JSON_STRING) {
		node->name = intern(import, value);
	} else if (key_is(key, "id") && value->kind == JSON_INTEGER) {
		node->id = value->integer;
		add_argument(import, intern(import, key), value);
	} else if ((key_is(key, "ctrl_deps") || key_is(key, "parent")) &&
		   value->kind == JSON_INTEGER) {
		node->parent = value->integer;
		node->has_parent = true;
		add_argument(import, intern(import, key), value);
	} else if (key_is(key, "attrs") && value->kind == JSON_ARRAY) {
		read_attributes(import, node, value);
	} else if (key_is(key, "inputs") && value->kind == JSON_OBJECT) {
		read_values(import, "inputs", value);
	} else if (key_is(key, "outputs") && value->kind == JSON_OBJECT) {
		read_values(import, "outputs", value);
	} else {
		if (key_is(key, "tid") && value->kind == JSON_INTEGER) {
			node->tid = value->integer;
			node->has_tid = true;
		}
		add_argument(import, intern(import, key), value);
	}
}

static int keep_arguments(struct et_import *import, struct et_node *node)
{
	const struct event_args *args = &import->args;
	size_t count = args->count, bytes = count * 13;

	if (args->status != STATUS_OK)
		return args->status;
	if (import_sink_room(import->sink) < bytes + sizeof *node)
		return STATUS_LIMIT;
	import_sink_reserve(import->sink, (int64_t)(bytes + sizeof *node));
	node->argument_count = (uint32_t)count;
	if (!count)
		return STATUS_OK;
	node->arguments = malloc(bytes);
	if (!node->arguments)
		return STATUS_NOMEM;
	memcpy(node->arguments, args->values, count * 8);
	memcpy(node->arguments + count * 8, args->keys, count * 4);
	memcpy(node->arguments + count * 12, args->types, count);
	return STATUS_OK;
}

static int read_node(struct et_import *import, const struct json_slice *object)
{
	const char *at = object->text + 1, *end = object->text + object->length;
	struct json_slice key, value;
	struct et_node node = { 0 };
	int status;

	event_args_reset(&import->args);
	while (next_item(&at, end, &key, &value))
		read_member(import, &node, &key, &value);
	status = array_grow((void **)&import->nodes, &import->capacity, import->count + 1,
		sizeof *import->nodes);
	if (status == STATUS_OK)
		status = keep_arguments(import, &node);
	if (status == STATUS_OK)
		import->nodes[import->count++] = node;
	return status;
}

static int read_nodes(struct et_import *import)
{
	struct json_input *input = &import->input;
	char c;

	input->at++;
	for (;;) {
		struct json_slice value;
		int status = json_input_peek(input, &c, import->err);

		if (status != STATUS_OK)
			return status;
		if (c == ',' || c == ']') {
			input->at++;
			if (c == ']')
				return STATUS_OK;
			continue;
		}
		if (c == 0) {
			import_sink_skip(import->sink, "the list of nodes is not closed",
				"the file may have been cut; what is there was read");
			return STATUS_OK;
		}
		status = json_input_value(input, &value, import->err);
		if (status == STATUS_FORMAT && import->count && input->last) {
			import_sink_skip(import->sink, "a node that is cut off at the end",
				"left out; what came before was read");
			*import->err = (struct error)ERROR_INIT;
			input->at = input->end;
			return STATUS_OK;
		}
		if (status != STATUS_OK)
			return status;
		if (value.kind != JSON_OBJECT) {
			import_sink_skip(import->sink, "nodes that are no object", "left out");
			continue;
		}
		status = read_node(import, &value);
		if (status != STATUS_OK)
			return fail(import, status);
	}
}

static int keep_member(struct et_import *import, const char *key)
{
	struct json_slice value;
	char name[160];
	int status = json_input_value(&import->input, &value, import->err);

	if (status != STATUS_OK)
		return status;
	if (strcmp(key, "pid") == 0 && value.kind == JSON_INTEGER)
		import->pid = value.integer;
	snprintf(name, sizeof name, "torch_et.%.120s", key);
	status = import_sink_metadata(import->sink, name, value.text, value.length);
	return status == STATUS_OK ? STATUS_OK : fail(import, status);
}

static int read_document(struct et_import *import)
{
	struct json_input *input = &import->input;
	char c;
	int status = json_input_peek(input, &c, import->err);

	if (status != STATUS_OK)
		return status;
	if (c != '{')
		return json_input_bad(input, input->at, import->err);
	input->at++;
	for (;;) {
		struct json_slice key;
		char name[128];

		status = json_input_peek(input, &c, import->err);
		if (status != STATUS_OK || c == '}' || (c == 0 && import->count))
			return status;
		if (c == ',') {
			input->at++;
			continue;
		}
		status = json_input_value(input, &key, import->err);
		if (status != STATUS_OK)
			return status;
		if (key.kind != JSON_STRING)
			return json_input_bad(input, input->at, import->err);
		snprintf(name, sizeof name, "%.*s", (int)(key.length < 120 ? key.length : 120),
			key.text);
		status = json_input_peek(input, &c, import->err);
		if (status == STATUS_OK && c != ':')
			return json_input_bad(input, input->at, import->err);
		if (status == STATUS_OK) {
			input->at++;
			status = json_input_peek(input, &c, import->err);
		}
		if (status == STATUS_OK)
			status = strcmp(name, "nodes") == 0 && c == '[' ? read_nodes(import)
									: keep_member(import, name);
		if (status != STATUS_OK)
			return status;
	}
}

static int compare_nodes(const void *a, const void *b)
{
	const struct et_node *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Where each node's last descendant is, and threads for those that name none. A parent began before
 * its children, so its rank is lower: one that is not cannot be a parent. */
static int link_nodes(struct et_import *import)
{
	uint64_t strays = 0;

	qsort(import->nodes, import->count, sizeof *import->nodes, compare_nodes);
	for (size_t i = 0; i < import->count; i++) {
		import->nodes[i].last = (uint32_t)i;
		if (id_map_put(&import->ranks, (uint64_t)import->nodes[i].id, i))
			return STATUS_NOMEM;
	}
	for (size_t i = 0; i < import->count; i++) {
		struct et_node *node = &import->nodes[i];
		uint64_t rank;

		if (!node->has_parent || node->parent == node->id)
			node->has_parent = false;
		else if (!id_map_get(&import->ranks, (uint64_t)node->parent, &rank) || rank >= i) {
			strays++;
			node->has_parent = false;
		} else if (!node->has_tid && import->nodes[rank].has_tid) {
			node->tid = import->nodes[rank].tid;
			node->has_tid = true;
		}
	}
	for (size_t i = import->count; i-- > 0;) {
		const struct et_node *node = &import->nodes[i];
		uint64_t rank;

		if (node->has_parent && id_map_get(&import->ranks, (uint64_t)node->parent, &rank) &&
			import->nodes[rank].last < node->last)
			import->nodes[rank].last = node->last;
	}
	if (strays)
		ledger_add(import_sink_ledger(import->sink), strays,
			"nodes whose parent is not there", "import", "kept beside the others");
	return STATUS_OK;
}

static int thread_track(struct et_import *import, const struct et_node *node, uint32_t *ret_track)
{
	uint64_t found;
	char name[48];
	int status;

	if (id_map_get(&import->threads, (uint64_t)node->tid, &found)) {
		*ret_track = (uint32_t)found;
		return STATUS_OK;
	}
	snprintf(name, sizeof name, "thread %" PRId64, node->tid);
	status = import_sink_track(import->sink, import->process, TRACK_THREAD, (uint64_t)node->tid,
		node->has_tid ? name : "process", "", ret_track);
	return status == STATUS_OK ? id_map_put(&import->threads, (uint64_t)node->tid, *ret_track)
				   : status;
}

static int put_node(struct et_import *import, size_t rank)
{
	struct et_node *node = &import->nodes[rank];
	size_t count = node->argument_count;
	uint32_t track, name;
	int status = thread_track(import, node, &track);

	event_args_reset(&import->args);
	for (size_t i = 0; i < count; i++) {
		uint64_t value;
		uint32_t key;

		memcpy(&value, node->arguments + i * 8, sizeof value);
		memcpy(&key, node->arguments + count * 8 + i * 4, sizeof key);
		event_args_add(&import->args, key, node->arguments[count * 12 + i], value);
	}
	free(node->arguments);
	node->arguments = NULL;
	import_sink_reserve(import->sink, -(int64_t)(count * 13));
	if (status == STATUS_OK)
		status = import_sink_string(import->sink, "op", 2, &name);
	if (status == STATUS_OK)
		status = trace_dict_name(import_sink_dict(import->sink), node->name, name, &name);
	return status == STATUS_OK ? event_span(&import->args, track, name, (int64_t)rank * 2,
					     (int64_t)node->last * 2 + 1)
				   : status;
}

static int put_nodes(struct et_import *import)
{
	int status;

	if (import->count >= UINT32_MAX)
		return fail(import, STATUS_LIMIT);
	status = import_sink_track(import->sink, 0, TRACK_PROCESS, (uint64_t)import->pid,
		"execution trace", "", &import->process);
	if (status == STATUS_OK)
		status = import_sink_metadata(import->sink, "torch_et.order",
			"no times: nodes in the order in which they began", 48);
	if (status == STATUS_OK && import->count)
		status = link_nodes(import);
	for (size_t i = 0; status == STATUS_OK && i < import->count; i++)
		status = put_node(import, i);
	return status == STATUS_OK ? STATUS_OK : fail(import, status);
}

static int run_torch_et(struct import_source *source, struct import_sink *sink, struct error *err)
{
	struct et_import *import = calloc(1, sizeof *import);
	int status;

	if (!import)
		return error_set(err, STATUS_NOMEM, "out of memory");
	import->sink = sink;
	import->err = err;
	event_args_init(&import->args, sink);
	buffer_init(&import->text);
	json_input_init(&import->input, source, import_sink_room(sink));
	status = read_document(import);
	if (status == STATUS_OK && !import->count)
		status = error_set_at(err, STATUS_FORMAT,
			json_input_offset(&import->input, import->input.at), "it has no nodes");
	if (status == STATUS_OK)
		status = put_nodes(import);
	event_args_finish(&import->args);
	for (size_t i = 0; i < import->count; i++)
		free(import->nodes[i].arguments);
	free(import->nodes);
	id_map_release(&import->ranks);
	id_map_release(&import->threads);
	buffer_release(&import->text);
	json_input_release(&import->input);
	free(import);
	return status;
}

static bool has(const uint8_t *head, size_t count, const char *text)
{
	return memmem(head, count, text, strlen(text)) != NULL;
}

static int detect_torch_et(const uint8_t *head, size_t count)
{
	size_t at = 0;

	while (at < count && strchr(" \t\r\n", head[at]) && head[at])
		at++;
	if (at == count || head[at] != '{' || !has(head, count, "\"schema\"") ||
		!has(head, count, "\"nodes\""))
		return 0;
	return 95;
}

const struct importer import_torch_et = {
	.name = "torch_et",
	.summary = "PyTorch execution trace",
	.version = 1,
	.detect = detect_torch_et,
	.run = run_torch_et,
};
