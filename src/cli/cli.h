/* SPDX-License-Identifier: MIT */
#ifndef CLI_CLI_H
#define CLI_CLI_H
/*
 * The program's commands. The CLI prints and decides exit statuses; the library does
 * neither. It includes the public headers only, and util/util.h, which is neither of
 * the laboratory nor of Linux.
 *
 * One table of commands (main.c) and one table of options a command. Parsing, --help
 * and the shell completion are made from them.
 */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stdio.h>

enum exit_status {
	EXIT_HOLDS = 0,        /* did what was asked; all checks hold */
	EXIT_FAILS = 1,        /* a check does not hold */
	EXIT_INPUT = 2,        /* wrong usage or input */
	EXIT_RUN = 3,          /* it was tried and did not work, or was stopped */
	EXIT_UNAVAILABLE = 77, /* not available here; the message says what is missing */
};

/* What completes a word: literal words, "@file", "@scenario", "@backend", "@kernel", "@command". */
struct cli_option {
	const char *name;
	const char *argument; /* placeholder, NULL: takes none */
	const char *help;
	const char *words;
};

struct command {
	const char *name;
	const char *operands; /* as in the usage line, or "" */
	const char *summary;  /* one line, for the list of commands; NULL: not for people */
	const char *about;    /* paragraphs for --help */
	const struct cli_option *options; /* ends with a NULL name; --help is everywhere */
	const char *words;                /* what completes an operand, or NULL */
	const char *manual;               /* page */
	int (*run)(const struct command *c, int argc, char **argv); /* argv[0]: command */
};

extern const struct command command_run, command_compare, command_list, command_kernel,
	command_populate, command_explain, command_collect, command_snapshot, command_calibrate,
	command_help, command_complete;
const struct command *command_get(unsigned i); /* NULL behind the last one */
const struct command *command_find(const char *name);
int command_unknown(const char *name); /* says so, with a suggestion; EXIT_INPUT */

/*
 * Parse the options of a command; `take` gets the index of each in the command's
 * table and its value. Returns the index of the first operand, or -1 when the
 * command is over, with the exit status in *status (--help, wrong usage).
 */
int cli_parse(const struct command *c, int argc, char **argv,
	      int (*take)(void *arg, unsigned option, const char *value), void *arg, int *status);
/* The value of an option that takes a whole number; EXIT_HOLDS, or EXIT_INPUT when it is none. */
int cli_number(const struct command *c, const char *option, const char *value,
	       unsigned long long least, unsigned long long most, unsigned long long *out);
/* "compactlab: ..." on standard error and EXIT_INPUT, pointing to the command's --help. */
int cli_usage_error(const struct command *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void cli_help(FILE *to, const struct command *c);
void cli_overview(FILE *to); /* the list of commands */

/* Print the error and turn a library's result into an exit status. */
int cli_fail(int result, const struct cl_error *err);

/* The nearest of `count` words to a misspelt one; NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *words, unsigned count);

/* Columns of the terminal behind `to`; 0 when it is none. */
unsigned cli_width(FILE *to);
/* A terminal on which a line can be rewritten: not one that says it knows no control sequences. */
bool cli_can_rewrite(FILE *to);
/* Colour only on such a terminal, and never with NO_COLOR set. */
bool cli_colour(FILE *to);

/*
 * Path of a scenario: a name without slash and .ini is looked for in ./scenarios and
 * in the installed ones. The caller frees *path. -EINVAL with a suggestion.
 */
int cli_scenario_path(const char *name, char **path, struct cl_error *err);
/* Call `each` with name and path of every scenario that has a name. */
void cli_scenarios(void (*each)(void *arg, const char *name, const char *path), void *arg);

/*
 * The first SIGINT, SIGTERM or SIGHUP goes to `handler`, the default action is back for the
 * second. SIGHUP stays ignored where the caller had it ignored.
 */
void cli_catch_signals(void (*handler)(int signal));

int cli_list_kernels(void);

/* One line of status on standard error, rewritten in place; nothing where that cannot be done. */
struct cl_progress;
void progress_show(const struct cl_progress *p);
void progress_clear(void);

#endif
