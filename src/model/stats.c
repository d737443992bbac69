/* SPDX-License-Identifier: MIT */
/*
 * stats.c - counters by number, /proc/vmstat; see stats.h.
 */
#include "model/stats.h"

#include <errno.h>
#include <string.h>

/* In enum order; which are printed, and in which order, is stats_vmstat_order()'s business. */
const struct vmstat_row vmstat_rows[NR_VMSTAT] = {
#define X(sym, name, mask) [VM_##sym] = { name, mask },
	VMSTAT_ALL(X)
#undef X
};

int64_t stats_get(const struct model *m, enum vmstat_item item)
{
	NOT_YET(m, item);
}

void stats_snapshot(const struct model *m, int64_t *values)
{
	NOT_YET(m, values);
}

int stats_find(const char *name)
{
	NOT_YET(name);
}

uint32_t stats_vmstat_order(const struct model *m, uint16_t *order)
{
	NOT_YET(m, order);
}

void stats_vmstat(const struct model *m, FILE *out)
{
	NOT_YET(m, out);
}
