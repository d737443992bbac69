/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include <compactlab/result.h>

enum { OPTION_JSON, OPTION_ALL, OPTION_WITHIN };

static const struct cli_option options[] = {
	[OPTION_JSON] = {"json", NULL, "print the comparison as JSON", NULL},
	[OPTION_ALL] = {"all", NULL, "show every counter that moved, not only the main ones", NULL},
	[OPTION_WITHIN] = {"within", "percent",
			   "say which counters of the second file agree with the first", NULL},
	{NULL},
};

struct request {
	bool json, all;
	unsigned within;
};

static int take(void *arg, unsigned option, const char *value)
{
	struct request *r = arg;
	unsigned long long percent;
	int status;

	switch (option) {
	case OPTION_JSON:
		r->json = true;
		return EXIT_HOLDS;
	case OPTION_ALL:
		r->all = true;
		return EXIT_HOLDS;
	default:
		status = cli_number(&command_compare, "within", value, 1, 1000, &percent);
		if (status == EXIT_HOLDS)
			r->within = (unsigned)percent;
		return status;
	}
}

static int compare(const struct command *c, int argc, char **argv)
{
	struct request request = {0};
	struct cl_table_options table;
	struct cl_error err = {0};
	int status, first = cli_parse(c, argc, argv, take, &request, &status), r;

	if (first < 0)
		return status;
	if (first == argc)
		return cli_usage_error(c, "no file was given");
	if (request.within && request.json)
		return cli_usage_error(c, "--within is a table for people; leave --json out");
	table = (struct cl_table_options){
		.within_percent = request.within,
		.all_counters = request.all,
		.colour = cli_colour(stdout),
		.width = cli_width(stdout),
	};
	r = cl_results_compare(stdout, (const char *const *)argv + first, (unsigned)(argc - first),
			       request.json, &table, &err);
	return r ? cli_fail(r, &err) : EXIT_HOLDS;
}

const struct command command_compare = {
	.name = "compare",
	.operands = "FILE...",
	.summary = "compare files of result records",
	.about = "Compare result records that compactlab run --json wrote. With several files, "
		 "each\n"
		 "is a column and the first is the baseline; with one file, its variants are the\n"
		 "columns. Shown are medians, the range of repeats, the change of the median in\n"
		 "percent, and * where the ranges do not overlap. A measure that was not measured "
		 "is\n"
		 "shown as -. The file - is standard input.",
	.options = options,
	.words = "@file",
	.manual = "compactlab-compare",
	.run = compare,
};
