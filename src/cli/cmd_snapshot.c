/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include <compactlab/snapshot.h>

enum { OPTION_SHOW, OPTION_JSON };

static const struct cli_option options[] = {
	[OPTION_SHOW] = {"show", NULL, "print what the snapshot FILE says; takes none", NULL},
	[OPTION_JSON] = {"json", NULL, "with --show: as one JSON object", NULL},
	{NULL},
};

struct request {
	bool show, json;
};

static int take(void *arg, unsigned option, const char *value)
{
	struct request *r = arg;

	(void)value;
	*(option == OPTION_SHOW ? &r->show : &r->json) = true;
	return EXIT_HOLDS;
}

static int snapshot(const struct command *c, int argc, char **argv)
{
	struct request request = {0};
	struct cl_error err = {0};
	int status, first = cli_parse(c, argc, argv, take, &request, &status), code;

	if (first < 0)
		return status;
	if (argc - first != 1)
		return cli_usage_error(c, "name one file");
	if (request.json && !request.show)
		return cli_usage_error(c, "--json is for --show");
	code = request.show ? cl_snapshot_show(stdout, argv[first], request.json, &err)
			    : cl_snapshot_take(argv[first], &err);
	if (code)
		return cli_fail(code, &err);
	if (!request.show)
		printf("%s\n", argv[first]);
	return EXIT_HOLDS;
}

const struct command command_snapshot = {
	.name = "snapshot",
	.operands = "FILE",
	.summary = "take the physical layout of this machine's memory into a file",
	.about = "Write what each page of this machine is, its zones, free lists and settings to "
		 "FILE,\n"
		 "such as machine.snapshot.gz. A scenario with snapshot = FILE in its [machine] "
		 "starts\n"
		 "from there on the model. No contents of memory are in it. Root is required to "
		 "take\n"
		 "one, but not to show it.",
	.options = options,
	.words = "@file",
	.manual = "compactlab-snapshot",
	.run = snapshot,
};
