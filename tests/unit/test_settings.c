// SPDX-License-Identifier: MIT OR Apache-2.0
/* Settings: precedence, mistakes, file and environment; the nearest word. */
#include "base/nearest.h"
#include "base/settings.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct complaints {
	int count;
	char last[256];
};

static int complain(void *context, const struct error *err)
{
	struct complaints *complaints = context;

	complaints->count++;
	snprintf(complaints->last, sizeof complaints->last, "%s", err->message);
	return 0;
}

static struct settings settings;

static void test_defaults(void)
{
	settings_init(&settings);
	CHECK_EQ(settings_number(&settings, SETTING_POOL_SIZE), 32u << 20);
	CHECK_EQ(settings_number(&settings, SETTING_FOLLOW), 1);
	CHECK_NEAR(settings_real(&settings, SETTING_COUNTERS_RATE), 10, 0);
	CHECK_STR(settings_text(&settings, SETTING_OUTPUT), "");
}

static void test_stronger_source_wins(void)
{
	struct error err = ERROR_INIT;

	settings_init(&settings);
	CHECK_EQ(settings_set(&settings, "last", "5s", SETTING_FROM_COMMAND_LINE, &err), STATUS_OK);
	CHECK_EQ(settings_set(&settings, "last", "9s", SETTING_FROM_API, &err), STATUS_OK);
	CHECK_EQ(settings_set(&settings, "last", "7s", SETTING_FROM_FILE, &err), STATUS_OK);
	CHECK_EQ(settings_number(&settings, SETTING_LAST), UINT64_C(5000000000));
	CHECK_EQ(settings_set(&settings, "last", "6s", SETTING_FROM_COMMAND_LINE, &err), STATUS_OK);
	CHECK_EQ(settings_number(&settings, SETTING_LAST), UINT64_C(6000000000));
}

static void test_mistakes_are_named(void)
{
	struct error err = ERROR_INIT;

	settings_init(&settings);
	CHECK_EQ(settings_set(&settings, "pool_sise", "4M", SETTING_FROM_API, &err), STATUS_USAGE);
	CHECK(strstr(err.message, "pool_sise") && strstr(err.message, "pool_size"));
	CHECK_EQ(
		settings_set(&settings, "pool_size", "lots", SETTING_FROM_API, &err), STATUS_USAGE);
	CHECK(strstr(err.message, "lots"));
	CHECK_EQ(settings_set(&settings, "pool_size", "1", SETTING_FROM_API, &err), STATUS_USAGE);
	CHECK_EQ(settings_set(&settings, "counters_rate", "0", SETTING_FROM_API, &err),
		STATUS_USAGE);
	CHECK_EQ(settings_set(&settings, "schedule", "1,2,0,1", SETTING_FROM_API, &err),
		STATUS_USAGE);
	CHECK_EQ(
		settings_set(&settings, "schedule", "1,2,3", SETTING_FROM_API, &err), STATUS_USAGE);
	CHECK_EQ(settings_assign(&settings, "no equals", SETTING_FROM_API, &err), STATUS_USAGE);
	CHECK_EQ(settings_assign(&settings, "=x", SETTING_FROM_API, &err), STATUS_USAGE);
	CHECK_EQ(settings_number(&settings, SETTING_POOL_SIZE), 32u << 20);
}

static void test_environment(void)
{
	char *const environment[] = { (char *)"TACHO_LAST_BYTES=2M", (char *)"TACHO_OUTPT=x",
		(char *)"TACHO_SESSION=ours", (char *)"OTHER=1", (char *)"TACHO_FOLLOW=maybe",
		(char *)"TACHO_COUNTERS=off", NULL };
	struct complaints complaints = { 0 };

	settings_init(&settings);
	CHECK_EQ(settings_load_environment(&settings, environment, complain, &complaints), 2);
	CHECK_EQ(complaints.count, 2);
	CHECK(strstr(complaints.last, "TACHO_FOLLOW"));
	CHECK_EQ(settings_number(&settings, SETTING_LAST_BYTES), 2u << 20);
	CHECK_EQ(settings_number(&settings, SETTING_COUNTERS), 0);
	CHECK_EQ(settings.values[SETTING_COUNTERS].source, SETTING_FROM_ENVIRONMENT);
}

static void test_file(void)
{
	char path[] = "/tmp/tacho-settings-XXXXXX";
	struct complaints complaints = { 0 };
	int fd = mkstemp(path);
	static const char text[] = "# a comment\n"
				   "last = 3s   # and another\r\n"
				   "\n"
				   "  output=a b.tacho\n"
				   "nonsense\n"
				   "folow = on";

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, sizeof text - 1), sizeof text - 1);
	close(fd);
	settings_init(&settings);
	CHECK_EQ(settings_load_file(&settings, path, complain, &complaints), STATUS_OK);
	CHECK_EQ(complaints.count, 2);
	CHECK(strstr(complaints.last, "line 6") && strstr(complaints.last, "follow"));
	CHECK_EQ(settings_number(&settings, SETTING_LAST), UINT64_C(3000000000));
	CHECK_STR(settings_text(&settings, SETTING_OUTPUT), "a b.tacho");
	unlink(path);
	CHECK_EQ(settings_load_file(&settings, path, complain, &complaints), STATUS_NOTFOUND);
	CHECK_EQ(settings_load_file(&settings, "/", complain, &complaints), STATUS_IO);
}

static void test_schedule(void)
{
	struct error err = ERROR_INIT;
	uint32_t parts[4];

	CHECK_EQ(settings_parse_schedule("10,2,5,0", parts, &err), STATUS_OK);
	CHECK_EQ(parts[0], 10);
	CHECK_EQ(parts[1], 2);
	CHECK_EQ(parts[2], 5);
	CHECK_EQ(parts[3], 0);
	CHECK_EQ(settings_parse_schedule("1,2,3,4,", parts, &err), STATUS_USAGE);
	CHECK_EQ(settings_parse_schedule("-1,2,3,4", parts, &err), STATUS_USAGE);
	CHECK_EQ(settings_parse_schedule("1,2,9999999999,4", parts, &err), STATUS_USAGE);
}

static void test_nearest(void)
{
	static const char *const words[] = { "record", "report", "export" };

	CHECK_STR(nearest_word("recrd", words, 3), "record");
	CHECK_STR(nearest_word("exprt", words, 3), "export");
	CHECK_STR(nearest_word("x", words, 0), "");
}

static const struct unit_test tests[] = {
	UNIT(test_defaults),
	UNIT(test_stronger_source_wins),
	UNIT(test_mistakes_are_named),
	UNIT(test_environment),
	UNIT(test_file),
	UNIT(test_schedule),
	UNIT(test_nearest),
};

int main(int argc, char **argv)
{
	return unit_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
