/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "util/util.h"
#include <compactlab/calibrate.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS_MOST 100

enum { OPTION_ON, OPTION_KERNEL, OPTION_REPEAT, OPTION_OUTPUT, OPTION_JSON, OPTION_QUIET };

static const struct cli_option options[] = {
	[OPTION_ON] = {"on", "BACKEND", "what to measure (default: guest)", "@backend"},
	[OPTION_KERNEL] = {"kernel", "K", "guest: the kernel, by name or image file", "@kernel"},
	[OPTION_REPEAT] = {"repeat", "N", "take the median of N runs (default: 3)", NULL},
	[OPTION_OUTPUT] = {"output", "FILE", "write to FILE, not to standard output", "@file"},
	[OPTION_JSON] = {"json", NULL, "print one JSON object, not a file of costs", NULL},
	[OPTION_QUIET] = {"quiet", NULL, "no progress", NULL},
	{NULL},
};

struct request {
	const struct command *command;
	struct cl_run_options run;
	const char *output;
	bool json, quiet;
};

static int take(void *arg, unsigned option, const char *value)
{
	struct request *r = arg;
	unsigned long long n;
	int status;

	switch (option) {
	case OPTION_ON:
		r->run.backend = value;
		break;
	case OPTION_KERNEL:
		r->run.kernels = value;
		break;
	case OPTION_REPEAT:
		status = cli_number(r->command, "repeat", value, 1, REPEATS_MOST, &n);
		r->run.repeat = (unsigned)n;
		return status;
	case OPTION_OUTPUT:
		r->output = value;
		break;
	case OPTION_JSON:
		r->json = true;
		break;
	default:
		r->quiet = true;
	}
	return EXIT_HOLDS;
}

static volatile sig_atomic_t stop_signal;

static void on_signal(int signal)
{
	stop_signal = signal;
}

static bool stopped(void *arg)
{
	(void)arg;
	return stop_signal != 0;
}

static void show_progress(void *arg, const struct cl_progress *p)
{
	(void)arg;
	if (!stop_signal)
		progress_show(p);
}

/* Collected first: a run that fails leaves a file that is there as it was. */
static int measure(struct request *r, struct cl_error *err)
{
	char *text = NULL;
	size_t length = 0;
	FILE *to = open_memstream(&text, &length);
	int code;

	if (!to)
		return cl_error(err, -ENOMEM, "out of memory");
	cli_catch_signals(on_signal);
	r->run.stopped = stopped;
	r->run.progress = r->quiet ? NULL : show_progress;
	code = cl_calibrate(to, &r->run, r->json, err);
	if (!r->quiet)
		progress_clear();
	if (fclose(to) && !code)
		code = cl_error(err, -ENOMEM, "out of memory");
	if (!code && r->output) {
		code = file_replace(r->output, text, length);
		if (code)
			cl_error_at(err, code, r->output, 0, "cannot write it: %s",
				    strerror(-code));
	} else if (!code) {
		fwrite(text, 1, length, stdout);
	}
	free(text);
	return code;
}

static int calibrate(const struct command *c, int argc, char **argv)
{
	struct request request = {.command = c};
	struct cl_error err = {0};
	int status, first = cli_parse(c, argc, argv, take, &request, &status), code;

	if (first < 0)
		return status;
	if (first != argc)
		return cli_usage_error(c, "'%s' is too much", argv[first]);
	code = measure(&request, &err);
	return code ? cli_fail(code, &err) : EXIT_HOLDS;
}

const struct command command_calibrate = {
	.name = "calibrate",
	.operands = "",
	.summary = "measure what work costs on a kernel, for the model's clock",
	.about = "Run a small scenario on a guest, or with --on host on this machine, and print "
		 "what\n"
		 "a page scanned, migrated, zeroed and so on takes there, as a file for costs = "
		 "FILE in\n"
		 "the [machine] of a scenario. What the counters of a kernel cannot tell apart "
		 "keeps the\n"
		 "model's own cost, and the file says so. The host needs root; 1 GiB of it is "
		 "filled and\n"
		 "all of it compacted.",
	.options = options,
	.manual = "compactlab-calibrate",
	.run = calibrate,
};
