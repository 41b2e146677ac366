// SPDX-License-Identifier: MIT OR Apache-2.0
/* xBestIndex: which conditions a table takes from SQLite, and what the scan will cost. A condition
 * is only ever used to leave out what cannot match; SQLite checks it again, unless its other side
 * is a constant of the type that makes our check exact. */
#include "query/query_internal.h"

#include <string.h>

/* Rough shares of rows that pass. */
#define SHARE_EQUAL 0.05
#define SHARE_LIKE  0.2
#define SHARE_RANGE 0.3

static char operator_letter(int op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return '=';
	case SQLITE_INDEX_CONSTRAINT_LT:
		return '<';
	case SQLITE_INDEX_CONSTRAINT_LE:
		return 'l';
	case SQLITE_INDEX_CONSTRAINT_GT:
		return '>';
	case SQLITE_INDEX_CONSTRAINT_GE:
		return 'g';
	case SQLITE_INDEX_CONSTRAINT_LIKE:
		return 'L';
	case SQLITE_INDEX_CONSTRAINT_GLOB:
		return 'G';
	default:
		return 0;
	}
}

static bool can_use(sqlite3_index_info *info, int i, unsigned role, char letter)
{
	if (role_is_range(role))
		return strchr("=<>lg", letter) && (role != ROLE_ID || letter == '=');
	if (role_is_text(role) && strchr("LG", letter))
		return true;
	return role != ROLE_NONE && letter == '=' &&
	       strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

/* Whether our own check of a condition says exactly what SQLite's would. */
static bool is_exact(sqlite3_index_info *info, int i, unsigned role, char letter)
{
	sqlite3_value *value;

	if (role == ROLE_KEY || letter == 'I' ||
		sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK || !value)
		return false;
	if (role_is_range(role))
		return sqlite3_value_type(value) == SQLITE_INTEGER;
	return sqlite3_value_type(value) == SQLITE_TEXT &&
	       (letter == '=' || sqlite3_value_bytes(value) <= QUERY_PATTERN_MAX);
}

static void estimate(struct query_plan *plan, unsigned role, char letter)
{
	double share = letter == '=' || letter == 'I'   ? SHARE_EQUAL
		       : letter == 'L' || letter == 'G' ? SHARE_LIKE
							: SHARE_RANGE;

	plan->matched *= share;
	if (role == ROLE_TRACK || role == ROLE_START || role == ROLE_END || role == ROLE_PROCESS ||
		role == ROLE_KEY)
		plan->scanned *= share;
}

void query_plan_conditions(struct query_plan *plan, struct query_vtab *vtab,
	enum block_table block_table, sqlite3_index_info *info)
{
	*plan = (struct query_plan){
		.scanned = (double)vtab->query->trace->row_counts[block_table] + 1
	};
	plan->matched = plan->scanned;
	for (int i = 0; i < info->nConstraint && !vtab->query->options.plain; i++) {
		const struct sqlite3_index_constraint *condition = &info->aConstraint[i];
		char letter = operator_letter(condition->op);
		unsigned role;

		if (!condition->usable || !letter || condition->iColumn < 0 ||
			plan->length + 3 > sizeof plan->text / 2)
			continue;
		role = vtab->table->columns[condition->iColumn].role;
		if (!can_use(info, i, role, letter))
			continue;
		/* A whole list at once, or the table would be read once for each of its items. */
		if (letter == '=' && (role == ROLE_TRACK || role_is_text(role)) &&
			sqlite3_vtab_in(info, i, -1)) {
			sqlite3_vtab_in(info, i, 1);
			letter = 'I';
		}
		plan->text[plan->length++] = (char)('a' + condition->iColumn);
		plan->text[plan->length++] = letter;
		info->aConstraintUsage[i].argvIndex = ++plan->argc;
		info->aConstraintUsage[i].omit = is_exact(info, i, role, letter);
		plan->by_id = plan->by_id || role == ROLE_ID;
		estimate(plan, role, letter);
	}
}

int query_plan_finish(struct query_plan *plan, sqlite3_index_info *info)
{
	plan->text[plan->length] = 0;
	info->idxStr = sqlite3_mprintf("%s", plan->text);
	if (!info->idxStr)
		return SQLITE_NOMEM;
	info->needToFreeIdxStr = 1;
	if (plan->by_id) {
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		plan->scanned = plan->matched = 1;
	}
	info->estimatedCost = 10 + plan->scanned + plan->matched;
	info->estimatedRows = plan->matched < 1 ? 1 : (sqlite3_int64)plan->matched;
	return SQLITE_OK;
}
