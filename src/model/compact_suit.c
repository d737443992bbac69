/* SPDX-License-Identifier: MIT */
/*
 * compact_suit.c - whether to compact at all: pre-check, suitability, fragmentation index; see
 * compact.h.
 */
#include "model/compact.h"

#include "model/alloc.h"
#include "model/policy.h"
#include "model/trace.h"
#include "model/watermark.h"
#include "model/zonelist.h"

static uint64_t costly_margin(const struct zone *z, int order)
{
	return order > PAGE_ALLOC_COSTLY_ORDER ? z->wmark[WMARK_LOW] - z->wmark[WMARK_MIN] : 0;
}

/* Mirrors __compaction_suitable(): are there enough order-0 pages to move things to? */
static bool suit_order0(struct model *m, struct zone *z, int order, uint64_t base,
			enum zone_class class, int64_t free)
{
	uint64_t needed;

	if (m->policy->suitable && !m->policy->suitable(m, z, order))
		return false;
	if (m->profile->suitable_base == SUITABLE_LOW_IF_COSTLY)
		needed = zone_wmark(z, order > PAGE_ALLOC_COSTLY_ORDER ? WMARK_LOW : WMARK_MIN);
	else
		needed = base + costly_margin(z, order);
	needed += compact_gap(m, (unsigned)order);
	/* Targets may lie in CMA blocks whoever asks, so CMA pages count. */
	return watermark_ok(z, 0, needed, class, ALLOC_CMA, free);
}

bool compact_suitable(struct model *m, struct zone *z, int order, uint64_t base,
		      enum zone_class class)
{
	enum compact_result result = COMPACT_SKIPPED;

	if (suit_order0(m, z, order, base, class, zone_free_pages(z))) {
		result = COMPACT_CONTINUE;
		if (order > PAGE_ALLOC_COSTLY_ORDER) {
			int index = compact_fragmentation_index(z, (unsigned)order);

			/* Small: the memory is short rather than in pieces. */
			if (index >= 0 && index <= (int)m->sysctl.extfrag_threshold)
				result = COMPACT_NOT_SUITABLE_ZONE;
		}
	}
	TRACE(m, COMPACT_SUITABLE, .nid = z->node.v, .idx = (uint8_t)z->class, .order = order,
	      .ret = result);
	return result == COMPACT_CONTINUE;
}

enum compact_result compact_precheck(struct model *m, struct zone *z, int order,
				     enum zone_class class, alloc_flags_t flags, bool async,
				     bool kcompactd)
{
	uint64_t mark = zone_wmark(z, (enum wmark)(flags & ALLOC_WMARK_MASK));
	int64_t free = zone_free_pages(z);

	if (kcompactd && m->sysctl.defrag_mode)
		free = z->stat[VM_NR_FREE_PAGES_BLOCKS];
	if (watermark_ok(z, (unsigned)order, mark, class, flags, free))
		return COMPACT_SUCCESS;
	/* A chunk made of CMA blocks is of no use to a request without CMA rights. */
	if (m->profile->costly_async_precheck_without_cma && async &&
	    order > PAGE_ALLOC_COSTLY_ORDER && !(flags & ALLOC_CMA) &&
	    !watermark_ok(z, 0, mark + compact_gap(m, (unsigned)order), class, 0,
			  zone_free_pages(z)))
		return COMPACT_SKIPPED;
	return compact_suitable(m, z, order, mark, class) ? COMPACT_CONTINUE : COMPACT_SKIPPED;
}

int compact_fragmentation_index(const struct zone *z, unsigned order)
{
	uint64_t pages = 0, chunks = 0, suitable = 0;

	for (unsigned o = 0; o < NR_PAGE_ORDERS; o++) {
		chunks += z->nr_chunks[o];
		pages += z->nr_chunks[o] << o;
		if (o >= order)
			suitable += z->nr_chunks[o];
	}
	if (chunks == 0)
		return 0;
	if (suitable > 0)
		return -1000;
	/* Near 0: lack of memory; near 1000: fragmentation. */
	return 1000 - (int)((1000 + (pages * 1000 >> order)) / chunks);
}

bool compact_zonelist_suitable(struct model *m, const struct alloc_context *ac, int order)
{
	int i;

	for_each_zoneref(i, ac->zonelist, 0, ac->class, ac->nodemask)
	{
		struct zone *z = zone_get(m, ac->zonelist->ref[i].zone);
		uint64_t available = alloc_reclaimable(m, z) / (unsigned)order;

		if (suit_order0(m, z, order, zone_wmark(z, WMARK_MIN), ac->class,
				zone_free_pages(z) + (int64_t)available))
			return true;
	}
	return false;
}
