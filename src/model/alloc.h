/* SPDX-License-Identifier: MIT */
/*
 * alloc.h - the page allocator as its users see it: fast path (alloc.c), slow path (alloc_slow.c).
 *
 * A page comes back *held*: the caller makes it owned (owner_attach) or frees it. Costs are charged
 * here; zeroing is charged by the caller who wants zeroed memory.
 */
#ifndef COMPACTLAB_MODEL_ALLOC_H
#define COMPACTLAB_MODEL_ALLOC_H

#include "model/types.h"

/*
 * Mirrors __alloc_pages(): nid picks the zonelist (NODE_NONE = the current CPU's node), mask filters it.
 * Context bits of m->ctx strip gfp bits as current_gfp_context() does. PFN_NONE on failure.
 */
pfn_t alloc_pages(struct model *m, gfp_t gfp, unsigned order, node_id nid, nodemask_t mask) MUST_USE;
/* Mirrors free_pages / free_unref_page: a held chunk; counts pgfree; pcp or buddy by order and block. */
void free_pages(struct model *m, pfn_t pfn, unsigned order);

/* Mirrors prepare_alloc_pages(): the request as the walk and the slow path know it. */
void alloc_context_init(const struct model *m, struct alloc_context *ac, gfp_t gfp, unsigned order,
			node_id nid, nodemask_t mask);
/* Mirrors gfp_to_alloc_flags_cma(). Set for movable requests when the kernel has CONFIG_CMA. */
static inline alloc_flags_t alloc_cma_flag(const struct model *m, enum migratetype type)
{
	return type == MIGRATE_MOVABLE && model_has_cma(m) ? ALLOC_CMA : 0;
}
/* Mirrors get_page_from_freelist(): one walk. For the slow path and the compaction wrapper. */
pfn_t alloc_walk(struct model *m, unsigned order, alloc_flags_t flags, const struct alloc_context *ac);
/* Mirrors rmqueue() for one zone, after a passed watermark. */
pfn_t alloc_rmqueue(struct model *m, struct zone *preferred, struct zone *z, unsigned order,
		    alloc_flags_t flags, const struct alloc_context *ac);
/* Mirrors alloc_flags_nofragment(). */
alloc_flags_t alloc_nofragment(const struct model *m, const struct alloc_context *ac, gfp_t gfp);
/* Mirrors gfp_to_alloc_flags() of the slow path. */
alloc_flags_t alloc_flags_slow(const struct model *m, gfp_t gfp, unsigned order);
/* Mirrors __alloc_pages_slowpath(); profiles A and B take alloc_slow_ab.c's loop. */
pfn_t alloc_slow(struct model *m, struct alloc_context *ac);
pfn_t alloc_slow_ab(struct model *m, struct alloc_context *ac);

/* ---- pieces the two loops share (alloc_retry.c) ------------------------------------------- */

/* Does a costly NORETRY request for one node alone end after its first compaction? */
bool alloc_thisnode_gives_up(struct model *m);
/* Mirrors wake_all_kswapds(): each node of the zonelist once. */
void alloc_wake_kswapds(struct model *m, const struct alloc_context *ac);
/* Mirrors __gfp_pfmemalloc_flags(): ALLOC_NO_WATERMARKS, ALLOC_OOM or nothing. */
alloc_flags_t alloc_reserve_rights(const struct model *m, gfp_t gfp);
/* `order` is what is compacted or reclaimed for, possibly promoted; the page is of ac->order.
 * Mirrors __alloc_pages_direct_compact(): compact_stall, _success, _fail. */
pfn_t alloc_direct_compact(struct model *m, unsigned order, alloc_flags_t flags,
			   const struct alloc_context *ac, enum compact_priority prio,
			   enum compact_result *result);
/* Mirrors __alloc_pages_direct_reclaim(): reclaim, walk, unreserve and drain once, walk. */
pfn_t alloc_direct_reclaim(struct model *m, unsigned order, alloc_flags_t flags,
			   const struct alloc_context *ac, uint64_t *progress);
/* Mirrors should_reclaim_retry(). reclaim_order is the (possibly promoted) order. */
bool alloc_should_reclaim_retry(struct model *m, const struct alloc_context *ac, unsigned reclaim_order,
				alloc_flags_t flags, bool progress, int *no_progress);
/* Mirrors should_compact_retry(). */
bool alloc_should_compact_retry(struct model *m, const struct alloc_context *ac, unsigned reclaim_order,
				alloc_flags_t flags, enum compact_result result,
				enum compact_priority *prio, int *retries);
/* A request that may not fail may loop for ever; after two million turns (seconds of simulated time) that is
 * what it does, and the machine stops with a message instead. */
void alloc_check_hung(uint32_t *turns);
/* Mirrors __alloc_pages_may_oom() and the choice of a victim. */
pfn_t alloc_oom(struct model *m, const struct alloc_context *ac, bool *progress);
/* Mirrors zone_reclaimable_pages() with P25. */
uint64_t alloc_reclaimable(const struct model *m, const struct zone *z);

#endif
