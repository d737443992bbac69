/* SPDX-License-Identifier: MIT */
#ifndef RESULT_COLUMNS_H
#define RESULT_COLUMNS_H
/*
 * Records dealt into the columns of a table: one a variant and kernel, its repeats in
 * it, in the order in which they first appear. The first column is the baseline.
 */
#include "result/record.h"
#include "result/stat.h"

struct column {
	const char *label;  /* the variant, or the name of a set of records */
	const char *kernel; /* release */
	unsigned count;     /* repeats; at least 1 */
	const json_t **record;
};

struct columns {
	unsigned count;
	struct column *item;
	bool several_kernels;
};

/* Everything in it is borrowed from the results but the arrays. */
int columns_group(const struct cl_results *r, struct columns *out);
struct column *columns_find(struct columns *c, const char *label, const char *kernel);
/* A further column, empty. NULL without memory. */
struct column *columns_append(struct columns *c, const char *label, const char *kernel);
int column_add(struct column *c, const json_t *record);
void columns_free(struct columns *c);

/*
 * The values of "STEP.NAME" in the repeats that measured it, in their order; room for one a
 * repeat. Returns how many, or -ENODATA when none did, -ENOENT when no record has the step.
 */
int column_values(const struct column *c, const char *step, const char *name, double *value);

/*
 * Summary of "STEP.NAME" over the repeats that measured it: 0, -ENODATA when none
 * did, -ENOENT when no record has the step.
 */
int column_measure(const struct column *c, const char *step, const char *name,
		   struct stat_summary *out);

/* Names of all steps in all records, each once, in order. The caller frees the array. */
const char **columns_steps(const struct columns *c, unsigned *count);
const char *columns_step_kind(const struct columns *c, const char *step);
#endif
