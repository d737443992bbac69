/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "util/util.h"
#include <compactlab/populate.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	OPTION_SIZE,
	OPTION_NODE,
	OPTION_BIND,
	OPTION_FALLBACK,
	OPTION_THREADS,
	OPTION_TIMEOUT,
	OPTION_MIN_HUGE,
	OPTION_COLLAPSE,
	OPTION_HOLD,
	OPTION_JSON,
	OPTION_QUIET,
};

static const struct cli_option options[] = {
	[OPTION_SIZE] = {"size", "SIZE", "how much memory, such as 64G", NULL},
	[OPTION_NODE] = {"node", "N", "prefer this node (default: the policy in force)", NULL},
	[OPTION_BIND] = {"bind", NULL, "only from --node", NULL},
	[OPTION_FALLBACK] = {"fallback", "KIND",
			     "when the node has no huge page: remote (another node's, the\n"
			     "default), base (base pages) or smaller (smaller folios)",
			     "remote base smaller"},
	[OPTION_THREADS] = {"threads", "N", "threads that fill, on the node's CPUs (default 1)",
			    NULL},
	[OPTION_TIMEOUT] = {"timeout", "TIME", "stop after this time, such as 30s", NULL},
	[OPTION_MIN_HUGE] = {"min-huge", "PERCENT", "fail unless so much is in huge pages", NULL},
	[OPTION_COLLAPSE] = {"collapse", NULL, "turn base pages into huge pages afterwards", NULL},
	[OPTION_HOLD] = {"hold", NULL, "keep the memory until interrupted", NULL},
	[OPTION_JSON] = {"json", NULL, "print the receipt as one JSON object", NULL},
	[OPTION_QUIET] = {"quiet", NULL, "no progress", NULL},
	{NULL},
};

struct request {
	const struct command *command;
	struct cl_populate_options populate;
	uint64_t size;
	bool bind, hold, json, quiet;
};

/* ---- the command line ----------------------------------------------------------- */

static int take_fallback(struct request *r, const char *value)
{
	static const char *const names[] = {"remote", "base", "smaller"};

	for (uint32_t i = 0; i < 3; i++)
		if (!strcmp(value, names[i])) {
			r->populate.fallback = i;
			return EXIT_HOLDS;
		}
	return cli_usage_error(r->command, "--fallback is remote, base or smaller, not '%s'",
			       value);
}

static int take(void *arg, unsigned option, const char *value)
{
	struct request *r = arg;
	unsigned long long n = 0;
	int status = EXIT_HOLDS;

	switch (option) {
	case OPTION_SIZE:
		if (size_parse(value, &r->size) || !r->size)
			status = cli_usage_error(r->command, "'%s' is not a size such as 64G",
						 value);
		break;
	case OPTION_NODE:
		status = cli_number(r->command, "node", value, 0, 255, &n);
		r->populate.node = (int32_t)n;
		r->populate.policy = CL_POPULATE_PREFER;
		break;
	case OPTION_BIND:
		r->bind = true;
		break;
	case OPTION_FALLBACK:
		return take_fallback(r, value);
	case OPTION_THREADS:
		status = cli_number(r->command, "threads", value, 0, 1024, &n);
		r->populate.threads = (uint32_t)n;
		break;
	case OPTION_TIMEOUT:
		if (duration_parse(value, &r->populate.timeout_ns) || !r->populate.timeout_ns)
			status = cli_usage_error(r->command, "'%s' is not a time such as 30s",
						 value);
		break;
	case OPTION_MIN_HUGE:
		status = cli_number(r->command, "min-huge", value, 0, 100, &n);
		r->populate.min_huge_permille = (uint32_t)n * 10;
		break;
	case OPTION_COLLAPSE:
		r->populate.flags |= CL_POPULATE_COLLAPSE;
		break;
	case OPTION_HOLD:
		r->hold = true;
		break;
	case OPTION_JSON:
		r->json = true;
		break;
	case OPTION_QUIET:
		r->quiet = true;
		break;
	}
	return status;
}

/* ---- showing -------------------------------------------------------------------- */

static int show_progress(void *arg, const struct cl_populate_progress *p)
{
	double mib = 1.0 / (1 << 20);

	(void)arg;
	fprintf(stderr, "\r%.0f of %.0f MiB, %.0f in huge pages, %.1f s\033[K",
		(double)p->done_bytes * mib, (double)p->bytes * mib, (double)p->huge_bytes * mib,
		(double)p->elapsed_ns / 1e9);
	return 0;
}

static void show_time(const char *name, uint64_t ns)
{
	char text[32];

	if (ns)
		printf("  %-28s %s\n", name, duration_print((double)ns, text, sizeof(text)));
}

