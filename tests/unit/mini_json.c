// SPDX-License-Identifier: MIT OR Apache-2.0
/* A JSON reader for tests. */
#include "tests/unit/mini_json.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_value(const char **at, struct mini_json *json, int depth);

static void skip(const char **at)
{
	*at += strspn(*at, " \t\r\n");
}

static char *put_code(char *out, unsigned code)
{
	if (code < 0x80) {
		*out++ = (char)code;
	} else if (code < 0x800) {
		*out++ = (char)(0xc0 | code >> 6);
		*out++ = (char)(0x80 | (code & 63));
	} else {
		*out++ = (char)(0xe0 | code >> 12);
		*out++ = (char)(0x80 | (code >> 6 & 63));
		*out++ = (char)(0x80 | (code & 63));
	}
	return out;
}

static char *parse_string(const char **at)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char *text, *out;

	if (**at != '"')
		return NULL;
	text = out = malloc(strlen(*at) + 1);
	for (++*at; **at != '"';) {
		unsigned char byte = (unsigned char)*(*at)++;
		const char *found;
		unsigned code;

		if (byte < 0x20)
			goto wrong;
		if (byte != '\\') {
			*out++ = (char)byte;
			continue;
		}
		byte = (unsigned char)*(*at)++;
		found = byte ? strchr(from, byte) : NULL;
		if (found)
			*out++ = to[found - from];
		else if (byte == 'u' && sscanf(*at, "%4x", &code) == 1 && strlen(*at) > 4)
			out = put_code(out, code), *at += 4;
		else
			goto wrong;
	}
	++*at;
	*out = '\0';
	return text;
wrong:
	free(text);
	return NULL;
}

static bool parse_items(const char **at, struct mini_json *json, char close, int depth)
{
	++*at;
	skip(at);
	if (**at == close) {
		++*at;
		return true;
	}
	for (;;) {
		struct mini_json *item;
		char *key = NULL;

		if ((json->count & (json->count - 1)) == 0)
			json->items = realloc(json->items,
				(json->count ? 2 * json->count : 1) * sizeof *json->items);
		item = &json->items[json->count];
		memset(item, 0, sizeof *item);
		skip(at);
		if (close == '}') {
			key = parse_string(at);
			skip(at);
			if (!key || *(*at)++ != ':') {
				free(key);
				return false;
			}
		}
		json->count++;
		if (!parse_value(at, item, depth + 1)) {
			item->key = key;
			return false;
		}
		item->key = key;
		skip(at);
		if (**at == close) {
			++*at;
			return true;
		}
		if (*(*at)++ != ',')
			return false;
	}
}

static bool parse_number(const char **at, struct mini_json *json)
{
	size_t length = strspn(*at, "-+.eE0123456789");
	char *end;

	if (!length || !(isdigit((unsigned char)**at) || **at == '-'))
		return false;
	json->kind = MINI_NUMBER;
	json->text = strndup(*at, length);
	json->number = strtod(json->text, &end);
	*at += length;
	return *end == '\0';
}

static bool parse_word(
	const char **at, struct mini_json *json, const char *word, enum mini_kind kind)
{
	if (strncmp(*at, word, strlen(word)) != 0)
		return false;
	*at += strlen(word);
	json->kind = kind;
	return true;
}

static bool parse_value(const char **at, struct mini_json *json, int depth)
{
	memset(json, 0, sizeof *json);
	skip(at);
	if (depth > 60)
		return false;
	switch (**at) {
	case '{':
		json->kind = MINI_OBJECT;
		return parse_items(at, json, '}', depth);
	case '[':
		json->kind = MINI_ARRAY;
		return parse_items(at, json, ']', depth);
	case '"':
		json->kind = MINI_STRING;
		json->text = parse_string(at);
		return json->text != NULL;
	case 't':
		return parse_word(at, json, "true", MINI_TRUE);
	case 'f':
		return parse_word(at, json, "false", MINI_FALSE);
	case 'n':
		return parse_word(at, json, "null", MINI_NULL);
	default:
		return parse_number(at, json);
	}
}

struct mini_json *mini_json_parse(const char *text, const char **ret_rest)
{
	struct mini_json *json = calloc(1, sizeof *json);
	bool whole = parse_value(&text, json, 0);

	skip(&text);
	if (ret_rest)
		*ret_rest = text;
	else
		whole &= *text == '\0';
	if (whole)
		return json;
	mini_json_free(json);
	return NULL;
}

static void release(struct mini_json *json)
{
	for (size_t i = 0; i < json->count; i++)
		release(&json->items[i]);
	free(json->items);
	free(json->key);
	free(json->text);
}

void mini_json_free(struct mini_json *json)
{
	if (json)
		release(json);
	free(json);
}

static const struct mini_json nothing;

const struct mini_json *mini_json_get(const struct mini_json *json, const char *key)
{
	for (size_t i = 0; json->kind == MINI_OBJECT && i < json->count; i++)
		if (strcmp(json->items[i].key, key) == 0)
			return &json->items[i];
	return &nothing;
}

const struct mini_json *mini_json_at(const struct mini_json *json, size_t index)
{
	return json->kind == MINI_ARRAY && index < json->count ? &json->items[index] : &nothing;
}

uint64_t mini_json_ns(const struct mini_json *json, unsigned digits)
{
	const char *point = json->text ? strchr(json->text, '.') : NULL;
	uint64_t whole = json->text ? strtoull(json->text, NULL, 10) : UINT64_MAX;

	for (unsigned i = 0; i < digits; i++) {
		whole *= 10;
		if (point && point[1])
			whole += (uint64_t)(*++point - '0');
	}
	return whole;
}
