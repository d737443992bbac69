/* SPDX-License-Identifier: MIT */
/*
 * fallback.c - other types' lists: CMA, claiming a block, stealing a page; see fallback.h.
 */
#include "model/fallback.h"

#include "model/buddy_list.h"
#include "model/clock.h"
#include "model/trace.h"
#include "model/watermark.h"

/* Whose lists are tried when a type's own are empty: the kernel's fallbacks[]. */
static const enum migratetype fallbacks[MIGRATE_PCPTYPES][2] = {
	[MIGRATE_UNMOVABLE] = {MIGRATE_RECLAIMABLE, MIGRATE_MOVABLE},
	[MIGRATE_MOVABLE] = {MIGRATE_RECLAIMABLE, MIGRATE_UNMOVABLE},
	[MIGRATE_RECLAIMABLE] = {MIGRATE_UNMOVABLE, MIGRATE_MOVABLE},
};

bool fallback_claimable(unsigned order, enum migratetype request)
{
	return order >= 4 || request == MIGRATE_UNMOVABLE || request == MIGRATE_RECLAIMABLE;
}

int fallback_find(const struct zone *z, unsigned order, enum migratetype request, bool claimable)
{
	if (claimable && !fallback_claimable(order, request))
		return -2;
	for (int i = 0; i < 2; i++) {
		if (buddy_has(z, order, fallbacks[request][i]))
			return (int)fallbacks[request][i];
	}
	return -1;
}

static void trace_extfrag(struct model *m, pfn_t pfn, unsigned order, unsigned fallback_order,
			  enum migratetype type, enum migratetype fallback)
{
	TRACE(m, PAGE_ALLOC_EXTFRAG, .pfn = pfn, .order = (int)order,
	      .fallback_order = (int)fallback_order, .migratetype = type,
	      .fallback_migratetype = fallback, .change_ownership = block_type(m, pfn) == type);
}

/* Mirrors try_to_claim_block() through the first chunk of (chunk_order, from). */
static pfn_t claim_block(struct model *m, struct zone *z, unsigned chunk_order,
			 enum migratetype from, unsigned order, enum migratetype type,
			 alloc_flags_t flags)
{
	const struct block *b;
	uint32_t free, movable, compatible = 0;
	pfn_t pfn;

	if (chunk_order >= PAGEBLOCK_ORDER) {
		pfn = buddy_list_pop(m, z, chunk_order, from);
		buddy_block_set_range(m, z, pfn, chunk_order, type);
		buddy_split(m, z, pfn, chunk_order, order, type);
		clock_charge(m, COST_CLAIM_BLOCK, 1u << (chunk_order - PAGEBLOCK_ORDER));
		return pfn;
	}
	/* The attempt counts, not its success: mixing is near. */
	if (watermark_boost(m, z) && flags & ALLOC_KSWAPD)
		z->boosted_wake = true;
	pfn = ring_at(buddy_list(z, chunk_order, from), buddy_list(z, chunk_order, from)->head);
	if (!buddy_block_in_zone(z, pfn))
		return PFN_NONE;
	b = block_get(m, block_of(pfn));
	free = PAGEBLOCK_PAGES - b->nr_taken;
	movable = (uint32_t)b->nr_lru + b->nr_movable_ops;
	if (type == MIGRATE_MOVABLE)
		compatible = movable;
	else if (from == MIGRATE_MOVABLE)
		compatible = PAGEBLOCK_PAGES - (free + movable);
	if (free + compatible < PAGEBLOCK_PAGES / 2 && !m->grouping_disabled)
		return PFN_NONE;
	clock_charge(m, COST_CLAIM_BLOCK, 1);
	(void)buddy_retype_block(m, z, block_of(pfn), type);
	return buddy_take(m, z, order, type);
}

/* Mirrors __rmqueue_claim(): largest chunks first, because their blocks hold least of the other
 * type. */
