/* SPDX-License-Identifier: MIT */
/*
 * compact.c - one compaction run of one zone: begin, step, end, finish test, capture; see
 * compact.h.
 */
#include "model/compact.h"

#include "model/clock.h"
#include "model/fallback.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/migrate.h"
#include "model/pcp.h"
#include "model/policy.h"
#include "model/trace.h"
#include "model/watermark.h"

/* ---- fragmentation score ------------------------------------------------------------------ */

uint32_t compact_score_zone(const struct model *m, const struct zone *z)
{
	uint64_t chunks = 0, suitable = 0;

	(void)m;
	/* Mirrors extfrag_for_order(): what is not in chunks of a huge page's size, in percent. */
	for (unsigned order = 0; order < NR_PAGE_ORDERS; order++) {
		chunks += z->nr_chunks[order] << order;
		if (order >= PMD_ORDER)
			suitable += z->nr_chunks[order] << (order - PMD_ORDER);
	}
	return chunks ? (uint32_t)((chunks - (suitable << PMD_ORDER)) * 100 / chunks) : 0;
}

uint32_t compact_score_node(const struct model *m, const struct node *n)
{
	uint64_t score = 0;

	for (unsigned class = 0; class < NR_ZONE_CLASSES; class ++) {
		const struct zone *z;

		if (n->zone[class].v == ZONE_NONE.v)
			continue;
		z = &m->zone[n->zone[class].v];
		score += z->present * compact_score_zone(m, z) / (n->present + 1);
	}
	return (uint32_t)score;
}

uint32_t compact_score_mark(const struct model *m, bool low)
{
	uint32_t proactiveness = m->sysctl.compaction_proactiveness;
	uint32_t mark, leeway = 10;

	if (m->profile->proactive_marks_relative) {
		mark = 100 - proactiveness;
		if (mark / 2 < leeway)
			leeway = mark / 2;
	} else {
		mark = 100 - proactiveness > 5 ? 100 - proactiveness : 5;
	}
	if (low)
		return mark;
	return mark + leeway < 100 ? mark + leeway : 100;
}

/* ---- is it over? -------------------------------------------------------------------------- */

static bool scanners_met(const struct compact_control *cc)
{
	return block_of(cc->free_pfn).v <= block_of(cc->migrate_pfn).v;
}

static pfn_t last_block(const struct zone *z)
{
	return pb_start(z->end_pfn - 1);
}

/* Mirrors reset_cached_positions(). */
static void reset_cached(struct zone *z)
{
	z->cached_migrate[0] = z->cached_migrate[1] = z->start_pfn;
	z->cached_free = last_block(z);
}

/* Would an allocation of this type and order find a chunk? */
static bool chunk_for(const struct compact_control *cc, unsigned order)
{
	const struct zone *z = cc->zone;

	if (z->avail[cc->type] >> order & 1)
		return true;
	if (cc->type == MIGRATE_MOVABLE && z->avail[MIGRATE_CMA] >> order & 1)
		return true;
	return fallback_find(z, order, cc->type, true) >= 0;
}

/* Mirrors __compact_finished(). */
static enum compact_result finished(struct model *m, struct compact_control *cc)
{
	struct zone *z = cc->zone;
	enum compact_result result;

	if (scanners_met(cc)) {
		reset_cached(z);
		/* Only a request for a page may order the skip bits to be cleared. */
		if (cc->direct)
			z->blockskip_flush = true;
		return cc->whole_zone ? COMPACT_COMPLETE : COMPACT_PARTIAL_SKIPPED;
	}
	if (cc->proactive) {
		if (node_get(m, z->node)->kswapd.state == DAEMON_RUNNING)
			return COMPACT_PARTIAL_SKIPPED;
		result = compact_score_zone(m, z) > compact_score_mark(m, true) ? COMPACT_CONTINUE
										: COMPACT_SUCCESS;
	} else if (cc->order < 0) {
		return COMPACT_CONTINUE;
	} else if (cc->migrate_pfn % PAGEBLOCK_PAGES) {
		/* A block that was begun is finished. */
		return COMPACT_CONTINUE;
	} else if (m->sysctl.defrag_mode && !cc->direct) {
		return watermark_ok(z, (unsigned)cc->order, zone_wmark(z, WMARK_HIGH), cc->class,
				    cc->alloc_flags, z->stat[VM_NR_FREE_PAGES_BLOCKS])
			       ? COMPACT_SUCCESS
			       : COMPACT_CONTINUE;
	} else {
		result = COMPACT_NO_SUITABLE_PAGE;
		for (unsigned order = (unsigned)cc->order; order < NR_PAGE_ORDERS; order++) {
			if (chunk_for(cc, order))
				return COMPACT_SUCCESS;
		}
	}
	return cc->contended ? COMPACT_CONTENDED : result;
}

