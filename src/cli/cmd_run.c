/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/append.h"
#include <compactlab/run.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SETS_MOST    64
#define REPEATS_MOST 1000
/* Seeds travel through JSON; whole numbers are safe in every reader up to here. */
#define SEED_MOST  9007199254740000ull
#define SCALE_MOST 65536

enum {
	OPTION_ON,
	OPTION_VARIANT,
	OPTION_KERNEL,
	OPTION_SET,
	OPTION_SCALE,
	OPTION_REPEAT,
	OPTION_SEED,
	OPTION_SEEDS,
	OPTION_JOBS,
	OPTION_JSON,
	OPTION_ALL,
	OPTION_POLICY_FILE,
	OPTION_KEEP_LOGS,
	OPTION_CLEAN_LOG,
	OPTION_TRACE,
	OPTION_SNAPSHOTS,
	OPTION_DRY_RUN,
	OPTION_QUIET,
};

static const struct cli_option options[] = {
	[OPTION_ON] = {"on", "BACKEND", "where to run; compactlab list backends shows where",
		       "@backend"},
	[OPTION_VARIANT] = {"variant", "A,B", "only these variants, in this order", NULL},
	[OPTION_KERNEL] = {"kernel", "K,K2",
			   "guest: kernels by name or image file, each a column of its own",
			   "@kernel"},
	[OPTION_SET] = {"set", "SECTION.KEY=VALUE",
			"override a value of the scenario; may be repeated", NULL},
	[OPTION_SCALE] = {"scale", "1/N", "divide the sizes and counts that scale by N", NULL},
	[OPTION_REPEAT] = {"repeat", "N", "run each variant N times, with N seeds", NULL},
	[OPTION_SEED] = {"seed", "S", "the first repeat's seed", NULL},
	[OPTION_SEEDS] = {"seeds", "S,S..S", "run each variant once with each of these seeds",
			  NULL},
	[OPTION_JOBS] = {"jobs", "N", "N runs at the same time, where the backend allows it", NULL},
	[OPTION_JSON] = {"json", "FILE",
			 "append a record of each run to FILE, a line each; with - they go\n"
			 "to standard output and the tables to standard error",
			 "@file"},
	[OPTION_ALL] = {"all", NULL, "show every counter that moved, in every step", NULL},
	[OPTION_POLICY_FILE] = {"policy-file", "FILE.so",
				"model: load a policy, and run it beside each variant of mainline",
				"@file"},
	[OPTION_KEEP_LOGS] = {"keep-logs", "DIR", "guest: keep the console logs in DIR", "@file"},
	[OPTION_CLEAN_LOG] = {"clean-log", NULL,
			      "guest: fail a run whose kernel warned, stalled or reported a bug",
			      NULL},
	[OPTION_TRACE] = {"trace", "FILE",
			  "model, host: write the compaction tracepoints of one run to FILE, in\n"
			  "the text form of tracefs",
			  "@file"},
	[OPTION_SNAPSHOTS] = {"snapshots", "DIR",
			      "where the snapshots go that steps ask for (default: here)", "@file"},
	[OPTION_DRY_RUN] = {"dry-run", NULL, "check the scenario and say what would be done", NULL},
	[OPTION_QUIET] = {"quiet", NULL, "no progress and no tables; checks only when one fails",
			  NULL},
	{NULL},
};

struct request {
	const struct command *command;
	struct cl_run_options run;
	const char *set[SETS_MOST];
	unsigned sets;
	unsigned scale; /* divisor, 0: none */
	uint64_t seed[REPEATS_MOST];
	const char *json, *policy_file;
	bool all, dry_run, quiet;
};

/* --- options --- */

static int take_scale(struct request *r, const char *value)
{
	unsigned long long divisor;
	int status;

	if (strncmp(value, "1/", 2))
		return cli_usage_error(r->command, "--scale: '%s' is not of the form 1/N", value);
	status = cli_number(r->command, "scale 1/N", value + 2, 1, SCALE_MOST, &divisor);
	r->scale = (unsigned)divisor;
	return status;
}

static int take_set(struct request *r, const char *value)
{
	if (r->sets == SETS_MOST)
		return cli_usage_error(r->command, "more than %d --set", SETS_MOST);
	r->set[r->sets++] = value;
	return EXIT_HOLDS;
}

/* One seed, or a run of them "FIRST..LAST". */
static int take_seed_range(struct request *r, char *text)
{
	char *last = strstr(text, "..");
	unsigned long long from, to;
	int status;

	if (last) {
		*last = '\0';
		last += 2;
	}
	status = cli_number(r->command, "seeds", text, 0, SEED_MOST, &from);
	to = from;
	if (!status && last)
		status = cli_number(r->command, "seeds", last, from, SEED_MOST, &to);
	if (status)
		return status;
	if (to - from >= REPEATS_MOST - r->run.seeds_count)
		return cli_usage_error(r->command, "--seeds: more than %d", REPEATS_MOST);
	while (from <= to)
		r->seed[r->run.seeds_count++] = from++;
	return EXIT_HOLDS;
}

