/* SPDX-License-Identifier: MIT */
#ifndef COMPACTLAB_RUN_H
#define COMPACTLAB_RUN_H
/*
 * Running a scenario: plan every variant, kernel and repeat, hand each to a
 * backend, collect one result record a run.
 */
#include <compactlab/error.h>
#include <compactlab/result.h>
#include <compactlab/scenario.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

struct cl_progress {
	const char *variant; /* column the event belongs to */
	const char *step;    /* step that starts, or NULL between steps */
	unsigned done;       /* runs finished */
	unsigned total;      /* runs planned */
};

/*
 * A kernel change compiled into a shared object, for the model; see docs/write-a-policy.md. It
 * runs inside the calling program. A variant may name it like any other policy, once the
 * options of a run have it.
 */
struct cl_policy_file;
int cl_policy_file_open(const char *path, struct cl_policy_file **out, struct cl_error *err);
const char *cl_policy_file_name(const struct cl_policy_file *f);
void cl_policy_file_close(struct cl_policy_file *f); /* after the run; NULL is fine */

struct cl_run_options {
	const struct cl_policy_file *policy_file; /* model: one more policy, or NULL */
	const char *backend;  /* a name of cl_backend_get(); NULL: the default */
	const char *variants; /* comma-separated names; NULL: all the backend can run */
	/*
	 * Comma-separated. Guest: kernel names or image files; NULL: newest. Model: versions
	 * to imitate; NULL: 7.3.
	 */
	const char *kernels;
	unsigned repeat; /* 0: what the scenario says */
	uint64_t seed;   /* used when have_seed */
	bool have_seed;
	const uint64_t *seeds; /* one a repeat, chosen by hand; NULL: seed, seed + 1, ... */
	unsigned seeds_count;  /* then the number of repeats */
	unsigned jobs;         /* runs at the same time; 0: as many as the backend finds right */
	const char *keep_logs; /* directory that receives console logs of guests, or NULL */
	bool clean_log;        /* a run of a guest fails when its kernel warned or reported a bug */
	const char *snapshots; /* directory for the snapshots that steps ask for; NULL: "." */
	/*
	 * File that receives the kernel's compaction tracepoints as text, or NULL. For one run
	 * only, on the model or the host: -EINVAL otherwise.
	 */
	const char *trace;
	/*
	 * Called on the thread that called cl_run(), as are the others below; `arg` is
	 * handed through. Besides at every event it is called about four times a second
	 * with the latest one, so that a caller can show time passing. May be NULL.
	 */
	void (*progress)(void *arg, const struct cl_progress *p);
	void *arg;
	/*
	 * Called with each record as it completes, a JSON object on one line without
	 * newline, so that a caller can append it to a file at once. Records come in
	 * plan order: with several jobs, one that is early waits for those before it.
	 * May be NULL. A negative return stops the run and is returned by cl_run().
	 */
	int (*record)(void *arg, const char *json_line);
	/*
	 * Asked between runs and about four times a second. Once it says true, no further
	 * run starts, those under way are given up as soon as the backend can, and
	 * cl_run() returns -EINTR. May be NULL.
	 */
	bool (*stopped)(void *arg);
};

/*
 * Run every planned combination. *out receives the records in plan order
 * (variant, then kernel, then repeat), also after an error: what completed is
 * not lost. A run that fails does not stop the others: each failure is a note of
 * the results, and the first in plan order is what is returned at the end. Only
 * wrong input (-EINVAL), something not available here (-EOPNOTSUPP) and a stop
 * (-EINTR) keep further runs from starting. Variants that this backend cannot
 * run are noted in the results and are an error (-EOPNOTSUPP) only when they were
 * asked for by name or when none is left. Thread-safe for different scenarios,
 * except on the host backend, of which one runs at a time.
 */
int cl_run(const struct cl_scenario *s, const struct cl_run_options *options,
	   struct cl_results **out, struct cl_error *err);

/* Say in plain words what cl_run() would do with the same arguments. Runs nothing. */
int cl_run_describe(FILE *to, const struct cl_scenario *s, const struct cl_run_options *options,
		    struct cl_error *err);

/* What there is to choose from; NULL behind the last one. */
struct cl_choice {
	const char *name;
	const char *help; /* one line */
};
const struct cl_choice *cl_backend_get(unsigned i);
const char *cl_backend_default(void);

/* A kernel change that a variant may name; with '+' between them, several. */
struct cl_policy {
	const char *name;
	const char *help;   /* one line */
	const char *thread; /* where it was published, or NULL */
};
/* The first is mainline. False behind the last one; then *out is untouched. */
bool cl_policy_get(unsigned i, struct cl_policy *out);

#ifdef __cplusplus
}
#endif
#endif