enum compact_result compact_finished(struct model *m, struct compact_control *cc)
{
	enum compact_result result = finished(m, cc);

	TRACE(m, COMPACT_FINISHED, .nid = cc->zone->node.v, .idx = (uint8_t)cc->zone->class,
	      .order = cc->order, .ret = result);
	return result == COMPACT_NO_SUITABLE_PAGE ? COMPACT_CONTINUE : result;
}

/* ---- capture ------------------------------------------------------------------------------ */

bool compact_capture(struct model *m, struct zone *z, pfn_t pfn, unsigned order,
		     enum migratetype type)
{
	struct capture *c = m->capture;

	if (!c->armed || c->page != PFN_NONE || c->zone.v != z->id.v || c->order != order)
		return false;
	if (type == MIGRATE_CMA || type == MIGRATE_ISOLATE)
		return false;
	/* A small unmovable page must not settle in a movable block. */
	if (order < PAGEBLOCK_ORDER && type == MIGRATE_MOVABLE && c->type != MIGRATE_MOVABLE)
		return false;
	if (c->type != type && m->profile->has_defrag_mode)
		TRACE(m, PAGE_ALLOC_EXTFRAG, .pfn = pfn, .order = c->order,
		      .fallback_order = (int)order, .migratetype = c->type,
		      .fallback_migratetype = type, .change_ownership = type == c->type);
	c->page = pfn;
	return true;
}

/* ---- the run ------------------------------------------------------------------------------ */

/* Where the scanners start: at the zone's ends, or where the last run left off. */
static void start_positions(struct compact_control *cc)
{
	struct zone *z = cc->zone;

	if (cc->whole_zone) {
		cc->migrate_pfn = z->start_pfn;
		cc->free_pfn = last_block(z);
		return;
	}
	cc->migrate_pfn = z->cached_migrate[cc->mode != MIGRATE_ASYNC];
	cc->free_pfn = z->cached_free;
	if (cc->free_pfn < z->start_pfn || cc->free_pfn >= z->end_pfn)
		cc->free_pfn = z->cached_free = last_block(z);
	if (cc->migrate_pfn < z->start_pfn || cc->migrate_pfn >= z->end_pfn)
		cc->migrate_pfn = z->cached_migrate[0] = z->cached_migrate[1] = z->start_pfn;
	if (cc->migrate_pfn <= z->init_migrate)
		cc->whole_zone = true;
}

#define TRACE_RUN(m, event, cc, result)                                                            \
	TRACE(m, event, .zone_start = (cc)->zone->start_pfn, .migrate_pfn = (cc)->migrate_pfn,     \
	      .free_pfn = (cc)->free_pfn, .zone_end = (cc)->zone->end_pfn,                         \
	      .sync = (cc)->mode != MIGRATE_ASYNC, .status = (result))

enum compact_result compact_zone_begin(struct model *m, struct compact_control *cc)
{
	struct zone *z = cc->zone;

	cc->total_migrate_scanned = cc->total_free_scanned = 0;
	cc->nr_migrate = 0;
	cc->nr_migratepages = cc->nr_freepages = 0;
	for (unsigned order = 0; order < NR_PAGE_ORDERS; order++)
		cc->freepages[order].nr = 0;
	cc->type = m->grouping_disabled ? MIGRATE_UNMOVABLE : gfp_migratetype(cc->gfp);
	cc->running = false;
	if (cc->order >= 0) {
		cc->result = compact_precheck(m, z, cc->order, cc->class, cc->alloc_flags,
					      cc->mode == MIGRATE_ASYNC, cc->kcompactd);
		if (cc->result != COMPACT_CONTINUE)
			return cc->result;
		if (m->policy->restart(m, z, cc))
			compact_reset_zone(m, z);
	}
	clock_charge(m, COST_COMPACT_RUN, 1);
	cc->fast_start_pfn = PFN_NONE;
	cc->fast_start_disabled = false;
	start_positions(cc);
	cc->last_migrated = 0;
	cc->mirror = cc->mode == MIGRATE_ASYNC && z->cached_migrate[0] == z->cached_migrate[1];
	TRACE_RUN(m, COMPACT_BEGIN, cc, 0);
	lru_drain_local(m);
	cc->running = true;
	cc->turned = false;
	return cc->result = COMPACT_CONTINUE;
}

static pfn_t get_target(struct model *m, void *ctx, pfn_t src, unsigned order)
{
	(void)src;
	return scan_free_target(m, ctx, order);
}

static void put_target(struct model *m, void *ctx, pfn_t dst, unsigned order)
{
	scan_free_target_back(m, ctx, dst, order);
}

enum turn { TURN_GO_ON, TURN_AGAIN, TURN_STOP };

