/* SPDX-License-Identifier: MIT */
/*
 * alloc.c - the allocator's fast path: flags, the freelist walk, rmqueue, freeing; see alloc.h.
 */
#include "model/alloc.h"

#include "model/buddy.h"
#include "model/clock.h"
#include "model/fallback.h"
#include "model/memmap.h"
#include "model/pcp.h"
#include "model/reclaim.h"
#include "model/trace.h"
#include "model/watermark.h"
#include "model/zonelist.h"

#define RECLAIM_DISTANCE 30 /* node reclaim does not reach farther */

/* ---- flags -------------------------------------------------------------------------------- */

/* Mirrors current_gfp_context(). */
static gfp_t context_gfp(const struct model *m, gfp_t gfp)
{
	if (m->ctx.flags & CTX_NOIO)
		gfp &= ~(__GFP_IO | __GFP_FS);
	else if (m->ctx.flags & CTX_NOFS)
		gfp &= ~__GFP_FS;
	if (m->ctx.flags & CTX_LONGTERM)
		gfp &= ~__GFP_MOVABLE;
	return gfp;
}

/* A request that uses the highatomic reserve. */
static bool is_highatomic(gfp_t gfp, unsigned order)
{
	return order > 0 &&
	       (gfp & (__GFP_DIRECT_RECLAIM | __GFP_NOMEMALLOC | __GFP_HIGH)) == __GFP_HIGH;
}

alloc_flags_t alloc_nofragment(const struct model *m, const struct alloc_context *ac, gfp_t gfp)
{
	alloc_flags_t flags = gfp & __GFP_KSWAPD_RECLAIM ? ALLOC_KSWAPD : 0;
	const struct zoneref *ref;

	if (m->sysctl.defrag_mode)
		return flags | ALLOC_NOFRAGMENT;
	if (ac->preferred < 0)
		return flags;
	ref = &ac->zonelist->ref[ac->preferred];
	if (ref->class != ZONE_NORMAL)
		return flags;
	/* With several nodes only one that has DMA32 below its Normal zone: there is somewhere to
	 * go. */
	if ((m->online_nodes & (m->online_nodes - 1)) != 0 &&
	    m->node[ref->node.v].zone[ZONE_DMA32].v == ZONE_NONE.v)
		return flags;
	return flags | ALLOC_NOFRAGMENT;
}

alloc_flags_t alloc_flags_slow(const struct model *m, gfp_t gfp, unsigned order)
{
	alloc_flags_t flags = ALLOC_WMARK_MIN | ALLOC_CPUSET;
	enum migratetype type = m->grouping_disabled ? MIGRATE_UNMOVABLE : gfp_migratetype(gfp);

	if (gfp & __GFP_HIGH)
		flags |= ALLOC_MIN_RESERVE;
	if (gfp & __GFP_KSWAPD_RECLAIM)
		flags |= ALLOC_KSWAPD;
	if (!(gfp & __GFP_DIRECT_RECLAIM)) {
		if (!(gfp & __GFP_NOMEMALLOC))
			flags |= ALLOC_NON_BLOCK;
		if (is_highatomic(gfp, order))
			flags |= ALLOC_HIGHATOMIC;
		if (flags & ALLOC_MIN_RESERVE)
			flags &= ~ALLOC_CPUSET;
	} else if (m->ctx.flags & CTX_RT) {
		flags |= ALLOC_MIN_RESERVE;
	}
	flags |= alloc_cma_flag(m, type);
	if (m->sysctl.defrag_mode)
		flags |= ALLOC_NOFRAGMENT;
	return flags;
}

/* ---- one zone ----------------------------------------------------------------------------- */

/* Mirrors zone_statistics(). */
static void count_numa(struct model *m, struct zone *preferred, struct zone *z)
{
	if (z->node.v == preferred->node.v) {
		z->stat[VM_NUMA_HIT]++;
	} else {
		z->stat[VM_NUMA_MISS]++;
		preferred->stat[VM_NUMA_FOREIGN]++;
	}
	z->stat[z->node.v == m->ctx.node.v ? VM_NUMA_LOCAL : VM_NUMA_OTHER]++;
}

/* Mirrors rmqueue_buddy(). */
static pfn_t rmqueue_buddy(struct model *m, struct zone *z, unsigned order, alloc_flags_t flags,
			   enum migratetype type)
{
	enum rmqueue_mode mode = RMQUEUE_NORMAL;
	pfn_t pfn;

