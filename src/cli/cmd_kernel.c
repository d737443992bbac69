/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include <compactlab/kernel.h>
#include <string.h>

static const struct cli_option options[] = {{NULL}};

static int fetch(const char *name)
{
	struct cl_kernel kernel;
	struct cl_error err = {0};
	int r = cl_kernel_fetch(name, stderr, &kernel, &err);

	if (r)
		return cli_fail(r, &err);
	printf("%s\n", kernel.path);
	return EXIT_HOLDS;
}

static int path(const char *name)
{
	struct cl_kernel kernel;
	struct cl_error err = {0};
	int r = cl_kernel_find(name, &kernel, &err);

	if (r)
		return cli_fail(r, &err);
	printf("%s\n", kernel.path);
	return EXIT_HOLDS;
}

static int kernel(const struct command *c, int argc, char **argv)
{
	static const char *const actions[] = {"fetch", "list", "path"};
	int status, first = cli_parse(c, argc, argv, NULL, NULL, &status), operands = argc - first;
	const char *action = argv[first < 0 ? 0 : first], *nearest;

	if (first < 0)
		return status;
	if (!operands)
		return cli_usage_error(c, "say what to do: fetch, list or path");
	if (operands > (strcmp(action, "list") ? 2 : 1))
		return cli_usage_error(c, "'%s' is too much", argv[argc - 1]);
	if (!strcmp(action, "list"))
		return cli_list_kernels();
	if (!strcmp(action, "path"))
		return path(operands == 2 ? argv[first + 1] : NULL);
	if (!strcmp(action, "fetch") && operands == 2)
		return fetch(argv[first + 1]);
	if (!strcmp(action, "fetch"))
		return cli_usage_error(c, "say which kernel to fetch; kernel list shows the names");
	nearest = cli_nearest(action, actions, 3);
	return cli_usage_error(c, "there is no action '%s'%s%s%s", action,
			       nearest ? " (did you mean '" : "", nearest ? nearest : "",
			       nearest ? "'?)" : "");
}

const struct command command_kernel = {
	.name = "kernel",
	.operands = "fetch NAME | list | path [NAME]",
	.summary = "fetch, list and find kernels for the guest backend",
	.about =
		"Kernels for the guest backend. They are Debian packages, downloaded and verified\n"
		"through apt, unpacked into the user's cache and never installed.\n"
		"  fetch NAME   download the kernel unless it is there; prints the image's path\n"
		"  list         those in the cache and those that can be fetched\n"
		"  path [NAME]  print the image's path; without NAME, of the newest in the cache",
	.options = options,
	.words = "fetch list path",
	.manual = "compactlab-kernel",
	.run = kernel,
};