static void show(const struct cl_populate_receipt *r)
{
	printf("%s\n", r->text);
	for (uint32_t i = 0; i < r->node_count; i++)
		printf("  node %-3d %10" PRIu64 " MiB huge %10" PRIu64 " MiB base%s\n",
		       r->nodes[i].node, r->nodes[i].huge_bytes >> 20, r->nodes[i].base_bytes >> 20,
		       r->nodes[i].base_sampled ? " (sampled)" : "");
	if (!r->node_count && r->done_bytes)
		printf("  nodes: not known\n");
	if (r->compact_stall >= 0)
		printf("  compactions of the machine   %" PRId64 ", failed %" PRId64 "\n",
		       r->compact_stall, r->compact_fail);
	show_time("huge pages", r->huge_ns);
	show_time("other nodes' huge pages", r->remote_ns);
	show_time("tries that failed", r->failed_ns);
	show_time("base pages", r->base_ns);
	show_time("collapsing", r->collapse_ns);
	show_time("setting up", r->setup_ns);
	show_time("looking at the result", r->survey_ns);
	for (uint32_t bit = 1; bit; bit <<= 1)
		if (r->missing & bit)
			printf("  not available here: %s\n", cl_populate_missing_name(bit));
}

/* ---- doing ---------------------------------------------------------------------- */

static int cancelled; /* set by the handler, read by the library */

/* The first signal ends the filling or the holding, the second the program. */
static void on_signal(int signal)
{
	(void)signal;
	__atomic_store_n(&cancelled, 1, __ATOMIC_RELAXED);
}

static void hold(void)
{
	sigset_t block, before;

	/* Between the test and the wait no signal may slip through. */
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, &before);
	fprintf(stderr, "holding the memory as process %d until interrupted\n", (int)getpid());
	while (!__atomic_load_n(&cancelled, __ATOMIC_RELAXED))
		sigsuspend(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static int status_of(int result, const struct cl_populate_receipt *r)
{
	if (!result)
		return EXIT_HOLDS;
	fprintf(stderr, "compactlab: %s\n", r->text);
	if (result == -EINVAL)
		return EXIT_INPUT;
	if (result == -EOPNOTSUPP)
		return EXIT_UNAVAILABLE;
	/* Filled, but not as much in huge pages as was wanted. */
	if (result == -ENOMEM && r->done_bytes == r->bytes)
		return EXIT_FAILS;
	return EXIT_RUN;
}

static int populate(struct request *request)
{
	struct cl_populate_receipt receipt = {.size = sizeof(receipt)};
	size_t huge = 2u << 20, room = request->size + huge;
	char *map = room > request->size ? mmap(NULL, room, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
					 : MAP_FAILED;
	char *at = (char *)(((uintptr_t)map + huge - 1) & ~(huge - 1)), json[16384];
	int result;

	if (map == MAP_FAILED) {
		fprintf(stderr, "compactlab: cannot map that much memory\n");
		return EXIT_RUN;
	}
	cli_catch_signals(on_signal);
	request->populate.cancel = &cancelled;
	if (!request->quiet && cli_can_rewrite(stderr))
		request->populate.progress = show_progress;
	result = cl_populate(at, request->size, &request->populate, &receipt);
	if (request->populate.progress)
		fprintf(stderr, "\r\033[K");
	if (request->json) {
		cl_populate_receipt_json(&receipt, json, sizeof(json));
		printf("%s\n", json);
	} else if (!result) {
		show(&receipt);
	}
	if (request->hold && !result) {
		fflush(stdout);
		hold();
	}
	munmap(map, room);
	return status_of(result, &receipt);
}

static int run(const struct command *c, int argc, char **argv)
{
	struct request request = {.command = c, .populate = CL_POPULATE_OPTIONS_INIT};
	int status, first = cli_parse(c, argc, argv, take, &request, &status);

	if (first < 0)
		return status;
	if (first < argc)
		return cli_usage_error(c, "'%s' is one operand too many", argv[first]);
	if (!request.size)
		return cli_usage_error(c, "--size is missing");
	if (request.bind && request.populate.node < 0)
		return cli_usage_error(c, "--bind needs --node");
	if (request.bind)
		request.populate.policy = CL_POPULATE_BIND;
	return populate(&request);
}

const struct command command_populate = {
	.name = "populate",
	.operands = "",
	.summary = "fill memory with huge pages, without the compaction stall",
	.about = "Map memory and fill it with huge pages as libcompactlab-populate does for\n"
		 "programs: free huge pages are taken, compaction is tried, and after failures\n"
		 "deferred as the kernel defers it. Say what was got and what limited it. Without\n"
		 "--hold the memory is given back at once.",
	.options = options,
	.words = NULL,
	.manual = "compactlab-populate",
	.run = run,
};