static int take_seeds(struct request *r, const char *value)
{
	char *copy = strdup(value), *rest = copy, *item;
	int status = EXIT_HOLDS;

	if (!copy)
		return cli_usage_error(r->command, "no memory for the seeds");
	r->run.seeds = r->seed;
	r->run.seeds_count = 0;
	while (!status && (item = strsep(&rest, ",")))
		status = take_seed_range(r, item);
	free(copy);
	return status;
}

static int take_count(struct request *r, unsigned option, const char *value)
{
	unsigned long long n;
	bool seed = option == OPTION_SEED;
	int status = cli_number(r->command, options[option].name, value, !seed,
				seed ? SEED_MOST : REPEATS_MOST, &n);

	if (status)
		return status;
	if (seed) {
		r->run.seed = n;
		r->run.have_seed = true;
	} else if (option == OPTION_REPEAT) {
		r->run.repeat = (unsigned)n;
	} else {
		r->run.jobs = (unsigned)n;
	}
	return EXIT_HOLDS;
}

static int take(void *arg, unsigned option, const char *value)
{
	struct request *r = arg;

	switch (option) {
	case OPTION_ON:
		r->run.backend = value;
		break;
	case OPTION_VARIANT:
		r->run.variants = value;
		break;
	case OPTION_KERNEL:
		r->run.kernels = value;
		break;
	case OPTION_SET:
		return take_set(r, value);
	case OPTION_SCALE:
		return take_scale(r, value);
	case OPTION_REPEAT:
	case OPTION_SEED:
	case OPTION_JOBS:
		return take_count(r, option, value);
	case OPTION_SEEDS:
		return take_seeds(r, value);
	case OPTION_JSON:
		r->json = value;
		break;
	case OPTION_ALL:
		r->all = true;
		break;
	case OPTION_POLICY_FILE:
		r->policy_file = value;
		break;
	case OPTION_KEEP_LOGS:
		r->run.keep_logs = value;
		break;
	case OPTION_CLEAN_LOG:
		r->run.clean_log = true;
		break;
	case OPTION_TRACE:
		r->run.trace = value;
		break;
	case OPTION_SNAPSHOTS:
		r->run.snapshots = value;
		break;
	case OPTION_DRY_RUN:
		r->dry_run = true;
		break;
	case OPTION_QUIET:
		r->quiet = true;
		break;
	}
	return EXIT_HOLDS;
}

/* --- the scenario --- */

/* Whatever keeps a scenario from being read is wrong input, but for want of memory. */
static int fail_input(int r, const struct cl_error *err)
{
	return cli_fail(r == -ENOMEM || r == -EOPNOTSUPP ? r : -EINVAL, err);
}

static int load(const struct request *r, const char *name, struct cl_scenario **out)
{
	struct cl_error err = {0};
	char *path = NULL;
	int e = cli_scenario_path(name, &path, &err);

	*out = NULL;
	if (!e)
		e = cl_scenario_load(path, out, &err);
	for (unsigned i = 0; i < r->sets && !e; i++)
		e = cl_scenario_set(*out, r->set[i], &err);
	if (!e && r->scale)
		e = cl_scenario_scale(*out, r->scale, &err);
	free(path);
	if (!e)
		return EXIT_HOLDS;
	cl_scenario_free(*out);
	return fail_input(e, &err);
}

static int load_policy(struct request *r, struct cl_scenario *s, struct cl_policy_file **file)
{
	struct cl_error err = {0};
	int e;

	if (!r->policy_file)
		return EXIT_HOLDS;
	if (strcmp(r->run.backend ? r->run.backend : cl_backend_default(), "model"))
		return cli_usage_error(r->command, "--policy-file is for the model");
	e = cl_policy_file_open(r->policy_file, file, &err);
	if (!e)
		e = cl_scenario_add_policy(s, cl_policy_file_name(*file), &err);
	r->run.policy_file = *file;
	return e ? cli_fail(e, &err) : EXIT_HOLDS;
}

/* --- the run --- */

/*
 * The first signal asks the run to end; the default action is back for the second. Every
 * process a backend starts dies with this one, and settings are put back by a watchdog.
 */
static volatile sig_atomic_t stop_signal;

static void on_signal(int signal)
{
	stop_signal = signal;
}

struct session {
	struct append records;
	bool append;
	bool said_stopping;
};

static bool stopped(void *arg)
{
	struct session *s = arg;

	if (stop_signal && !s->said_stopping) {
		progress_clear();
		fprintf(stderr, "compactlab: stopping; the same signal again stops at once\n");
		s->said_stopping = true;
	}
	return stop_signal != 0;
}

static void show_progress(void *arg, const struct cl_progress *p)
{
	(void)arg;
	if (!stop_signal)
		progress_show(p);
}

