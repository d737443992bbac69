/* SPDX-License-Identifier: MIT */
/*
 * alloc_retry.c - what both slow paths share: wrappers, retry predicates, OOM; see alloc.h.
 */
#include "model/alloc.h"

#include "model/buddy.h"
#include "model/clock.h"
#include "model/compact.h"
#include "model/pcp.h"
#include "model/policy.h"
#include "model/reclaim.h"
#include "model/task.h"
#include "model/trace.h"
#include "model/watermark.h"
#include "model/zonelist.h"

/* ---- kswapd and reserves ------------------------------------------------------------------ */

void alloc_wake_kswapds(struct model *m, const struct alloc_context *ac)
{
	unsigned order = ac->order;
	node_id last = NODE_NONE;
	int i;

	if (m->sysctl.defrag_mode && order < PAGEBLOCK_ORDER)
		order = PAGEBLOCK_ORDER;
	for_each_zoneref(i, ac->zonelist, 0, ac->class, ac->nodemask)
	{
		struct zone *z = zone_get(m, ac->zonelist->ref[i].zone);

		if (z->node.v == last.v)
			continue;
		kswapd_wake(m, z, ac->gfp, order, ac->class);
		last = z->node;
	}
}

alloc_flags_t alloc_reserve_rights(const struct model *m, gfp_t gfp)
{
	if (gfp & __GFP_NOMEMALLOC)
		return 0;
	if (gfp & __GFP_MEMALLOC || m->ctx.flags & CTX_MEMALLOC)
		return ALLOC_NO_WATERMARKS;
	return m->ctx.flags & CTX_OOM_VICTIM ? ALLOC_OOM : 0;
}

bool alloc_thisnode_gives_up(struct model *m)
{
	return !m->policy->thisnode_gives_up || m->policy->thisnode_gives_up(m);
}

/* ---- wrappers ----------------------------------------------------------------------------- */

pfn_t alloc_direct_compact(struct model *m, unsigned order, alloc_flags_t flags,
			   const struct alloc_context *ac, enum compact_priority prio,
			   enum compact_result *result)
{
	uint32_t context = m->ctx.flags;
	pfn_t pfn = PFN_NONE;
	struct zone *z;

	if (order == 0)
		return PFN_NONE;
	clock_memstall_enter(m);
	m->ctx.flags |= CTX_MEMALLOC;
	*result = compact_try_pages(m, order, flags, ac, prio, &pfn);
	m->ctx.flags = context;
	clock_memstall_leave(m);
	clock_point(m);
	if (*result == COMPACT_SKIPPED ||
	    (*result == COMPACT_DEFERRED && m->profile->defer_counts == DEFERRED_IS_SKIPPED))
		return PFN_NONE;
	stat_event(m, VM_COMPACT_STALL, 1);
	if (!pfn)
		pfn = alloc_walk(m, ac->order, flags, ac);
	if (!pfn) {
		stat_event(m, VM_COMPACT_FAIL, 1);
		return PFN_NONE;
	}
	z = zone_of(m, pfn);
	z->blockskip_flush = false;
	m->policy->defer_reset(m, z, (int)order, true);
	stat_event(m, VM_COMPACT_SUCCESS, 1);
	return pfn;
}

pfn_t alloc_direct_reclaim(struct model *m, unsigned order, alloc_flags_t flags,
			   const struct alloc_context *ac, uint64_t *progress)
{
	uint32_t context = m->ctx.flags;
	pfn_t pfn = PFN_NONE;

	clock_memstall_enter(m);
	m->ctx.flags |= CTX_MEMALLOC;
	*progress = reclaim_try_to_free(m, ac, order);
	m->ctx.flags = context;
	if (*progress) {
		pfn = alloc_walk(m, ac->order, flags, ac);
		if (!pfn) {
			/* What was freed may stand on per-CPU lists or in the atomic reserve. */
			(void)buddy_unreserve_highatomic(m, ac, false);
			pcp_drain_all(m, NULL);
			pfn = alloc_walk(m, ac->order, flags, ac);
		}
	}
	clock_memstall_leave(m);
	clock_point(m);
	return pfn;
}

/* ---- shall it be tried again? ------------------------------------------------------------- */

uint64_t alloc_reclaimable(const struct model *m, const struct zone *z)
{
	int64_t pages = z->stat[VM_NR_ZONE_INACTIVE_FILE] + z->stat[VM_NR_ZONE_ACTIVE_FILE];

	if (m->swap_pages > m->swap_used)
		pages += z->stat[VM_NR_ZONE_INACTIVE_ANON] + z->stat[VM_NR_ZONE_ACTIVE_ANON];
	if (pages == 0 && m->profile->empty_zone_reclaimable_is_free)
		pages = zone_free_pages(z);
	return (uint64_t)pages;
}

