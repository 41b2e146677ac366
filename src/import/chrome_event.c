// SPDX-License-Identifier: MIT OR Apache-2.0
/* Parsing of one event. This is where an import spends its time: no copy is made of anything that
 * is known already, and every string is looked up once. */
#include "import/chrome_event.h"

#include "format/span_block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number of a string slice in the dictionary. */
static int intern(struct chrome_reader *reader, const struct json_slice *slice, uint32_t *ret_id)
{
	if (__builtin_expect(slice->sloppy, 0))
		reader->sloppy++;
	if (__builtin_expect(!slice->escaped, 1))
		return import_sink_string(reader->sink, slice->text, slice->length, ret_id);
	buffer_reset(&reader->scratch);
	json_unescape(slice, &reader->scratch);
	if (!buffer_ok(&reader->scratch))
		return STATUS_NOMEM;
	return import_sink_string(
		reader->sink, (const char *)reader->scratch.data, reader->scratch.length, ret_id);
}

/* The key that starts at *at, by the guess for its position where that holds. */
static enum json_result read_key(struct chrome_reader *reader, unsigned position, const char **at,
	const char *end, uint32_t *ret_id, int *ret_status)
{
	struct chrome_key *guess = &reader->guess[position];
	struct json_slice slice;
	enum json_result result;
	const struct string_entry *entry;

	if (guess->length && (size_t)(end - *at) > guess->length + 2 &&
		(*at)[guess->length + 1] == '"' &&
		memcmp(*at + 1, guess->text, guess->length) == 0) {
		*at += guess->length + 2;
		*ret_id = guess->id;
		return JSON_OK;
	}
	result = json_scan_string(at, end, &slice);
	if (result != JSON_OK)
		return result;
	*ret_status = intern(reader, &slice, ret_id);
	if (*ret_status != STATUS_OK)
		return JSON_BAD;
	entry = &import_sink_dict(reader->sink)->strings.entries[*ret_id];
	/* A key with escapes reads differently in the file, so it is never guessed. */
	*guess = (struct chrome_key){
		.text = entry->text, .length = slice.escaped ? 0 : entry->length, .id = *ret_id
	};
	return JSON_OK;
}

static void put_argument(struct chrome_reader *reader, uint32_t key, uint8_t type, uint64_t value)
{
	struct chrome_event *event = &reader->event;

	if (event->argument_count == CHROME_KEYS_MAX) {
		reader->too_many++;
		return;
	}
	event->keys[event->argument_count] = key;
	event->types[event->argument_count] = type;
	event->values[event->argument_count++] = value;
}

/* Numbers that JSON has no word for become doubles, everything else is kept to the letter. */
static int add_argument(struct chrome_reader *reader, uint32_t key, const struct json_slice *value)
{
	uint32_t text;
	uint64_t bits;
	double number;
	int status;

	switch (value->kind) {
	case JSON_INTEGER:
		put_argument(reader, key, ARG_INTEGER, (uint64_t)value->integer);
		return STATUS_OK;
	case JSON_STRING:
		status = intern(reader, value, &text);
		if (status == STATUS_OK)
			put_argument(reader, key, ARG_STRING, text);
		return status;
	case JSON_NUMBER:
		if (value->text[0] == 'N' || value->text[0] == 'I' ||
			(value->length > 1 && value->text[1] == 'I')) {
			number = value->text[0] == 'N'   ? NAN
				 : value->text[0] == '-' ? -HUGE_VAL
							 : HUGE_VAL;
			memcpy(&bits, &number, sizeof bits);
			put_argument(reader, key, ARG_DOUBLE, bits);
			return STATUS_OK;
		}
		break;
	default:
		break;
	}
	status = import_sink_string(reader->sink, value->text, value->length, &text);
	if (status == STATUS_OK)
		put_argument(reader, key, ARG_JSON, text);
	return status;
}

static enum json_result colon(const char **at, const char *end)
{
	*at = json_space(*at, end);
	if (*at >= end)
		return JSON_MORE;
	if (**at != ':')
		return JSON_BAD;
	*at = json_space(*at + 1, end);
	return *at < end ? JSON_OK : JSON_MORE;
}

/* Behind a member: 1 when another follows, 0 at the closing brace, else a negative result. */
static int next_member(const char **at, const char *end, enum json_result *ret_result)
{
	*at = json_space(*at, end);
	*ret_result = *at < end ? JSON_BAD : JSON_MORE;
	if (*at >= end || (**at != ',' && **at != '}'))
		return -1;
	if (*(*at)++ == '}')
		return 0;
	*at = json_space(*at, end);
	*ret_result = *at < end ? JSON_BAD : JSON_MORE;
	return *at < end && **at == '"' ? 1 : -1;
}