/* Moves what was isolated. TURN_AGAIN: isolate the rest of the block first; TURN_STOP: cc->result
 * is set. */
static enum turn migrate_batch(struct model *m, struct compact_control *cc)
{
	const struct migrate_ops ops = {get_target, put_target, cc};
	uint64_t wanted = cc->nr_migratepages;
	struct migrate_result r;

	cc->mirror = false;
	cc->last_migrated = pb_start(cc->migrate_pfn - 1);
	if (cc->last_migrated < cc->zone->start_pfn)
		cc->last_migrated = cc->zone->start_pfn;
	r = migrate_pages(m, cc->migrate, &cc->nr_migrate, &ops, cc->mode, MR_COMPACTION);
	TRACE(m, COMPACT_MIGRATEPAGES, .nr_migrated = r.succeeded,
	      .nr_failed = wanted - r.succeeded);
	cc->nr_migratepages = 0;
	if (r.left == 0)
		return TURN_GO_ON;
	scan_migrate_putback(m, cc);
	if (r.no_target && !scanners_met(cc)) {
		cc->result = COMPACT_CONTENDED;
		return TURN_STOP;
	}
	/*
	 * The block is scanned to its end, which marks it, so that the fast search does not come
	 * back to a block that was tried in part.
	 */
	if (cc->migrate_pfn % PAGEBLOCK_PAGES && !cc->ignore_skip_hint && !cc->finish_block &&
	    cc->mode < MIGRATE_SYNC) {
		cc->finish_block = true;
		/* With a page left in it the block cannot become a huge page: no use in a drain. */
		if (cc->order == PAGEBLOCK_ORDER)
			cc->last_migrated = 0;
		return TURN_AGAIN;
	}
	return TURN_GO_ON;
}

/* Left the chunk that was emptied: what was freed on the way can merge, and may be captured. */
static void check_drain(struct model *m, struct compact_control *cc)
{
	if (cc->order <= 0 || cc->last_migrated == 0)
		return;
	if (cc->last_migrated < (cc->migrate_pfn & ~((1u << cc->order) - 1))) {
		lru_drain_local(m);
		pcp_drain_local(m, cc->zone);
		cc->last_migrated = 0;
	}
}

static bool goes_on(struct model *m, struct compact_control *cc)
{
	cc->result = compact_finished(m, cc);
	return cc->result == COMPACT_CONTINUE;
}

/* A turn ends with the question that begins the next one: nobody runs between the drain and it. */
bool compact_zone_step(struct model *m, struct compact_control *cc)
{
	enum turn turn = TURN_AGAIN;

	if (!cc->turned && !goes_on(m, cc))
		return false;
	cc->turned = true;
	/* The second visit to a block takes all that is left of it. */
	cc->finish_block = pb_start(cc->last_migrated) == pb_start(cc->migrate_pfn);
	while (turn == TURN_AGAIN) {
		switch (scan_migrate_isolate(m, cc)) {
		case ISOLATE_ABORT:
			scan_migrate_putback(m, cc);
			cc->result = COMPACT_CONTENDED;
			return false;
		case ISOLATE_NONE:
			if (cc->mirror)
				cc->zone->cached_migrate[1] = cc->zone->cached_migrate[0];
			check_drain(m, cc);
			return goes_on(m, cc);
		case ISOLATE_SUCCESS:
			turn = migrate_batch(m, cc);
			break;
		}
	}
	if (turn == TURN_STOP)
		return false;
	if (cc->capture && cc->capture->page != PFN_NONE) {
		cc->result = COMPACT_SUCCESS;
		return false;
	}
	check_drain(m, cc);
	return goes_on(m, cc);
}

enum compact_result compact_zone_end(struct model *m, struct compact_control *cc)
{
	struct zone *z = cc->zone;

	if (!cc->running)
		return cc->result;
	cc->running = false;
	if (cc->nr_freepages) {
		pfn_t highest = pb_start(scan_free_release(m, cc));

		/* Back, not forward: the position may have been reset to the zone's end meanwhile.
		 */
		if (highest > z->cached_free)
			z->cached_free = highest;
	}
	stat_event(m, VM_COMPACT_MIGRATE_SCANNED, (int64_t)cc->total_migrate_scanned);
	stat_event(m, VM_COMPACT_FREE_SCANNED, (int64_t)cc->total_free_scanned);
	TRACE_RUN(m, COMPACT_END, cc, cc->result);
	check(cc->nr_migrate == 0);
	return cc->result;
}

enum compact_result compact_zone(struct model *m, struct compact_control *cc)
{
	if (compact_zone_begin(m, cc) == COMPACT_CONTINUE) {
		while (compact_zone_step(m, cc))
			clock_point(m);
	}
	return compact_zone_end(m, cc);
}
