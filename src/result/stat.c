/* SPDX-License-Identifier: MIT */
#include "result/stat.h"
#include <stdlib.h>

int stat_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stat_summarize(double *values, unsigned count, struct stat_summary *out)
{
	unsigned middle = count / 2;

	qsort(values, count, sizeof(*values), stat_order);
	out->count = count;
	out->min = values[0];
	out->max = values[count - 1];
	out->median = count % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

unsigned stat_lower_group(const double *sorted, unsigned count)
{
	if (count < STAT_RUNS_LEAST)
		return 0;
	for (unsigned i = 2; i + 2 <= count; i++)
		if (sorted[i] - sorted[i - 1] > (sorted[count - 1] - sorted[0]) / 2)
			return i;
	return 0;
}

int stat_apart(const struct stat_summary *a, const struct stat_summary *b)
{
	return a->count > 1 && b->count > 1 && (a->max < b->min || b->max < a->min);
}