/* The opening brace is at *at: moves to the first key. Returns as next_member(). */
static int first_member(const char **at, const char *end, enum json_result *ret_result)
{
	*at = json_space(*at + 1, end);
	*ret_result = *at < end ? JSON_BAD : JSON_MORE;
	if (*at >= end)
		return -1;
	if (**at == '}') {
		(*at)++;
		return 0;
	}
	return **at == '"' ? 1 : -1;
}

static enum json_result parse_args(
	struct chrome_reader *reader, const char **at, const char *end, int *ret_status)
{
	enum json_result result;
	unsigned position = 0;
	int more = first_member(at, end, &result);

	while (more > 0) {
		struct json_slice value;
		uint32_t key;

		result = read_key(reader, position < CHROME_KEYS_MAX - 1 ? position++ : position,
			at, end, &key, ret_status);
		if (result == JSON_OK)
			result = colon(at, end);
		if (result == JSON_OK)
			result = json_scan_value(at, end, false, &value);
		if (result != JSON_OK)
			return result;
		*ret_status = add_argument(reader, key, &value);
		if (*ret_status != STATUS_OK)
			return JSON_BAD;
		more = next_member(at, end, &result);
	}
	return more < 0 ? result : JSON_OK;
}

/* A key that has no place of its own is kept as an argument, marked so that it can go back. */
static int keep_other(
	struct chrome_reader *reader, const struct json_slice *key, const struct json_slice *value)
{
	uint32_t id;
	int status;

	buffer_reset(&reader->scratch);
	buffer_byte(&reader->scratch, '~');
	json_unescape(key, &reader->scratch);
	if (!buffer_ok(&reader->scratch))
		return STATUS_NOMEM;
	status = import_sink_string(
		reader->sink, (const char *)reader->scratch.data, reader->scratch.length, &id);
	return status == STATUS_OK ? add_argument(reader, id, value) : status;
}

static bool key_is(const struct json_slice *key, const char *word, size_t length)
{
	return key->length == length && memcmp(key->text, word, length) == 0;
}
#define KEY_IS(key, word) key_is((key), (word), sizeof(word) - 1)

/* Puts a member where it belongs. */
static int take_member(
	struct chrome_reader *reader, const struct json_slice *key, const struct json_slice *value)
{
	struct chrome_event *event = &reader->event;
	bool text = value->kind == JSON_STRING;

#define TAKE(field, flag)              \
	do {                           \
		event->field = *value; \
		event->flag = true;    \
		return STATUS_OK;      \
	} while (0)
	if (KEY_IS(key, "ph") && text && value->length == 1) {
		event->phase = value->text[0];
		return STATUS_OK;
	}
	if (KEY_IS(key, "name") && text)
		TAKE(name, has_name);
	if (KEY_IS(key, "cat") && text)
		TAKE(category, has_category);
	if (KEY_IS(key, "pid"))
		TAKE(pid, has_pid);
	if (KEY_IS(key, "tid"))
		TAKE(tid, has_tid);
	if (KEY_IS(key, "ts"))
		TAKE(ts, has_ts);
	if (KEY_IS(key, "dur"))
		TAKE(duration, has_duration);
	if (KEY_IS(key, "id"))
		TAKE(id, has_id);
	if (KEY_IS(key, "bp") && text && value->length == 1 && value->text[0] == 'e') {
		event->enclosing = true;
		return STATUS_OK;
	}
#undef TAKE
	return keep_other(reader, key, value);
}

enum json_result chrome_event_parse(
	struct chrome_reader *reader, const char **at, const char *end, int *ret_status)
{
	struct chrome_event *event = &reader->event;
	enum json_result result;
	int more = first_member(at, end, &result);

	*ret_status = STATUS_OK;
	/* Everything but the arrays. */
	memset(event, 0, offsetof(struct chrome_event, keys));
	while (more > 0) {
		struct json_slice key, value;

		result = json_scan_string(at, end, &key);
		if (result == JSON_OK)
			result = colon(at, end);
		if (result != JSON_OK)
			return result;
		if (KEY_IS(&key, "args") && **at == '{') {
			result = parse_args(reader, at, end, ret_status);
		} else {
			result = json_scan_value(at, end, false, &value);
			if (result == JSON_OK)
				*ret_status = take_member(reader, &key, &value);
		}
		if (*ret_status != STATUS_OK)
			return JSON_BAD;
		if (result != JSON_OK)
			return result;
		more = next_member(at, end, &result);
	}
	return more < 0 ? result : JSON_OK;
}
