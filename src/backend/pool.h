/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_POOL_H
#define BACKEND_POOL_H
/*
 * Runs the jobs of a layout on worker threads, while the caller's thread hands out
 * progress and records and asks whether to stop.
 */
#include "backend/layout.h"

/*
 * Run until all jobs are done or the caller wants no more. A job that fails does not
 * stop the others, unless with -EINTR, -EINVAL or -EOPNOTSUPP: then no further one
 * starts. Records and errors stay in the layout. Returns the first failure in plan
 * order, -EINTR when stopped, or what options->record returned.
 */
int pool_run(struct layout *l, struct cl_error *err);

/* The record as backend_run.run() gave it, with the runner's fields put first. */
int pool_stamp(const struct layout *l, const struct job *j, json_t **record, struct cl_error *err);
#endif
