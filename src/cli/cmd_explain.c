/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include <compactlab/explain.h>
#include <errno.h>
#include <stdlib.h>

enum {
	OPTION_LIVE,
	OPTION_SECONDS,
	OPTION_WHAT_IF,
	OPTION_JSON,
	OPTION_MARKDOWN,
	OPTION_RAW,
	OPTION_RULES
};

static const struct cli_option options[] = {
	[OPTION_LIVE] = {"live", NULL, "read the running machine", NULL},
	[OPTION_SECONDS] = {"seconds", "N",
			    "with --live: measure rates over N seconds (default 10)", NULL},
	[OPTION_WHAT_IF] = {"what-if", NULL,
			    "try each remedy on the model, in the state that\npagetypeinfo and "
			    "zoneinfo show",
			    NULL},
	[OPTION_JSON] = {"json", NULL, "print one JSON object", NULL},
	[OPTION_MARKDOWN] = {"markdown", NULL, "print Markdown, for a ticket", NULL},
	[OPTION_RAW] = {"raw", NULL, "quote lines of the input, which may name\nhosts and users",
			NULL},
	[OPTION_RULES] = {"rules", NULL, "print the rules and remedies and exit", NULL},
	{NULL},
};

struct request {
	bool live, raw, rules, what_if;
	unsigned seconds;
	enum cl_explain_format format;
};

static int take(void *arg, unsigned option, const char *value)
{
	struct request *r = arg;
	int status = EXIT_HOLDS;
	unsigned long long n;

	switch (option) {
	case OPTION_LIVE:
		r->live = true;
		break;
	case OPTION_SECONDS:
		status = cli_number(&command_explain, "seconds", value, 1, 3600, &n);
		r->seconds = (unsigned)n;
		break;
	case OPTION_WHAT_IF:
		r->what_if = true;
		break;
	case OPTION_JSON:
		r->format = CL_EXPLAIN_JSON;
		break;
	case OPTION_MARKDOWN:
		r->format = CL_EXPLAIN_MARKDOWN;
		break;
	case OPTION_RAW:
		r->raw = true;
		break;
	default:
		r->rules = true;
	}
	return status;
}

static int add(struct cl_explanation *x, const char *path, struct cl_error *err)
{
	struct cl_error not_one;
	int code = cl_explain_add_snapshot(x, path, &not_one);

	return code == -EINVAL ? cl_explain_add(x, path, err) : code;
}

static int add_all(struct cl_explanation *x, const struct request *r, int count, char **path,
		   struct cl_error *err)
{
	int code = 0;

	for (int i = 0; i < count && !code; i++)
		code = add(x, path[i], err);
	if (!code && r->live)
		code = cl_explain_live(x, r->seconds, err);
	if (!code)
		code = cl_explain_finish(x, err);
	return code || !r->what_if ? code : cl_explain_what_if(x, err);
}

static int explain(const struct command *c, int argc, char **argv)
{
	struct request r = {.seconds = 10};
	struct cl_explanation *x;
	struct cl_error err = {0};
	int status, first = cli_parse(c, argc, argv, take, &r, &status), code;
	unsigned width;

	if (first < 0)
		return status;
	if (r.rules) {
		cl_explain_rules(stdout);
		return EXIT_HOLDS;
	}
	if (first == argc && !r.live)
		return cli_usage_error(c,
				       "no evidence was given (a file, a directory, -, or --live)");
	code = cl_explain_new(r.raw, &x);
	if (code)
		return cli_fail(code, &err);
	code = add_all(x, &r, argc - first, argv + first, &err);
	if (!code) {
		width = cli_width(stdout);
		code = cl_explain_print(stdout, x, r.format, width > 30 ? width - 1 : 80,
					cli_colour(stdout));
		if (code)
			cl_error(&err, code, "printing the explanation failed");
	}
	cl_explain_free(x);
	return code ? cli_fail(code, &err) : EXIT_HOLDS;
}

const struct command command_explain = {
	.name = "explain",
	.operands = "[EVIDENCE]...",
	.summary = "say why memory could not be made contiguous, and what helps",
	.about =
		"Read evidence and say in one sentence why memory could not be made contiguous,\n"
		"with the arithmetic, what speaks for and against, and what would help.\n\n"
		"EVIDENCE is any mix of files, directories (a copy of /proc and /sys, a "
		"sosreport),\n"
		"an archive of compactlab collect, a snapshot, and - for standard input: kernel "
		"logs,\n"
		"buddyinfo, pagetypeinfo, zoneinfo, vmstat (two snapshots give rates), meminfo,\n"
		"slabinfo, extfrag_index, sysctl -a, compaction tracepoints, perf report, sar -B.\n"
		"What a file is, is decided by what it contains.\n\n"
		"Host and user names of the input are not printed unless --raw is given.",
	.options = options,
	.words = "@file",
	.manual = "compactlab-explain",
	.run = explain,
};
