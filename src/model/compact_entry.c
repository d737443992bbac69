/* SPDX-License-Identifier: MIT */
/*
 * compact_entry.c - who starts runs: try_to_compact_pages and compact_node; see compact.h.
 */
#include "model/compact.h"

#include "model/clock.h"
#include "model/policy.h"
#include "model/trace.h"
#include "model/zonelist.h"

/* Mirrors compact_zone_order(): one zone on behalf of an allocation. */
static enum compact_result compact_for(struct model *m, struct zone *z, unsigned order,
				       alloc_flags_t flags, const struct alloc_context *ac,
				       enum compact_priority prio, struct capture *capture)
{
	const bool full = prio == COMPACT_PRIO_SYNC_FULL;
	struct compact_control *cc = clock_is_khugepaged(m) ? &m->khugepaged_cc : &m->direct_cc;
	enum compact_result result;

	*cc = (struct compact_control){
		.zone = z,
		.gfp = ac->gfp,
		.order = (int)order,
		.search_order = (int16_t)order,
		.class = ac->class,
		.alloc_flags = flags,
		.mode = prio == COMPACT_PRIO_ASYNC ? MIGRATE_ASYNC : MIGRATE_SYNC_LIGHT,
		.prio = prio,
		.direct = true,
		.whole_zone = full,
		.ignore_skip_hint = full,
		.ignore_block_suitable = full,
		.capture = capture,
	};
	capture->zone = z->id;
	capture->armed = true;
	m->capture = capture;
	result = compact_zone(m, cc);
	m->capture = NULL;
	/* Also one that was caught when the leftovers were released, after the result was known. */
	return capture->page == PFN_NONE ? result : COMPACT_SUCCESS;
}

enum compact_result compact_try_pages(struct model *m, unsigned order, alloc_flags_t flags,
				      const struct alloc_context *ac, enum compact_priority prio,
				      pfn_t *captured)
{
	struct capture capture = {
		.order = m->profile->capture_order == CAPTURE_REQUEST_ORDER ? ac->order
									    : (uint8_t)order,
		.type = ac->type,
		.page = PFN_NONE,
	};
	enum compact_result best = COMPACT_SKIPPED;
	int i;

	*captured = PFN_NONE;
	if (!(ac->gfp & __GFP_IO))
		return COMPACT_SKIPPED;
	TRACE(m, TRY_TO_COMPACT_PAGES, .order = (int)order, .gfp = ac->gfp, .prio = prio);
	for_each_zoneref(i, ac->zonelist, 0, ac->class, ac->nodemask)
	{
		struct zone *z = zone_get(m, ac->zonelist->ref[i].zone);
		enum compact_result result;

		if (prio > COMPACT_PRIO_SYNC_FULL && m->policy->deferred(m, z, (int)order, prio)) {
			if (best < COMPACT_DEFERRED)
				best = COMPACT_DEFERRED;
			continue;
		}
		result = compact_for(m, z, order, flags, ac, prio, &capture);
		if (result > best)
			best = result;
		if (result == COMPACT_SUCCESS) {
			/* Expected, not proved: the caller has yet to get its page. */
			m->policy->defer_reset(m, z, (int)order, false);
			break;
		}
		if (result == COMPACT_COMPLETE || result == COMPACT_PARTIAL_SKIPPED)
			m->policy->defer_failed(m, z, (int)order, prio);
	}
	*captured = capture.page;
	return best;
}

/* ---- explicit ----------------------------------------------------------------------------- */

void compact_node_begin(struct model *m, struct node *n)
{
	(void)m;
	n->explicit_class = 0;
}

bool compact_node_step(struct model *m, struct node *n)
{
	struct compact_control *cc = &m->direct_cc;

	while (n->explicit_class < NR_ZONE_CLASSES) {
		zone_id id = n->zone[n->explicit_class++];

		if (id.v == ZONE_NONE.v)
			continue;
		*cc = (struct compact_control){
			.zone = zone_get(m, id),
			.gfp = GFP_KERNEL,
			.order = -1,
			.search_order = -1,
			.mode = MIGRATE_SYNC,
			.whole_zone = true,
			.ignore_skip_hint = true,
		};
		(void)compact_zone(m, cc);
		return true;
	}
	return false;
}
