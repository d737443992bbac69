/* SPDX-License-Identifier: MIT */
#ifndef COMPACTLAB_RESULT_H
#define COMPACTLAB_RESULT_H
/*
 * Results: records in JSON Lines, tables, comparisons, checks.
 *
 * A record is one run: one variant of one scenario on one backend, once. Its
 * fields are described in compactlab-record(5). All functions treat a field that
 * is null as "not measured", which is never the same as 0.
 */
#include <compactlab/error.h>
#include <compactlab/scenario.h>
#include <stdbool.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif

struct cl_results; /* an ordered set of records; opaque */

void cl_results_free(struct cl_results *r);
unsigned cl_results_count(const struct cl_results *r);
/* What was not run or failed, and why: so many lines, which the table prints below it. */
unsigned cl_results_notes(const struct cl_results *r);
/* Record i as one line of JSON without newline; the caller frees it. NULL without memory. */
char *cl_results_json(const struct cl_results *r, unsigned i);

/*
 * Load JSON Lines files. A line that is not a record is an error with file and
 * line; a record of a newer schema is refused and says so.
 */
int cl_results_load(const char *const *paths, unsigned count, struct cl_results **out,
		    struct cl_error *err);

struct cl_table_options {
	bool all_counters; /* every counter that moved, not only the scenario's `show` list */
	bool colour;
	unsigned width; /* columns of the terminal; 0: unlimited */
	/*
	 * Comparisons of two files: not 0: say which counters of the second are within so
	 * many percent of the first one's median, or in its range.
	 */
	unsigned within_percent;
};

/*
 * One table a step that has something to show: rows are measures, columns are
 * variants (per kernel), the first column is the baseline and the others carry
 * their change in percent. With repeats: median and [min..max]. Published
 * figures of the scenario stand in their own columns.
 */
int cl_results_table(FILE *to, const struct cl_results *r, const struct cl_scenario *s,
		     const struct cl_table_options *options, struct cl_error *err);

/*
 * Compare sets of records: one set a file, or one set a variant when a single
 * file is given. Medians, ranges, percent, and a mark where the ranges do not
 * overlap. With `json`, the same as one JSON object.
 */
int cl_results_compare(FILE *to, const char *const *paths, unsigned count, bool json,
		       const struct cl_table_options *options, struct cl_error *err);

enum cl_check_state { CL_CHECK_HOLDS, CL_CHECK_FAILS, CL_CHECK_UNKNOWN, CL_CHECK_NOT_RUN };

struct cl_check_summary {
	unsigned holds, fails, unknown, not_run;
};

/*
 * Evaluate the scenario's [check] lines for the backend the records come from
 * and print one line each (none when `to` is NULL): state, name, relation, the
 * numbers on both sides. With several kernels, one line a kernel. UNKNOWN (a
 * measure is null, a division by 0) counts as not holding; NOT_RUN (a variant
 * the relation names was not run) does not.
 */
int cl_results_check(FILE *to, const struct cl_results *r, const struct cl_scenario *s,
		     struct cl_check_summary *sum, struct cl_error *err);

/*
 * Are the scenario's checks for this backend written well? Grammar, variants and
 * steps they name; -EINVAL with file, line and column. cl_run() does this before
 * anything runs.
 */
int cl_check_validate(const struct cl_scenario *s, const char *backend, struct cl_error *err);

/* What a measure or a /proc/vmstat counter means; NULL behind the last one. */
struct cl_counter {
	const char *name;
	const char *help; /* one line, "" where the name says all that matters here */
	bool ours;        /* measured by compactlab, not a line of /proc/vmstat */
};
const struct cl_counter *cl_counter_get(unsigned i);

#ifdef __cplusplus
}
#endif
#endif
