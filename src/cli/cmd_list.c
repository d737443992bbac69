/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include <compactlab/kernel.h>
#include <compactlab/run.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LISTS "policies scenarios steps counters kernels backends"

static const struct cli_option options[] = {{NULL}};

static int list_policies(void)
{
	struct cl_policy p;

	for (unsigned i = 0; cl_policy_get(i, &p); i++) {
		printf("%-22s  %s\n", p.name, p.help);
		if (p.thread)
			printf("%-22s  (%s)\n", "", p.thread);
	}
	return EXIT_HOLDS;
}

static int list_backends(void)
{
	const struct cl_choice *b;

	for (unsigned i = 0; (b = cl_backend_get(i)); i++)
		printf("%-8s  %s%s\n", b->name, b->help,
		       strcmp(b->name, cl_backend_default()) ? "" : " (default)");
	return EXIT_HOLDS;
}

static void print_scenario(void *arg, const char *name, const char *path)
{
	struct cl_scenario *s;
	struct cl_error err;
	char text[2048];

	(void)arg;
	if (cl_scenario_load(path, &s, &err)) {
		printf("%-24s  cannot be used: %s\n", name,
		       cl_error_text(&err, text, sizeof(text)));
		return;
	}
	printf("%-24s  %s\n", name, cl_scenario_title(s));
	cl_scenario_free(s);
}

static int list_scenarios(void)
{
	cli_scenarios(print_scenario, NULL);
	return EXIT_HOLDS;
}

static int list_steps(void)
{
	cl_option_print(stdout, CL_OPTIONS_TEXT);
	return EXIT_HOLDS;
}

static void print_counters(const char *head, bool ours, bool explained)
{
	const struct cl_counter *c;

	printf("%s\n", head);
	for (unsigned i = 0; (c = cl_counter_get(i)); i++) {
		if (c->ours != ours || !*c->help == explained)
			continue;
		if (explained)
			printf("  %-30s  %s\n", c->name, c->help);
		else
			printf("  %s\n", c->name);
	}
}

static int list_counters(void)
{
	print_counters("Measured by compactlab:", true, true);
	print_counters("\nCounters of /proc/vmstat, as the change during the step:", false, true);
	print_counters("\nFurther counters of /proc/vmstat:", false, false);
	return EXIT_HOLDS;
}

int cli_list_kernels(void)
{
	struct cl_kernel_entry *entry;
	struct cl_error err = {0};
	unsigned count;
	int r = cl_kernel_list(&entry, &count, &err);

	if (r)
		return cli_fail(r, &err);
	for (unsigned i = 0; i < count; i++)
		printf("%-14s  %-32s  %s\n", entry[i].kernel.name,
		       entry[i].cached ? entry[i].kernel.release : "-",
		       entry[i].cached ? entry[i].kernel.path : "not fetched");
	free(entry);
	return EXIT_HOLDS;
}

static const struct {
	const char *name;
	int (*list)(void);
} lists[] = {
	{"policies", list_policies}, {"scenarios", list_scenarios}, {"steps", list_steps},
	{"counters", list_counters}, {"kernels", cli_list_kernels}, {"backends", list_backends},
};

#define LIST_COUNT (sizeof(lists) / sizeof(lists[0]))

static int list(const struct command *c, int argc, char **argv)
{
	const char *names[LIST_COUNT], *nearest;
	int status, first = cli_parse(c, argc, argv, NULL, NULL, &status);

	if (first < 0)
		return status;
	if (argc - first != 1)
		return cli_usage_error(c, "say what to list: " LISTS);
	for (unsigned i = 0; i < LIST_COUNT; i++) {
		if (!strcmp(lists[i].name, argv[first]))
			return lists[i].list();
		names[i] = lists[i].name;
	}
	nearest = cli_nearest(argv[first], names, LIST_COUNT);
	if (nearest)
		return cli_usage_error(c, "there is no list '%s' (did you mean '%s'?)", argv[first],
				       nearest);
	return cli_usage_error(c, "there is no list '%s', only " LISTS, argv[first]);
}

const struct command command_list = {
	.name = "list",
	.operands = "WHAT",
	.summary = "list policies, scenarios, steps, counters, kernels or backends",
	.about = "List what there is to choose from. WHAT is one of\n"
		 "  policies   kernel changes a variant may ask for\n"
		 "  scenarios  files that run finds by name\n"
		 "  steps      every section and key of a scenario file\n"
		 "  counters   what a step measures\n"
		 "  kernels    images for the guest backend\n"
		 "  backends   where a scenario can run",
	.options = options,
	.words = LISTS,
	.manual = "compactlab-list",
	.run = list,
};
