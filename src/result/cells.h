/* SPDX-License-Identifier: MIT */
#ifndef RESULT_CELLS_H
#define RESULT_CELLS_H
/*
 * Parts that the table of a run and a comparison share. A column is a group of five:
 * the median, [min..max] when it is of several runs, a bar for each of them when they are at least
 * STAT_RUNS_LEAST, the change in percent and "*" where the ranges of baseline and column do not
 * overlap.
 */
#include "result/columns.h"
#include "result/grid.h"

#define CELLS_A_COLUMN    5
#define CELLS_MARK_LEGEND "*: the range does not overlap that of the first column\n"

/* Add column i's group; returns its first column. */
unsigned cells_group(struct grid *g, const struct columns *c, unsigned i);

/* What stands at the left for a measure: "time_ns" is labelled "time". */
void cells_label(const char *measure, char *buf, size_t size);

/* column_measure(), with count 0 for what was not measured. Only -ENOMEM is an error. */
int cells_measure(const struct column *c, const char *step, const char *measure,
		  struct stat_summary *out);

/*
 * A bar for each run, on a scale that begins at `low` and ends at `high`, the ends of the whole
 * row; nothing for a row whose values are all the same. Only -ENOMEM is an error.
 */
int cells_bars(struct grid *g, unsigned row, unsigned first, const struct column *c,
	       const char *step, const char *measure, double low, double high);

/*
 * `base` is NULL in the baseline's own column. A summary of count 0 is shown as "-".
 * Returns whether "*" was put.
 */
bool cells_put(struct grid *g, unsigned row, unsigned first, const char *measure,
	       const struct stat_summary *base, const struct stat_summary *s);
#endif
