/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include <compactlab/kernel.h>
#include <string.h>

enum {
	OPTION_SOURCE,
	OPTION_CONFIG,
	OPTION_NAME,
	OPTION_NO_POLICIES,
	OPTION_DEBUG,
	OPTION_ONLY,
	OPTION_JOBS,
};

static const struct cli_option options[] = {
	[OPTION_SOURCE] = {"source", "DIR|FILE",
			   "build: Linux sources of your own, a folder or a tar archive", "@file"},
	[OPTION_CONFIG] = {"config", "FILE", "build: CONFIG_ lines that go over ours", "@file"},
	[OPTION_NAME] = {"name", "NAME",
			 "build: what the kernel will be called (default: made from\n"
			 "the version or the folder)",
			 NULL},
	[OPTION_NO_POLICIES] = {"no-policies", NULL, "build: the sources as they are", NULL},
	[OPTION_DEBUG] = {"debug", NULL, "build: with lock checking and VM assertions", NULL},
	[OPTION_ONLY] = {"only", "TARGET", "build: no image, only this target of make, such as mm/",
			 NULL},
	[OPTION_JOBS] = {"jobs", "N", "build: compile so many files at a time", NULL},
	{NULL},
};

struct request {
	const struct command *command;
	struct cl_kernel_build build;
	bool any; /* an option was given */
};

static int take(void *arg, unsigned option, const char *value)
{
	struct request *r = arg;
	unsigned long long n;
	int status;

	r->any = true;
	switch (option) {
	case OPTION_SOURCE:
		r->build.source = value;
		break;
	case OPTION_CONFIG:
		r->build.config = value;
		break;
	case OPTION_NAME:
		r->build.name = value;
		break;
	case OPTION_NO_POLICIES:
		r->build.no_policies = 1;
		break;
	case OPTION_DEBUG:
		r->build.debug = 1;
		break;
	case OPTION_ONLY:
		r->build.only = value;
		break;
	case OPTION_JOBS:
		status = cli_number(r->command, "jobs", value, 1, 1024, &n);
		if (status)
			return status;
		r->build.jobs = (unsigned)n;
		break;
	}
	return EXIT_HOLDS;
}

/* Print the path of the kernel that a call has found or made. */
static int print_path(int r, const struct cl_kernel *kernel, const struct cl_error *err)
{
	if (r)
		return cli_fail(r, err);
	if (kernel->path[0])
		printf("%s\n", kernel->path);
	return EXIT_HOLDS;
}

static int fetch(const char *name)
{
	struct cl_kernel kernel;
	struct cl_error err = {0};
	int r = cl_kernel_fetch(name, stderr, &kernel, &err);

	return print_path(r, &kernel, &err);
}

static int path(const char *name)
{
	struct cl_kernel kernel;
	struct cl_error err = {0};
	int r = cl_kernel_find(name, &kernel, &err);

	return print_path(r, &kernel, &err);
}

static int build(struct request *q, const char *version)
{
	struct cl_kernel kernel;
	struct cl_error err = {0};
	int r;

	if (version && q->build.source)
		return cli_usage_error(q->command,
				       "a version and --source are two sources for one kernel");
	q->build.version = version;
	r = cl_kernel_build(&q->build, stderr, &kernel, &err);
	return print_path(r, &kernel, &err);
}

static int kernel(const struct command *c, int argc, char **argv)
{
	static const char *const actions[] = {"build", "fetch", "list", "path"};
	struct request q = {.command = c};
	int status, first = cli_parse(c, argc, argv, take, &q, &status), operands = argc - first;
	const char *action = argv[first < 0 ? 0 : first], *nearest;

	if (first < 0)
		return status;
	if (!operands)
		return cli_usage_error(c, "say what to do: build, fetch, list or path");
	if (operands > (strcmp(action, "list") ? 2 : 1))
		return cli_usage_error(c, "'%s' is too much", argv[argc - 1]);
	if (q.any && strcmp(action, "build"))
		return cli_usage_error(c, "the options are those of kernel build");
	if (!strcmp(action, "build"))
		return build(&q, operands == 2 ? argv[first + 1] : NULL);
	if (!strcmp(action, "list"))
		return cli_list_kernels();
	if (!strcmp(action, "path"))
		return path(operands == 2 ? argv[first + 1] : NULL);
	if (!strcmp(action, "fetch") && operands == 2)
		return fetch(argv[first + 1]);
	if (!strcmp(action, "fetch"))
		return cli_usage_error(c, "say which kernel to fetch; kernel list shows the names");
	nearest = cli_nearest(action, actions, 4);
	return cli_usage_error(c, "there is no action '%s'%s%s%s", action,
			       nearest ? " (did you mean '" : "", nearest ? nearest : "",
			       nearest ? "'?)" : "");
}

const struct command command_kernel = {
	.name = "kernel",
	.operands = "build [VERSION] | fetch NAME | list | path [NAME]",
	.summary = "build, fetch, list and find kernels for the guest backend",
	.about = "Kernels for the guest backend. Ready-made ones are Debian packages, downloaded "
		 "and\n"
		 "verified through apt, unpacked into the user's cache and never installed.\n"
		 "  build [VERSION]  build a small one with the policies in it, from Debian's "
		 "sources\n"
		 "                   or, with --source, from your own; prints the image's path\n"
		 "  fetch NAME       download the kernel unless it is there; prints the image's "
		 "path\n"
		 "  list             those in the cache and those that can be fetched\n"
		 "  path [NAME]      print the image's path; without NAME, of the newest in the "
		 "cache",
	.options = options,
	.words = "build fetch list path",
	.manual = "compactlab-kernel",
	.run = kernel,
};
