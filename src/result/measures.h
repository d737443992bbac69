/* SPDX-License-Identifier: MIT */
#ifndef RESULT_MEASURES_H
#define RESULT_MEASURES_H
/* Which measures of a step a table shows. */
#include "result/columns.h"

struct measures {
	unsigned count;
	char **name; /* without the step */
};

/* Those of the `show` list ("populate.compact_stall", ...) that are of this step. */
int measures_listed(char *const *show, unsigned shows, const char *step, struct measures *out);

/*
 * Those that were measured: times, pages a node, and the counters that moved: with
 * `all` every one and the numbers under "detail", else those that cl_counter_get()
 * explains. Appends what is not in `out` yet.
 */
int measures_found(const struct columns *c, const char *step, bool all, struct measures *out);
void measures_free(struct measures *m);
#endif
