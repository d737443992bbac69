/* SPDX-License-Identifier: MIT */
/*
 * alloc_slow_ab.c - the slow path of 6.12 and 6.18; see alloc.h.
 *
 * Here the first, asynchronous compaction stands before the loop and happens once.
 */
#include "model/alloc.h"

#include "model/clock.h"
#include "model/policy.h"
#include "model/zonelist.h"

struct slow_ab {
	struct alloc_context *ac;
	alloc_flags_t flags;
	bool can_reclaim, can_compact, costly;
	enum compact_priority prio;
	enum compact_result result;
	int compaction_retries, no_progress;
};

/* Before the loop. *page is set, or *give_up when the request ends here. */
static void first_try(struct model *m, struct slow_ab *s, pfn_t *page, bool *give_up)
{
	struct alloc_context *ac = s->ac;

	if (s->flags & ALLOC_KSWAPD)
		alloc_wake_kswapds(m, ac);
	*page = alloc_walk(m, ac->order, s->flags, ac);
	if (*page || !s->can_compact || alloc_reserve_rights(m, ac->gfp))
		return;
	if (!s->costly && (ac->order == 0 || ac->type == MIGRATE_MOVABLE))
		return;
	*page = alloc_direct_compact(m, ac->order, s->flags, ac, COMPACT_PRIO_ASYNC, &s->result);
	if (*page || !s->costly || !(ac->gfp & __GFP_NORETRY))
		return;
	/* Synchronous compaction is too much for an optional request; nothing to gain ends it at
	 * once. */
	s->prio = COMPACT_PRIO_ASYNC;
	*give_up = s->result == COMPACT_SKIPPED || s->result == COMPACT_DEFERRED ||
		   (ac->gfp & __GFP_THISNODE && alloc_thisnode_gives_up(m));
}

/* One turn of the loop: true = again; otherwise *page tells how it ended. */
static bool turn_ab(struct model *m, struct slow_ab *s, pfn_t *page)
{
	struct alloc_context *ac = s->ac;
	alloc_flags_t rights;
	uint64_t progress = 0;
	bool killed;

	if (s->flags & ALLOC_KSWAPD)
		alloc_wake_kswapds(m, ac);
	rights = alloc_reserve_rights(m, ac->gfp);
	if (rights)
		s->flags = rights | alloc_cma_flag(m, ac->type) | (s->flags & ALLOC_KSWAPD);
	if (rights || !(s->flags & ALLOC_CPUSET)) {
		ac->nodemask = NODEMASK_NONE;
		ac->preferred = (int8_t)zonelist_next(ac->zonelist, 0, ac->class, NODEMASK_NONE);
	}
	*page = alloc_walk(m, ac->order, s->flags, ac);
	if (*page || !s->can_reclaim || m->ctx.flags & CTX_MEMALLOC)
		return false;

	*page = alloc_direct_reclaim(m, ac->order, s->flags, ac, &progress);
	if (*page)
		return false;
	*page = alloc_direct_compact(m, ac->order, s->flags, ac, s->prio, &s->result);
	if (*page || ac->gfp & __GFP_NORETRY)
		return false;
	if (s->costly && !(s->can_compact && ac->gfp & __GFP_RETRY_MAYFAIL))
		return false;
	if (alloc_should_reclaim_retry(m, ac, ac->order, s->flags, progress > 0, &s->no_progress))
		return true;
	if (progress > 0 && s->can_compact &&
	    alloc_should_compact_retry(m, ac, ac->order, s->flags, s->result, &s->prio,
				       &s->compaction_retries))
		return true;
	if (m->sysctl.defrag_mode && s->flags & ALLOC_NOFRAGMENT) {
		s->flags &= ~ALLOC_NOFRAGMENT;
		return true;
	}
	*page = alloc_oom(m, ac, &killed);
	if (*page ||
	    (m->ctx.flags & CTX_OOM_VICTIM && (s->flags & ALLOC_OOM || ac->gfp & __GFP_NOMEMALLOC)))
		return false;
	s->no_progress = killed ? 0 : s->no_progress;
	return killed;
}

pfn_t alloc_slow_ab(struct model *m, struct alloc_context *ac)
{
	struct slow_ab s = {
		.ac = ac,
		.prio = COMPACT_PRIO_SYNC_LIGHT,
		.result = COMPACT_SKIPPED,
	};
	uint32_t turns = 0;
	pfn_t page = PFN_NONE;
	bool give_up = false;

	clock_charge(m, COST_ALLOC_SLOW, 1);
	if (m->policy->slow_gfp)
		ac->gfp = m->policy->slow_gfp(m, ac->gfp, ac->order);
	s.can_reclaim = ac->gfp & __GFP_DIRECT_RECLAIM;
	s.can_compact = s.can_reclaim && ac->gfp & __GFP_IO;
	s.costly = ac->order > PAGE_ALLOC_COSTLY_ORDER;
	s.flags = alloc_flags_slow(m, ac->gfp, ac->order);
	ac->preferred = (int8_t)zonelist_next(ac->zonelist, 0, ac->class, ac->nodemask);
	if (ac->preferred >= 0)
		first_try(m, &s, &page, &give_up);
	for (;;) {
		while (!page && !give_up && ac->preferred >= 0 && turn_ab(m, &s, &page))
			alloc_check_hung(&turns);
		if (page || !(ac->gfp & __GFP_NOFAIL) || !s.can_reclaim)
			return page;
		page = alloc_walk(m, ac->order, ALLOC_MIN_RESERVE, ac);
		give_up = false;
		clock_point(m);
		alloc_check_hung(&turns);
	}
}
