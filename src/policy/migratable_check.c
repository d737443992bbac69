/* SPDX-License-Identifier: MIT */
/*
 * migratable_check.c - no compaction when the node has fewer migratable pages than the order needs.
 *
 * As posted, with what reviewers and we found in it:
 * - The counters are the node's, the question is about a zone: a Movable zone that could be
 *   compacted is refused because the node's Normal zone is pinned.
 * - Mlocked pages can move but are not counted.
 * - Pins are counted by reference, so a page pinned twice is subtracted twice, and pinned pages
 * that are on no evictable list are subtracted from a sum they were never in.
 * - The difference is unsigned: more pins than pages wraps and passes.
 */
#include "model/policy.h"

static uint64_t node_stat(const struct node *n, enum vmstat_item item)
{
	return (uint64_t)n->stat[item - VM_NODE_FIRST];
}

static bool suitable(struct model *m, struct zone *z, int order)
{
	const struct node *n = &m->node[z->node.v];
	uint64_t lru = node_stat(n, VM_NR_INACTIVE_ANON) + node_stat(n, VM_NR_ACTIVE_ANON) +
		       node_stat(n, VM_NR_INACTIVE_FILE) + node_stat(n, VM_NR_ACTIVE_FILE);
	uint64_t pins =
		node_stat(n, VM_NR_FOLL_PIN_ACQUIRED) - node_stat(n, VM_NR_FOLL_PIN_RELEASED);

	return lru - pins >= 1ull << order;
}

const struct policy policy_migratable_check = {
	.name = "migratable-check",
	.summary = "no compaction when the node has fewer migratable pages than the order needs",
	.thread = "mm: compaction: skip memory compaction when there are not enough migratable "
		  "pages, linux-mm, January 2025",
	.suitable = suitable,
};
