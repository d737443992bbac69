/* SPDX-License-Identifier: MIT */
/*
 * reclaim.c - direct reclaim and its readiness tests; see reclaim.h.
 */
#include "model/reclaim.h"

#include "model/alloc.h"
#include "model/clock.h"
#include "model/compact.h"
#include "model/filemap.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/slab.h"
#include "model/trace.h"
#include "model/watermark.h"
#include "model/zonelist.h"

#define THROTTLE_NOFS_NS      1000000000ull
#define NODE_RECLAIM_PRIORITY 4
#define NODE_RECLAIM_NOSCAN   (-2)
#define NODE_RECLAIM_FULL     (-1)

/* ---- readiness ---------------------------------------------------------------------------- */

bool reclaim_compaction_ready(struct model *m, struct zone *z, const struct scan_control *sc)
{
	uint64_t high = zone_wmark(z, WMARK_HIGH);

	if (!(sc->gfp & __GFP_IO))
		return false;
	if (watermark_ok(z, sc->order, zone_wmark(z, WMARK_MIN), sc->class, 0, zone_free_pages(z)))
		return true;
	if (m->profile->compaction_ready_base_high)
		return compact_suitable(m, z, sc->order, high, sc->class);
	return compact_suitable(m, z, sc->order, 0, sc->class) &&
	       watermark_ok(z, 0, high + compact_gap(m, sc->order), sc->class, 0,
			    zone_free_pages(z));
}

/* ---- throttling --------------------------------------------------------------------------- */

/* Mirrors allow_direct_reclaim(). */
static bool reclaim_allowed(struct model *m, struct node *n)
{
	uint64_t reserve = 0, free = 0;

	if (kswapd_is_hopeless(n))
		return true;
	for (int k = 0; k <= ZONE_NORMAL; k++) {
		const struct zone *z;

		if (n->zone[k].v == ZONE_NONE.v)
			continue;
		z = &m->zone[n->zone[k].v];
		if (z->managed == 0 || alloc_reclaimable(m, z) == 0)
			continue;
		reserve += zone_wmark(z, WMARK_MIN);
		free += (uint64_t)zone_free_pages(z);
	}
	if (reserve == 0 || free > reserve / 2)
		return true;
	kswapd_force(m, n);
	return false;
}

static bool reclaim_throttle_over(struct model *m, void *arg)
{
	return reclaim_allowed(m, arg);
}

/* Mirrors throttle_direct_reclaim(). */
static void reclaim_throttle(struct model *m, const struct alloc_context *ac)
{
	int i;

	if (m->ctx.flags & CTX_KTHREAD || !m->config.daemons)
		return;
	for_each_zoneref(i, ac->zonelist, 0, ac->class, ac->nodemask)
	{
		struct node *n = &m->node[ac->zonelist->ref[i].node.v];

		if (ac->zonelist->ref[i].class > ZONE_NORMAL)
			continue;
		if (reclaim_allowed(m, n))
			return;
		stat_event(m, VM_PGSCAN_DIRECT_THROTTLE, 1);
		/* A task that may enter the file system waits for kswapd as long as it takes. */
		clock_wait(m,
			   ac->gfp & __GFP_FS ? m->clock.now + 100 * THROTTLE_NOFS_NS
					      : m->clock.now + THROTTLE_NOFS_NS,
			   reclaim_throttle_over, n);
		return;
	}
}

/* ---- the passes --------------------------------------------------------------------------- */

/* Mirrors shrink_zones(): a node is shrunk once for each run of its zones in the list. */
static void reclaim_zones(struct model *m, const struct alloc_context *ac, struct scan_control *sc)
{
	const struct node *last = NULL;
	int i;

	for_each_zoneref(i, ac->zonelist, 0, ac->class, ac->nodemask)
	{
		struct zone *z = zone_get(m, ac->zonelist->ref[i].zone);
		struct node *n = node_get(m, z->node);

		if (sc->order > PAGE_ALLOC_COSTLY_ORDER && reclaim_compaction_ready(m, z, sc)) {
			sc->compaction_ready = true;
			continue;
		}
		if (n == last)
			continue;
		last = n;
		shrink_node(m, sc, n);
	}
}

static void reclaim_snapshot_refaults(struct model *m, const struct alloc_context *ac)
{
	int i;

	for_each_zoneref(i, ac->zonelist, 0, ac->class, ac->nodemask)
		shrink_snapshot_refaults(node_get(m, ac->zonelist->ref[i].node));
}

/* Mirrors do_try_to_free_pages(). */
static uint64_t reclaim_do(struct model *m, const struct alloc_context *ac, struct scan_control *sc)
{
	bool full_walk = false;

	for (;;) {
		stat_event(m, VM_ALLOCSTALL(sc->class), 1);
		sc->priority = DEF_PRIORITY;
		do {
			sc->nr_scanned = 0;
			reclaim_zones(m, ac, sc);
			if (sc->nr_reclaimed >= sc->nr_to_reclaim || sc->compaction_ready)
				break;
		} while (--sc->priority >= 0);
		reclaim_snapshot_refaults(m, ac);
		if (sc->nr_reclaimed)
			return sc->nr_reclaimed;
		if (sc->compaction_ready)
			return 1;
		if (!full_walk) {
			full_walk = true;
		} else if (sc->skipped_deactivate) {
			sc->skipped_deactivate = false;
			sc->force_deactivate = true;
		} else {
			return 0;
		}
	}
}