static int keep_record(void *arg, const char *line)
{
	struct session *s = arg;

	return s->append ? append_line(&s->records, line) : 0;
}

/* Printed when there are any; with --quiet only when one does not hold. */
static int print_checks(FILE *to, const struct request *request, const struct cl_results *results,
			const struct cl_scenario *s)
{
	struct cl_check_summary sum;
	struct cl_error err = {0};
	int r = cl_results_check(NULL, results, s, &sum, &err);
	unsigned bad = sum.fails + sum.unknown, all = bad + sum.holds + sum.not_run;

	if (!r && request->quiet && bad)
		r = cl_results_check(stderr, results, s, &sum, &err);
	if (!r && !request->quiet && all) {
		fputc('\n', to);
		r = cl_results_check(to, results, s, &sum, &err);
	}
	if (r)
		return cli_fail(r, &err);
	return bad ? EXIT_FAILS : EXIT_HOLDS;
}

/* Where tables go: not where records do. */
static FILE *table_file(const struct request *request)
{
	return request->json && !strcmp(request->json, "-") ? stderr : stdout;
}

static int print_table(const struct request *request, const struct cl_results *results,
		       const struct cl_scenario *s)
{
	FILE *to = table_file(request);
	struct cl_table_options table = {
		.all_counters = request->all,
		.colour = cli_colour(to),
		.width = cli_width(to),
	};
	struct cl_error err = {0};
	int r = cl_results_table(to, results, s, &table, &err);

	return r ? cli_fail(r, &err) : EXIT_HOLDS;
}

static int report(const struct request *request, const struct cl_results *results,
		  const struct cl_scenario *s)
{
	int status = request->quiet ? EXIT_HOLDS : print_table(request, results, s);

	return status ? status : print_checks(table_file(request), request, results, s);
}

/* Without any record there is no table; the error that follows tells the first failure only. */
static bool several_failed(int r, const struct cl_results *results)
{
	return r && r != -EOPNOTSUPP && cl_results_notes(results) > 1;
}

static int execute(struct request *request, const struct cl_scenario *s, struct session *session)
{
	struct cl_results *results = NULL;
	struct cl_error err = {0};
	int r, status = EXIT_HOLDS;

	cli_catch_signals(on_signal);
	request->run.arg = session;
	request->run.record = keep_record;
	request->run.stopped = stopped;
	if (!request->quiet)
		request->run.progress = show_progress;
	r = cl_run(s, &request->run, &results, &err);
	if (!request->quiet)
		progress_clear();
	if (results && cl_results_count(results))
		status = report(request, results, s);
	else if (results && several_failed(r, results) && !request->quiet)
		status = print_table(request, results, s);
	if (r)
		status = cli_fail(r, &err);
	cl_results_free(results);
	return status;
}

static int run_scenario(struct request *request, const struct cl_scenario *s)
{
	struct session session = {0};
	struct cl_error err = {0};
	int r, status;

	if (request->dry_run) {
		r = cl_run_describe(stdout, s, &request->run, &err);
		return r ? cli_fail(r, &err) : EXIT_HOLDS;
	}
	if (request->json) {
		r = append_open(&session.records, request->json, &err);
		if (r)
			return cli_fail(r, &err);
		session.append = true;
	}
	status = execute(request, s, &session);
	if (session.append)
		append_close(&session.records);
	return status;
}

static int run(const struct command *c, int argc, char **argv)
{
	struct request request = {.command = c};
	struct cl_policy_file *file = NULL;
	struct cl_scenario *s;
	int status, first = cli_parse(c, argc, argv, take, &request, &status);

	if (first < 0)
		return status;
	if (argc - first != 1)
		return cli_usage_error(c, first == argc ? "no scenario was given"
							: "one scenario at a time");
	if (request.run.seeds && (request.run.repeat || request.run.have_seed))
		return cli_usage_error(c, "--seeds says how many repeats and which seeds: leave "
					  "out --repeat and --seed");
	status = load(&request, argv[first], &s);
	if (status)
		return status;
	status = load_policy(&request, s, &file);
	if (!status)
		status = run_scenario(&request, s);
	cl_policy_file_close(file);
	cl_scenario_free(s);
	return status;
}

const struct command command_run = {
	.name = "run",
	.operands = "FILE|NAME",
	.summary = "run a scenario and print its table and checks",
	.about = "Run a scenario: each variant, on each kernel, as often as asked for. Prints a "
		 "table\n"
		 "with a column a variant, the published figures beside it where there are any, "
		 "and\n"
		 "whether the scenario's checks hold. A NAME without slash and .ini is looked for "
		 "in\n"
		 "./scenarios and among the installed scenarios.\n\n"
		 "Exit status: 0 all checks hold, 1 one does not, 2 wrong usage or scenario, 3 a\n"
		 "run failed or was stopped, 77 the backend is not available here.",
	.options = options,
	.words = "@scenario",
	.manual = "compactlab-run",
	.run = run,
};