static pfn_t take_by_claim(struct model *m, struct zone *z, unsigned order, enum migratetype type,
			   alloc_flags_t flags)
{
	unsigned lowest = order;

	if (order < PAGEBLOCK_ORDER && flags & ALLOC_NOFRAGMENT)
		lowest = PAGEBLOCK_ORDER;
	for (unsigned o = MAX_PAGE_ORDER + 1; o-- > lowest;) {
		int from = fallback_find(z, o, type, true);
		pfn_t pfn;

		if (from == -1)
			continue;
		if (from == -2)
			break;
		pfn = claim_block(m, z, o, (enum migratetype)from, order, type, flags);
		if (pfn) {
			trace_extfrag(m, pfn, order, o, type, (enum migratetype)from);
			return pfn;
		}
	}
	return PFN_NONE;
}

/* Mirrors __rmqueue_steal(): the smallest chunk of another type; its block stays what it is. */
static pfn_t take_by_steal(struct model *m, struct zone *z, unsigned order, enum migratetype type)
{
	for (unsigned o = order; o <= MAX_PAGE_ORDER; o++) {
		int from = fallback_find(z, o, type, false);
		pfn_t pfn;

		if (from < 0)
			continue;
		pfn = buddy_list_pop(m, z, o, (enum migratetype)from);
		buddy_split(m, z, pfn, o, order, (enum migratetype)from);
		trace_extfrag(m, pfn, order, o, type, (enum migratetype)from);
		return pfn;
	}
	return PFN_NONE;
}

/* All but the type's own lists; the modes are tried from *mode on. */
static pfn_t take_elsewhere(struct model *m, struct zone *z, unsigned order, enum migratetype type,
			    alloc_flags_t flags, enum rmqueue_mode *mode)
{
	pfn_t pfn;

	switch (*mode) {
	case RMQUEUE_NORMAL:
	case RMQUEUE_CMA:
		if (flags & ALLOC_CMA) {
			pfn = buddy_take(m, z, order, MIGRATE_CMA);
			if (pfn) {
				*mode = RMQUEUE_CMA;
				return pfn;
			}
		}
		/* fallthrough */
	case RMQUEUE_CLAIM:
		pfn = take_by_claim(m, z, order, type, flags);
		if (pfn) {
			/* The own lists are filled again. */
			*mode = RMQUEUE_NORMAL;
			return pfn;
		}
		/* fallthrough */
	case RMQUEUE_STEAL:
		if (flags & ALLOC_NOFRAGMENT)
			return PFN_NONE;
		pfn = take_by_steal(m, z, order, type);
		if (pfn)
			*mode = RMQUEUE_STEAL;
		return pfn;
	}
	return PFN_NONE;
}

pfn_t fallback_take(struct model *m, struct zone *z, unsigned order, enum migratetype type,
		    alloc_flags_t flags, enum rmqueue_mode *mode)
{
	pfn_t pfn;

	/* Balance: when most of what is free is CMA, movable pages go there first. */
	if (flags & ALLOC_CMA && z->stat[VM_NR_FREE_CMA] > z->stat[VM_NR_FREE_PAGES] / 2) {
		pfn = buddy_take(m, z, order, MIGRATE_CMA);
		if (pfn)
			return pfn;
	}
	if (*mode == RMQUEUE_NORMAL) {
		pfn = buddy_take(m, z, order, type);
		if (pfn)
			return pfn;
	}
	return take_elsewhere(m, z, order, type, flags, mode);
}

uint32_t fallback_bulk(struct model *m, struct zone *z, unsigned order, enum migratetype type,
		       alloc_flags_t flags, uint32_t n, pfn_t *taken)
{
	enum rmqueue_mode mode = RMQUEUE_NORMAL;
	bool own_first = !(flags & ALLOC_CMA) || z->stat[VM_NR_FREE_CMA] == 0;
	uint32_t nr = 0;

	while (nr < n) {
		pfn_t pfn;

		if (mode == RMQUEUE_NORMAL && own_first) {
			nr += buddy_take_bulk(m, z, order, type, n - nr, taken + nr);
			if (nr == n)
				break;
		}
		pfn = fallback_take(m, z, order, type, flags, &mode);
		if (!pfn)
			break;
		taken[nr++] = pfn;
	}
	return nr;
}
