/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_COSTS_H
#define BACKEND_COSTS_H
/*
 * Files with the model's costs, which [machine] costs names and `compactlab calibrate` writes:
 *
 *     compactlab-costs 1
 *     # a comment, to the end of the line
 *     zero_page = 390   # nanoseconds, a whole number
 *
 * A row of model/cost.h that is not there keeps its default.
 */
#include <compactlab/error.h>
#include <stddef.h>
#include <stdio.h>
#include "model/cost.h"

#define COSTS_HASH_SIZE 65 /* of a SHA-256 in hexadecimal digits */

/* Sets the rows that the text has; -EINVAL with the line that is wrong. `name` is for messages. */
int costs_parse(const char *text, size_t length, const char *name, struct cost_table *t,
		struct cl_error *err);
/* The same of a file, and the hash of what is in it. */
int costs_load(const char *path, struct cost_table *t, char hash[COSTS_HASH_SIZE],
	       struct cl_error *err);
/* The first line of such a file. */
void costs_print_head(FILE *to);
/* One row; `remark`, which may be NULL, says more than its unit. */
void costs_print_row(FILE *to, enum cost_id id, uint64_t ns, const char *remark);
#endif
