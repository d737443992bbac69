/* SPDX-License-Identifier: MIT */
/*
 * alloc_slow.c - the slow path of 7.3; see alloc.h.
 *
 * One loop. Each turn wakes kswapd, walks the freelists, reclaims and compacts; the first turn of a
 * costly or non-movable request only compacts, asynchronously ("compact first"). How a turn ends is
 * an enum, so that the order of the decisions reads from top to bottom as in the kernel.
 */
#include "model/alloc.h"

#include "model/clock.h"
#include "model/policy.h"
#include "model/zonelist.h"

/* Variables of one __alloc_pages_slowpath() call. */
struct slow {
	struct alloc_context *ac;
	alloc_flags_t flags;
	bool can_reclaim, can_compact, costly;
	bool compact_first;
	bool may_ignore_policy; /* the retry after the nodemask was dropped is still to come */
	enum compact_priority prio;
	enum compact_result result;
	int compaction_retries, no_progress;
	pfn_t page;
};

enum turn { TURN_AGAIN, TURN_GOT_PAGE, TURN_NO_PAGE };

static enum turn got(struct slow *s, pfn_t page)
{
	s->page = page;
	return TURN_GOT_PAGE;
}

/* Mirrors the part on ALLOC_NO_WATERMARKS and ALLOC_OOM; true: walk again at once. */
static bool use_reserve_rights(struct model *m, struct slow *s)
{
	alloc_flags_t rights = alloc_reserve_rights(m, s->ac->gfp);

	if (rights)
		s->flags = rights | alloc_cma_flag(m, s->ac->type) | (s->flags & ALLOC_KSWAPD);
	if (rights || !(s->flags & ALLOC_CPUSET)) {
		s->ac->nodemask = NODEMASK_NONE;
		s->ac->preferred =
			(int8_t)zonelist_next(s->ac->zonelist, 0, s->ac->class, NODEMASK_NONE);
		if (s->may_ignore_policy) {
			s->may_ignore_policy = false;
			return true;
		}
	}
	return false;
}

/* A request that may not block tries once more with mixing allowed. */
static bool nonblock_may_fragment(struct model *m, struct slow *s)
{
	const struct alloc_context *ac = s->ac;

	if (!m->profile->nonblock_drops_nofragment || !m->sysctl.defrag_mode ||
	    !(s->flags & ALLOC_NOFRAGMENT) || !(ac->gfp & __GFP_KSWAPD_RECLAIM))
		return false;
	if (m->policy->may_drop_nofragment &&
	    !m->policy->may_drop_nofragment(m, ac->gfp, ac->order))
		return false;
	s->flags &= ~ALLOC_NOFRAGMENT;
	return true;
}

/* What remains when reclaim and compaction gave nothing: mix types, then kill. */
static enum turn last_resorts(struct model *m, struct slow *s, unsigned reclaim_order)
{
	bool progress;
	pfn_t page;

	if (m->sysctl.defrag_mode && s->flags & ALLOC_NOFRAGMENT) {
		s->flags &= ~ALLOC_NOFRAGMENT;
		if (reclaim_order != s->ac->order) {
			s->no_progress = 0;
			s->compaction_retries = 0;
		}
		return TURN_AGAIN;
	}
	page = alloc_oom(m, s->ac, &progress);
	if (page)
		return got(s, page);
	if (m->ctx.flags & CTX_OOM_VICTIM &&
	    (s->flags & ALLOC_OOM || s->ac->gfp & __GFP_NOMEMALLOC))
		return TURN_NO_PAGE;
	if (!progress)
		return TURN_NO_PAGE;
	s->no_progress = 0;
	return TURN_AGAIN;
}

static enum turn slow_turn(struct model *m, struct slow *s)
{
	struct alloc_context *ac = s->ac;
	unsigned reclaim_order = ac->order;
	uint64_t progress = 0;
	pfn_t page;