bool alloc_should_reclaim_retry(struct model *m, const struct alloc_context *ac,
				unsigned reclaim_order, alloc_flags_t flags, bool progress,
				int *no_progress)
{
	int i;

	if (progress && ac->order <= PAGE_ALLOC_COSTLY_ORDER && reclaim_order == ac->order)
		*no_progress = 0;
	else
		++*no_progress;
	if (*no_progress <= MAX_RECLAIM_RETRIES) {
		for_each_zoneref(i, ac->zonelist, 0, ac->class, ac->nodemask)
		{
			struct zone *z = zone_get(m, ac->zonelist->ref[i].zone);
			uint64_t reclaimable = alloc_reclaimable(m, z);
			uint64_t available = reclaimable + (uint64_t)zone_free_pages(z);
			uint64_t min = zone_wmark(z, WMARK_MIN);
			bool ok = watermark_ok(z, ac->order, min, ac->class, flags,
					       (int64_t)available);

			TRACE(m, RECLAIM_RETRY_ZONE, .nid = z->node.v, .idx = (uint8_t)z->class,
			      .order = ac->order, .reclaimable = reclaimable,
			      .available = available, .min_wmark = min,
			      .no_progress_loops = *no_progress, .wmark_check = ok);
			if (ok)
				return true;
		}
	}
	/* Before giving up the atomic reserve goes, to the last block. */
	return buddy_unreserve_highatomic(m, ac, true);
}

bool alloc_should_compact_retry(struct model *m, const struct alloc_context *ac,
				unsigned reclaim_order, alloc_flags_t flags,
				enum compact_result result, enum compact_priority *prio,
				int *retries)
{
	bool costly = ac->order > PAGE_ALLOC_COSTLY_ORDER;
	enum compact_priority floor = costly ? COMPACT_PRIO_SYNC_LIGHT : COMPACT_PRIO_SYNC_FULL;
	enum compact_priority tried = *prio;
	int max = costly ? MAX_COMPACT_RETRIES / 4 : MAX_COMPACT_RETRIES;
	bool retry = false;

	(void)flags;
	if (reclaim_order == 0)
		return false;
	if (result == COMPACT_SKIPPED) {
		/* Too little free memory to move into: worth it if reclaim can provide it. */
		retry = reclaim_order == ac->order && compact_zonelist_suitable(m, ac, ac->order);
	} else if (result == COMPACT_SUCCESS && ++*retries <= max) {
		retry = true;
	} else if (*prio > floor) {
		*prio = (enum compact_priority)(*prio - 1);
		*retries = 0;
		retry = true;
	}
	TRACE(m, COMPACT_RETRY, .order = (int)reclaim_order, .prio = (int)tried,
	      .status = (int)result, .retries = *retries, .max_retries = max, .ret = retry);
	return retry;
}

#define HUNG_TURNS 2000000u

void alloc_check_hung(uint32_t *turns)
{
	bool allocation_loops_for_ever = ++*turns > HUNG_TURNS;

	must(!allocation_loops_for_ever);
}

/* ---- out of memory ------------------------------------------------------------------------ */

static bool is_running(const struct model *m, uint32_t task)
{
	return task == m->ctx.task.v && !(m->ctx.flags & CTX_KTHREAD);
}

/*
 * Mirrors out_of_memory() as far as it matters here: the task that holds most is killed and its
 * memory reaped, unless it is the one that asks: that one ends by itself, with the reserves' help,
 * and is reaped when the next asks. False: nobody to kill.
 */
static bool kill_largest(struct model *m)
{
	uint32_t victim = 0;

	for (uint32_t i = 1; i < m->nr_tasks; i++) {
		const struct task *t = &m->task[i];

		if (!t->alive || t->rss_pages == 0)
			continue;
		/* Killed before and not gone yet: no second victim. */
		if (t->oom_victim) {
			victim = i;
			break;
		}
		if (victim == 0 || t->rss_pages > m->task[victim].rss_pages)
			victim = i;
	}
	if (victim == 0)
		return false;
	if (!m->task[victim].oom_victim) {
		m->task[victim].oom_victim = true;
		m->task[victim].flags |= CTX_OOM_VICTIM;
		stat_event(m, VM_OOM_KILL, 1);
	}
	if (is_running(m, victim))
		m->ctx.flags |= CTX_OOM_VICTIM;
	else
		task_reap(m, (task_id){(uint16_t)victim});
	return true;
}

pfn_t alloc_oom(struct model *m, const struct alloc_context *ac, bool *progress)
{
	struct alloc_context last = *ac;
	pfn_t pfn;

	*progress = false;
	/* A kill by somebody else may just have made room: with the high mark, so that only then.
	 */
	last.gfp &= ~__GFP_DIRECT_RECLAIM;
	pfn = alloc_walk(m, ac->order, ALLOC_WMARK_HIGH | ALLOC_CPUSET, &last);
	if (pfn)
		return pfn;
	if (ac->order > PAGE_ALLOC_COSTLY_ORDER ||
	    ac->gfp & (__GFP_RETRY_MAYFAIL | __GFP_THISNODE) || ac->class < ZONE_NORMAL)
		return PFN_NONE;
	if (!(ac->gfp & __GFP_FS)) {
		/* Memory may be freed by those who can: it kills nobody and loops. */
		*progress = true;
		return PFN_NONE;
	}
	*progress = kill_largest(m) || ac->gfp & __GFP_NOFAIL;
	if (*progress && ac->gfp & __GFP_NOFAIL)
		return alloc_walk(m, ac->order, ALLOC_NO_WATERMARKS, ac);
	return PFN_NONE;
}
