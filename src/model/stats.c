/* SPDX-License-Identifier: MIT */
/*
 * stats.c - counters by number, /proc/vmstat; see stats.h.
 */
#include "model/stats.h"

#include <string.h>

/* In enum order; which are printed, and in which order, is stats_vmstat_order()'s business. */
const struct vmstat_row vmstat_rows[NR_VMSTAT] = {
#define X(sym, name, mask) [VM_##sym] = {name, mask},
	VMSTAT_ALL(X)
#undef X
};

#define STRUCT_PAGE_BYTES 64u

/* ---- values ------------------------------------------------------------------------------- */

/* Mirrors global_dirty_limits(): the ratios go through a page's worth of per-cent. */
static int64_t dirty_threshold(const struct model *m, uint32_t percent)
{
	uint64_t pages = (uint64_t)stats_get(m, VM_NR_FREE_PAGES);
	uint64_t ratio = (uint64_t)percent * PAGE_SIZE_BYTES / 100;

	pages -= pages < m->total_reserve_pages ? pages : m->total_reserve_pages;
	pages += (uint64_t)stats_get(m, VM_NR_INACTIVE_FILE);
	pages += (uint64_t)stats_get(m, VM_NR_ACTIVE_FILE);
	return (int64_t)(ratio * pages / PAGE_SIZE_BYTES);
}

/* Gauges that nobody keeps because they follow from others. */
static int64_t computed(const struct model *m, enum vmstat_item item)
{
	int64_t limit, background;
	uint64_t present = 0;

	switch (item) {
	case VM_NR_DIRTY_THRESHOLD:
		return dirty_threshold(m, m->sysctl.dirty_ratio);
	case VM_NR_DIRTY_BACKGROUND_THRESHOLD:
		limit = dirty_threshold(m, m->sysctl.dirty_ratio);
		background = dirty_threshold(m, m->sysctl.dirty_background_ratio);
		return background < limit ? background : limit / 2;
	case VM_NR_MEMMAP_BOOT_PAGES:
		for (uint32_t i = 0; i < m->nr_zones; i++)
			present += m->zone[i].present;
		return (int64_t)(present * STRUCT_PAGE_BYTES / PAGE_SIZE_BYTES);
	default:
		return m->stat[item - VM_GLOBAL_FIRST];
	}
}

int64_t stats_get(const struct model *m, enum vmstat_item item)
{
	int64_t sum = 0;

	if ((int)item >= VM_GLOBAL_FIRST)
		return (int)item < VM_EVENT_FIRST ? computed(m, item)
						  : m->stat[item - VM_GLOBAL_FIRST];
	if ((int)item >= VM_NODE_FIRST) {
		for (unsigned n = 0; n < MAX_NODES; n++)
			sum += m->node[n].stat[item - VM_NODE_FIRST];
		return sum;
	}
	for (uint32_t i = 0; i < m->nr_zones; i++)
		sum += m->zone[i].stat[item];
	return sum;
}

void stats_snapshot(const struct model *m, int64_t *values)
{
	for (int i = 0; i < NR_VMSTAT; i++)
		values[i] = stats_get(m, (enum vmstat_item)i);
}

/* ---- order of printing -------------------------------------------------------------------- */

bool stats_is_printed(const struct model *m, enum vmstat_item item)
{
	uint32_t mask = vmstat_rows[item].mask;

	if (mask & IN_CMA_ONLY && !model_has_cma(m))
		return false;
	return mask & PROFILE_BIT(m->profile->id);
}

static bool is_reclaim_row(int item)
{
#define X(sym, name, mask) +1
	enum { NR_RECLAIM_ROWS = 0 VMSTAT_RECLAIM_ITEMS(X) };
#undef X
	return item >= VM_PGSTEAL_KSWAPD && item < VM_PGSTEAL_KSWAPD + NR_RECLAIM_ROWS;
}

/* Rows of 6.12 and 6.18 that stand behind this event there. */
static uint32_t add_anchored(const struct model *m, int anchor, uint16_t *order, uint32_t nr)
{
	static const struct {
		int row, anchor;
	} anchored[] = {
#define X(sym, behind) {VM_##sym, VM_##behind},
		VMSTAT_RECLAIM_ANCHORS_AB(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(anchored) / sizeof(anchored[0]); i++) {
		if (anchored[i].anchor == anchor &&
		    stats_is_printed(m, (enum vmstat_item)anchored[i].row))
			order[nr++] = (uint16_t)anchored[i].row;
	}
	return nr;
}

uint32_t stats_vmstat_order(const struct model *m, uint16_t *order)
{
	bool among_events = !m->profile->reclaim_counters_are_node_stats;
	uint32_t nr = 0;

	for (int i = 0; i < NR_VMSTAT; i++) {
		if (among_events && is_reclaim_row(i))
			continue;
		if (stats_is_printed(m, (enum vmstat_item)i))
			order[nr++] = (uint16_t)i;
		if (among_events && i >= VM_EVENT_FIRST)
			nr = add_anchored(m, i, order, nr);
	}
	return nr;
}

void stats_vmstat(const struct model *m, FILE *out)
{
	uint16_t order[NR_VMSTAT];
	uint32_t nr = stats_vmstat_order(m, order);

	for (uint32_t i = 0; i < nr; i++)
		fprintf(out, "%s %lld\n", vmstat_rows[order[i]].name,
			(long long)stats_get(m, (enum vmstat_item)order[i]));
	fputs("nr_unstable 0\n", out);
}
