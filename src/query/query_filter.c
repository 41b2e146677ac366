// SPDX-License-Identifier: MIT OR Apache-2.0
/* Conditions handed down by SQLite, as ranges of numbers and sets of names and tracks. Where a
 * value is not of the kind that the column has, the condition is either decided for all rows or
 * left to SQLite, as its rules of affinity demand. */
#include "query/query_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void query_filter_release(struct query_filter *filter)
{
	free(filter->names);
	free(filter->tracks);
	memset(filter, 0, sizeof *filter);
}

static void narrow(struct query_filter *filter, unsigned role, int64_t low, int64_t high)
{
	if (!(filter->ranges & 1u << role)) {
		filter->ranges |= 1u << role;
		filter->low[role] = INT64_MIN;
		filter->high[role] = INT64_MAX;
	}
	filter->low[role] = low > filter->low[role] ? low : filter->low[role];
	filter->high[role] = high < filter->high[role] ? high : filter->high[role];
	filter->none = filter->none || filter->low[role] > filter->high[role];
}

static void narrow_integer(struct query_filter *filter, unsigned role, char op, int64_t value)
{
	if ((op == '<' && value == INT64_MIN) || (op == '>' && value == INT64_MAX))
		filter->none = true;
	else if (op == '<' || op == 'l')
		narrow(filter, role, INT64_MIN, op == '<' ? value - 1 : value);
	else if (op == '>' || op == 'g')
		narrow(filter, role, op == '>' ? value + 1 : value, INT64_MAX);
	else
		narrow(filter, role, value, value);
}

static void narrow_real(struct query_filter *filter, unsigned role, char op, double value)
{
	double below = floor(value), above = ceil(value);

	/* Beyond what a double holds exactly, SQLite decides. */
	if (fabs(value) >= 0x1p53)
		return;
	if (op == '=' && below != value)
		filter->none = true;
	else if (op == '<' || op == 'g' || op == '=')
		narrow_integer(filter, role, op, (int64_t)above);
	else
		narrow_integer(filter, role, op, (int64_t)below);
}

static void set_range(struct query_filter *filter, unsigned role, char op, sqlite3_value *value)
{
	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		narrow_integer(filter, role, op, sqlite3_value_int64(value));
		break;
	case SQLITE_FLOAT:
		narrow_real(filter, role, op, sqlite3_value_double(value));
		break;
	case SQLITE_NULL:
		filter->none = true;
		break;
	default: /* texts are greater than all numbers */
		filter->none = filter->none || !strchr("<l", op);
	}
}

static bool is_of_name(unsigned role)
{
	return role == ROLE_NAME || role == ROLE_CATEGORY;
}

