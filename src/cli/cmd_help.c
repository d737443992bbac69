/* SPDX-License-Identifier: MIT */
/* compactlab help, and the words the shell's completion asks for. */
#include "cli/cli.h"
#include <compactlab/kernel.h>
#include <compactlab/run.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {{NULL}};

static int help(const struct command *c, int argc, char **argv)
{
	const struct command *about;
	int status, first = cli_parse(c, argc, argv, NULL, NULL, &status);

	if (first < 0)
		return status;
	if (first == argc) {
		cli_overview(stdout);
		return EXIT_HOLDS;
	}
	about = command_find(argv[first]);
	if (!about || !about->summary)
		return command_unknown(argv[first]);
	cli_help(stdout, about);
	return EXIT_HOLDS;
}

const struct command command_help = {
	.name = "help",
	.operands = "[COMMAND]",
	.summary = "show help on a command",
	.about = "Show the list of commands, or the help of one of them.",
	.options = options,
	.words = "@command",
	.manual = "compactlab",
	.run = help,
};

/* --- completion --- */

static void print_name(void *arg, const char *name, const char *path)
{
	(void)arg;
	(void)path;
	printf("%s\n", name);
}

static void print_kernels(void)
{
	struct cl_kernel_entry *entry;
	unsigned count;

	if (cl_kernel_list(&entry, &count, NULL))
		return;
	for (unsigned i = 0; i < count; i++)
		printf("%s\n", entry[i].kernel.name);
	free(entry);
}

static void print_commands(void)
{
	const struct command *c;

	for (unsigned i = 0; (c = command_get(i)); i++)
		if (c->summary)
			printf("%s\n", c->name);
}

static void print_words(const char *words)
{
	if (!words)
		return;
	if (!strcmp(words, "@file")) {
		printf("@file\n");
	} else if (!strcmp(words, "@scenario")) {
		cli_scenarios(print_name, NULL);
		printf("@file\n");
	} else if (!strcmp(words, "@backend")) {
		for (unsigned i = 0; cl_backend_get(i); i++)
			printf("%s\n", cl_backend_get(i)->name);
	} else if (!strcmp(words, "@kernel")) {
		print_kernels();
		printf("@file\n");
	} else if (!strcmp(words, "@command")) {
		print_commands();
	} else {
		for (const char *p = words; *p; p++)
			putchar(*p == ' ' ? '\n' : *p);
		putchar('\n');
	}
}

static const struct cli_option *option_find(const struct command *c, const char *word)
{
	if (strncmp(word, "--", 2))
		return NULL;
	for (const struct cli_option *o = c->options; o->name; o++)
		if (!strcmp(o->name, word + 2))
			return o;
	return NULL;
}

/* complete [COMMAND [PREVIOUS-WORD]]: one candidate a line, "@file" for file names. */
static int complete(const struct command *c, int argc, char **argv)
{
	const struct command *about = argc > 1 ? command_find(argv[1]) : NULL;
	const struct cli_option *previous = about && argc > 2 ? option_find(about, argv[2]) : NULL;

	(void)c;
	if (argc < 2) {
		print_commands();
		printf("--help\n--version\n");
		return EXIT_HOLDS;
	}
	if (!about)
		return EXIT_INPUT;
	if (previous && previous->argument) {
		print_words(previous->words);
		return EXIT_HOLDS;
	}
	for (const struct cli_option *o = about->options; o->name; o++)
		printf("--%s\n", o->name);
	printf("--help\n");
	print_words(about->words);
	return EXIT_HOLDS;
}

const struct command command_complete = {
	.name = "complete",
	.operands = "[COMMAND [WORD]]",
	.about = "Print the words that may follow, for the shell's completion.",
	.options = options,
	.manual = "compactlab",
	.run = complete,
};