uint64_t reclaim_try_to_free(struct model *m, const struct alloc_context *ac, unsigned order)
{
	struct scan_control *sc = clock_is_khugepaged(m) ? &m->khugepaged_sc : &m->direct_sc;
	uint32_t flags = m->ctx.flags;
	uint64_t freed;

	*sc = (struct scan_control){
		.gfp = ac->gfp,
		.order = (uint8_t)order,
		.class = ac->class,
		.nr_to_reclaim = SWAP_CLUSTER_MAX,
		.may_write = true,
		.may_swap = true,
	};
	clock_charge(m, COST_RECLAIM_RUN, 1);
	reclaim_throttle(m, ac);
	m->ctx.flags |= CTX_MEMALLOC;
	TRACE(m, DIRECT_RECLAIM_BEGIN, .order = (int)order, .gfp = ac->gfp);
	freed = reclaim_do(m, ac, sc);
	TRACE(m, DIRECT_RECLAIM_END, .nr_reclaimed = freed);
	m->ctx.flags = flags;
	return freed;
}

int reclaim_node(struct model *m, struct node *n, gfp_t gfp, unsigned order)
{
	struct scan_control *sc = clock_is_khugepaged(m) ? &m->khugepaged_sc : &m->direct_sc;
	uint32_t flags = m->ctx.flags;
	int64_t unmapped = n->stat[VM_NR_INACTIVE_FILE - VM_NODE_FIRST] +
			   n->stat[VM_NR_ACTIVE_FILE - VM_NODE_FIRST];
	bool enough;

	/* sysctl_min_unmapped_ratio: one percent of the node must be page cache for this to pay. */
	if ((uint64_t)unmapped <= n->present / 100)
		return NODE_RECLAIM_FULL;
	if (!(gfp & __GFP_DIRECT_RECLAIM) || flags & CTX_MEMALLOC)
		return NODE_RECLAIM_NOSCAN;
	if (n->nr_cpus && n->id.v != m->ctx.node.v)
		return NODE_RECLAIM_NOSCAN;
	*sc = (struct scan_control){
		.gfp = gfp,
		.order = (uint8_t)order,
		.class = gfp_zone(gfp),
		.nr_to_reclaim =
			1ull << order > SWAP_CLUSTER_MAX ? 1ull << order : SWAP_CLUSTER_MAX,
		.may_write = m->sysctl.zone_reclaim_mode >> 1 & 1,
		.priority = NODE_RECLAIM_PRIORITY,
	};
	m->ctx.flags |= CTX_MEMALLOC;
	clock_memstall_enter(m);
	do {
		shrink_node(m, sc, n);
	} while (sc->nr_reclaimed < 1ull << order && --sc->priority >= 0);
	clock_memstall_leave(m);
	m->ctx.flags = flags;
	enough = sc->nr_reclaimed >= 1ull << order;
	stat_event(m, enough ? VM_ZONE_RECLAIM_SUCCESS : VM_ZONE_RECLAIM_FAILED, 1);
	return enough;
}

/* ---- freeing ------------------------------------------------------------------------------ */

void reclaim_free_folio(struct model *m, pfn_t head)
{
	uint8_t state = m->map.state[head];
	unsigned order = PG_ORDER(state);

	lru_isolated_gone(m, head, order);
	if (PG_KIND(state) == PG_FILE) {
		owner_detach(m, head);
	} else {
		owner_detach_to_swap(m, head, m->swap_next);
		m->swap_next = (m->swap_next + (1u << order)) & (SLOT_HUGE - 1);
		stat_event(m, VM_PSWPOUT, 1 << order);
		if (order == PMD_ORDER)
			stat_event(m, VM_THP_SWPOUT, 1);
	}
	clock_charge(m, COST_RECLAIM_FREE, 1);
	free_pages(m, head, order);
}

/* Mirrors invalidate_mapping_pages(): what is clean, idle and unpinned goes. */
static void reclaim_drop_file(struct model *m, struct region *r)
{
	for (uint64_t i = 0; i < r->nr_slots && r->nr_pages; i++) {
		pfn_t pfn = owner_page(m, r, i), head;
		uint8_t flags;

		if (pfn == PFN_NONE)
			continue;
		head = memmap_head(m, pfn);
		flags = m->map.flag[head];
		i += (1u << PG_ORDER(m->map.state[head])) - 1;
		if (flags & (PGF_DIRTY | PGF_WRITEBACK | PGF_PINNED | PGF_UNEVICTABLE))
			continue;
		filemap_remove(m, head);
	}
}

bool reclaim_drop_caches_step(struct model *m, unsigned what, uint32_t *cursor)
{
	struct scan_control sc = {.gfp = GFP_KERNEL, .priority = 0, .class = ZONE_MOVABLE};
	uint64_t freed;

	if (*cursor == 0) {
		lru_drain_all(m);
		*cursor = 1;
	}
	if (what & 1) {
		while (*cursor < m->own.nr_regions) {
			struct region *r = &m->own.region[(*cursor)++];

			if (r->kind != REGION_FILE)
				continue;
			reclaim_drop_file(m, r);
			return true;
		}
		stat_event(m, VM_DROP_PAGECACHE, 1);
	}
	if (what & 2) {
		do {
			freed = 0;
			for (unsigned i = 0; i < m->nr_nodes; i++) {
				if (m->node[i].present)
					freed += slab_shrink(m, &sc, &m->node[i]);
			}
		} while (freed > 10);
		stat_event(m, VM_DROP_SLAB, 1);
	}
	return false;
}