	if (flags & ALLOC_HIGHATOMIC) {
		pfn = buddy_take(m, z, order, MIGRATE_HIGHATOMIC);
		if (pfn)
			return pfn;
	}
	pfn = fallback_take(m, z, order, type, flags, &mode);
	/* Failing now is worse than failing a large atomic request later. */
	if (!pfn && flags & (ALLOC_OOM | ALLOC_NON_BLOCK))
		return buddy_take(m, z, order, MIGRATE_HIGHATOMIC);
	if (pfn && flags & ALLOC_HIGHATOMIC && (flags & ALLOC_WMARK_MASK) == ALLOC_WMARK_MIN &&
	    m->profile->highatomic_growth == HIGHATOMIC_FROM_BUDDY_AT_MIN)
		buddy_reserve_highatomic(m, z, pfn, order);
	return pfn;
}

pfn_t alloc_rmqueue(struct model *m, struct zone *preferred, struct zone *z, unsigned order,
		    alloc_flags_t flags, const struct alloc_context *ac)
{
	pfn_t pfn = PFN_NONE;

	if (pcp_order_ok(m, order))
		pfn = pcp_alloc(m, z, order, ac->type, flags);
	if (!pfn)
		pfn = rmqueue_buddy(m, z, order, flags, ac->type);
	if (pfn) {
		stat_event(m, VM_PGALLOC(z->class), 1 << order);
		count_numa(m, preferred, z);
	}
	if (flags & ALLOC_KSWAPD && z->boosted_wake) {
		z->boosted_wake = false;
		kswapd_wake(m, z, 0, 0, z->class);
	}
	return pfn;
}

/* ---- the freelist walk -------------------------------------------------------------------- */

/* Mirrors node_dirty_ok(): a writer is sent elsewhere when the node has its share of dirty pages.
 */
static bool node_dirty_ok(const struct model *m, const struct node *n)
{
	uint64_t dirtyable = watermark_dirtyable(m, n, 1);

	return (uint64_t)(n->stat[VM_NR_DIRTY - VM_NODE_FIRST] +
			  n->stat[VM_NR_WRITEBACK - VM_NODE_FIRST]) <=
	       dirtyable * m->sysctl.dirty_ratio / 100;
}

/* vm.zone_reclaim_mode: make room on a near node before going to a far one; true = it is there now.
 */
static bool reclaim_near(struct model *m, const struct zone *preferred, struct zone *z,
			 unsigned order, uint64_t mark, alloc_flags_t flags,
			 const struct alloc_context *ac)
{
	if ((m->sysctl.zone_reclaim_mode & 7) == 0 ||
	    m->node[preferred->node.v].distance[z->node.v] > RECLAIM_DISTANCE)
		return false;
	if (reclaim_node(m, node_get(m, z->node), ac->gfp, order) <
	    0) /* not tried, or all in use */
		return false;
	return watermark_ok(z, order, mark, ac->class, flags, zone_free_pages(z));
}

/* Do the marks let this zone be used? Notes on the way whether it is below its high mark. */
static bool zone_may_give(struct model *m, const struct zone *preferred, struct zone *z,
			  unsigned order, alloc_flags_t flags, const struct alloc_context *ac)
{
	uint64_t mark;

	if (!z->below_high) {
		mark = zone_wmark(z, WMARK_HIGH);
		if (watermark_fast(z, order, mark, ac->class, flags))
			return true;
		z->below_high = true;
	}
	mark = zone_wmark(z, (enum wmark)(flags & ALLOC_WMARK_MASK));
	if (watermark_fast(z, order, mark, ac->class, flags))
		return true;
	return flags & ALLOC_NO_WATERMARKS || reclaim_near(m, preferred, z, order, mark, flags, ac);
}

/* One pass over the list; *flags loses NOFRAGMENT and *again is set when the pass must be repeated.
 */
static pfn_t walk_once(struct model *m, unsigned order, alloc_flags_t *flags,
		       const struct alloc_context *ac, bool skip_awake, bool *skipped, bool *again)
{
	bool several = (m->online_nodes & (m->online_nodes - 1)) != 0;
	struct zone *preferred = zone_get(m, ac->zonelist->ref[ac->preferred].zone);
	int i;

	for_each_zoneref(i, ac->zonelist, ac->preferred, ac->class, ac->nodemask)
	{
		struct zone *z = zone_get(m, ac->zonelist->ref[i].zone);
		struct node *n = node_get(m, z->node);
		pfn_t pfn;

		clock_charge(m, COST_ALLOC_WALK_ZONE, 1);
		if (ac->spread_dirty && !node_dirty_ok(m, n))
			continue;
		if (*flags & ALLOC_NOFRAGMENT && !m->sysctl.defrag_mode && several &&
		    z != preferred && z->node.v != preferred->node.v) {
			/* Locality beats grouping: fragment here rather than go to another node. */
			*flags &= ~ALLOC_NOFRAGMENT;
			*again = true;
			return PFN_NONE;
		}
		if (skip_awake && several && kswapd_is_awake(n)) {
			*skipped = true;
			continue;
		}
		if (!zone_may_give(m, preferred, z, order, *flags, ac))
			continue;
		pfn = alloc_rmqueue(m, preferred, z, order, *flags, ac);
		if (pfn) {
			if (*flags & ALLOC_HIGHATOMIC &&
			    m->profile->highatomic_growth == HIGHATOMIC_AFTER_SUCCESS)
				buddy_reserve_highatomic(m, z, pfn, order);
			return pfn;
		}
	}
	return PFN_NONE;
}

