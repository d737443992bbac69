/* SPDX-License-Identifier: MIT */
/*
 * reclaim.h - direct reclaim (reclaim.c), one node's shrinking (shrink.c), kswapd (kswapd.c).
 */
#ifndef COMPACTLAB_MODEL_RECLAIM_H
#define COMPACTLAB_MODEL_RECLAIM_H

#include "model/types.h"

/* ---- direct (reclaim.c) ------------------------------------------------------------------- */

/* Mirrors try_to_free_pages(): throttle, allocstall, priorities; pages freed, 1 = compaction is
 * ready. */
uint64_t reclaim_try_to_free(struct model *m, const struct alloc_context *ac, unsigned order);
/* Mirrors compaction_ready(). */
bool reclaim_compaction_ready(struct model *m, struct zone *z, const struct scan_control *sc);
/* Mirrors node_reclaim() for vm.zone_reclaim_mode. */
int reclaim_node(struct model *m, struct node *n, gfp_t gfp, unsigned order);
/* drop_caches: 1 clean page cache, 2 slab objects, 3 both. Resumable by region: false when done. */
bool reclaim_drop_caches_step(struct model *m, unsigned what, uint32_t *cursor);

/* ---- one pass over a node (shrink.c) ------------------------------------------------------ */

/* Mirrors shrink_node() cut into rounds; see struct scan_control. */
void shrink_begin(struct model *m, struct scan_control *sc, struct node *n);
bool shrink_step(struct model *m, struct scan_control *sc) MUST_USE;
/* Slab shrinkers, then should_continue_reclaim(): true = the same node again. */
bool shrink_end(struct model *m, struct scan_control *sc) MUST_USE;
/* Mirrors snapshot_refaults() at the end of a reclaim run. */
void shrink_snapshot_refaults(struct node *n);
/* All of it for a task, with clock_point() between rounds. */
void shrink_node(struct model *m, struct scan_control *sc, struct node *n);

/* ---- kswapd (kswapd.c) -------------------------------------------------------------------- */

int kswapd_init(struct model *m) MUST_USE;
/* Mirrors wakeup_kswapd() for one zone's node: class = the request's highest class. */
void kswapd_wake(struct model *m, struct zone *z, gfp_t gfp, unsigned order, enum zone_class class);
/* Wakes it whatever the balance: a throttled task waits for it. */
void kswapd_force(struct model *m, struct node *n);
void kswapd_step(struct model *m, struct node *n);
/* Mirrors pgdat_balanced(). */
bool kswapd_balanced(const struct model *m, const struct node *n, unsigned order,
		     enum zone_class class);
/* Awake in the sense of the freelist walk: not on its wait queue (a nap counts as parked). */
static inline bool kswapd_is_awake(const struct node *n)
{
	return n->kswapd.state == DAEMON_RUNNING;
}
bool kswapd_is_hopeless(const struct node *n);
/* A shrink freed something, or a pcp flush happened: mirrors kswapd_try_clear_hopeless() by
 * profile. */
void kswapd_progress(struct model *m, struct node *n, unsigned order, enum zone_class class);
void kswapd_pcp_flushed(struct model *m, struct zone *z);

/* ---- reverse mapping for reclaim ---------------------------------------------------------- */

/* Frees one isolated clean folio: owner emptied (or swap mark), page freed. */
void reclaim_free_folio(struct model *m, pfn_t head);

#endif
