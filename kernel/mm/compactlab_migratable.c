/* SPDX-License-Identifier: MIT */
/*
 * compactlab_migratable.c - no compaction when the node has fewer migratable pages than the order
 * needs.
 *
 * As posted, flaws included: the node's counters decide for a zone, mlocked pages are not counted,
 * a page pinned twice is subtracted twice, and more pins than pages wrap and pass. "mm: compaction:
 * skip memory compaction when there are not enough migratable pages", linux-mm, January 2025.
 */
#include <linux/mm.h>
#include <linux/vmstat.h>

#include "compactlab.h"

bool compactlab_enough_migratable(struct zone *zone, int order)
{
	struct pglist_data *node = zone->zone_pgdat;
	unsigned long lru, pins;

	if (!compactlab_active(COMPACTLAB_MIGRATABLE_CHECK))
		return true;
	lru = node_page_state(node, NR_INACTIVE_ANON) + node_page_state(node, NR_ACTIVE_ANON) +
	      node_page_state(node, NR_INACTIVE_FILE) + node_page_state(node, NR_ACTIVE_FILE);
	pins = node_page_state(node, NR_FOLL_PIN_ACQUIRED) -
	       node_page_state(node, NR_FOLL_PIN_RELEASED);
	return lru - pins >= 1UL << order;
}