pfn_t alloc_walk(struct model *m, unsigned order, alloc_flags_t flags,
		 const struct alloc_context *ac)
{
	bool skip_awake = m->profile->walk_skips_awake_kswapd;
	bool skipped = false;

	if (ac->preferred < 0)
		return PFN_NONE;
	for (;;) {
		bool nofragment = flags & ALLOC_NOFRAGMENT;
		bool again = false;
		pfn_t pfn = walk_once(m, order, &flags, ac, skip_awake, &skipped, &again);

		if (pfn)
			return pfn;
		if (again)
			continue;
		if (skip_awake && skipped) {
			skip_awake = false;
			continue;
		}
		if (!nofragment || m->sysctl.defrag_mode)
			return PFN_NONE;
		flags &= ~ALLOC_NOFRAGMENT;
	}
}

/* ---- allocating and freeing --------------------------------------------------------------- */

static inline struct alloc_context context_of(const struct model *m, gfp_t gfp, unsigned order,
					      node_id nid, nodemask_t mask)
{
	const struct node *n = &m->node[nid.v == NODE_NONE.v ? m->ctx.node.v : nid.v];
	const struct zonelist *zl = &n->zonelist[gfp & __GFP_THISNODE ? ZONELIST_NOFALLBACK
								      : ZONELIST_FALLBACK];
	enum zone_class class = gfp_zone(gfp);

	return (struct alloc_context){
		.gfp = gfp,
		.order = (uint8_t)order,
		.type = m->grouping_disabled ? MIGRATE_UNMOVABLE : gfp_migratetype(gfp),
		.class = class,
		.zonelist = zl,
		.nodemask = mask,
		.preferred = (int8_t)zonelist_next(zl, 0, class, mask),
		.spread_dirty = gfp & __GFP_WRITE,
	};
}

void alloc_context_init(const struct model *m, struct alloc_context *ac, gfp_t gfp, unsigned order,
			node_id nid, nodemask_t mask)
{
	*ac = context_of(m, gfp, order, nid, mask);
}

pfn_t alloc_pages(struct model *m, gfp_t gfp, unsigned order, node_id nid, nodemask_t mask)
{
	struct alloc_context ac;
	alloc_flags_t flags = ALLOC_WMARK_LOW;
	pfn_t pfn;

	if (order > MAX_PAGE_ORDER)
		return PFN_NONE;
	gfp = context_gfp(m, gfp);
	ac = context_of(m, gfp, order, nid, mask);
	flags |= alloc_cma_flag(m, ac.type) | alloc_nofragment(m, &ac, gfp);
	if (m->profile->highatomic_growth == HIGHATOMIC_FROM_BUDDY_AT_MIN &&
	    is_highatomic(gfp, order))
		flags |= ALLOC_HIGHATOMIC;
	clock_charge(m, COST_ALLOC_FAST, 1);
	pfn = alloc_walk(m, order, flags, &ac);
	if (!pfn) {
		ac.spread_dirty = false;
		ac.nodemask = mask;
		pfn = m->profile->compact_first_in_loop ? alloc_slow(m, &ac)
							: alloc_slow_ab(m, &ac);
	}
	TRACE(m, PAGE_ALLOC, .pfn = pfn, .order = (int)order, .gfp = gfp, .migratetype = ac.type);
	return pfn;
}

void free_pages(struct model *m, pfn_t pfn, unsigned order)
{
	struct zone *z = zone_of(m, pfn);

	TRACE(m, PAGE_FREE, .pfn = pfn, .order = (int)order);
	stat_event(m, VM_PGFREE, 1 << order);
	clock_charge(m, COST_FREE_PAGE, 1);
	if (pcp_order_ok(m, order)) {
		pcp_free(m, z, pfn, order);
		return;
	}
	clock_charge(m, COST_BUDDY_FREE, 1);
	buddy_free(m, z, pfn, order, false);
}
