/* SPDX-License-Identifier: MIT */
/* cost.c - the cost table as data; see cost.h for what a row means. */
#include "model/cost.h"

#include <errno.h>
#include <string.h>

const struct cost_row cost_rows[NR_COSTS] = {
#define X(sym, name, ns, unit, source) [COST_##sym] = { name, ns, unit, source },
	COST_TABLE(X)
#undef X
};

void cost_defaults(struct cost_table *t)
{
	for (int i = 0; i < NR_COSTS; i++)
		t->ns[i] = cost_rows[i].default_ns;
}

int cost_set(struct cost_table *t, const char *name, uint64_t ns)
{
	if (ns > 1000000000u)
		return -ERANGE;
	for (int i = 0; i < NR_COSTS; i++) {
		if (strcmp(cost_rows[i].name, name) == 0) {
			t->ns[i] = (uint32_t)ns;
			return 0;
		}
	}
	return -ENOENT;
}
