/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_RUN_H
#define BACKEND_RUN_H
#include "backend/backend.h"

/* cl_run() on a backend that need not have a name others can find. */
int run_on(const struct backend *b, const struct cl_scenario *s,
	   const struct cl_run_options *options, struct cl_results **out, struct cl_error *err);

/* The backend the options name, or the default. -EINVAL when there is none such. */
int run_backend(const struct cl_run_options *options, const struct backend **out,
		struct cl_error *err);
#endif