/* The place of a text among the ranks, or false. */
static bool find_rank(
	const struct query *query, unsigned role, const char *text, uint32_t *ret_rank)
{
	const struct query_ranks *ranks = &query->ranks[ROLE_TEXT(role)];
	uint32_t low = 0, high = ranks->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(query_role_text(query, role, ranks->order[middle]), text);

		if (order == 0) {
			*ret_rank = ranks->rank[ranks->order[middle]];
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static int set_equal(
	struct query_filter *filter, struct query *query, unsigned role, sqlite3_value *value)
{
	unsigned bit = 1u << ROLE_TEXT(role);
	uint32_t rank;

	if (sqlite3_value_type(value) == SQLITE_NULL)
		filter->none = true;
	/* A number may be equal to several texts: SQLite knows the rules. */
	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return SQLITE_OK;
	if (query_ranks_need(query, role) != SQLITE_OK)
		return SQLITE_NOMEM;
	if (!find_rank(query, role, (const char *)sqlite3_value_text(value), &rank) ||
		((filter->equals & bit) && filter->rank[ROLE_TEXT(role)] != rank))
		filter->none = true;
	else
		filter->rank[ROLE_TEXT(role)] = rank;
	filter->equals |= bit;
	return SQLITE_OK;
}

/* The set of names or tracks, all of them in it at first. */
static uint8_t *need_set(struct query_filter *filter, const struct query *query, bool of_name)
{
	uint8_t **set = of_name ? &filter->names : &filter->tracks;
	uint32_t count = of_name ? query->trace->name_count : query->trace->track_count;

	if (!*set) {
		*set = malloc((size_t)count + 1);
		if (*set)
			memset(*set, 1, (size_t)count + 1);
	}
	return *set;
}

static int set_pattern(struct query_filter *filter, struct query *query, unsigned role, char op,
	sqlite3_value *value)
{
	const char *pattern;
	uint32_t count = is_of_name(role) ? query->trace->name_count : query->trace->track_count;
	uint8_t *set;

	if (sqlite3_value_type(value) == SQLITE_NULL)
		filter->none = true;
	if (sqlite3_value_type(value) != SQLITE_TEXT ||
		sqlite3_value_bytes(value) > QUERY_PATTERN_MAX)
		return SQLITE_OK;
	pattern = (const char *)sqlite3_value_text(value);
	set = need_set(filter, query, is_of_name(role));
	if (!set || !pattern)
		return SQLITE_NOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const char *text = query_role_text(query, role, i);

		if (set[i] && (op == 'L' ? sqlite3_strlike(pattern, text, 0)
					 : sqlite3_strglob(pattern, text)) != 0)
			set[i] = 0;
	}
	return SQLITE_OK;
}

/* One item of a list; false: it is of a type that SQLite has to compare. */
static bool add_item(const struct query *query, unsigned role, sqlite3_value *item, uint8_t *wanted)
{
	uint32_t rank;

	if (role == ROLE_TRACK) {
		int type = sqlite3_value_numeric_type(item);
		int64_t track = sqlite3_value_int64(item);

		if (type == SQLITE_INTEGER && track >= 0 && track < query->trace->track_count)
			wanted[track] = 1;
		return type == SQLITE_INTEGER || type == SQLITE_NULL;
	}
	if (sqlite3_value_type(item) == SQLITE_NULL)
		return true;
	if (sqlite3_value_type(item) != SQLITE_TEXT)
		return false;
	if (find_rank(query, role, (const char *)sqlite3_value_text(item), &rank))
		wanted[rank] = 1;
	return true;
}

static int set_list(
	struct query_filter *filter, struct query *query, unsigned role, sqlite3_value *list)
{
	bool of_name = is_of_name(role), known = true;
	uint32_t count = of_name ? query->trace->name_count : query->trace->track_count;
	uint8_t *wanted = calloc((size_t)count + 1, 1), *set;
	sqlite3_value *item;
	int code = SQLITE_NOMEM;

	if (!wanted || (role != ROLE_TRACK && query_ranks_need(query, role) != SQLITE_OK))
		goto out;
	for (code = sqlite3_vtab_in_first(list, &item); code == SQLITE_OK && item && known;
		code = sqlite3_vtab_in_next(list, &item))
		known = add_item(query, role, item, wanted);
	if (code != SQLITE_OK && code != SQLITE_DONE)
		goto out;
	code = SQLITE_OK;
	if (!known)
		goto out;
	set = need_set(filter, query, of_name);
	if (!set)
		code = SQLITE_NOMEM;
	for (uint32_t i = 0; set && i < count; i++)
		set[i] &= wanted[role == ROLE_TRACK ? i : query->ranks[ROLE_TEXT(role)].rank[i]];
out:
	free(wanted);
	return code;
}

/* Nothing equals NULL. */
static bool set_key(struct query_filter *filter, sqlite3_value *value)
{
	filter->key = value;
	return sqlite3_value_type(value) == SQLITE_NULL;
}

int query_filter_set(struct query_filter *filter, struct query_vtab *vtab, const char *text,
	int argc, sqlite3_value **argv)
{
	int code = SQLITE_OK;

	query_filter_release(filter);
	for (int i = 0; i < argc && code == SQLITE_OK; i++, text += 2) {
		unsigned role = vtab->table->columns[text[0] - 'a'].role;
		char op = text[1];

		if (op == 'I')
			code = set_list(filter, vtab->query, role, argv[i]);
		else if (op == 'L' || op == 'G')
			code = set_pattern(filter, vtab->query, role, op, argv[i]);
		else if (role == ROLE_KEY)
			filter->none = set_key(filter, argv[i]) || filter->none;
		else if (role_is_text(role))
			code = set_equal(filter, vtab->query, role, argv[i]);
		else
			set_range(filter, role, op, argv[i]);
	}
	filter->order = *text == '/' ? text + 1 : "";
	filter->by_name =
		filter->names ||
		(filter->equals & (1u << ROLE_TEXT(ROLE_NAME) | 1u << ROLE_TEXT(ROLE_CATEGORY)));
	filter->by_track =
		filter->tracks || (filter->ranges & 1u << ROLE_TRACK) ||
		(filter->equals & (1u << ROLE_TEXT(ROLE_PROCESS) | 1u << ROLE_TEXT(ROLE_THREAD)));
	return code;
}

static bool rank_fits(const struct query_filter *filter, const struct query *query, unsigned role,
	uint32_t number)
{
	return !(filter->equals & 1u << ROLE_TEXT(role)) ||
	       query->ranks[ROLE_TEXT(role)].rank[number] == filter->rank[ROLE_TEXT(role)];
}

bool query_filter_track(
	const struct query_filter *filter, const struct query *query, uint32_t track)
{
	return !filter->by_track || ((!filter->tracks || filter->tracks[track]) &&
					    query_filter_range(filter, ROLE_TRACK, track) &&
					    rank_fits(filter, query, ROLE_PROCESS, track) &&
					    rank_fits(filter, query, ROLE_THREAD, track));
}

bool query_filter_name(const struct query_filter *filter, const struct query *query, uint32_t name)
{
	return !filter->by_name || ((!filter->names || filter->names[name]) &&
					   rank_fits(filter, query, ROLE_NAME, name) &&
					   rank_fits(filter, query, ROLE_CATEGORY, name));
}

bool query_filter_block(const struct query_filter *filter, const struct trace_block *block)
{
	int64_t first = query_clamp(block->time_min_ns), last = query_clamp(block->time_max_ns);

	for (unsigned role = ROLE_START; role <= ROLE_END; role++)
		if ((filter->ranges & 1u << role) &&
			(last < filter->low[role] || first > filter->high[role]))
			return false;
	return !(filter->ranges & 1u << ROLE_DURATION) ||
	       last - first >= filter->low[ROLE_DURATION];
}
