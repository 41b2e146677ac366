// SPDX-License-Identifier: MIT OR Apache-2.0
/* The option parser: every type and spelling, operands, mistakes with their messages. */
#include "cli/cli.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct values {
	bool verbose, follow;
	const char *output, *format;
	uint64_t count, time_ns, bytes;
	double rate;
	struct option_list set;
};

static const struct option_spec specs[] = {
	{ OPTION_FLAG, 'v', "verbose", NULL, offsetof(struct values, verbose), "say more" },
	{ OPTION_FLAG, 'f', "follow", NULL, offsetof(struct values, follow), "follow children" },
	{ OPTION_STRING, 'o', "output", "FILE", offsetof(struct values, output), "file" },
	{ OPTION_STRING, 0, "format", "text|json|markdown", offsetof(struct values, format),
		"how" },
	{ OPTION_U64, 'n', "count", "N", offsetof(struct values, count), "how many" },
	{ OPTION_DURATION, 't', "time", "TIME", offsetof(struct values, time_ns), "how long" },
	{ OPTION_BYTES, 'b', "bytes", "SIZE", offsetof(struct values, bytes), "how much" },
	{ OPTION_DOUBLE, 'r', "rate", "R", offsetof(struct values, rate), "how often" },
	{ OPTION_LIST, 's', "set", "KEY=VALUE", offsetof(struct values, set), "settings" },
	{ 0 },
};

static const struct command command = {
	.name = "test",
	.group = "other",
	.summary = "test the options",
	.usage = "tacho test [options] FILE",
	.options = specs,
};

#define WORDS_MAX 32

static struct values values;
static char *words[WORDS_MAX];
static int count;
static char message[1024];

/* Where stdout or stderr goes while a parse runs. */
static int divert(FILE *stream, FILE *to)
{
	int saved;

	fflush(stream);
	saved = dup(fileno(stream));
	dup2(fileno(to), fileno(stream));
	return saved;
}

static void restore(FILE *stream, int saved)
{
	fflush(stream);
	dup2(saved, fileno(stream));
	close(saved);
}

/* Parses words separated by spaces; what was printed is in `message`. */
static int parse(const char *line, bool stop)
{
	static char text[512];
	struct cli cli = { .program = "tacho", .command = &command, .width = 80 };
	FILE *printed = tmpfile();
	int given = 0, status, out, err;
	size_t length;

	option_list_release(&values.set);
	memset(&values, 0, sizeof values);
	values.follow = true;
	count = -1;
	snprintf(text, sizeof text, "%s", line);
	for (char *at = text, *end; *at && given < WORDS_MAX; at = end) {
		end = at + strcspn(at, " ");
		words[given++] = at;
		if (*end)
			*end++ = '\0';
	}
	out = divert(stdout, printed);
	err = divert(stderr, printed);
	status = options_parse(&cli, specs, &values, given, words, stop, &count);
	restore(stderr, err);
	restore(stdout, out);
	rewind(printed);
	length = fread(message, 1, sizeof message - 1, printed);
	message[length] = '\0';
	fclose(printed);
	return status;
}

static void every_type(void)
{
	CHECK_EQ(parse("--verbose --output x --format json --count 12 --time 1.5s --bytes 4k "
		       "--rate 0.5 --set a=1 --set b=2 file",
			 false),
		0);
	CHECK(values.verbose && values.follow);
	CHECK_STR(values.output, "x");
	CHECK_STR(values.format, "json");
	CHECK_EQ(values.count, 12);
	CHECK_EQ(values.time_ns, 1500000000);
	CHECK_EQ(values.bytes, 4096);
	CHECK_NEAR(values.rate, 0.5, 0);
	CHECK_EQ(values.set.count, 2);
	CHECK_STR(values.set.items[0], "a=1");
	CHECK_STR(values.set.items[1], "b=2");
	CHECK_EQ(count, 1);
	CHECK_STR(words[0], "file");
	CHECK_STR(message, "");
}

static void spellings(void)
{
	CHECK_EQ(parse("--output=a=b --count=7", false), 0);
	CHECK_STR(values.output, "a=b");
	CHECK_EQ(values.count, 7);
	CHECK_EQ(parse("-o x -n5", false), 0);
	CHECK_STR(values.output, "x");
	CHECK_EQ(values.count, 5);
	CHECK_EQ(parse("-vfn5", false), 0);
	CHECK(values.verbose);
	CHECK_EQ(values.count, 5);
	CHECK_EQ(parse("-vo file", false), 0);
	CHECK_STR(values.output, "file");
	CHECK_EQ(parse("--output=", false), 0);
	CHECK_STR(values.output, "");
}

