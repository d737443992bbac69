/* SPDX-License-Identifier: MIT */
/* Options of commands: parsing, help, usage errors. */
#include "cli/cli.h"
#include "util/util.h"
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define OPTIONS_MOST 32
#define FIRST_VALUE  256 /* of getopt_long, above every letter */
#define HELP_COLUMN  24

static const struct cli_option help_option = {"help", NULL, "show this and exit", NULL};

/* --- help --- */

/* "  --on BACKEND         text", the text on its own line when there is no room. */
static void print_option(FILE *to, const struct cli_option *o)
{
	char head[64];

	snprintf(head, sizeof(head), "  --%s%s%s", o->name, o->argument ? " " : "",
		 o->argument ? o->argument : "");
	if (strlen(head) + 1 < HELP_COLUMN)
		fprintf(to, "%-*s", HELP_COLUMN, head);
	else
		fprintf(to, "%s\n%*s", head, HELP_COLUMN, "");
	for (const char *p = o->help; *p; p++) {
		fputc(*p, to);
		if (*p == '\n')
			fprintf(to, "%*s", HELP_COLUMN, "");
	}
	fputc('\n', to);
}

void cli_help(FILE *to, const struct command *c)
{
	fprintf(to, "Usage: compactlab %s%s%s%s\n\n%s\n\nOptions:\n", c->name,
		c->options->name ? " [OPTION]..." : "", *c->operands ? " " : "", c->operands,
		c->about);
	for (const struct cli_option *o = c->options; o->name; o++)
		print_option(to, o);
	print_option(to, &help_option);
	fprintf(to, "\nManual: man %s\n", c->manual);
}

void cli_overview(FILE *to)
{
	const struct command *c;

	fprintf(to, "Usage: compactlab COMMAND [OPTION]... [OPERAND]...\n\n"
		    "A laboratory for Linux memory compaction and contiguous memory.\n\n"
		    "Commands:\n");
	for (unsigned i = 0; (c = command_get(i)); i++)
		if (c->summary)
			fprintf(to, "  %-10s  %s\n", c->name, c->summary);
	fprintf(to, "\nOptions:\n"
		    "  --help      show this and exit\n"
		    "  --version   show the version and exit\n\n"
		    "Exit status: 0 done and all checks hold, 1 a check does not hold, 2 wrong\n"
		    "usage or input, 3 tried and failed, 77 not available here.\n\n"
		    "compactlab COMMAND --help tells more, and so does man compactlab.\n");
}

/* --- errors --- */

int cli_usage_error(const struct command *c, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "compactlab%s%s: ", c ? " " : "", c ? c->name : "");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry: compactlab %s%s--help\n", c ? c->name : "", c ? " " : "");
	return EXIT_INPUT;
}

int cli_fail(int result, const struct cl_error *err)
{
	char text[2048];

	fflush(stdout); /* so that the two are in order where they go to one place */
	fprintf(stderr, "compactlab: %s\n", cl_error_text(err, text, sizeof(text)));
	switch (result) {
	case -EINVAL:
		return EXIT_INPUT;
	case -EOPNOTSUPP:
		return EXIT_UNAVAILABLE;
	default:
		return EXIT_RUN;
	}
}

const char *cli_nearest(const char *word, const char *const *words, unsigned count)
{
	unsigned best = strlen(word) < 6 ? 2 : 3;
	const char *nearest = NULL;

	for (unsigned i = 0; i < count; i++) {
		unsigned d = edit_distance(word, words[i]);

		if (d < best) {
			best = d;
			nearest = words[i];
		}
	}
	return nearest;
}

/* --- parsing --- */

static int unknown_option(const struct command *c, const char *text)
{
	const char *names[OPTIONS_MOST + 1], *nearest;
	unsigned count = 0;
	char *name = strndup(text + strspn(text, "-"), strcspn(text + strspn(text, "-"), "="));
	int status;

	for (const struct cli_option *o = c->options; o->name; o++)
		names[count++] = o->name;
	names[count++] = help_option.name;
	nearest = name ? cli_nearest(name, names, count) : NULL;
	if (nearest)
		status = cli_usage_error(c, "there is no option '%s' (did you mean '--%s'?)", text,
					 nearest);
	else
		status = cli_usage_error(c, "there is no option '%s'", text);
	free(name);
	return status;
}

/* What getopt_long() found wrong, in our words. */
static int wrong_option(const struct command *c, int kind, char **argv)
{
	char letter[3];

	if (kind == ':')
		return cli_usage_error(c, "option '%s' needs a value", argv[optind - 1]);
	if (optopt >= FIRST_VALUE || optopt == 'h')
		return cli_usage_error(c, "option '--%s' takes no value",
				       optopt == 'h' ? help_option.name
						     : c->options[optopt - FIRST_VALUE].name);
	/* A letter: of a word of several letters, optind is not yet past it. */
	snprintf(letter, sizeof(letter), "-%c", optopt);
	return unknown_option(c, optopt ? letter : argv[optind - 1]);
}

static unsigned long_options(const struct command *c, struct option *out)
{
	unsigned count = 0;

	for (const struct cli_option *o = c->options; o->name && count < OPTIONS_MOST - 2; o++) {
		out[count] =
			(struct option){.name = o->name,
					.has_arg = o->argument ? required_argument : no_argument,
					.val = (int)(FIRST_VALUE + count)};
		count++;
	}
	out[count++] = (struct option){.name = "help", .val = 'h'};
	out[count] = (struct option){0};
	return count;
}

int cli_parse(const struct command *c, int argc, char **argv,
	      int (*take)(void *arg, unsigned option, const char *value), void *arg, int *status)
{
	struct option options[OPTIONS_MOST];
	int kind;

	long_options(c, options);
	opterr = 0;
	optind = 1;
	while ((kind = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (kind == 'h') {
			cli_help(stdout, c);
			*status = EXIT_HOLDS;
			return -1;
		}
		if (kind < FIRST_VALUE) {
			*status = wrong_option(c, kind, argv);
			return -1;
		}
		*status = take ? take(arg, (unsigned)(kind - FIRST_VALUE), optarg) : EXIT_HOLDS;
		if (*status)
			return -1;
	}
	return optind;
}

int cli_number(const struct command *c, const char *option, const char *value,
	       unsigned long long least, unsigned long long most, unsigned long long *out)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 10);
	/* strtoull() alone would take signs and blanks. */
	if (*value >= '0' && *value <= '9' && !*end && !errno && *out >= least && *out <= most)
		return EXIT_HOLDS;
	return cli_usage_error(c, "--%s: '%s' is no whole number from %llu to %llu", option, value,
			       least, most);
}

/* --- the terminal --- */

unsigned cli_width(FILE *to)
{
	struct winsize size;

	if (!isatty(fileno(to)) || ioctl(fileno(to), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

bool cli_can_rewrite(FILE *to)
{
	const char *term = getenv("TERM");

	return isatty(fileno(to)) && term && strcmp(term, "dumb") != 0;
}

bool cli_colour(FILE *to)
{
	const char *no = getenv("NO_COLOR");

	return cli_can_rewrite(to) && !(no && *no);
}