	if (s->flags & ALLOC_KSWAPD)
		alloc_wake_kswapds(m, ac);
	page = alloc_walk(m, ac->order, s->flags, ac);
	if (page)
		return got(s, page);
	if (use_reserve_rights(m, s))
		return TURN_AGAIN;
	if (!s->can_reclaim)
		return nonblock_may_fragment(m, s) ? TURN_AGAIN : TURN_NO_PAGE;
	if (m->ctx.flags & CTX_MEMALLOC)
		return TURN_NO_PAGE;

	if (m->profile->promote_to_block_order && s->flags & ALLOC_NOFRAGMENT &&
	    ac->type != MIGRATE_MOVABLE && reclaim_order < PAGEBLOCK_ORDER)
		reclaim_order = PAGEBLOCK_ORDER;
	if (!s->compact_first) {
		page = alloc_direct_reclaim(m, reclaim_order, s->flags, ac, &progress);
		if (page)
			return got(s, page);
	}
	page = alloc_direct_compact(m, reclaim_order, s->flags, ac, s->prio, &s->result);
	if (page)
		return got(s, page);
	if (s->compact_first) {
		if (ac->gfp & __GFP_NORETRY && ac->gfp & __GFP_THISNODE &&
		    alloc_thisnode_gives_up(m))
			return TURN_NO_PAGE;
		if (!(ac->gfp & __GFP_NORETRY))
			s->prio = COMPACT_PRIO_SYNC_LIGHT;
		s->compact_first = false;
		return TURN_AGAIN;
	}

	if (ac->gfp & __GFP_NORETRY)
		return TURN_NO_PAGE;
	if (s->costly && !(s->can_compact && ac->gfp & __GFP_RETRY_MAYFAIL))
		return TURN_NO_PAGE;
	if (alloc_should_reclaim_retry(m, ac, reclaim_order, s->flags, progress > 0,
				       &s->no_progress))
		return TURN_AGAIN;
	if (progress > 0 && s->can_compact &&
	    alloc_should_compact_retry(m, ac, reclaim_order, s->flags, s->result, &s->prio,
				       &s->compaction_retries))
		return TURN_AGAIN;
	return last_resorts(m, s, reclaim_order);
}

pfn_t alloc_slow(struct model *m, struct alloc_context *ac)
{
	struct slow s = {
		.ac = ac,
		.may_ignore_policy = true,
		.prio = COMPACT_PRIO_SYNC_LIGHT,
		.result = COMPACT_SKIPPED,
	};
	uint32_t turns = 0;

	clock_charge(m, COST_ALLOC_SLOW, 1);
	if (m->policy->slow_gfp)
		ac->gfp = m->policy->slow_gfp(m, ac->gfp, ac->order);
	s.can_reclaim = ac->gfp & __GFP_DIRECT_RECLAIM;
	s.can_compact = s.can_reclaim && ac->gfp & __GFP_IO;
	s.costly = ac->order > PAGE_ALLOC_COSTLY_ORDER;
	if (s.can_compact && (s.costly || (ac->order > 0 && ac->type != MIGRATE_MOVABLE))) {
		s.compact_first = true;
		s.prio = COMPACT_PRIO_ASYNC;
	}
	s.flags = alloc_flags_slow(m, ac->gfp, ac->order);
	ac->preferred = (int8_t)zonelist_next(ac->zonelist, 0, ac->class, ac->nodemask);
	for (;;) {
		enum turn turn = ac->preferred < 0 ? TURN_NO_PAGE : slow_turn(m, &s);

		if (turn == TURN_AGAIN) {
			alloc_check_hung(&turns);
			continue;
		}
		if (turn == TURN_GOT_PAGE)
			return s.page;
		if (!(ac->gfp & __GFP_NOFAIL) || !s.can_reclaim)
			return PFN_NONE;
		s.page = alloc_walk(m, ac->order, ALLOC_MIN_RESERVE, ac);
		if (s.page)
			return s.page;
		clock_point(m);
		alloc_check_hung(&turns);
	}
}