static void negated_flags(void)
{
	CHECK_EQ(parse("--no-follow", false), 0);
	CHECK(!values.follow);
	CHECK_EQ(parse("--no-follow --follow", false), 0);
	CHECK(values.follow);
	CHECK_EQ(parse("--no-output", false), STATUS_USAGE);
}

static void operands(void)
{
	CHECK_EQ(parse("one --count 3 two - -v three", false), 0);
	CHECK_EQ(count, 4);
	CHECK_STR(words[0], "one");
	CHECK_STR(words[1], "two");
	CHECK_STR(words[2], "-");
	CHECK_STR(words[3], "three");
	CHECK_EQ(parse("one -- --count -v", false), 0);
	CHECK_EQ(count, 3);
	CHECK_STR(words[1], "--count");
	CHECK_EQ(values.count, 0);
}

static void stops_at_operand(void)
{
	CHECK_EQ(parse("-v python --count 3 -- x", true), 0);
	CHECK_EQ(count, 5);
	CHECK_STR(words[0], "python");
	CHECK_STR(words[1], "--count");
	CHECK_STR(words[3], "--");
	CHECK_EQ(parse("-v -- python --count 3", true), 0);
	CHECK_EQ(count, 3);
	CHECK_STR(words[0], "python");
	CHECK_EQ(values.count, 0);
}

static void help(void)
{
	CHECK_EQ(parse("--help", false), 1);
	CHECK(strstr(message, "usage: tacho test [options] FILE\n") == message);
	CHECK(strstr(message, "\n  -o, --output FILE     file\n") != NULL);
	CHECK(strstr(message, "\n      --format text|json|markdown\n") != NULL);
	CHECK_EQ(parse("-h", false), 1);
	CHECK_EQ(options_exit(1), EXIT_FINE);
	CHECK_EQ(options_exit(STATUS_USAGE), EXIT_USAGE);
}

static void mistakes(void)
{
	static const char *const cases[][2] = {
		{ "--cuont 3", "tacho: unknown option --cuont; did you mean --count?\n" },
		{ "--outptu=x", "tacho: unknown option --outptu; did you mean --output?\n" },
		{ "--hepl", "tacho: unknown option --hepl; did you mean --help?\n" },
		{ "-x", "tacho: unknown option -x; see 'tacho help test'\n" },
		{ "-vx", "tacho: unknown option -x; see 'tacho help test'\n" },
		{ "--count", "tacho: --count needs a value: N\n" },
		{ "-n", "tacho: -n needs a value: N\n" },
		{ "--count many", "tacho: --count: 'many' is not a whole number\n" },
		{ "-n-1", "tacho: -n: '-1' is not a whole number\n" },
		{ "--rate fast", "tacho: --rate: 'fast' is not a number\n" },
		{ "--time 3parsec",
			"tacho: --time: '3parsec' is not a time such as 1.5s or 250ms\n" },
		{ "--bytes 1.5q", "tacho: --bytes: '1.5q' is not a size such as 64MiB or 4k\n" },
		{ "--verbose=yes", "tacho: --verbose takes no value\n" },
		{ "--format jsno",
			"tacho: --format: 'jsno' is none of text|json|markdown; did you mean "
			"'json'?\n" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CHECK_EQ(parse(cases[i][0], false), STATUS_USAGE);
		CHECK_STR(message, cases[i][1]);
	}
}

/* The tables that the tool is made of hold what help and completion rely on. */
static void command_tables(void)
{
	for (size_t i = 0; commands[i]; i++) {
		if (i)
			CHECK(strcmp(commands[i - 1]->name, commands[i]->name) < 0);
		CHECK(commands[i]->summary && commands[i]->usage && commands[i]->run);
		CHECK(strstr(commands[i]->usage, commands[i]->name) != NULL);
		for (const struct option_spec *spec = commands[i]->options; spec && spec->name;
			spec++) {
			CHECK_EQ(strspn(spec->name, "abcdefghijklmnopqrstuvwxyz0123456789-"),
				strlen(spec->name));
			CHECK(spec->help && spec->help[0]);
			CHECK_EQ(spec->argument == NULL, spec->type == OPTION_FLAG);
			CHECK(strlen(spec->name) < 24);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		UNIT(every_type),
		UNIT(spellings),
		UNIT(negated_flags),
		UNIT(operands),
		UNIT(stops_at_operand),
		UNIT(help),
		UNIT(mistakes),
		UNIT(command_tables),
	};
	int status = unit_main(tests, sizeof tests / sizeof tests[0], argc, argv);

	option_list_release(&values.set);
	return status;
}
