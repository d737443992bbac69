/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_LAYOUT_H
#define BACKEND_LAYOUT_H
/*
 * What is to be run: every variant, on every kernel, in every repeat, in this order,
 * each with its plan. Made before anything runs, so that a wrong value in the last
 * variant costs nobody the first one's time.
 */
#include "backend/backend.h"
#include "result/record.h"

struct job {
	const char *variant; /* the scenario's */
	const char *kernel;  /* image wanted, or NULL for the newest */
	struct plan *plan;
	json_t *record; /* once it completed */
	int result;
	struct cl_error err;
	bool done;
};

struct layout {
	const struct backend *backend;
	const struct cl_scenario *scenario;
	const struct cl_run_options *options;
	unsigned repeat;
	uint64_t seed; /* of the first repeat, where options->seeds does not choose each */
	unsigned variants, kernels;
	const char **variant;
	char **kernel; /* as asked for; one NULL when none was */
	unsigned jobs;
	struct job *job;
	FILE *trace; /* the runner's, or NULL */
};

/* -EINVAL for an unknown variant or a wrong value; nothing was probed yet. */
int layout_make(const struct backend *b, const struct cl_scenario *s,
		const struct cl_run_options *options, struct layout *out, struct cl_error *err);
void layout_free(struct layout *l);
/* The seed of repeat i. */
uint64_t layout_seed(const struct layout *l, unsigned i);

/*
 * Drop the jobs that this backend cannot run here, with a note in the results. An
 * error when such a variant was asked for by name, or nothing is left of a kernel.
 */
int layout_probe(struct layout *l, struct cl_results *notes, struct cl_error *err);

/* "variant b, kernel 6.12, repeat 2", with what tells it from the others. Caller frees. */
char *layout_job_name(const struct layout *l, const struct job *j);

/* How a backend sees a job; `step`, `stopped` and `arg` are the caller's. */
struct backend_run layout_run(const struct layout *l, const struct job *j);
#endif
