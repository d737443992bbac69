/* SPDX-License-Identifier: MIT */
#ifndef RESULT_STAT_H
#define RESULT_STAT_H
/* What is said about repeated runs: the median and the range, never a mean. */

struct stat_summary {
	unsigned count;
	double median, min, max;
};

/*
 * Summary of `count` (at least 1) values, which are sorted in place. The median of
 * an even count is the mean of the two middle values.
 */
void stat_summarize(double *values, unsigned count, struct stat_summary *out);

/* Of two doubles, for qsort(). */
int stat_order(const void *a, const void *b);

/*
 * Do the values fall into two groups: is more than half of their range empty in one piece, with at
 * least two values (of at least STAT_RUNS_LEAST) on either side? `sorted` ascends. Returns how many
 * are in the lower group, 0 when there is one group only.
 */
#define STAT_RUNS_LEAST 5
unsigned stat_lower_group(const double *sorted, unsigned count);

/*
 * Do the ranges have no value in common? Only ranges can be apart: false when one
 * of the two is of a single run.
 */
int stat_apart(const struct stat_summary *a, const struct stat_summary *b);
#endif
