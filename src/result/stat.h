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

/*
 * Do the ranges have no value in common? Only ranges can be apart: false when one
 * of the two is of a single run.
 */
int stat_apart(const struct stat_summary *a, const struct stat_summary *b);
#endif
