/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include <compactlab/explain.h>
#include <stdlib.h>

enum { OPTION_SECONDS };

static const struct cli_option options[] = {
	[OPTION_SECONDS] = {"seconds", "N", "time between the two snapshots (default 10)", NULL},
	{NULL},
};

static int take(void *arg, unsigned option, const char *value)
{
	unsigned *seconds = arg;
	unsigned long long n;
	int status = cli_number(&command_collect, options[option].name, value, 1, 3600, &n);

	*seconds = (unsigned)n;
	return status;
}

static int collect(const struct command *c, int argc, char **argv)
{
	unsigned seconds = 10;
	struct cl_error err = {0};
	int status, first = cli_parse(c, argc, argv, take, &seconds, &status), code;
	char *left_out = NULL;

	if (first < 0)
		return status;
	if (argc - first != 1)
		return cli_usage_error(c, "name one file to write");
	code = cl_collect(argv[first], seconds, &left_out, &err);
	if (left_out)
		fprintf(stderr, "compactlab: left out (root may read more):\n%s", left_out);
	free(left_out);
	if (code)
		return cli_fail(code, &err);
	printf("%s\n", argv[first]);
	return EXIT_HOLDS;
}

const struct command command_collect = {
	.name = "collect",
	.operands = "FILE.tar",
	.summary = "gather the evidence that explain reads into one archive",
	.about = "Write what compactlab explain can use of this machine to one tar archive: the\n"
		 "kernel log, files of /proc and /sys about memory, and /proc/vmstat twice. Root "
		 "is\n"
		 "not required for most; what could not be read is named. The archive may be read\n"
		 "by its owner only: a kernel log can hold names. An existing file is not touched.",
	.options = options,
	.words = "@file",
	.manual = "compactlab-collect",
	.run = collect,
};
