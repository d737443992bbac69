/* SPDX-License-Identifier: MIT */
#include "result/stat.h"
#include <stdlib.h>

static int double_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stat_summarize(double *values, unsigned count, struct stat_summary *out)
{
	unsigned middle = count / 2;

	qsort(values, count, sizeof(*values), double_order);
	out->count = count;
	out->min = values[0];
	out->max = values[count - 1];
	out->median = count % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

int stat_apart(const struct stat_summary *a, const struct stat_summary *b)
{
	return a->count > 1 && b->count > 1 && (a->max < b->min || b->max < a->min);
}
